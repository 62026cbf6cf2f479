/* The prelude of CUDA: types, and the exact operations that the machine has. No header is included. */
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

#define FUNCTION static __device__ __forceinline__
#define CONSTANT_TABLE static __device__ const

#define NAN_F32 __int_as_float(0x7fc00000)
#define NAN_F64 __longlong_as_double(0x7ff8000000000000LL)
#define INFINITY_F32 __int_as_float(0x7f800000)
#define INFINITY_F64 __longlong_as_double(0x7ff0000000000000LL)

#define fma_f32 __fmaf_rn
#define fma_f64 __fma_rn
#define sqrt_f32 __fsqrt_rn
#define sqrt_f64 __dsqrt_rn
#define abs_f32 fabsf
#define abs_f64 fabs
#define floor_f32 floorf
#define floor_f64 floor
#define ceil_f32 ceilf
#define ceil_f64 ceil
#define trunc_f32 truncf
#define trunc_f64 trunc
#define round_f32 rintf
#define round_f64 rint
#define rem_f32 fmodf
#define rem_f64 fmod

#define COUNT_ONES(x) __popcll(x)
#define LEADING_ZEROS(x) __clzll((i64)(x))
#define TRAILING_ZEROS(x) (__ffsll((i64)(x)) - 1)

#define raw_bits_f32(x) ((u32)__float_as_int(x))
#define raw_bits_f64(x) ((u64)__double_as_longlong(x))
#define number_f32(x) __int_as_float((i32)(x))
#define number_f64(x) __longlong_as_double((i64)(x))
#define multiply_high_u32(a, b) __umulhi(a, b)
#define multiply_high_u64(a, b) __umul64hi(a, b)
#define small_to_f64(x) ((f64)(i64)(x))
#define i64_to_f64(x) ((f64)(x))
#define i64_to_f32(x) ((f32)(x))

/* Floats to integers: towards zero, saturating, NaN is 0. HIGH is one more than the greatest. From 32 bits on the machine
   saturates itself, but what it makes of NaN depends on the types. */
#define SATURATE(T, F, LOW, HIGH, LEAST, GREATEST) \
  FUNCTION T F##_to_##T(F a) { \
    return a != a ? (T)0 : a >= HIGH ? (T)(GREATEST) : a <= LOW ? (T)(LEAST) : (T)a; \
  }
#define SATURATED(T, F, CONVERT) \
  FUNCTION T F##_to_##T(F a) { \
    const T converted = CONVERT(a); \
    return a != a ? (T)0 : converted; \
  }
#define SATURATE_FROM(F, NAME) \
  SATURATE(i8, F, (F)-128, (F)128, -128, 127) \
  SATURATE(i16, F, (F)-32768, (F)32768, -32768, 32767) \
  SATURATED(i32, F, __##NAME##2int_rz) \
  SATURATED(i64, F, __##NAME##2ll_rz) \
  SATURATE(u8, F, (F)0, (F)256, 0, 255) \
  SATURATE(u16, F, (F)0, (F)65536, 0, 65535) \
  SATURATED(u32, F, __##NAME##2uint_rz) \
  SATURATED(u64, F, __##NAME##2ull_rz)
SATURATE_FROM(f32, float)
SATURATE_FROM(f64, double)
