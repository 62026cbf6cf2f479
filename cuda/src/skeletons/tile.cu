/* Folds of rows whose elements share what they read. K as for reductions, and: Left (what belongs to row i
   and place k), Right (what belongs to column j and place k), arrays LeftArray<N> and RightArray<N> of
   them, left(in, ...), right(in, ...), element_of(in, ..., left, right).

   Every thread folds its rows on its own, from left to right, 64 by 64: that is the one tree. */

/* Rows that are points of a grid `down` by `across`, as in a matrix product; before them may come a batch
   of grids. A block of threads has a tile of the grid, a thread EACH by EACH of its points, so that each
   value in shared memory is used by so many threads, and in registers by so many points. */
constexpr int EACH = 4, LANES = 16;
template <class K> struct GridTile {
  static constexpr int DOWN = K::THREADS / LANES * EACH, ACROSS = LANES * EACH;
  /* One apart from a multiple of the banks, as threads next to each other write along k. */
  static constexpr int DOWN_PITCH = DOWN + 1, ACROSS_PITCH = ACROSS + 1;
  static constexpr int BYTES = DOWN_PITCH * (int)sizeof(typename K::Left) +
                               ACROSS_PITCH * (int)sizeof(typename K::Right);
  /* A power of two, for which 20 KiB of shared memory suffice. */
  static constexpr int DEPTH = BYTES * 16 <= 20480 ? 16 : BYTES * 8 <= 20480 ? 8 : 4;
};

/* What follows up to three levels of the tree: enough for 2^18 elements. */
template <class K> struct Fold {
  typename K::Element inner, middle, outer;
};

template <class K>
FUNCTION void reduce_grid(const typename K::Arguments& in, i64 down, i64 across, i64 length) {
  typedef GridTile<K> Tile;
  constexpr int DOWN = Tile::DOWN, ACROSS = Tile::ACROSS, DEPTH = Tile::DEPTH;
  __shared__ typename K::template LeftArray<DEPTH * Tile::DOWN_PITCH> lefts;
  __shared__ typename K::template RightArray<DEPTH * Tile::ACROSS_PITCH> rights;
  const int thread = threadIdx.x, lane = thread % LANES, group = thread / LANES;
  const u32 tiles_across = (u32)((across + ACROSS - 1) / ACROSS);
  const u32 tiles = (u32)((down + DOWN - 1) / DOWN) * tiles_across;
  const u32 batch = blockIdx.x / tiles, tile = blockIdx.x - batch * tiles;
  const u32 tile_down = tile / tiles_across;
  const i64 first_i = (i64)tile_down * DOWN;
  const i64 first_j = (i64)(tile - tile_down * tiles_across) * ACROSS;
  const int rows = (int)smaller(down - first_i, DOWN);
  const int columns = (int)smaller(across - first_j, ACROSS);
  /* Beyond the grid, the last row and column are folded once more, and not stored. */
  int i[EACH], j[EACH];
#pragma unroll
  for (int each = 0; each < EACH; each++) {
    i[each] = each * (DOWN / EACH) + group;
    if (i[each] >= rows) i[each] = rows - 1;
    j[each] = each * LANES + lane;
    if (j[each] >= columns) j[each] = columns - 1;
  }
  Fold<K> fold[EACH][EACH];
#pragma unroll 1
  for (i64 base = 0; base < length; base += DEPTH) {
    const int here = (int)smaller(length - base, DEPTH);
#pragma unroll 1
    for (int at = thread; at < DOWN * DEPTH; at += K::THREADS) {
      const int k = K::LEFT_ALONG ? at % DEPTH : at / DOWN;
      const int row = K::LEFT_ALONG ? at / DEPTH : at % DOWN;
      if (row < rows && k < here) {
        lefts.put(k * Tile::DOWN_PITCH + row, K::left(in, batch, first_i + row, 0, base + k));
      }
    }
#pragma unroll 1
    for (int at = thread; at < ACROSS * DEPTH; at += K::THREADS) {
      const int k = K::RIGHT_ALONG ? at % DEPTH : at / ACROSS;
      const int column = K::RIGHT_ALONG ? at / DEPTH : at % ACROSS;
      if (column < columns && k < here) {
        rights.put(k * Tile::ACROSS_PITCH + column,
                   K::right(in, batch, 0, first_j + column, base + k));
      }
    }
    __syncthreads();  /* staged */
#pragma unroll 4
    for (int k = 0; k < here; k++) {
      const bool begins = k == 0 && base % TREE == 0;
      typename K::Left left[EACH];
      typename K::Right right[EACH];
#pragma unroll
      for (int each = 0; each < EACH; each++) {
        left[each] = lefts.get(k * Tile::DOWN_PITCH + i[each]);
        right[each] = rights.get(k * Tile::ACROSS_PITCH + j[each]);
      }
#pragma unroll
      for (int y = 0; y < EACH; y++) {
#pragma unroll
        for (int x = 0; x < EACH; x++) {
          const typename K::Element next = K::element_of(
              in, batch, first_i + i[y], first_j + j[x], base + k, left[y], right[x]);
          fold[y][x].inner = begins ? next : K::combine(in, fold[y][x].inner, next);
        }
      }
    }
    __syncthreads();  /* shared is free */
    const i64 end = base + here;
    if (end % TREE != 0 && end != length) continue;
    /* A block of the tree is complete; maybe 64 of them are. */
    const i64 block = (end - 1) / TREE, tile_of_row = block / TREE;
    const bool completes = block % TREE == TREE - 1 || end == length;
#pragma unroll
    for (int y = 0; y < EACH; y++) {
#pragma unroll
      for (int x = 0; x < EACH; x++) {
        Fold<K>& own = fold[y][x];
        own.middle = block % TREE == 0 ? own.inner : K::combine(in, own.middle, own.inner);
        if (completes) {
          own.outer = tile_of_row == 0 ? own.middle : K::combine(in, own.outer, own.middle);
        }
      }
    }
  }
#pragma unroll
  for (int y = 0; y < EACH; y++) {
    const int row = y * (DOWN / EACH) + group;
#pragma unroll
    for (int x = 0; x < EACH; x++) {
      const int column = x * LANES + lane;
      if (row < rows && column < columns) {
        K::finish(in, (batch * down + first_i + row) * across + first_j + column, false,
                  fold[y][x].outer);
      }
    }
  }
}

/* Many rows of which each goes through the same places: a thread per row, and what belongs to the places
   in shared memory. */
constexpr int DEPTH_OF_PAIRS = 4 * TREE;
template <class K>
FUNCTION void reduce_pairs(const typename K::Arguments& in, i64 rows, i64 length) {
  constexpr int DEPTH = DEPTH_OF_PAIRS;
  __shared__ typename K::template RightArray<DEPTH> rights;
  const int thread = threadIdx.x;
  const i64 stride = (i64)gridDim.x * K::THREADS;
#pragma unroll 1
  for (i64 first = (i64)blockIdx.x * K::THREADS; first < rows; first += stride) {
    /* Beyond the rows, the last one is folded once more, and not stored: all reach the barriers. */
    const i64 row = smaller(first + thread, rows - 1);
    const typename K::Left left = K::left(in, row, 0);
    Levels<K, LEVELS + 2> levels;
    levels.begin();
    typename K::Element value = K::zero();
#pragma unroll 1
    for (i64 base = 0; base < length; base += DEPTH) {
      if (base > 0 && base % TILE == 0 && is_over_for_all(in.failure)) return;
      const int here = (int)smaller(length - base, DEPTH);
#pragma unroll 1
      for (int at = thread; at < here; at += K::THREADS) {
        rights.put(at, K::right(in, row, base + at));
      }
      __syncthreads();  /* staged */
#pragma unroll 1
      for (int block = 0; block < here; block += TREE) {
        const int end = here - block < TREE ? here : block + TREE;
        value = K::element_of(in, row, base + block, left, rights.get(block));
#pragma unroll 4
        for (int k = block + 1; k < end; k++) {
          const typename K::Element next = K::element_of(in, row, base + k, left, rights.get(k));
          value = K::combine(in, value, next);
        }
        levels.push(in, value);
      }
      __syncthreads();  /* shared is free */
    }
    if (first + thread < rows) K::finish(in, row, false, levels.end(in));
  }
}
