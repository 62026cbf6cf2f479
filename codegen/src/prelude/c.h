/* The prelude of C: types, and the exact operations that the machine has. No header is included. */
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;
typedef _Bool bool;
#define true ((bool)1)
#define false ((bool)0)

#define FUNCTION static inline __attribute__((always_inline, unused))
#define CONSTANT_TABLE static const

#define NAN_F32 __builtin_nanf("")
#define NAN_F64 __builtin_nan("")
#define INFINITY_F32 __builtin_inff()
#define INFINITY_F64 __builtin_inf()

#define fma_f32 __builtin_fmaf
#define fma_f64 __builtin_fma
#define sqrt_f32 __builtin_sqrtf
#define sqrt_f64 __builtin_sqrt
#define abs_f32 __builtin_fabsf
#define abs_f64 __builtin_fabs
#define floor_f32 __builtin_floorf
#define floor_f64 __builtin_floor
#define ceil_f32 __builtin_ceilf
#define ceil_f64 __builtin_ceil
#define trunc_f32 __builtin_truncf
#define trunc_f64 __builtin_trunc
/* To nearest, of two the even one: the rounding mode is never another. */
#define round_f32 __builtin_rintf
#define round_f64 __builtin_rint
/* The remainder is exact, so that it may come from the C library. */
#define rem_f32 __builtin_fmodf
#define rem_f64 __builtin_fmod

#define COUNT_ONES(x) __builtin_popcountll(x)
#define LEADING_ZEROS(x) __builtin_clzll(x)
#define TRAILING_ZEROS(x) __builtin_ctzll(x)

FUNCTION u32 raw_bits_f32(f32 x) {
  union { f32 number; u32 bits; } both = { .number = x };
  return both.bits;
}
FUNCTION u64 raw_bits_f64(f64 x) {
  union { f64 number; u64 bits; } both = { .number = x };
  return both.bits;
}
FUNCTION f32 number_f32(u32 x) {
  union { u32 bits; f32 number; } both = { .bits = x };
  return both.number;
}
FUNCTION f64 number_f64(u64 x) {
  union { u64 bits; f64 number; } both = { .bits = x };
  return both.number;
}

FUNCTION u32 multiply_high_u32(u32 a, u32 b) { return (u32)(((u64)a * b) >> 32); }
FUNCTION u64 multiply_high_u64(u64 a, u64 b) { return (u64)(((unsigned __int128)a * b) >> 64); }

#if defined(__AVX512DQ__) || defined(__aarch64__)
FUNCTION f64 small_to_f64(u64 x) { return (f64)(i64)x; }
FUNCTION f64 i64_to_f64(i64 x) { return (f64)x; }
#else
/* Vector units of x86 before AVX-512 have no conversion of i64: bits of a float do. The first is for
   magnitudes below 2^51; the second rounds once, in its last addition. */
FUNCTION f64 small_to_f64(u64 x) {
  return number_f64(x + 0x4338000000000000ULL) - 6755399441055744.0;
}
FUNCTION f64 i64_to_f64(i64 x) {
  f64 high = number_f64(((u64)x >> 32) ^ 0x4530000080000000ULL);
  f64 low = number_f64(((u64)x & 0xffffffffULL) | 0x4330000000000000ULL);
  return (high - number_f64(0x4530000080100000ULL)) + low;
}
#endif
/* By way of f64: a great number gets an odd last bit first where bits are lost, so that it is not
   rounded twice. */
FUNCTION f32 i64_to_f32(i64 x) {
  u64 lost = (u64)x & 2047;
  i64 odd = (i64)(((u64)x & ~2047ULL) | ((lost + 2047) & 2048));
  bool small = (u64)x + (1ULL << 53) <= 1ULL << 54;
  return (f32)i64_to_f64(small ? x : odd);
}

/* A zero that a compiler does not know. GCC turns the float of an integer that was a float, `(f64)(i64)a`, into `a`
   without its fraction, as it may assume that the integer is in range; a negative fraction then becomes -0.0
   (before GCC 14), and what is out of range stays what it was. Not where something else is done in between. */
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((weak, visibility("hidden"))) u64 unknown_zero;
#define AS_IT_IS(T, a) ((a) ^ (T)unknown_zero)
#else
#define AS_IT_IS(T, a) (a)
#endif

/* Floats to integers: towards zero, saturating, NaN is 0. HIGH is one more than the greatest. A float that is not
   beyond LOW takes one instruction; where the machine makes something of the others too, no branch is needed around
   the conversion. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define CONVERTS_ALL
#endif
#ifdef CONVERTS_ALL
#define SATURATE_SIGNED(T, F, LOW, HIGH, LEAST, GREATEST) \
  FUNCTION T F##_to_##T(F a) { \
    const F least = a > LOW ? a : LOW; \
    const T cut = AS_IT_IS(T, (T)least), low = a >= HIGH ? (T)(GREATEST) : cut; \
    return a == a ? low : (T)0; \
  }
#else
#define SATURATE_SIGNED SATURATE
#endif
#define SATURATE(T, F, LOW, HIGH, LEAST, GREATEST) \
  FUNCTION T F##_to_##T(F a) { \
    return a != a ? (T)0 : a >= HIGH ? (T)(GREATEST) : a <= LOW ? (T)(LEAST) : AS_IT_IS(T, (T)a); \
  }
#define SATURATE_UNSIGNED(T, F, HIGH, GREATEST) \
  FUNCTION T F##_to_##T(F a) { \
    const F least = a > 0 ? a : (F)0; \
    return least >= HIGH ? (T)(GREATEST) : (T)least; \
  }
#define SATURATE_FROM(F) \
  SATURATE(i8, F, (F)-128, (F)128, -128, 127) \
  SATURATE(i16, F, (F)-32768, (F)32768, -32768, 32767) \
  SATURATE_SIGNED(i32, F, (F)-2147483648.0, (F)2147483648.0, -2147483647 - 1, 2147483647) \
  SATURATE_SIGNED(i64, F, (F)-9223372036854775808.0, (F)9223372036854775808.0, \
                  -9223372036854775807LL - 1, 9223372036854775807LL) \
  SATURATE_UNSIGNED(u8, F, (F)256, 255) \
  SATURATE_UNSIGNED(u16, F, (F)65536, 65535) \
  SATURATE_UNSIGNED(u32, F, (F)4294967296.0, 4294967295U) \
  SATURATE_UNSIGNED(u64, F, (F)18446744073709551616.0, 18446744073709551615ULL)
SATURATE_FROM(f32)
SATURATE_FROM(f64)

/* The same for what is near zero: of a float beyond the range of i32 nothing more is known than that the result is
   beyond it too, or its least or greatest number. */
#ifdef CONVERTS_ALL
FUNCTION i64 f32_to_near_i64(f32 a) {
  const i32 cut = AS_IT_IS(i32, (i32)a);
  return a == a ? cut : 0;
}
FUNCTION i64 f64_to_near_i64(f64 a) {
  const i32 cut = AS_IT_IS(i32, (i32)a);
  return a == a ? cut : 0;
}
#else
#define f32_to_near_i64 f32_to_i64
#define f64_to_near_i64 f64_to_i64
#endif
