/* Scatters. K: target(in, position) is the storage index of the target, or -1; write(in, position,
   target) puts the value there. */

/* The last point that goes to each target: `winners` are 0 before, point + 1 after. */
template <class K>
FUNCTION void scatter_vote(const typename K::Arguments& in, i64 points, u64* winners) {
  const i64 stride = (i64)gridDim.x * K::THREADS;
  u32 turn = 0;
#pragma unroll 1
  for (i64 at = (i64)blockIdx.x * K::THREADS + threadIdx.x; at < points; at += stride) {
    const i64 target = K::target(in, at);
    if (target >= 0) atomicMax(winners + target, (u64)at + 1);
    if (is_over_by(in.failure, turn)) return;
  }
}

template <class K>
FUNCTION void scatter_write(const typename K::Arguments& in, i64 points, const u64* winners) {
  const i64 stride = (i64)gridDim.x * K::THREADS;
  u32 turn = 0;
#pragma unroll 1
  for (i64 at = (i64)blockIdx.x * K::THREADS + threadIdx.x; at < points; at += stride) {
    const i64 target = K::target(in, at);
    if (target >= 0 && winners[target] == (u64)at + 1) K::write(in, at, target);
    if (is_over_by(in.failure, turn)) return;
  }
}

/* N consecutive points. */
template <class K, int N, class Each>
FUNCTION void scatter_vector(const typename K::Arguments& in, i64 at,
                             const typename K::template Loaded<N>& from, const Each& each) {
#pragma unroll
  for (int lane = 0; lane < N; lane++) {
    const i64 target = K::template target<N>(in, at + lane, from, lane);
    if (target >= 0) each.template point<N>(in, at + lane, target, from, lane);
  }
}

/* All points that have a target, in any order: one or two vectors in a turn of a thread. K: WIDTH, aligned(in),
   Loaded, load(in, number, from), target(in, number, from, lane). */
template <class K, class Each>
FUNCTION void scatter_points(const typename K::Arguments& in, i64 points, const Each& each) {
  constexpr int WIDTH = K::WIDTH;
  constexpr bool TWICE = WIDTH <= 4;
  const i64 stride = (i64)gridDim.x * K::THREADS, thread = (i64)blockIdx.x * K::THREADS + threadIdx.x;
  i64 whole = 0;
  u32 turn = 0;
  if constexpr (WIDTH > 1) {
    if (K::aligned(in)) whole = points & ~(i64)(WIDTH - 1);
#pragma unroll 1
    for (i64 at = thread * WIDTH; at < whole; at += (TWICE ? 2 : 1) * stride * WIDTH) {
      typename K::template Loaded<WIDTH> from, of_next;
      const i64 next = TWICE ? at + stride * WIDTH : whole;
      K::load(in, at, from);
      if (next < whole) K::load(in, next, of_next);
      scatter_vector<K, WIDTH>(in, at, from, each);
      if (next < whole) scatter_vector<K, WIDTH>(in, next, of_next, each);
      if (is_over_by(in.failure, turn)) return;
    }
  }
#pragma unroll 1
  for (i64 at = whole + thread; at < points; at += stride) {
    typename K::template Loaded<1> from;
    K::load(in, at, from);
    scatter_vector<K, 1>(in, at, from, each);
    if (is_over_by(in.failure, turn)) return;
  }
}

/* Operators that the machine has as atomic operations, and that are exact in any order. K:
   update(in, number, target, from, lane). */
template <class K> struct Update {
  template <int N>
  FUNCTION_MEMBER void point(const typename K::Arguments& in, i64 at, i64 target,
                             const typename K::template Loaded<N>& from, int lane) const {
    K::template update<N>(in, at, target, from, lane);
  }
};
template <class K> FUNCTION void scatter_update(const typename K::Arguments& in, i64 points) {
  scatter_points<K>(in, points, Update<K>{});
}

/* As scatter_update into few targets: each block of threads combines on its own first. K: Bin, zero_bin
   (neutral), update_bin(in, number, bin, from, lane) in shared memory, flush(in, target, bin). */
constexpr int BINS = 1024;
template <class K> struct UpdateBin {
  typename K::Bin* bins;
  template <int N>
  FUNCTION_MEMBER void point(const typename K::Arguments& in, i64 at, i64 target,
                             const typename K::template Loaded<N>& from, int lane) const {
    K::template update_bin<N>(in, at, bins + target, from, lane);
  }
};
template <class K>
FUNCTION void scatter_bins(const typename K::Arguments& in, i64 points, int bins) {
  __shared__ typename K::Bin local[BINS];
  const int thread = threadIdx.x;
#pragma unroll 1
  for (int bin = thread; bin < bins; bin += K::THREADS) local[bin] = K::zero_bin();
  __syncthreads();  /* zero bins */
  scatter_points<K>(in, points, UpdateBin<K>{local});
  __syncthreads();  /* complete */
#pragma unroll 1
  for (int bin = thread; bin < bins; bin += K::THREADS) K::flush(in, bin, local[bin]);
}

/* Any operator, in the order of the points: after sorting them by target, runs of equal targets are rows,
   which fold as ragged ones do, level by level; only where they begin is not known beforehand. K as for
   these, over the sorted points: the row of a run is the position of its first point, and finish(in,
   row, empty, result) combines what the target had with the result. */

/* Sorted targets; those of points that are dropped are `dropped`, and behind all others. */
template <class T> struct Runs {
  const T* targets;
  i64 positions;
  T dropped;
  /* The first position behind `low` and before `high` that has another target than `low`, or `high`. */
  FUNCTION_MEMBER i64 end_between(i64 low, i64 high) const {
    const T target = targets[low];
    while (low + 1 < high) {
      const i64 middle = (low + high) >> 1;
      if (targets[middle] == target) low = middle;
      else high = middle;
    }
    return high;
  }
  /* The first position from `low` on, up to `high`, that has the target of `high`. */
  FUNCTION_MEMBER i64 start_between(i64 low, i64 high) const {
    const T target = targets[high];
    while (low < high) {
      const i64 middle = (low + high) >> 1;
      if (targets[middle] == target) high = middle;
      else low = middle + 1;
    }
    return low;
  }
  /* The first position that has the target of a position, by one warp: in steps twice as long each, all
     at once, then between two of them by 32 at a time. */
  FUNCTION_MEMBER i64 start_by_warp(i64 position) const {
    const int lane = threadIdx.x % 32;
    const T target = targets[position];
    i64 at = position - (1ll << lane);
    u32 equal = __ballot_sync(ALL_LANES, at >= 0 && targets[at] == target);
    const int steps = __popc(equal);
    /* `high` has the target, `low` has not. */
    i64 low = steps == 32 ? -1 : position - (1ll << steps);
    i64 high = steps == 0 ? position : position - (1ll << (steps - 1));
    if (low < -1) low = -1;
#pragma unroll 1
    while (high - low > 1) {
      const i64 step = (high - low + 31) / 32;
      at = low + step * (lane + 1);
      equal = __ballot_sync(ALL_LANES, at >= high || targets[at] == target);
      const int first = __ffs((int)equal) - 1;
      high = smaller(high, low + step * (first + 1));
      low += step * first;
    }
    return high;
  }
  FUNCTION_MEMBER i64 start(i64 row) const { return row; }
  FUNCTION_MEMBER i64 end(i64 row) const { return end_between(row, positions); }
  FUNCTION_MEMBER i64 open_at(i64 position) const {
    return targets[position] == dropped ? -1 : start_between(0, position);
  }
};

/* How far it is from a position to the next one with a bit, at most 64; more, if there is none so near. */
FUNCTION int until_next(const u32* bits, int position) {
  const int word = (position + 1) / 32, shift = (position + 1) % 32;
  u64 behind = ((u64)bits[word + 1] << 32 | bits[word]) >> shift;
  if (shift > 0) behind |= (u64)bits[word + 2] << (64 - shift);
  return behind == 0 ? TREE + 1 : __ffsll((i64)behind);
}

/* A block of threads has SPAN positions, and the blocks of the tree that begin there. */
template <class K, class T>
FUNCTION void scatter_runs(const typename K::Arguments& in, const Runs<T>& runs, Nodes<K> blocks) {
  constexpr int STAGED = K::SPAN + TREE;
  __shared__ typename K::template Array<STAGED / TREE * (TREE + 1)> staged;
  __shared__ u32 heads[STAGED / 32];  /* a bit where a run begins, and behind the last one */
  __shared__ i64 open;                /* where the first position's run begins */
  const i64 first = (i64)blockIdx.x * K::SPAN;
  const int thread = threadIdx.x;
  if (runs.targets[first] == runs.dropped) return;
  /* So many loads of a thread are under way at once: they do not depend on targets, so what is dropped,
     or not there, is loaded too. */
  constexpr int EACH = 4;
#pragma unroll 1
  for (int base = thread; base < STAGED; base += EACH * K::THREADS) {
    T target[EACH], before[EACH];
    typename K::Element value[EACH];
#pragma unroll
    for (int item = 0; item < EACH; item++) {
      const i64 position = smaller(first + base + item * K::THREADS, runs.positions - 1);
      target[item] = runs.targets[position];
      before[item] = runs.targets[position > 0 ? position - 1 : 0];
      value[item] = K::element(in, 0, position);
    }
#pragma unroll
    for (int item = 0; item < EACH; item++) {
      const int at = base + item * K::THREADS;
      const i64 position = first + at;
      const bool begins =
          position >= runs.positions || position == 0 || target[item] != before[item];
      const u32 bits = __ballot_sync(ALL_LANES, begins);
      if (at >= STAGED) continue;
      staged.put(staged_at(at), value[item]);
      if (thread % 32 == 0) heads[at / 32] = bits;
    }
  }
  if (thread < 32) {
    const i64 start = runs.start_by_warp(first);
    if (thread == 0) open = start;
  }
  __syncthreads();  /* staged runs */
  const int here = (int)smaller(runs.positions - first, K::SPAN);
#pragma unroll 1
  for (int at = thread; at < here; at += K::THREADS) {
    if ((heads[at / 32] >> at % 32 & 1) == 0 || runs.targets[first + at] == runs.dropped) continue;
    const int length = until_next(heads, at);
    const typename K::Element value = fold_block<K>(in, staged, at, length);
    if (length <= TREE) K::finish(in, first + at, false, value);
    else blocks.add((first + at) / TREE, first + at, value);
  }
  /* The other blocks. Of the run that is open where 64 positions begin, one may begin within them. */
#pragma unroll 1
  for (int at = thread * TREE; at < here; at += K::THREADS * TREE) {
    const i64 position = first + at;
    if ((heads[at / 32] & 1) || runs.targets[position] == runs.dropped) continue;
    const i64 start = runs.targets[first] == runs.targets[position]
                          ? open : runs.start_between(first, position);
    const int ahead = (int)(blocks_of(position - start) * TREE - (position - start));
    if (until_next(heads, at) <= ahead) continue;
    const int from = at + ahead;
    blocks.next.put(position / TREE, fold_block<K>(in, staged, from, until_next(heads, from)));
  }
}
