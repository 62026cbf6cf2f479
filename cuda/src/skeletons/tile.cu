/* Folds of rows whose elements share what they read. K as for reductions, and: Left (what belongs to row i
   and place k), Right (what belongs to column j and place k), arrays LeftArray<N> and RightArray<N> of
   them, left(in, ...), right(in, ...), element_of(in, ..., left, right); and Kept, which is what has to be
   kept of an element, settle(element), which yields that, and element(kept), which combines as what was
   settled.

   Every thread folds its rows on its own, from left to right, 64 by 64: that is the one tree. */

/* Rows that are points of a grid `down` by `across`, as in a matrix product; before them may come a batch
   of grids. A block of threads has a tile of the grid, a thread EACH by EACH of its points, so that each
   value in shared memory is used by so many threads, and in registers by so many points. Its rows and
   columns are runs of RUN next to each other, which come from shared memory at once. */
constexpr int LANES = 16, RUN = 4;
FUNCTION int lesser(int a, int b) { return a < b ? a : b; }
template <class K, int EACH> struct GridTile {
  static constexpr int GROUPS = K::THREADS / LANES, DOWN = GROUPS * EACH, ACROSS = LANES * EACH;
  /* A run apart from a multiple of the banks, as threads next to each other write along k. */
  static constexpr int DOWN_PITCH = DOWN + RUN, ACROSS_PITCH = ACROSS + RUN;
  static constexpr int BYTES = DOWN_PITCH * (int)sizeof(typename K::Left) +
                               ACROSS_PITCH * (int)sizeof(typename K::Right);
  /* A power of two, for which 20 KiB of shared memory suffice. */
  static constexpr int DEPTH = BYTES * 16 <= 20480 ? 16 : BYTES * 8 <= 20480 ? 8 : 4;
  /* What a thread stages at once, and whether it reads that while the stage before is folded. */
  static constexpr int LEFTS = (DOWN * DEPTH + K::THREADS - 1) / K::THREADS;
  static constexpr int RIGHTS = (ACROSS * DEPTH + K::THREADS - 1) / K::THREADS;
  static constexpr bool AHEAD = LEFTS * (int)sizeof(typename K::Left) +
                                RIGHTS * (int)sizeof(typename K::Right) <= 64;
  /* Of what a stage holds of a side, the places of what a thread has in a turn: neighbours along k are next to each other
     where `ALONG`, else of the `SIZE` rows or columns. What is the same in all turns is computed once. */
  template <int SIZE> FUNCTION int minor_place(int turn, int thread) {
    return K::THREADS % SIZE == 0   ? thread % SIZE
           : SIZE % K::THREADS == 0 ? turn % (SIZE / K::THREADS) * K::THREADS + thread
                                    : (turn * K::THREADS + thread) % SIZE;
  }
  template <int SIZE> FUNCTION int major_place(int turn, int thread) {
    return K::THREADS % SIZE == 0   ? turn * (K::THREADS / SIZE) + thread / SIZE
           : SIZE % K::THREADS == 0 ? turn / (SIZE / K::THREADS)
                                    : (turn * K::THREADS + thread) / SIZE;
  }
  template <bool ALONG, int SIZE> FUNCTION int along(int turn, int thread) {
    return ALONG ? minor_place<DEPTH>(turn, thread) : major_place<SIZE>(turn, thread);
  }
  template <bool ALONG, int SIZE> FUNCTION int across(int turn, int thread) {
    return ALONG ? major_place<DEPTH>(turn, thread) : minor_place<SIZE>(turn, thread);
  }
  template <int SIZE> FUNCTION bool has(int turn, int thread) {
    return SIZE * DEPTH % K::THREADS == 0 || turn * K::THREADS + thread < SIZE * DEPTH;
  }
  /* Which columns and rows of its tile a thread has: a warp has 8 lanes of 4 groups, so that it reads no more of shared
     memory than it has to, and threads next to each other, of which two in turn have the same lane and the next two the
     same group, so that half warps read 16 bytes of each thread at once (as in CUTLASS, `thread_layout`). */
  static_assert(K::THREADS % 64 == 0, "two warps have the lanes of four groups");
  FUNCTION int lane(int thread) { return thread / 32 % 2 * 8 + thread / 4 % 4 * 2 + thread % 2; }
  FUNCTION int group(int thread) { return thread / 64 * 4 + thread / 16 % 2 * 2 + thread / 2 % 2; }
  /* Of the rows or columns of a tile the one that a thread has as its number `each`. */
  FUNCTION int place(int groups, int own, int each) {
    return each / RUN * (groups * RUN) + own * RUN + each % RUN;
  }
};

template <class K, int EACH>
FUNCTION void reduce_grid(const typename K::Arguments& in, i64 down, i64 across, i64 length) {
  typedef GridTile<K, EACH> Tile;
  constexpr int DOWN = Tile::DOWN, ACROSS = Tile::ACROSS, DEPTH = Tile::DEPTH;
  alignas(16) __shared__ typename K::template LeftArray<DEPTH * Tile::DOWN_PITCH> lefts;
  alignas(16) __shared__ typename K::template RightArray<DEPTH * Tile::ACROSS_PITCH> rights;
  const int thread = threadIdx.x, lane = Tile::lane(thread), group = Tile::group(thread);
  const u32 tiles_across = (u32)((across + ACROSS - 1) / ACROSS);
  const u32 tiles = (u32)((down + DOWN - 1) / DOWN) * tiles_across;
  const u32 batch = blockIdx.x / tiles, tile = blockIdx.x - batch * tiles;
  const u32 tile_down = tile / tiles_across;
  const i64 first_i = (i64)tile_down * DOWN;
  const i64 first_j = (i64)(tile - tile_down * tiles_across) * ACROSS;
  const int rows = (int)smaller(down - first_i, DOWN);
  const int columns = (int)smaller(across - first_j, ACROSS);
  typename K::Left next_left[Tile::LEFTS];
  typename K::Right next_right[Tile::RIGHTS];
  auto read = [&](i64 base) {
    const int last = (int)smaller(length - base, DEPTH) - 1;
#pragma unroll
    for (int turn = 0; turn < Tile::LEFTS; turn++) {
      const int k = lesser(Tile::template along<K::LEFT_ALONG, DOWN>(turn, thread), last);
      const int row = lesser(Tile::template across<K::LEFT_ALONG, DOWN>(turn, thread), rows - 1);
      next_left[turn] = K::left(in, batch, first_i + row, 0, base + k);
    }
#pragma unroll
    for (int turn = 0; turn < Tile::RIGHTS; turn++) {
      const int k = lesser(Tile::template along<K::RIGHT_ALONG, ACROSS>(turn, thread), last);
      const int column = lesser(Tile::template across<K::RIGHT_ALONG, ACROSS>(turn, thread), columns - 1);
      next_right[turn] = K::right(in, batch, 0, first_j + column, base + k);
    }
  };
  auto stage = [&]() {
#pragma unroll
    for (int turn = 0; turn < Tile::LEFTS; turn++) {
      const int k = Tile::template along<K::LEFT_ALONG, DOWN>(turn, thread);
      const int row = Tile::template across<K::LEFT_ALONG, DOWN>(turn, thread);
      if (Tile::template has<DOWN>(turn, thread)) lefts.put(k * Tile::DOWN_PITCH + row, next_left[turn]);
    }
#pragma unroll
    for (int turn = 0; turn < Tile::RIGHTS; turn++) {
      const int k = Tile::template along<K::RIGHT_ALONG, ACROSS>(turn, thread);
      const int column = Tile::template across<K::RIGHT_ALONG, ACROSS>(turn, thread);
      if (Tile::template has<ACROSS>(turn, thread)) rights.put(k * Tile::ACROSS_PITCH + column, next_right[turn]);
    }
  };
  typename K::Kept fold[EACH][EACH];
  /* What the blocks and the blocks of blocks before have come to, of which 2^18 elements have two levels.
     It is wanted once in 64 steps: an array with computed numbers is not in registers. What is seldom done goes over
     it in a loop: written out for each point, it would take the compiler longer than all else. */
  alignas(16) typename K::Kept before[2][EACH * EACH];
  constexpr int POINTS = EACH * EACH;
  auto take = [&](i64 base, int k, bool begins) {
    typename K::Left left[EACH];
    typename K::Right right[EACH];
#pragma unroll
    for (int each = 0; each < EACH; each++) {
      left[each] = lefts.get(k * Tile::DOWN_PITCH + Tile::place(Tile::GROUPS, group, each));
      right[each] = rights.get(k * Tile::ACROSS_PITCH + Tile::place(LANES, lane, each));
    }
#pragma unroll
    for (int y = 0; y < EACH; y++) {
#pragma unroll
      for (int x = 0; x < EACH; x++) {
        const i64 i = first_i + lesser(Tile::place(Tile::GROUPS, group, y), rows - 1);
        const i64 j = first_j + lesser(Tile::place(LANES, lane, x), columns - 1);
        const typename K::Element next =
            K::element_of(in, batch, i, j, base + k, left[y], right[x]);
        fold[y][x] = K::settle(begins ? next : K::combine(in, K::element(fold[y][x]), next));
      }
    }
  };
  /* What reads the first stage is the text that reads all others, before there is anything to fold. */
#pragma unroll 1
  for (i64 base = Tile::AHEAD ? -DEPTH : 0; base < length; base += DEPTH) {
    if (!Tile::AHEAD) read(base);
    if (base >= 0) {
      stage();
      __syncthreads();  /* staged */
    }
    if (Tile::AHEAD && base + DEPTH < length) read(base + DEPTH);
    if (base < 0) continue;
    const int here = (int)smaller(length - base, DEPTH);
    /* An element that is alone in its block is combined as it is, not settled, with what is before it. What is
       folded of it is not wanted then. */
    const i64 block = base / TREE;
    const bool alone = base % TREE == 0 && base > 0 && base + 1 == length;
    const bool begins = base % TREE == 0 && !alone;
    if (alone) {
      typename K::Kept(&own)[POINTS] = before[block % TREE == 0];
#pragma unroll 1
      for (int each = 0; each < POINTS; each++) {
        const int row = Tile::place(Tile::GROUPS, group, each / EACH);
        const int column = Tile::place(LANES, lane, each % EACH);
        const i64 i = first_i + lesser(row, rows - 1), j = first_j + lesser(column, columns - 1);
        const typename K::Element next =
            K::element_of(in, batch, i, j, base, lefts.get(row), rights.get(column));
        own[each] = K::settle(K::combine(in, K::element(own[each]), next));
      }
    }
    if (begins) {
      take(base, 0, true);
    } else {
      take(base, 0, false);
    }
    if (here == DEPTH) {
#pragma unroll 3
      for (int k = 1; k < DEPTH; k++) take(base, k, false);
    } else {
#pragma unroll 1
      for (int k = 1; k < here; k++) take(base, k, false);
    }
    __syncthreads();  /* shared is free */
    const i64 end = base + here;
    if (end % TREE != 0 && end != length) continue;
    /* A block of the tree is complete; maybe 64 of them are. */
    if (!alone) {
      if (block % TREE != 0) {
#pragma unroll
        for (int y = 0; y < EACH; y++) {
#pragma unroll
          for (int x = 0; x < EACH; x++) {
            const typename K::Element own = K::element(before[0][y * EACH + x]);
            fold[y][x] = K::settle(K::combine(in, own, K::element(fold[y][x])));
          }
        }
      }
#pragma unroll
      for (int y = 0; y < EACH; y++) {
#pragma unroll
        for (int x = 0; x < EACH; x++) before[0][y * EACH + x] = fold[y][x];
      }
    }
    if ((block % TREE != TREE - 1 && end != length) || (alone && block % TREE == 0)) continue;
#pragma unroll 1
    for (int each = 0; each < POINTS; each++) {
      typename K::Kept& own = before[1][each];
      const typename K::Element next = K::element(before[0][each]);
      own = block < TREE ? before[0][each] : K::settle(K::combine(in, K::element(own), next));
    }
  }
#pragma unroll 1
  for (int each = 0; each < POINTS; each++) {
    const int row = Tile::place(Tile::GROUPS, group, each / EACH);
    const int column = Tile::place(LANES, lane, each % EACH);
    if (row < rows && column < columns) {
      K::finish(in, (batch * down + first_i + row) * across + first_j + column, false,
                K::element(before[1][each]));
    }
  }
}

/* Many rows of which each goes through the same places, which are staged for all rows of a block of threads: it has 32, and
   each warp folds every so many blocks of the tree of all of them, a lane per row. The first warp puts together, in order,
   what the blocks have come to. So 32 rows keep as many threads busy as a block has. */
template <class K> FUNCTION constexpr int blocks_of_pairs() {
  int blocks = K::THREADS / 32;
  const int bytes = TREE * (int)sizeof(typename K::Right) + 32 * (int)sizeof(typename K::Element);
  while (blocks > 1 && blocks * bytes > 24576) blocks /= 2;
  return blocks;
}
template <class K>
FUNCTION void reduce_pairs(const typename K::Arguments& in, i64 rows, i64 length) {
  constexpr int BLOCKS = blocks_of_pairs<K>(), DEPTH = BLOCKS * TREE;
  __shared__ typename K::template RightArray<DEPTH> rights;
  __shared__ typename K::template Array<BLOCKS * 32> folded;
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const i64 stride = (i64)gridDim.x * 32;
#pragma unroll 1
  for (i64 first = (i64)blockIdx.x * 32; first < rows; first += stride) {
    /* Beyond the rows, the last one is folded once more, and not stored: all reach the barriers. */
    const i64 row = smaller(first + lane, rows - 1);
    const typename K::Left left = K::left(in, row, 0);
    Levels<K, LEVELS + 2> levels;
    levels.begin();
#pragma unroll 1
    for (i64 base = 0; base < length; base += DEPTH) {
      if (base > 0 && base % TILE == 0 && is_over_for_all(in.failure)) return;
      const int here = (int)smaller(length - base, DEPTH);
#pragma unroll 1
      for (int at = thread; at < here; at += K::THREADS) {
        rights.put(at, K::right(in, row, base + at));
      }
      __syncthreads();  /* staged */
      const int block = warp * TREE;
      if (block < here && warp < BLOCKS) {
        const int end = here - block < TREE ? here : block + TREE;
        typename K::Element value = K::element_of(in, row, base + block, left, rights.get(block));
#pragma unroll 4
        for (int k = block + 1; k < end; k++) {
          const typename K::Element next = K::element_of(in, row, base + k, left, rights.get(k));
          value = K::combine(in, value, next);
        }
        folded.put(warp * 32 + lane, value);
      }
      __syncthreads();  /* shared is free */
      if (warp > 0) continue;
#pragma unroll 1
      for (int other = 0; other * TREE < here; other++) levels.push(in, folded.get(other * 32 + lane));
    }
    if (warp == 0 && first + lane < rows) K::finish(in, row, false, levels.end(in));
  }
}
