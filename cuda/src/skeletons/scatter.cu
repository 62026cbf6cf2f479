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

/* Operators that the machine has as atomic operations, and that are exact in any order. K:
   update(in, position, target). */
template <class K> FUNCTION void scatter_update(const typename K::Arguments& in, i64 points) {
  const i64 stride = (i64)gridDim.x * K::THREADS;
  u32 turn = 0;
#pragma unroll 1
  for (i64 at = (i64)blockIdx.x * K::THREADS + threadIdx.x; at < points; at += stride) {
    const i64 target = K::target(in, at);
    if (target >= 0) K::update(in, at, target);
    if (is_over_by(in.failure, turn)) return;
  }
}

/* As scatter_update into few targets: each block of threads combines on its own first. K: Bin, zero_bin
   (neutral), update_bin(in, position, bin) in shared memory, flush(in, target, bin). */
constexpr int BINS = 1024;
template <class K>
FUNCTION void scatter_bins(const typename K::Arguments& in, i64 points, int bins) {
  __shared__ typename K::Bin local[BINS];
  const int thread = threadIdx.x;
  for (int bin = thread; bin < bins; bin += K::THREADS) local[bin] = K::zero_bin();
  __syncthreads();  /* zero */
  const i64 stride = (i64)gridDim.x * K::THREADS;
  u32 turn = 0;
#pragma unroll 1
  for (i64 at = (i64)blockIdx.x * K::THREADS + threadIdx.x; at < points; at += stride) {
    const i64 target = K::target(in, at);
    if (target >= 0) K::update_bin(in, at, local + target);
    if (is_over_by(in.failure, turn)) break;
  }
  __syncthreads();  /* complete */
  for (int bin = thread; bin < bins; bin += K::THREADS) K::flush(in, bin, local[bin]);
}

/* Any operator, in the order of the points: after sorting them by target. K as for reductions, over the
   sorted points; combine_into(in, target, value). The first of each run of equal targets folds it. */
template <class K>
FUNCTION void scatter_runs(const typename K::Arguments& in, i64 points, const u64* targets,
                           u64 dropped) {
  const i64 stride = (i64)gridDim.x * K::THREADS;
  u32 turn = 0;
#pragma unroll 1
  for (i64 at = (i64)blockIdx.x * K::THREADS + threadIdx.x; at < points; at += stride) {
    const u64 target = targets[at];
    if (target == dropped || (at > 0 && targets[at - 1] == target)) continue;
    i64 end = at + 1;
    while (end < points && targets[end] == target) {
      if ((++end & 4095) == 0 && is_over(in.failure)) return;
    }
    K::combine_into(in, (i64)target, fold_alone<K>(in, 0, at, end - at));
    if (is_over_by(in.failure, turn)) return;
  }
}
