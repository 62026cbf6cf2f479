/* Integers: all arithmetic is unsigned, so that it wraps. W is an unsigned type at least as wide as
   int. Where the divisor is 0 or the exponent negative the result is any number: the check is apart. */
#define INTEGER(T, U, W, BITS) \
  FUNCTION T shl_##T(T a, T n) { return (U)n < BITS ? (T)((W)a << ((U)n & (BITS - 1))) : (T)0; } \
  FUNCTION T pow_##T(T a, T n) { \
    W result = 1, square = (W)a; \
    for (U rest = n > 0 ? (U)n : (U)0; rest; rest = (U)(rest >> 1)) { \
      if (rest & 1) result *= square; \
      square *= square; \
    } \
    return (T)result; \
  } \
  FUNCTION T min_##T(T a, T b) { return b < a ? b : a; } \
  FUNCTION T max_##T(T a, T b) { return b > a ? b : a; } \
  FUNCTION T clip_##T(T low, T high, T a) { return min_##T(max_##T(a, low), high); } \
  FUNCTION i64 popcount_##T(T a) { return COUNT_ONES((u64)(U)a); } \
  FUNCTION i64 clz_##T(T a) { return (U)a ? LEADING_ZEROS((u64)(U)a) - (64 - BITS) : BITS; } \
  FUNCTION i64 ctz_##T(T a) { return (U)a ? TRAILING_ZEROS((u64)(U)a) : BITS; }

#define SIGNED(T, U, W, BITS) \
  INTEGER(T, U, W, BITS) \
  FUNCTION T shr_##T(T a, T n) { return (T)(a >> ((U)n < BITS ? n : (T)(BITS - 1))); } \
  FUNCTION T abs_##T(T a) { return a < 0 ? (T)(0 - (W)a) : a; } \
  FUNCTION T signum_##T(T a) { return (T)((a > 0) - (a < 0)); } \
  FUNCTION T quot_##T(T a, T b) { return b == -1 ? (T)(0 - (W)a) : (T)(a / (b == 0 ? (T)1 : b)); } \
  FUNCTION T rem_##T(T a, T b) { return (T)(a % (b == 0 || b == -1 ? (T)1 : b)); } \
  FUNCTION T floor_div_##T(T a, T b) { \
    T r = rem_##T(a, b); \
    return (T)((W)quot_##T(a, b) - (W)(r != 0 && (r < 0) != (b < 0))); \
  } \
  FUNCTION T mod_##T(T a, T b) { \
    T r = rem_##T(a, b); \
    return r != 0 && (r < 0) != (b < 0) ? (T)((W)r + (W)b) : r; \
  } \
  FUNCTION T gcd_##T(T a, T b) { \
    U x = (U)abs_##T(a), y = (U)abs_##T(b); \
    while (y) { U z = (U)(x % y); x = y; y = z; } \
    return (T)x; \
  }

#define UNSIGNED(T, W, BITS) \
  INTEGER(T, T, W, BITS) \
  FUNCTION T shr_##T(T a, T n) { return n < BITS ? (T)(a >> (n & (BITS - 1))) : (T)0; } \
  FUNCTION T abs_##T(T a) { return a; } \
  FUNCTION T signum_##T(T a) { return (T)(a > 0); } \
  FUNCTION T quot_##T(T a, T b) { return (T)(a / (b == 0 ? (T)1 : b)); } \
  FUNCTION T rem_##T(T a, T b) { return (T)(a % (b == 0 ? (T)1 : b)); } \
  FUNCTION T floor_div_##T(T a, T b) { return quot_##T(a, b); } \
  FUNCTION T mod_##T(T a, T b) { return rem_##T(a, b); } \
  FUNCTION T gcd_##T(T a, T b) { \
    while (b) { T c = (T)(a % b); a = b; b = c; } \
    return a; \
  }

SIGNED(i8, u8, u32, 8)
SIGNED(i16, u16, u32, 16)
SIGNED(i32, u32, u32, 32)
SIGNED(i64, u64, u64, 64)
UNSIGNED(u8, u32, 8)
UNSIGNED(u16, u32, 16)
UNSIGNED(u32, u32, 32)
UNSIGNED(u64, u64, 64)

/* Floats. */
#define FLOAT(F, B, SIGN, NAN_BITS) \
  FUNCTION B bits_##F(F a) { return a != a ? NAN_BITS : raw_bits_##F(a); } \
  FUNCTION F signum_##F(F a) { return a > 0 ? (F)1 : a < 0 ? (F)-1 : a; } \
  FUNCTION F floor_div_##F(F a, F b) { return floor_##F(a / b); } \
  FUNCTION F quot_##F(F a, F b) { return trunc_##F(a / b); } \
  FUNCTION F mod_##F(F a, F b) { \
    F r = rem_##F(a, b); \
    return r == 0 ? number_##F(raw_bits_##F(b) & SIGN) : (r < 0) != (b < 0) ? r + b : r; \
  } \
  FUNCTION F min_##F(F a, F b) { \
    F equal = number_##F(raw_bits_##F(a) | raw_bits_##F(b)); \
    return a < b ? a : b < a ? b : a == b ? equal : number_##F(NAN_BITS); \
  } \
  FUNCTION F max_##F(F a, F b) { \
    F equal = number_##F(raw_bits_##F(a) & raw_bits_##F(b)); \
    return a > b ? a : b > a ? b : a == b ? equal : number_##F(NAN_BITS); \
  } \
  FUNCTION F clip_##F(F low, F high, F a) { return min_##F(max_##F(a, low), high); }

FLOAT(f32, u32, 0x80000000U, 0x7fc00000U)
FLOAT(f64, u64, 0x8000000000000000ULL, 0x7ff8000000000000ULL)

/* Random numbers: Philox4x32 with ten rounds, the seed for key and the index for counter. The first two words are for numbers
   in [0, 1), the last two for integers. */
FUNCTION u64 random_bits(i64 seed, i64 index, bool last) {
  u32 a = (u32)(u64)index, b = (u32)((u64)index >> 32), c = 0, d = 0;
  u32 low = (u32)(u64)seed, high = (u32)((u64)seed >> 32);
  for (int round = 0; round < 10; round++) {
    u64 first = (u64)a * 0xd2511f53U, second = (u64)c * 0xcd9e8d57U;
    a = (u32)(second >> 32) ^ b ^ low;
    b = (u32)second;
    c = (u32)(first >> 32) ^ d ^ high;
    d = (u32)first;
    low += 0x9e3779b9U;
    high += 0xbb67ae85U;
  }
  return last ? (u64)d << 32 | c : (u64)b << 32 | a;
}
FUNCTION f64 uniform_f64(i64 seed, i64 index) {
  return i64_to_f64((i64)(random_bits(seed, index, false) >> 11)) * (1.0 / 9007199254740992.0);
}
FUNCTION f32 uniform_f32(i64 seed, i64 index) {
  return (f32)(i32)((u32)random_bits(seed, index, false) >> 8) * (1.0f / 16777216.0f);
}
FUNCTION i64 int_below(i64 seed, i64 index, i64 low, i64 high) {
  u64 size = (u64)high - (u64)low;
  return (i64)((u64)low + multiply_high_u64(random_bits(seed, index, true), size));
}
