/* Stable compaction in one pass. K: Kept, kept(in, position, values) (whether the point is kept, and
   what of it), store(in, index, values), ITEMS (points of a thread).

   A tile's status is one word: the upper two bits say whether the rest counts the tile (1) or all up to
   it (2). Counts are exact in any bracketing, so here the usual look-back is right. */
constexpr u64 COUNTED = 1ull << 62, SUMMED = 2ull << 62, COUNT_MASK = (1ull << 62) - 1;

/* How many words a lane looks at together: each look waits for the second-level cache. */
constexpr int LOOKS = 4;

/* How many are kept before a tile, by one warp. */
FUNCTION u64 count_before(u64* status, i64 tile, u64 count) {
  const int lane = threadIdx.x & 31;
  if (lane == 0) store_relaxed(status + tile, (tile == 0 ? SUMMED : COUNTED) | count);
  if (tile == 0) return 0;
  u64 before = 0;
  /* As many tiles as may be under way on a device are a few looks away. */
#pragma unroll 1
  for (i64 base = tile - 1, summed = 0; !summed; base -= 32 * LOOKS) {
    u64 words[LOOKS];
#pragma unroll
    for (int look = 0; look < LOOKS; look++) {
      const i64 at = base - 32 * look - lane;
      words[look] = at >= 0 ? load_relaxed(status + at) : SUMMED;
    }
#pragma unroll
    for (int look = 0; look < LOOKS; look++) {
      const i64 at = base - 32 * look - lane;
      u64 word = words[look];
      while (!summed && word >> 62 == 0) {
        __nanosleep(32);
        word = load_relaxed(status + at);
      }
      const u32 sums = __ballot_sync(ALL_LANES, word >> 62 == 2);
      const int stop = sums ? __ffs((int)sums) - 1 : 31;
      if (!summed && lane <= stop) before += word & COUNT_MASK;
      summed |= sums;
    }
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) before += __shfl_xor_sync(ALL_LANES, before, step);
  if (lane == 0) store_relaxed(status + tile, SUMMED | (before + count));
  return before;
}

/* `positions`, if any, gets for each point how many before it are kept, and at the end the total. */
template <class K>
FUNCTION void filter(const typename K::Arguments& in, i64 points, u64* status, u32* ticket,
                     i64* total, i64* positions) {
  constexpr int WARPS = K::THREADS / 32, ITEMS = K::ITEMS, COUNTS = ITEMS * WARPS;
  __shared__ u32 counts[COUNTS];
  __shared__ u32 number;
  __shared__ u64 base;
  const int thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
  if (thread == 0) number = atomicAdd(ticket, 1u);
  __syncthreads();  /* ticket */
  const i64 tile = number, first = tile * (K::THREADS * ITEMS);
  const int last = (int)smaller(points - first, K::THREADS * ITEMS) - 1;
  typename K::Kept values[ITEMS];
  bool keeps[ITEMS];
  u32 kept[ITEMS];
  /* Without a branch, so that all loads are under way at once: there is a last point. */
#pragma unroll
  for (int item = 0; item < ITEMS; item++) {
    const int at = item * K::THREADS + thread;
    keeps[item] = K::kept(in, first + (at < last ? at : last), values[item]) && at <= last;
  }
#pragma unroll
  for (int item = 0; item < ITEMS; item++) {
    kept[item] = __ballot_sync(ALL_LANES, keeps[item]);
    if (lane == 0) counts[item * WARPS + warp] = (u32)__popc(kept[item]);
  }
  __syncthreads();  /* counted */
  if (warp == 0) {
    /* How many are kept before each: those of a lane, then of all lanes. */
    constexpr int EACH = (COUNTS + 31) / 32;
    u32 part[EACH], own = 0;
#pragma unroll
    for (int each = 0; each < EACH; each++) {
      const int at = lane * EACH + each;
      part[each] = at < COUNTS ? counts[at] : 0;
      own += part[each];
    }
    u32 until = own;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const u32 other = __shfl_up_sync(ALL_LANES, until, step);
      if (lane >= step) until += other;
    }
    const u32 sum = __shfl_sync(ALL_LANES, until, 31);
    until -= own;
#pragma unroll
    for (int each = 0; each < EACH; each++) {
      const int at = lane * EACH + each;
      if (at < COUNTS) counts[at] = until;
      until += part[each];
    }
    const u64 before = count_before(status, tile, sum);
    if (lane == 0) {
      base = before;
      if (first + K::THREADS * ITEMS >= points) {
        *total = (i64)(before + sum);
        if (positions) positions[points] = (i64)(before + sum);
      }
    }
  }
  __syncthreads();  /* summed */
#pragma unroll
  for (int item = 0; item < ITEMS; item++) {
    const i64 at = first + item * K::THREADS + thread;
    const u32 below = (u32)__popc(kept[item] & ((1u << lane) - 1));
    const i64 to = (i64)(base + counts[item * WARPS + warp] + below);
    if (kept[item] >> lane & 1) K::store(in, to, values[item]);
    if (positions && at < points) positions[at] = to;
  }
}

/* The offsets of what is left of rows: the positions at their starts. */
FUNCTION void filter_offsets(u32* failure, Rows rows, i64 points, const i64* positions, i64* offsets,
                             i64 threads) {
  const i64 stride = (i64)gridDim.x * threads;
  u32 turn = 0;
#pragma unroll 1
  for (i64 row = (i64)blockIdx.x * threads + threadIdx.x; row <= rows.count; row += stride) {
    offsets[row] = positions[row == rows.count ? points : row_start(rows, row)];
    if (is_over_by(failure, turn)) return;
  }
}
