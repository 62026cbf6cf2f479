/* What all skeletons share. A skeleton is a template over a generated structure K: the code of one
   plan kernel, and the number of threads of a block (K::THREADS, a multiple of 32).

   Folds and scans combine in the one tree of the language: blocks of 64 from left to right, then
   blocks of 64 block results, and so on. So a tile of 64 x 64 elements is one node of the tree. */
constexpr int TREE = 64;
constexpr int TILE = TREE * TREE;
constexpr u32 ALL_LANES = 0xffffffffu;

/* The first check that fails leaves its number. */
FUNCTION void fail(u32* failure, u32 site) { atomicCAS(failure, 0u, site); }

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
