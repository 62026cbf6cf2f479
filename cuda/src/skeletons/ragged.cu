/* Folds of ragged rows, in time that does not depend on how their lengths differ: the path of Merrill and
   Garland, "Merge-based parallel sparse matrix-vector multiplication" (2016), cut so that the blocks of the
   one tree stay whole.

   The path goes through all rows: the beginning of row r stands at place offsets[r] + r, its elements
   behind it. A block of threads has the rows that begin within its part of the path, and the blocks of the
   tree that do. What a long row's blocks come to is folded by a second kernel. K as for reductions, and:
   SPAN (places of a part), NEEDS_ROW (whether an element depends on its row). */

/* How many rows begin before a place. */
FUNCTION i64 rows_before(const Rows& rows, i64 place) {
  i64 low = 0, high = rows.count;
  while (low < high) {
    const i64 middle = (low + high) >> 1;
    if (rows.offsets[middle] + middle < place) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* For the beginning of each part, and the end of the last: how many rows begin before it, and the first
   element of a block of the tree that belongs to it. */
FUNCTION void cut_path(u32* failure, const Rows& rows, i64 span, i64 parts, i64* path, i64 threads) {
  const i64 stride = (i64)gridDim.x * threads;
  u32 turn = 0;
#pragma unroll 1
  for (i64 part = (i64)blockIdx.x * threads + threadIdx.x; part <= parts; part += stride) {
    const i64 place = part * span, begun = rows_before(rows, place);
    i64 first = 0;
    if (begun > 0) {
      const i64 start = rows.offsets[begun - 1], ahead = place - begun - start;
      const i64 blocks = ahead > 0 ? blocks_of(ahead) : 1;
      first = smaller(start + blocks * TREE, rows.offsets[begun]);
    }
    path[2 * part] = begun;
    path[2 * part + 1] = first;
    if (is_over_by(failure, turn)) return;
  }
}

/* The row of a position, among some that begin in a part or are open there. */
struct RowsOfPart {
  const i64* offsets;
  i64 first, count;
  FUNCTION_MEMBER i64 operator()(i64 position) const {
    return first + row_of(offsets + first, count, position);
  }
};
struct AnyRow {
  FUNCTION_MEMBER i64 operator()(i64) const { return 0; }
};

/* What the blocks of long rows come to: the first of a row by the 64 elements in which it begins, and all
   others likewise. There, no two of either begin. */
template <class K> struct Blocks {
  typename K::Scratch first, next;
  i64* rows;
  u32* count;
};

template <class K, class Staged>
FUNCTION typename K::Element fold_block(const typename K::Arguments& in, const Staged& staged, int from,
                                        i64 rest) {
  const int length = (int)smaller(rest, TREE);
  typename K::Element value = staged.get(staged_at(from));
#pragma unroll 1
  for (int at = 1; at < length; at++) {
    value = K::combine(in, value, staged.get(staged_at(from + at)));
  }
  return value;
}

template <class K>
FUNCTION void reduce_path(const typename K::Arguments& in, Rows rows, const i64* path,
                          Blocks<K> blocks) {
  __shared__ typename K::template Array<(K::SPAN / TREE + 1) * (TREE + 1)> staged;
  const i64* part = path + 2 * (i64)blockIdx.x;
  const i64 begun = part[0], first = part[1], until = part[2], end = part[3];
  const i64 open = begun > 0 ? begun - 1 : 0;
  const RowsOfPart row_at = {rows.offsets, open, until - open};
  if constexpr (K::NEEDS_ROW) stage_elements<K>(in, staged, row_at, first, (int)(end - first));
  else stage_elements<K>(in, staged, AnyRow{}, first, (int)(end - first));
  __syncthreads();  /* staged */
#pragma unroll 1
  for (i64 row = begun + threadIdx.x; row < until; row += K::THREADS) {
    const i64 start = rows.offsets[row], length = rows.offsets[row + 1] - start;
    typename K::Element value = K::zero();
    if (length > 0) value = fold_block<K>(in, staged, (int)(start - first), length);
    if (length <= TREE) {
      K::finish(in, row, length == 0, value);
    } else {
      blocks.first.put(start / TREE, value);
      blocks.rows[atomicAdd(blocks.count, 1u)] = row;
    }
  }
  /* The other blocks. Of the row that is open where 64 elements begin, one may begin within them. */
#pragma unroll 1
  for (i64 at = first / TREE + threadIdx.x; at * TREE < end; at += K::THREADS) {
    const i64 position = at * TREE < first ? first : at * TREE, row = row_at(position);
    const i64 start = rows.offsets[row], stop = rows.offsets[row + 1];
    i64 begin = start + blocks_of(position - start) * TREE;
    if (begin == start) begin += TREE;
    if (begin >= (at + 1) * TREE || begin >= smaller(stop, end)) continue;
    blocks.next.put(at, fold_block<K>(in, staged, (int)(begin - first), stop - begin));
  }
}

/* The fold of blocks first..last of a row. */
template <class K>
FUNCTION typename K::Element fold_blocks(const typename K::Arguments& in, const Blocks<K>& blocks,
                                         i64 start, i64 first, i64 last) {
  typename K::Element value =
      first == 0 ? blocks.first.get(start / TREE) : blocks.next.get(start / TREE + first);
#pragma unroll 1
  for (i64 block = first + 1; block <= last; block++) {
    value = K::combine(in, value, blocks.next.get(start / TREE + block));
  }
  return value;
}

/* Rows of several blocks: a thread per row; those of more than a tile by all threads of a block, one after
   the other. */
template <class K>
FUNCTION void reduce_long(const typename K::Arguments& in, Rows rows, Blocks<K> blocks) {
  __shared__ typename K::template Array<K::THREADS> tiles;
  __shared__ Levels<K, LEVELS> levels;  /* thread 0's */
  __shared__ i64 longest[K::THREADS];
  __shared__ u32 longest_count;
  const i64 count = *blocks.count, stride = (i64)gridDim.x * K::THREADS;
  const int thread = threadIdx.x;
#pragma unroll 1
  for (i64 base = (i64)blockIdx.x * K::THREADS; base < count; base += stride) {
    if (thread == 0) longest_count = 0;
    __syncthreads();  /* none */
    if (base + thread < count) {
      const i64 row = blocks.rows[base + thread], start = rows.offsets[row];
      const i64 length = rows.offsets[row + 1] - start;
      if (length <= TILE) {
        const i64 last = blocks_of(length) - 1;
        K::finish(in, row, false, fold_blocks<K>(in, blocks, start, 0, last));
      } else {
        longest[atomicAdd(&longest_count, 1u)] = row;
      }
    }
    __syncthreads();  /* listed */
    const int all = (int)longest_count;
#pragma unroll 1
    for (int at = 0; at < all; at++) {
      const i64 row = longest[at], start = rows.offsets[row];
      const i64 all_blocks = blocks_of(rows.offsets[row + 1] - start);
      const i64 all_tiles = blocks_of(all_blocks);
      if (thread == 0) levels.begin();
#pragma unroll 1
      for (i64 first = 0; first < all_tiles; first += K::THREADS) {
        const i64 tile = first + thread;
        if (tile < all_tiles) {
          const i64 last = smaller((tile + 1) * TREE, all_blocks) - 1;
          tiles.put(thread, fold_blocks<K>(in, blocks, start, tile * TREE, last));
        }
        __syncthreads();  /* tiles */
        if (thread == 0) {
          const int here = (int)smaller(all_tiles - first, K::THREADS);
#pragma unroll 1
          for (int each = 0; each < here; each++) levels.push(in, tiles.get(each));
        }
        if (is_over_for_all(in.failure)) return;  /* tiles are free */
      }
      if (thread == 0) K::finish(in, row, false, levels.end(in));
    }
    if (is_over_for_all(in.failure)) return;  /* listed ones are done */
  }
}
