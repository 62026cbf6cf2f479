/* What all skeletons share. A skeleton is a template over a generated structure K: the code of one
   plan kernel, and the number of threads of a block (K::THREADS, a multiple of 64).

   Folds and scans combine in the one tree of the language: blocks of 64 from left to right, then
   blocks of 64 block results, and so on. So a tile of 64 x 64 elements is one node of the tree. */
constexpr int TREE = 64;
constexpr int TILE = TREE * TREE;
constexpr u32 ALL_LANES = 0xffffffffu;

/* One word says whether the kernels of a run go on. It is 0 as long as they do; the first check that fails
   leaves its number there, and the host another one when somebody interrupts. Kernels that are launched
   after that do nothing, so nobody reads what was not written; those that may run for long look again. */
FUNCTION void fail(u32* failure, u32 site) { atomicCAS(failure, 0u, site); }
FUNCTION bool is_over(u32* failure) {
  return __nv_atomic_load_n(failure, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE) != 0;
}
/* The same answer for all threads of a block, which must all ask. */
FUNCTION bool is_over_for_all(u32* failure) {
  return __syncthreads_or(threadIdx.x == 0 && is_over(failure)) != 0;
}
/* In a loop that does much in each turn; for threads that need not agree. */
FUNCTION bool is_over_by(u32* failure, u32& turn) {
  return (++turn & 15) == 0 && is_over(failure);
}

/* The rows of a space: of one length, or with offsets. */
struct Rows {
  i64 count, length;
  const i64* offsets;
};
FUNCTION i64 row_start(const Rows& rows, i64 row) {
  return rows.offsets ? rows.offsets[row] : row * rows.length;
}
FUNCTION i64 row_length(const Rows& rows, i64 row) {
  return rows.offsets ? rows.offsets[row + 1] - rows.offsets[row] : rows.length;
}

/* The row of a position, by its offsets. */
FUNCTION i64 row_of(const i64* offsets, i64 rows, i64 position) {
  i64 low = 0, high = rows;
  while (low + 1 < high) {
    i64 middle = (low + high) >> 1;
    if (offsets[middle] <= position) low = middle;
    else high = middle;
  }
  return low;
}

#define FUNCTION_MEMBER __device__ __forceinline__

/* A number by which the host has prepared to divide: numbers from 0 on, below 2^63 or 2^31, by
   multiplying. `magic` is 0 for 1. */
struct Divisor {
  i64 by;
  u64 magic;
  u32 narrow, shift;
};
FUNCTION i64 quotient(i64 number, const Divisor& by) {
  return by.magic ? (i64)(__umul64hi((u64)number, by.magic) >> by.shift) : number;
}
FUNCTION i32 quotient(i32 number, const Divisor& by) {
  return by.magic ? (i32)(__umulhi((u32)number, by.narrow) >> by.shift) : number;
}
/* By a constant: without a sign, the compiler multiplies too. */
FUNCTION i64 quotient(i64 number, i64 by) { return (i64)((u64)number / (u64)by); }
FUNCTION i32 quotient(i32 number, i32 by) { return (i32)((u32)number / (u32)by); }

/* N elements at an address that is a multiple of 16 bytes, or of their size, if that is less. */
template <class T, int N> struct alignas(N * sizeof(T)) Packed { T at[N]; };
template <int N, class T> FUNCTION void load_vector(const T* from, T (&to)[N]) {
  constexpr int EACH = N * sizeof(T) > 16 ? 16 / sizeof(T) : N;
#pragma unroll
  for (int first = 0; first < N; first += EACH) {
    const Packed<T, EACH> packed = *(const Packed<T, EACH>*)(from + first);
#pragma unroll
    for (int at = 0; at < EACH; at++) to[first + at] = packed.at[at];
  }
}
template <int N, class T> FUNCTION void store_vector(T* to, const T (&from)[N]) {
  constexpr int EACH = N * sizeof(T) > 16 ? 16 / sizeof(T) : N;
#pragma unroll
  for (int first = 0; first < N; first += EACH) {
    Packed<T, EACH> packed;
#pragma unroll
    for (int at = 0; at < EACH; at++) packed.at[at] = from[first + at];
    *(Packed<T, EACH>*)(to + first) = packed;
  }
}

/* As load_vector, of what nobody reads again: what is, stays in the second-level cache. */
template <int N, class T> FUNCTION void load_once(const T* from, T (&to)[N]) {
#ifdef __CUDACC_RTC__
  if constexpr (N * sizeof(T) % 16 == 0) {
    constexpr int EACH = 16 / sizeof(T);
#pragma unroll
    for (int first = 0; first < N; first += EACH) {
      const uint4 words = __ldcs((const uint4*)(from + first));
      memcpy(to + first, &words, 16);
    }
    return;
  }
#endif
  load_vector<N>(from, to);
}

/* N elements that stand a warp's threads apart: what such a thread loads at once, it loads with its neighbours, whatever the
   address. */
constexpr int APART = 32;
template <int N, class T> FUNCTION void load_apart(const T* from, T (&to)[N]) {
#pragma unroll
  for (int at = 0; at < N; at++) to[at] = from[at * APART];
}
template <int N, class T> FUNCTION void store_apart(T* to, const T (&from)[N]) {
#pragma unroll
  for (int at = 0; at < N; at++) to[at * APART] = from[at];
}

FUNCTION i64 smaller(i64 a, i64 b) { return a < b ? a : b; }
FUNCTION i64 blocks_of(i64 count) { return (count + TREE - 1) / TREE; }

FUNCTION u32 load_acquire(u32* flag) {
  return __nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
}
FUNCTION void store_release(u32* flag, u32 value) {
  __nv_atomic_store_n(flag, value, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
}
FUNCTION u64 load_relaxed(u64* word) {
  return __nv_atomic_load_n(word, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}
FUNCTION void store_relaxed(u64* word, u64 value) {
  __nv_atomic_store_n(word, value, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}
