/* Folds of rows. K: Element, element(in, row, position), combine(in, left, right),
   finish(in, row, empty, result), Array<N> in shared memory, Scratch in global memory; WIDTH, and if it
   is not 1, aligned(in), Loaded, load(in, position, from), element(in, row, position, from, lane) for
   accesses of 16 bytes. */

/* So many blocks of the tree are staged at once, that shared memory suffices for 16 KiB. */
template <class K> FUNCTION constexpr int slice() {
  int blocks = TREE;
  while (blocks > 1 && blocks * TREE * (int)sizeof(typename K::Element) > 16384) blocks /= 2;
  return blocks;
}

/* Where the slices of a tile end that has 1 to TILE elements. If there is one only, the compiler knows. */
template <class K> FUNCTION int slices_end(int count) {
  return slice<K>() < TREE ? count : 1;
}

/* Where element k of block b is staged: the blocks are one element apart from a multiple of the
   banks, because every thread reads along its own block. */
FUNCTION int staged_at(int position) { return position + position / TREE; }

/* Every position belongs to one row. */
struct OneRow {
  i64 row;
  FUNCTION_MEMBER i64 operator()(i64) const { return row; }
};

/* For elements that do not depend on their row. */
struct AnyRow {
  FUNCTION_MEMBER i64 operator()(i64) const { return 0; }
};

/* Puts consecutive elements where their blocks are staged; `row_at` yields the row of a position. */
template <class K, class Staged, class RowAt>
FUNCTION void stage_elements(const typename K::Arguments& in, Staged& staged, const RowAt& row_at,
                             i64 first, int count) {
  int head = 0, whole = 0;
  if constexpr (K::WIDTH > 1) {
    if (K::aligned(in)) {
      /* Up to the next multiple one by one. */
      head = (int)(-first & (K::WIDTH - 1));
      if (head > count) head = count;
      whole = (count - head) & ~(K::WIDTH - 1);
    }
    /* Two turns at once: with 8 blocks of 256 threads on a multiprocessor, 64 KiB of one array are under way. */
#pragma unroll 2
    for (int at = head + threadIdx.x * K::WIDTH; at < head + whole; at += K::THREADS * K::WIDTH) {
      typename K::template Loaded<K::WIDTH> from;
      K::load(in, first + at, from);
#pragma unroll
      for (int lane = 0; lane < K::WIDTH; lane++) {
        const i64 position = first + at + lane;
        staged.put(staged_at(at + lane), K::element(in, row_at(position), position, from, lane));
      }
    }
  }
#pragma unroll 1
  for (int rest = threadIdx.x; rest < count - whole; rest += K::THREADS) {
    const int at = rest < head ? rest : rest + whole;
    staged.put(staged_at(at), K::element(in, row_at(first + at), first + at));
  }
}

/* What is staged of the block of the tree that begins at a position, with so many elements of its row from there. */
template <class K, class Staged>
FUNCTION typename K::Element fold_block(const typename K::Arguments& in, const Staged& staged, int from,
                                        i64 rest) {
  const int length = (int)smaller(rest, TREE);
  typename K::Element value = staged.get(staged_at(from));
#pragma unroll 4
  for (int at = 1; at < length; at++) {
    value = K::combine(in, value, staged.get(staged_at(from + at)));
  }
  return value;
}

template <class K> struct TileMemory {
  typename K::template Array<slice<K>() * (TREE + 1)> staged;
  typename K::template Array<TREE> blocks;
};

/* Up to TILE elements, by a block of threads; the result is thread 0's. */
template <class K>
FUNCTION typename K::Element fold_tile(const typename K::Arguments& in, TileMemory<K>& memory,
                                       i64 row, i64 first, int count) {
  constexpr int SLICE = slice<K>() * TREE;
  const int thread = threadIdx.x;
#pragma unroll 1
  for (int base = 0; base < slices_end<K>(count); base += SLICE) {
    const int here = count - base < SLICE ? count - base : SLICE;
    stage_elements<K>(in, memory.staged, OneRow{row}, first + base, here);
    __syncthreads();  /* staged */
#pragma unroll 1
    for (int block = thread; block * TREE < here; block += K::THREADS) {
      const int from = block * (TREE + 1);
      const int length = here - block * TREE < TREE ? here - block * TREE : TREE;
      typename K::Element value = memory.staged.get(from);
#pragma unroll 4
      for (int at = 1; at < length; at++) {
        value = K::combine(in, value, memory.staged.get(from + at));
      }
      memory.blocks.put(base / TREE + block, value);
    }
    __syncthreads();  /* folded */
  }
  typename K::Element value = memory.blocks.get(0);
  if (thread == 0) {
    const int blocks = (count + TREE - 1) / TREE;
#pragma unroll 4
    for (int block = 1; block < blocks; block++) {
      value = K::combine(in, value, memory.blocks.get(block));
    }
  }
  return value;
}

/* Long rows of one length: a block of threads per tile; the last one of a row folds what the tiles
   have come to. Scratch holds so many elements per row, and counters are zero. */
template <class K>
FUNCTION void reduce_tiles(const typename K::Arguments& in, Rows rows, u32 tiles,
                           typename K::Scratch scratch, i64 scratch_per_row, u32* counters) {
  __shared__ TileMemory<K> memory;
  __shared__ u32 last;
  const u32 row_number = blockIdx.x / tiles;
  const i64 row = row_number, tile = blockIdx.x - row_number * tiles;
  const i64 start = row * rows.length + tile * TILE;
  const int count = (int)smaller(rows.length - tile * TILE, TILE);
  typename K::Element value = fold_tile<K>(in, memory, row, start, count);
  if (tiles == 1) {
    if (threadIdx.x == 0) K::finish(in, row, false, value);
    return;
  }
  i64 base = row * scratch_per_row;
  if (threadIdx.x == 0) {
    scratch.put(base + tile, value);
    __threadfence();  /* hand over */
    last = atomicAdd(counters + row, 1u) + 1 == tiles;
    __threadfence();  /* take over */
  }
  __syncthreads();  /* last */
  if (!last) return;
  /* Level by level, each behind the one below, and staged as elements are: a thread that read its 64 one after the other
     would wait for the second-level cache as often. */
  constexpr int SLICE = slice<K>() * TREE;
  i64 length = tiles;
#pragma unroll 1
  while (length > 1) {
#pragma unroll 1
    for (i64 first = 0; first < length; first += SLICE) {
      const int here = (int)smaller(length - first, SLICE);
#pragma unroll 4
      for (int at = threadIdx.x; at < here; at += K::THREADS) {
        memory.staged.put(staged_at(at), scratch.get(base + first + at));
      }
      __syncthreads();  /* staged level */
#pragma unroll 1
      for (int block = threadIdx.x; block * TREE < here; block += K::THREADS) {
        value = fold_block<K>(in, memory.staged, block * TREE, here - block * TREE);
        scratch.put(base + length + first / TREE + block, value);
      }
      __syncthreads();  /* level */
    }
    base += length;
    length = blocks_of(length);
  }
  if (threadIdx.x == 0) K::finish(in, row, false, scratch.get(base));
}

/* The fold of up to TILE elements by one thread. K: AHEAD, so many elements are loaded before they are combined. */
template <class K>
FUNCTION typename K::Element fold_tile_alone(const typename K::Arguments& in, i64 row, i64 first,
                                             int count) {
  typename K::Element result = K::zero();
#pragma unroll 1
  for (int base = 0; base < count; base += TREE) {
    const int end = count - base < TREE ? count : base + TREE;
    typename K::Element value = K::element(in, row, first + base);
#pragma unroll K::AHEAD
    for (int at = base + 1; at < end; at++) {
      value = K::combine(in, value, K::element(in, row, first + at));
    }
    result = base == 0 ? value : K::combine(in, result, value);
  }
  return result;
}

/* The levels of the tree above tiles that come one after the other: enough for 2^36 elements, and with one more for
   2^42. */
constexpr int LEVELS = 4;
template <class K, int LEVELS> struct Levels {
  typename K::template Array<LEVELS> value;
  int taken[LEVELS];
  FUNCTION_MEMBER void begin() {
#pragma unroll
    for (int level = 0; level < LEVELS; level++) taken[level] = 0;
  }
  /* Unrolled, so that all levels stay in registers. */
  FUNCTION_MEMBER void push(const typename K::Arguments& in, typename K::Element next) {
    bool carries = true;
#pragma unroll
    for (int level = 0; level < LEVELS; level++) {
      if (!carries) continue;
      if (taken[level] > 0) next = K::combine(in, value.get(level), next);
      value.put(level, next);
      taken[level]++;
      carries = taken[level] == TREE;
      if (carries) taken[level] = 0;
    }
  }
  FUNCTION_MEMBER typename K::Element end(const typename K::Arguments& in) {
    typename K::Element result = K::zero();
    bool any = false;
#pragma unroll
    for (int level = 0; level < LEVELS; level++) {
      if (taken[level] == 0) continue;
      result = any ? K::combine(in, value.get(level), result) : value.get(level);
      any = true;
    }
    return result;
  }
};

/* Short rows of one length: a thread per row. */
template <class K> FUNCTION void reduce_rows(const typename K::Arguments& in, Rows rows) {
  const i64 stride = (i64)gridDim.x * K::THREADS;
  u32 turn = 0;
#pragma unroll 1
  for (i64 row = (i64)blockIdx.x * K::THREADS + threadIdx.x; row < rows.count; row += stride) {
    typename K::Element value = K::zero();
    if (rows.length > 0) {
      value = fold_tile_alone<K>(in, row, row * rows.length, (int)rows.length);
    }
    K::finish(in, row, rows.length == 0, value);
    if (is_over_by(in.failure, turn)) return;
  }
}

/* The row of a position, among rows of one length that are staged together. */
struct RowOfGroup {
  i64 first, row;
  Divisor length;
  FUNCTION_MEMBER i64 operator()(i64 position) const {
    return row + quotient((i32)(position - first), length);
  }
};

/* Rows of one length of which several are staged together: a block of threads has `group` of them, in which a thread
   folds 64 elements of a row, then one what the blocks of a row come to. K as above, and: STAGED (elements of a group,
   at most), NEEDS_ROW (whether an element depends on its row). */
template <class K>
FUNCTION void reduce_groups(const typename K::Arguments& in, Rows rows, const Divisor& by, u32 group) {
  __shared__ typename K::template Array<K::STAGED / TREE * (TREE + 1)> staged;
  const i64 first_row = (i64)blockIdx.x * group, first = first_row * rows.length;
  const int length = (int)rows.length, here = (int)smaller(rows.count - first_row, group);
  const RowOfGroup row_at = {first, first_row, by};
  if constexpr (K::NEEDS_ROW) stage_elements<K>(in, staged, row_at, first, here * length);
  else stage_elements<K>(in, staged, AnyRow{}, first, here * length);
  __syncthreads();  /* staged group */
  const int blocks = (length + TREE - 1) / TREE;
#pragma unroll 1
  for (int at = threadIdx.x; at < here * blocks; at += K::THREADS) {
    const int row = (int)((u32)at / (u32)blocks), block = at - row * blocks;
    const int from = row * length + block * TREE;
    /* Where its first element was, which only this thread reads. */
    staged.put(staged_at(from), fold_block<K>(in, staged, from, length - block * TREE));
  }
  __syncthreads();  /* folded group */
#pragma unroll 1
  for (int row = threadIdx.x; row < here; row += K::THREADS) {
    typename K::Element value = K::zero();
    if (blocks > 0) value = staged.get(staged_at(row * length));
#pragma unroll 1
    for (int block = 1; block < blocks; block++) {
      value = K::combine(in, value, staged.get(staged_at(row * length + block * TREE)));
    }
    K::finish(in, first_row + row, blocks == 0, value);
  }
}
