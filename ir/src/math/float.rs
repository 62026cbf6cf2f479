//! The meaning of the exact operators on `f32` and `f64`: each result is the correctly rounded
//! one, nothing is flushed to zero, and all NaNs are the same result.
//!
//! The operators without a closed exact form are in [`crate::math::transcendental`].

use crate::math::element::Element;

/// A float type, with one method per exact operator.
pub trait Float: Element + PartialOrd {
    /// `a + b`.
    fn add(self, other: Self) -> Self;
    /// `a - b`.
    fn sub(self, other: Self) -> Self;
    /// `a * b`.
    fn mul(self, other: Self) -> Self;
    /// `a / b`: `x/0` is an infinity, `0/0` is NaN.
    fn div(self, other: Self) -> Self;
    /// a·b + c, rounded once.
    fn fma(self, factor: Self, addend: Self) -> Self;
    /// The square root; NaN below zero, -0 of -0.
    fn sqrt(self) -> Self;
    /// The sign inverted, of zeros and infinities too.
    fn neg(self) -> Self;
    /// The magnitude.
    fn abs(self) -> Self;
    /// -1 or 1; a zero is itself, with its sign, and NaN is NaN.
    fn signum(self) -> Self;
    /// `floor (a / b)`: the floor of the *correctly rounded* quotient, which differs from the
    /// floor of the true quotient when that lies so close below an integer that it rounds to it:
    /// `-3.0 // inf` is `-0.0`. By 0 as `a / b`.
    fn floor_div(self, divisor: Self) -> Self;
    /// The remainder that has the divisor's sign: [`Float::rem`], plus the divisor if that has the
    /// other sign (this one addition is rounded). A zero takes the divisor's sign. NaN by 0 and of
    /// an infinity; a finite `a % inf` is `a` or `inf`, by their signs.
    fn modulo(self, divisor: Self) -> Self;
    /// `trunc (a / b)` of the correctly rounded quotient.
    fn quot(self, divisor: Self) -> Self;
    /// The remainder of the true quotient truncated, exact, with the dividend's sign (C's `fmod`).
    /// NaN by 0 and of an infinity; `rem a inf` is `a`.
    fn rem(self, divisor: Self) -> Self;
    /// The largest integer not above.
    fn floor(self) -> Self;
    /// The least integer not below.
    fn ceil(self) -> Self;
    /// The nearest integer; of two, the even one.
    fn round(self) -> Self;
    /// The integer next to it towards zero.
    fn trunc(self) -> Self;
    /// The lesser; NaN if either is, and -0 is below +0.
    fn min(self, other: Self) -> Self;
    /// The greater; NaN if either is, and -0 is below +0.
    fn max(self, other: Self) -> Self;
    /// Whether it is NaN.
    fn is_nan(self) -> bool;
    /// Whether it is an infinity, of either sign.
    fn is_inf(self) -> bool;
}

macro_rules! float {
    ($($float:ident)*) => {$(
        impl Float for $float {
            #[inline]
            fn add(self, other: $float) -> $float {
                self + other
            }

            #[inline]
            fn sub(self, other: $float) -> $float {
                self - other
            }

            #[inline]
            fn mul(self, other: $float) -> $float {
                self * other
            }

            #[inline]
            fn div(self, other: $float) -> $float {
                self / other
            }

            #[inline]
            fn fma(self, factor: $float, addend: $float) -> $float {
                self.mul_add(factor, addend)
            }

            #[inline]
            fn sqrt(self) -> $float {
                $float::sqrt(self)
            }

            #[inline]
            fn neg(self) -> $float {
                -self
            }

            #[inline]
            fn abs(self) -> $float {
                $float::abs(self)
            }

            #[inline]
            fn signum(self) -> $float {
                if self > 0.0 {
                    1.0
                } else if self < 0.0 {
                    -1.0
                } else {
                    self
                }
            }

            #[inline]
            fn floor_div(self, divisor: $float) -> $float {
                (self / divisor).floor()
            }

            #[inline]
            fn modulo(self, divisor: $float) -> $float {
                let remainder = self % divisor;
                if remainder == 0.0 {
                    (0.0 as $float).copysign(divisor)
                } else if (remainder < 0.0) != (divisor < 0.0) {
                    // A NaN remainder stays one.
                    remainder + divisor
                } else {
                    remainder
                }
            }

            #[inline]
            fn quot(self, divisor: $float) -> $float {
                (self / divisor).trunc()
            }

            #[inline]
            fn rem(self, divisor: $float) -> $float {
                self % divisor
            }

            #[inline]
            fn floor(self) -> $float {
                $float::floor(self)
            }

            #[inline]
            fn ceil(self) -> $float {
                $float::ceil(self)
            }

            #[inline]
            fn round(self) -> $float {
                self.round_ties_even()
            }

            #[inline]
            fn trunc(self) -> $float {
                $float::trunc(self)
            }

            #[inline]
            fn min(self, other: $float) -> $float {
                if self < other {
                    self
                } else if other < self {
                    other
                } else if self == other {
                    // They differ at most in the sign of a zero.
                    $float::from_bits(self.to_bits() | other.to_bits())
                } else {
                    $float::NAN
                }
            }

            #[inline]
            fn max(self, other: $float) -> $float {
                if self > other {
                    self
                } else if other > self {
                    other
                } else if self == other {
                    $float::from_bits(self.to_bits() & other.to_bits())
                } else {
                    $float::NAN
                }
            }

            #[inline]
            fn is_nan(self) -> bool {
                $float::is_nan(self)
            }

            #[inline]
            fn is_inf(self) -> bool {
                $float::is_infinite(self)
            }
        }
    )*};
}

float! { f32 f64 }
