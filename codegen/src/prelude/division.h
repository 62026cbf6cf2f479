/* Division of integers in loops over lanes. Vector units cannot do it: quotients come from floats and are
   made exact. Where the divisor is 0 the result is any number, as everywhere. */

/* Up to 32 bits. A float F with twice as many digits as the numbers, or half as many again, does not
   reach the next whole number when it rounds a quotient, so that the whole part is right; I is its
   type, or a function. Compilers turn divisors that they know into products, which are faster. */
#define LANES_WHOLE_PART(T, U, F, I) \
  FUNCTION T lanes_quot_##T(T a, T b) { \
    if (__builtin_constant_p(b)) return quot_##T(a, b); \
    return (T)(I)((F)a / (F)(b == 0 ? (T)1 : b)); \
  } \
  FUNCTION T lanes_rem_##T(T a, T b) { \
    if (__builtin_constant_p(b)) return rem_##T(a, b); \
    return (T)((U)a - (U)lanes_quot_##T(a, b) * (U)b); \
  }
#define LANES_SIGNED(T, U, F, I) \
  LANES_WHOLE_PART(T, U, F, I) \
  FUNCTION T lanes_floor_div_##T(T a, T b) { \
    if (__builtin_constant_p(b)) return floor_div_##T(a, b); \
    T q = lanes_quot_##T(a, b), r = (T)((U)a - (U)q * (U)b); \
    return (T)((U)q - (U)(r != 0 && (r < 0) != (b < 0))); \
  } \
  FUNCTION T lanes_mod_##T(T a, T b) { \
    if (__builtin_constant_p(b)) return mod_##T(a, b); \
    T r = lanes_rem_##T(a, b); \
    return r != 0 && (r < 0) != (b < 0) ? (T)((U)r + (U)b) : r; \
  }
#define LANES_UNSIGNED(T, U, F, I) \
  LANES_WHOLE_PART(T, U, F, I) \
  FUNCTION T lanes_floor_div_##T(T a, T b) { return lanes_quot_##T(a, b); } \
  FUNCTION T lanes_mod_##T(T a, T b) { return lanes_rem_##T(a, b); }

/* A power of two is a shift, which compilers know. */
#define POWER_OF_TWO(b) (__builtin_constant_p(b) && (b) > 0 && ((b) & ((b) - 1)) == 0)

/* 64 bits, more than a float has. What a first quotient q leaves, of either sign, is less than half of
   the divisor and some thousands, so that a second one, p, leaves about half of the divisor at most;
   its sign says whether the sum of both is one too much. The inverse of a divisor that all lanes share
   is computed once. */
#define LANES_NEAREST(T, BOUND) \
  const T d = b == 0 ? (T)1 : b; \
  const f64 inverse = 1.0 / (f64)d; \
  const f64 first = round_f64((f64)a * inverse); \
  const u64 q = (u64)(T)(first < BOUND ? first : BOUND); \
  const i64 left = (i64)((u64)a - q * (u64)d); \
  const f64 second = round_f64((f64)left * inverse); \
  const u64 p = (u64)(i64)second; \
  const i64 r = (i64)((u64)left - p * (u64)d)

#define LANES_OTHERWISE(T) \
  FUNCTION T lanes_quot_##T(T a, T b) { return quot_##T(a, b); } \
  FUNCTION T lanes_rem_##T(T a, T b) { return rem_##T(a, b); } \
  FUNCTION T lanes_floor_div_##T(T a, T b) { return floor_div_##T(a, b); } \
  FUNCTION T lanes_mod_##T(T a, T b) { return mod_##T(a, b); }

LANES_SIGNED(i8, u32, f32, i32)
LANES_UNSIGNED(u8, u32, f32, i32)
LANES_SIGNED(i16, u32, f32, i32)
LANES_UNSIGNED(u16, u32, f32, i32)
/* No C program may ask for -MIN / -1, whose quotient the type does not hold. */
FUNCTION i32 whole_part_i32(f64 a) { return (i32)(a < 2147483648.0 ? a : -2147483648.0); }
LANES_SIGNED(i32, u32, f64, whole_part_i32)
#ifdef __AVX512DQ__
LANES_UNSIGNED(u32, u32, f64, u32)

FUNCTION i64 lanes_quot_i64(i64 a, i64 b) {
  if (POWER_OF_TWO(b)) return quot_i64(a, b);
  LANES_NEAREST(i64, 9223372036854774784.0);
  const u64 one = (a ^ d) < 0 ? ~0ULL : 1;
  return (i64)(q + p - (r != 0 && (r ^ a) < 0 ? one : 0));
}
FUNCTION i64 lanes_rem_i64(i64 a, i64 b) {
  if (POWER_OF_TWO(b)) return rem_i64(a, b);
  LANES_NEAREST(i64, 9223372036854774784.0);
  const u64 one = (a ^ d) < 0 ? 0 - (u64)d : (u64)d;
  return (i64)((u64)r + (r != 0 && (r ^ a) < 0 ? one : 0));
}
FUNCTION i64 lanes_floor_div_i64(i64 a, i64 b) {
  if (POWER_OF_TWO(b)) return floor_div_i64(a, b);
  LANES_NEAREST(i64, 9223372036854774784.0);
  return (i64)(q + p - (r != 0 && (r ^ d) < 0));
}
FUNCTION i64 lanes_mod_i64(i64 a, i64 b) {
  if (POWER_OF_TWO(b)) return mod_i64(a, b);
  LANES_NEAREST(i64, 9223372036854774784.0);
  return (i64)((u64)r + (r != 0 && (r ^ d) < 0 ? (u64)d : 0));
}

/* A divisor with the upper bit set goes into a number once or not at all. */
FUNCTION u64 lanes_quot_u64(u64 a, u64 b) {
  if (POWER_OF_TWO(b)) return quot_u64(a, b);
  LANES_NEAREST(u64, 18446744073709549568.0);
  return (i64)d < 0 ? (u64)(a >= d) : q + p - (r < 0);
}
FUNCTION u64 lanes_rem_u64(u64 a, u64 b) {
  if (POWER_OF_TWO(b)) return rem_u64(a, b);
  LANES_NEAREST(u64, 18446744073709549568.0);
  return (i64)d < 0 ? a - (a >= d ? d : 0) : (u64)r + (r < 0 ? d : 0);
}
FUNCTION u64 lanes_floor_div_u64(u64 a, u64 b) { return lanes_quot_u64(a, b); }
FUNCTION u64 lanes_mod_u64(u64 a, u64 b) { return lanes_rem_u64(a, b); }
#else
/* Conversions between these and floats are not there, or take as long as a division. */
LANES_OTHERWISE(u32)
LANES_OTHERWISE(i64)
LANES_OTHERWISE(u64)
#endif
