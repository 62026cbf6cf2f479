// CUDA C++ for the host's compiler: included before the text of a kernel, which is left as it is.
//
// Only what the project's kernels use is here. A word that is missing makes a kernel fail to compile,
// which is better than a meaning that differs from the device's.
#ifndef WEFT_CUDA_H
#define WEFT_CUDA_H
#include "interface.h"

// Kernels that nobody asks for are not compiled.
#define __global__ inline
#define __device__
#define __host__
#define __constant__ static const
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
// There is one thread of the operating system, and the machine keeps an image of these per block.
#define __shared__ static thread_local

// Reads of these are not instrumented because they are constant: for a thread they are.
extern "C" const weft_indices weft_current;
#define threadIdx (weft_current.thread)
#define blockIdx (weft_current.block)
#define blockDim (weft_current.block_dim)
#define gridDim (weft_current.grid_dim)
enum { warpSize = 32 };

#define WEFT_INLINE static inline __attribute__((always_inline, unused))
// Functions that access memory on behalf of the kernel report that themselves.
#define WEFT_REPORTS static __attribute__((noinline, no_sanitize("thread"), unused))
#define WEFT_PC __builtin_return_address(0)
#define WEFT_SITE ((__COUNTER__ << 16) | (__LINE__ & 0xffff))

// ---- vectors ---------------------------------------------------------------------------------
#define WEFT_VECTOR(T, name, align2, align4)                                              \
  struct __attribute__((aligned(align2))) name##2 { T x, y; };                            \
  struct __attribute__((aligned(align4))) name##4 { T x, y, z, w; };                      \
  WEFT_INLINE name##2 make_##name##2(T x, T y) { return name##2{x, y}; }                  \
  WEFT_INLINE name##4 make_##name##4(T x, T y, T z, T w) { return name##4{x, y, z, w}; }
WEFT_VECTOR(int, int, 8, 16)
WEFT_VECTOR(unsigned, uint, 8, 16)
WEFT_VECTOR(float, float, 8, 16)
WEFT_VECTOR(double, double, 16, 16)
WEFT_VECTOR(long long, longlong, 16, 16)
WEFT_VECTOR(unsigned long long, ulonglong, 16, 16)

// ---- barriers, fences, warps -----------------------------------------------------------------
#define __syncthreads() ((void)weft_barrier(WEFT_BARRIER, 0, WEFT_SITE))
#define __syncthreads_count(p) weft_barrier(WEFT_BARRIER_COUNT, (p) != 0, WEFT_SITE)
#define __syncthreads_and(p) weft_barrier(WEFT_BARRIER_AND, (p) != 0, WEFT_SITE)
#define __syncthreads_or(p) weft_barrier(WEFT_BARRIER_OR, (p) != 0, WEFT_SITE)
#define __threadfence_block() weft_fence(0)
#define __threadfence() weft_fence(1)
#define __nanosleep(nanoseconds) weft_wait()
#define __trap() weft_fail("__trap()", __LINE__)

template <class T> WEFT_INLINE unsigned long long weft_pack(T value) {
  static_assert(sizeof(T) <= 8, "at most 8 bytes");
  unsigned long long word = 0;
  __builtin_memcpy(&word, &value, sizeof(T));
  return word;
}
template <class T> WEFT_INLINE T weft_unpack(unsigned long long word) {
  T value;
  __builtin_memcpy(&value, &word, sizeof(T));
  return value;
}
template <class T>
WEFT_INLINE T weft_shuffle(unsigned mask, T value, int argument, int kind, unsigned site) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles take 4 or 8 bytes");
  return weft_unpack<T>(weft_collective(mask, kind, weft_pack(value), argument, 32, site));
}
#define __shfl_sync(m, v, lane) weft_shuffle(m, v, (int)(lane), WEFT_SHUFFLE, WEFT_SITE)
#define __shfl_up_sync(m, v, d) weft_shuffle(m, v, (int)(d), WEFT_SHUFFLE_UP, WEFT_SITE)
#define __shfl_down_sync(m, v, d) weft_shuffle(m, v, (int)(d), WEFT_SHUFFLE_DOWN, WEFT_SITE)
#define __shfl_xor_sync(m, v, d) weft_shuffle(m, v, (int)(d), WEFT_SHUFFLE_XOR, WEFT_SITE)
#define __ballot_sync(m, p) ((unsigned)weft_collective(m, WEFT_BALLOT, (p) != 0, 0, 32, WEFT_SITE))
#define __any_sync(m, p) ((int)weft_collective(m, WEFT_ANY, (p) != 0, 0, 32, WEFT_SITE))
#define __all_sync(m, p) ((int)weft_collective(m, WEFT_ALL, (p) != 0, 0, 32, WEFT_SITE))
#define __match_any_sync(m, v) \
  ((unsigned)weft_collective(m, WEFT_MATCH_ANY, weft_pack(v), 0, 32, WEFT_SITE))
WEFT_INLINE unsigned weft_mask(unsigned mask = 0xffffffffu) { return mask; }
#define __syncwarp(...) \
  ((void)weft_collective(weft_mask(__VA_ARGS__), WEFT_SYNCWARP, 0, 0, 32, WEFT_SITE))

// ---- atomics ---------------------------------------------------------------------------------
#define WEFT_UPDATES(name, T, result)                                     \
  WEFT_REPORTS T name(T *address, T value) {                              \
    weft_ordered(address, sizeof(T), WEFT_UPDATE | WEFT_ATOMIC, WEFT_PC); \
    T old = *(volatile T *)address, now = (result);                       \
    *(volatile T *)address = now;                                         \
    weft_updated(__builtin_memcmp(&now, &old, sizeof(T)) != 0);           \
    return old;                                                           \
  }
#define WEFT_UPDATES_ALL(name, result) \
  WEFT_UPDATES(name, int, result)      \
  WEFT_UPDATES(name, unsigned, result) \
  WEFT_UPDATES(name, unsigned long long, result)
WEFT_UPDATES(atomicAdd, int, (int)((unsigned)old + (unsigned)value))
WEFT_UPDATES(atomicAdd, unsigned, old + value)
WEFT_UPDATES(atomicAdd, unsigned long long, old + value)
WEFT_UPDATES_ALL(atomicExch, value)
WEFT_UPDATES_ALL(atomicMin, value < old ? value : old)
WEFT_UPDATES_ALL(atomicMax, value > old ? value : old)
WEFT_UPDATES(atomicMin, long long, value < old ? value : old)
WEFT_UPDATES(atomicMax, long long, value > old ? value : old)
WEFT_UPDATES_ALL(atomicAnd, old & value)
WEFT_UPDATES_ALL(atomicOr, old | value)
WEFT_UPDATES_ALL(atomicXor, old ^ value)
#define WEFT_COMPARE_AND_SWAP(T)                                          \
  WEFT_REPORTS T atomicCAS(T *address, T expected, T value) {             \
    weft_ordered(address, sizeof(T), WEFT_UPDATE | WEFT_ATOMIC, WEFT_PC); \
    T old = *(volatile T *)address, now = old == expected ? value : old;  \
    *(volatile T *)address = now;                                         \
    weft_updated(now != old);                                             \
    return old;                                                           \
  }
WEFT_COMPARE_AND_SWAP(int)
WEFT_COMPARE_AND_SWAP(unsigned)
WEFT_COMPARE_AND_SWAP(unsigned long long)

enum { __NV_ATOMIC_RELAXED = 0, __NV_ATOMIC_ACQUIRE = 8, __NV_ATOMIC_RELEASE = 16 };
enum { __NV_THREAD_SCOPE_BLOCK = 1, __NV_THREAD_SCOPE_DEVICE = 3 };
template <class T>
WEFT_REPORTS T __nv_atomic_load_n(T *address, int order, int) {
  weft_ordered(address, sizeof(T), WEFT_READ | WEFT_ATOMIC | (unsigned)order, WEFT_PC);
  return *(volatile T *)address;
}
template <class T>
WEFT_REPORTS void __nv_atomic_store_n(T *address, T value, int order, int) {
  weft_ordered(address, sizeof(T), WEFT_WRITE | WEFT_ATOMIC | (unsigned)order, WEFT_PC);
  *(volatile T *)address = value;
}

// ---- integers and bits -----------------------------------------------------------------------
WEFT_INLINE int __float_as_int(float x) { return weft_unpack<int>(weft_pack(x)); }
WEFT_INLINE unsigned __float_as_uint(float x) { return weft_unpack<unsigned>(weft_pack(x)); }
WEFT_INLINE float __int_as_float(int x) { return weft_unpack<float>(weft_pack(x)); }
WEFT_INLINE float __uint_as_float(unsigned x) { return weft_unpack<float>(weft_pack(x)); }
WEFT_INLINE long long __double_as_longlong(double x) { return weft_unpack<long long>(weft_pack(x)); }
WEFT_INLINE double __longlong_as_double(long long x) { return weft_unpack<double>(weft_pack(x)); }
WEFT_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
WEFT_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
WEFT_INLINE int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
WEFT_INLINE int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
WEFT_INLINE int __ffs(int x) { return __builtin_ffs(x); }
WEFT_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
WEFT_INLINE unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned)(((unsigned long long)a * b) >> 32);
}
WEFT_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
// As the device converts: towards zero, saturating. NaN is 0 from `float` to 32 bits, else only the highest bit.
template <class To, class From> WEFT_INLINE To weft_saturated(From x, From low, From high, To least, To greatest) {
  if (x != x) return sizeof(To) == 4 && sizeof(From) == 4 ? 0 : (To)(1ull << (sizeof(To) * 8 - 1));
  return x >= high ? greatest : x <= low ? least : (To)x;
}
#define WEFT_CONVERSIONS(NAME, FROM) \
  WEFT_INLINE int __##NAME##2int_rz(FROM x) { \
    return weft_saturated<int, FROM>(x, (FROM)-2147483648.0, (FROM)2147483648.0, -2147483647 - 1, 2147483647); \
  } \
  WEFT_INLINE unsigned __##NAME##2uint_rz(FROM x) { \
    return weft_saturated<unsigned, FROM>(x, (FROM)0.0, (FROM)4294967296.0, 0u, 4294967295u); \
  } \
  WEFT_INLINE long long __##NAME##2ll_rz(FROM x) { \
    return weft_saturated<long long, FROM>(x, (FROM)-9223372036854775808.0, (FROM)9223372036854775808.0, \
                                           -9223372036854775807ll - 1, 9223372036854775807ll); \
  } \
  WEFT_INLINE unsigned long long __##NAME##2ull_rz(FROM x) { \
    return weft_saturated<unsigned long long, FROM>(x, (FROM)0.0, (FROM)18446744073709551616.0, 0ull, \
                                                    18446744073709551615ull); \
  }
WEFT_CONVERSIONS(float, float)
WEFT_CONVERSIONS(double, double)

// ---- floats ----------------------------------------------------------------------------------
WEFT_INLINE float sqrtf(float x) { return __builtin_sqrtf(x); }
WEFT_INLINE double sqrt(double x) { return __builtin_sqrt(x); }
WEFT_INLINE float fabsf(float x) { return __builtin_fabsf(x); }
WEFT_INLINE double fabs(double x) { return __builtin_fabs(x); }
WEFT_INLINE float floorf(float x) { return __builtin_floorf(x); }
WEFT_INLINE double floor(double x) { return __builtin_floor(x); }
WEFT_INLINE float ceilf(float x) { return __builtin_ceilf(x); }
WEFT_INLINE double ceil(double x) { return __builtin_ceil(x); }
WEFT_INLINE float truncf(float x) { return __builtin_truncf(x); }
WEFT_INLINE double trunc(double x) { return __builtin_trunc(x); }
WEFT_INLINE float rintf(float x) { return __builtin_rintf(x); }
WEFT_INLINE double rint(double x) { return __builtin_rint(x); }
WEFT_INLINE float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WEFT_INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
WEFT_INLINE float fmodf(float a, float b) { return __builtin_fmodf(a, b); }
WEFT_INLINE double fmod(double a, double b) { return __builtin_fmod(a, b); }
WEFT_INLINE float copysignf(float a, float b) { return __builtin_copysignf(a, b); }
WEFT_INLINE double copysign(double a, double b) { return __builtin_copysign(a, b); }
WEFT_INLINE float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WEFT_INLINE double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
WEFT_INLINE float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
WEFT_INLINE double __dsqrt_rn(double x) { return __builtin_sqrt(x); }

// ---- entries of the module: appended after the text of the kernels -----------------------------
template <int... I> struct weft_numbers {};
#define WEFT_PLAIN __attribute__((no_sanitize("thread"), no_sanitize("undefined")))
template <class... A, int... I>
WEFT_PLAIN static void weft_apply(void (*kernel)(A...), void **arguments, weft_numbers<I...>) {
  kernel(*(A *)arguments[I]...);
}
template <class... A> WEFT_PLAIN static void weft_call(void (*kernel)(A...), void **arguments) {
  weft_apply(kernel, arguments, weft_numbers<__integer_pack(sizeof...(A))...>{});
}
template <class... A> WEFT_PLAIN static unsigned weft_count(void (*)(A...)) { return sizeof...(A); }
template <class... A> WEFT_PLAIN static void weft_sizes(void (*)(A...), unsigned *sizes) {
  unsigned all[] = {(unsigned)sizeof(A)..., 0u};
  for (unsigned at = 0; at < sizeof...(A); at++) sizes[at] = all[at];
}
#define WEFT_EXPORT(name)                                                                         \
  extern "C" WEFT_PLAIN void weft_entry_##name(void **arguments) { weft_call(name, arguments); }  \
  extern "C" WEFT_PLAIN unsigned weft_count_##name() { return weft_count(name); }                 \
  extern "C" WEFT_PLAIN void weft_sizes_##name(unsigned *sizes) { weft_sizes(name, sizes); }
// Makes the loader allocate the shared memory of the module.
static thread_local char weft_anchor;
extern "C" WEFT_PLAIN void *weft_shared_anchor() { return &weft_anchor; }
#endif
