/* Stable sorting by digits of eight bits, from the least significant one: count the digits of each
   tile, sum the counts digit by digit, send every element behind those that come before it. Keys are
   u64 in the order that is wanted. */
constexpr int DIGITS = 256;
constexpr int SORT_ITEMS = 4;

FUNCTION u32 digit_of(u64 key, int shift) { return (u32)(key >> shift) & (DIGITS - 1); }

/* counts[digit * tiles + tile]. */
template <int THREADS>
FUNCTION void sort_count(const u64* keys, i64 points, int shift, i64 tiles, u64* counts) {
  __shared__ u32 local[DIGITS];
  const int thread = threadIdx.x;
  for (int digit = thread; digit < DIGITS; digit += THREADS) local[digit] = 0;
  __syncthreads();  /* zero */
  const i64 first = (i64)blockIdx.x * (THREADS * SORT_ITEMS);
#pragma unroll
  for (int item = 0; item < SORT_ITEMS; item++) {
    const i64 at = first + item * THREADS + thread;
    if (at < points) atomicAdd(local + digit_of(keys[at], shift), 1u);
  }
  __syncthreads();  /* counted */
  for (int digit = thread; digit < DIGITS; digit += THREADS) {
    counts[digit * tiles + blockIdx.x] = local[digit];
  }
}

/* The exclusive sums of the counts, in place, by one block of threads. */
template <int THREADS> FUNCTION void sort_sum(u64* counts, i64 length) {
  __shared__ u64 warps[THREADS / 32];
  const int thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
  u64 before = 0;
#pragma unroll 1
  for (i64 base = 0; base < length; base += THREADS) {
    const i64 at = base + thread;
    const u64 count = at < length ? counts[at] : 0;
    u64 sum = count;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const u64 other = __shfl_up_sync(ALL_LANES, sum, step);
      if (lane >= step) sum += other;
    }
    if (lane == 31) warps[warp] = sum;
    __syncthreads();  /* warps */
    u64 offset = before;
#pragma unroll 1
    for (int other = 0; other < THREADS / 32; other++) {
      if (other < warp) offset += warps[other];
      before += warps[other];
    }
    __syncthreads();  /* warps are free */
    if (at < length) counts[at] = offset + sum - count;
  }
}

template <int THREADS>
FUNCTION void sort_send(const u64* keys, const u64* values, i64 points, int shift, i64 tiles,
                        const u64* counts, u64* keys_out, u64* values_out) {
  constexpr int WARPS = THREADS / 32;
  __shared__ u32 local[WARPS * DIGITS];
  const int thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
  for (int at = thread; at < WARPS * DIGITS; at += THREADS) local[at] = 0;
  __syncthreads();  /* zero */
  /* Each warp has consecutive elements, so that ranks follow the order. */
  const i64 first = (i64)blockIdx.x * (THREADS * SORT_ITEMS) + warp * (32 * SORT_ITEMS);
  u64 key[SORT_ITEMS];
  u32 rank[SORT_ITEMS];
#pragma unroll
  for (int item = 0; item < SORT_ITEMS; item++) {
    const i64 at = first + item * 32 + lane;
    key[item] = at < points ? keys[at] : 0;
    /* Lanes beyond the end count for no digit. */
    const u32 digit = at < points ? digit_of(key[item], shift) : (u32)DIGITS;
    const u32 equal = __match_any_sync(ALL_LANES, digit);
    const int leader = __ffs((int)equal) - 1;
    u32 before = 0;
    if (lane == leader && digit < DIGITS) {
      before = local[warp * DIGITS + digit];
      local[warp * DIGITS + digit] = before + (u32)__popc(equal);
    }
    before = __shfl_sync(ALL_LANES, before, leader);
    rank[item] = before + (u32)__popc(equal & ((1u << lane) - 1));
    __syncwarp();  /* next item */
  }
  __syncthreads();  /* ranked */
  for (int digit = thread; digit < DIGITS; digit += THREADS) {
    u32 sum = 0;
#pragma unroll 1
    for (int other = 0; other < WARPS; other++) {
      const u32 count = local[other * DIGITS + digit];
      local[other * DIGITS + digit] = sum;
      sum += count;
    }
  }
  __syncthreads();  /* offsets */
#pragma unroll
  for (int item = 0; item < SORT_ITEMS; item++) {
    const i64 at = first + item * 32 + lane;
    if (at >= points) continue;
    const u32 digit = digit_of(key[item], shift);
    const i64 to =
        (i64)(counts[digit * tiles + blockIdx.x] + local[warp * DIGITS + digit] + rank[item]);
    keys_out[to] = key[item];
    values_out[to] = values[at];
  }
}

/* Bits of floats in their order: -inf ... -0 < +0 ... inf, then NaN. */
FUNCTION u64 ordered_f32(u32 bits) { return bits >> 31 ? (u32)~bits : bits | 0x80000000u; }
FUNCTION u64 ordered_f64(u64 bits) { return bits >> 63 ? ~bits : bits | 0x8000000000000000ull; }

/* Keys in an order that was found so far. */
FUNCTION void gather_keys(const u64* keys, const u64* order, i64 points, u64* out, i64 threads) {
  const i64 stride = (i64)gridDim.x * threads;
#pragma unroll 1
  for (i64 at = (i64)blockIdx.x * threads + threadIdx.x; at < points; at += stride) {
    out[at] = order ? keys[order[at]] : (u64)at;
  }
}

/* The rows of the points, in an order that was found so far. */
FUNCTION void row_keys(Rows rows, const Divisor& length, const u64* order, i64 points, u64* out,
                       i64 threads) {
  const i64 stride = (i64)gridDim.x * threads;
#pragma unroll 1
  for (i64 at = (i64)blockIdx.x * threads + threadIdx.x; at < points; at += stride) {
    const i64 from = (i64)order[at];
    out[at] = (u64)(rows.offsets ? row_of(rows.offsets, rows.count, from) : quotient(from, length));
  }
}

/* The order as the language has it: within rows of one length, if that is not 0, else positions. */
FUNCTION void order_in_rows(const u64* order, i64 points, const Divisor& length, i64* out,
                            i64 threads) {
  const i64 stride = (i64)gridDim.x * threads;
#pragma unroll 1
  for (i64 at = (i64)blockIdx.x * threads + threadIdx.x; at < points; at += stride) {
    out[at] = (i64)order[at] - (length.by ? quotient(at, length) * length.by : 0);
  }
}
