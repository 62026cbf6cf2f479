//! The transcendental functions: each is one fixed sequence of exact operations, so that it yields
//! the same bits on every machine.
//!
//! The generic functions ([`exp()`] …) are the definitions; see [`real`] for the operations that
//! they are made of. `exp_f32`, `exp_f64` … are the same, compiled for one type.

mod error_function;
mod exponential;
mod hyperbolic;
mod inverse_trigonometric;
mod logarithm;
mod pair;
mod power;
pub mod real;
mod reduction;
mod trigonometric;

pub use error_function::erf;
pub use exponential::{exp, exp2, expm1};
pub use hyperbolic::{acosh, asinh, atanh, cosh, sinh, tanh};
pub use inverse_trigonometric::{acos, asin, atan, atan2};
pub use logarithm::{log, log1p, log2, log10};
pub use power::{cbrt, hypot, pow, rsqrt};
pub use trigonometric::{cos, sin, tan};

macro_rules! compiled {
    ($($name:ident $single:ident $double:ident ($($operand:ident),*);)*) => {$(
        #[doc = concat!("[`", stringify!($name), "()`] in single precision.")]
        pub fn $single($($operand: f32),*) -> f32 {
            $name($($operand),*)
        }

        #[doc = concat!("[`", stringify!($name), "()`] in double precision.")]
        pub fn $double($($operand: f64),*) -> f64 {
            $name($($operand),*)
        }
    )*};
}

compiled! {
    exp exp_f32 exp_f64 (x);
    exp2 exp2_f32 exp2_f64 (x);
    expm1 expm1_f32 expm1_f64 (x);
    log log_f32 log_f64 (x);
    log2 log2_f32 log2_f64 (x);
    log10 log10_f32 log10_f64 (x);
    log1p log1p_f32 log1p_f64 (x);
    sin sin_f32 sin_f64 (x);
    cos cos_f32 cos_f64 (x);
    tan tan_f32 tan_f64 (x);
    asin asin_f32 asin_f64 (x);
    acos acos_f32 acos_f64 (x);
    atan atan_f32 atan_f64 (x);
    atan2 atan2_f32 atan2_f64 (y, x);
    sinh sinh_f32 sinh_f64 (x);
    cosh cosh_f32 cosh_f64 (x);
    tanh tanh_f32 tanh_f64 (x);
    asinh asinh_f32 asinh_f64 (x);
    acosh acosh_f32 acosh_f64 (x);
    atanh atanh_f32 atanh_f64 (x);
    erf erf_f32 erf_f64 (x);
    cbrt cbrt_f32 cbrt_f64 (x);
    rsqrt rsqrt_f32 rsqrt_f64 (x);
    pow pow_f32 pow_f64 (x, y);
    hypot hypot_f32 hypot_f64 (x, y);
}

#[cfg(test)]
mod tests;
