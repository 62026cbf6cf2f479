//! IEEE 754 binary16, which the language has no type for: it is read as `f32`, exactly.

/// The value of a binary16 with these bits.
pub(super) fn to_f32(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let exponent = u32::from(bits >> 10) & 0x1f;
    let fraction = u32::from(bits) & 0x3ff;
    match exponent {
        // Zero or denormal: a multiple of 2^-24, which is a normal f32.
        0 => {
            let magnitude = fraction as f32 * f32::from_bits((127 - 24) << 23);
            f32::from_bits(sign | magnitude.to_bits())
        }
        31 => f32::from_bits(sign | 0x7f80_0000 | (fraction << 13)),
        _ => f32::from_bits(sign | ((exponent + 127 - 15) << 23) | (fraction << 13)),
    }
}

#[cfg(test)]
mod tests {
    use super::to_f32;

    #[test]
    fn every_finite_half_has_its_defined_value() {
        for bits in 0..=u16::MAX {
            let (exponent, fraction) = (i32::from(bits >> 10) & 0x1f, f64::from(bits & 0x3ff));
            let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
            let expected = match exponent {
                31 if fraction > 0.0 => {
                    assert!(to_f32(bits).is_nan(), "{bits:#06x}");
                    continue;
                }
                31 => sign * f64::INFINITY,
                0 => sign * fraction * 2f64.powi(-24),
                _ => sign * (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
            };
            assert_eq!(f64::from(to_f32(bits)).to_bits(), expected.to_bits(), "{bits:#06x}");
        }
    }
}
