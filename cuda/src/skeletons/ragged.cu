/* Folds of ragged rows, in time that does not depend on how their lengths differ: the path of Merrill and
   Garland, "Merge-based parallel sparse matrix-vector multiplication" (2016), cut so that the blocks of the
   one tree stay whole.

   The path goes through all rows: the beginning of row r stands at place offsets[r] + r, its elements
   behind it. A block of threads has the rows that begin within its part of the path, and the blocks of the
   tree that do. What a long row's blocks come to is folded by further kernels, level by level. K as for
   reductions, and: SPAN (places of a part), NEEDS_ROW (whether an element depends on its row). */

/* How many rows begin before a place. */
FUNCTION i64 rows_before(const Rows& rows, i64 place) {
  i64 low = 0, high = rows.count;
  /* Each look waits for memory: eight parts at once. */
#pragma unroll 1
  while (high - low > 8) {
    const i64 step = (high - low) >> 3;
    int before = 0;
#pragma unroll
    for (int part = 1; part < 8; part++) {
      const i64 at = low + part * step;
      before += rows.offsets[at] + at < place;
    }
    if (before < 7) high = low + (before + 1) * step;
    if (before > 0) low += before * step + 1;
  }
#pragma unroll 1
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

/* What the nodes of a level of the tree come to, in long rows only, those of several nodes: the first node of
   a row by the group of 64 (4096, ...) elements in which it begins, and all others likewise. In such a
   group, no two of either begin. And these rows, in no order. */
template <class K> struct Nodes {
  typename K::Scratch first, next;
  i64* rows;
  u32* count;
  FUNCTION_MEMBER void add(i64 group, i64 row, const typename K::Element& value) const {
    first.put(group, value);
    rows[atomicAdd(count, 1u)] = row;
  }
};

/* Rows by their offsets, as the kernels for long rows see them. `open_at` is the row of a position. */
struct OffsetRows {
  Rows rows;
  i64 positions;
  FUNCTION_MEMBER i64 start(i64 row) const { return rows.offsets[row]; }
  FUNCTION_MEMBER i64 end(i64 row) const { return rows.offsets[row + 1]; }
  FUNCTION_MEMBER i64 open_at(i64 position) const {
    return row_of(rows.offsets, rows.count, position);
  }
};

template <class K>
FUNCTION void reduce_path(const typename K::Arguments& in, Rows rows, const i64* path,
                          Nodes<K> blocks) {
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
    if (length <= TREE) K::finish(in, row, length == 0, value);
    else blocks.add(start / TREE, row, value);
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

/* The fold of nodes first..last of a row whose first node is that of `group`. */
template <class K>
FUNCTION typename K::Element fold_nodes(const typename K::Arguments& in, const Nodes<K>& nodes,
                                        i64 group, i64 first, i64 last) {
  typename K::Element value = first == 0 ? nodes.first.get(group) : nodes.next.get(group + first);
#pragma unroll 4
  for (i64 node = first + 1; node <= last; node++) {
    value = K::combine(in, value, nodes.next.get(group + node));
  }
  return value;
}

/* From blocks of 64 elements to tiles of 64 blocks, a thread per tile. L: start(row), end(row), and
   open_at(position): the row of a position, or less than 0, if that has none. */
template <class K, class L>
FUNCTION void reduce_long(const typename K::Arguments& in, const L& rows, Nodes<K> blocks,
                          Nodes<K> tiles) {
  const i64 stride = (i64)gridDim.x * K::THREADS, own = (i64)blockIdx.x * K::THREADS + threadIdx.x;
  const i64 count = *blocks.count;
  if (count == 0) return;
  u32 turn = 0;
  /* The first tiles, which may be all that there is of a row. */
#pragma unroll 1
  for (i64 at = own; at < count; at += stride) {
    const i64 row = blocks.rows[at], start = rows.start(row), all = blocks_of(rows.end(row) - start);
    const typename K::Element value =
        fold_nodes<K>(in, blocks, start / TREE, 0, smaller(all, TREE) - 1);
    if (all <= TREE) K::finish(in, row, false, value);
    else tiles.add(start / TILE, row, value);
    if (is_over_by(in.failure, turn)) return;
  }
  /* The others. Of the row that is open where 4096 elements begin, one may begin within them. */
#pragma unroll 1
  for (i64 group = own; group * TILE < rows.positions; group += stride) {
    const i64 position = group * TILE, row = rows.open_at(position);
    if (row < 0) continue;
    const i64 start = rows.start(row), stop = rows.end(row);
    const i64 tile = (position - start + TILE - 1) / TILE, begin = start + tile * TILE;
    if (tile == 0 || begin >= stop) continue;
    const i64 last = smaller((tile + 1) * TREE, blocks_of(stop - start)) - 1;
    tiles.next.put(group, fold_nodes<K>(in, blocks, start / TREE, tile * TREE, last));
    if (is_over_by(in.failure, turn)) return;
  }
}

/* Rows of several tiles: a block of threads for each, in which a thread folds 64 tiles. Where elements are so large
   that shared memory does not have room for one of each thread, a quarter of the threads do. */
template <class K, class L>
FUNCTION void reduce_longest(const typename K::Arguments& in, const L& rows, Nodes<K> tiles) {
  constexpr int FOLDED =
    K::THREADS * (int)sizeof(typename K::Element) > 32768 ? K::THREADS / 4 : K::THREADS;
  __shared__ typename K::template Array<FOLDED> folded;
  __shared__ Levels<K, LEVELS> levels;  /* thread 0's: above 64 tiles, so for 2^42 elements */
  const i64 count = *tiles.count;
  const int thread = threadIdx.x;
#pragma unroll 1
  for (i64 at = blockIdx.x; at < count; at += gridDim.x) {
    const i64 row = tiles.rows[at], start = rows.start(row);
    const i64 all = blocks_of(blocks_of(rows.end(row) - start)), nodes = blocks_of(all);
    if (thread == 0) levels.begin();
#pragma unroll 1
    for (i64 first = 0; first < nodes; first += FOLDED) {
      const i64 node = first + thread;
      if (thread < FOLDED && node < nodes) {
        const i64 last = smaller((node + 1) * TREE, all) - 1;
        folded.put(thread, fold_nodes<K>(in, tiles, start / TILE, node * TREE, last));
      }
      __syncthreads();  /* folded nodes */
      if (thread == 0) {
        const int here = (int)smaller(nodes - first, FOLDED);
#pragma unroll 1
        for (int each = 0; each < here; each++) levels.push(in, folded.get(each));
      }
      if (is_over_for_all(in.failure)) return;  /* folded is free */
    }
    if (thread == 0) K::finish(in, row, false, levels.end(in));
  }
}
