/* Stable sorting by digits of eight bits, from the least significant one, each in one pass over the keys
   (Adinets and Merrill, "Onesweep", 2022): the digits of all passes are counted beforehand, and a tile looks
   back at those before it for how many keys with each of its digits they have. Keys are unsigned numbers of
   type T in the order that is wanted; what goes with them are numbers of points, of that type too. */
constexpr int DIGITS = 256;
constexpr int SORT_ITEMS = 8;

template <class T> FUNCTION u32 digit_of(T key, int shift) {
  return (u32)(key >> shift) & (DIGITS - 1);
}

/* Keys of a thread that are under way at once. */
constexpr int COUNTED_AT = 4;

/* Adds to counts[digit position * DIGITS + digit], for all positions, of which there are at most eight. */
template <int THREADS, class T>
FUNCTION void count_digits(u32* failure, const T* keys, i64 points, int positions, u64* counts) {
  __shared__ u32 local[sizeof(T) * DIGITS];
  const int thread = threadIdx.x;
  for (int at = thread; at < positions * DIGITS; at += THREADS) local[at] = 0;
  __syncthreads();  /* zero */
  const i64 stride = (i64)gridDim.x * THREADS;
  u32 turn = 0;
#pragma unroll 1
  for (i64 at = (i64)blockIdx.x * THREADS + thread; at < points; at += COUNTED_AT * stride) {
    T key[COUNTED_AT];
#pragma unroll
    for (int each = 0; each < COUNTED_AT; each++) {
      const i64 from = at + each * stride;
      key[each] = keys[from < points ? from : at];
    }
#pragma unroll
    for (int each = 0; each < COUNTED_AT; each++) {
      if (at + each * stride >= points) continue;
#pragma unroll 1
      for (int position = 0; position < positions; position++) {
        atomicAdd(local + position * DIGITS + digit_of(key[each], 8 * position), 1u);
      }
    }
    if (is_over_by(failure, turn)) break;
  }
  __syncthreads();  /* counted */
  for (int at = thread; at < positions * DIGITS; at += THREADS) {
    if (local[at] > 0) atomicAdd(counts + at, (u64)local[at]);
  }
}

/* Tiles that are looked at together, as each look waits for the second-level cache. With three, fewer blocks of threads
   are on a multiprocessor, for want of registers. */
constexpr int LOOKED_AT = 2;

/* How many keys with a digit come before a tile; says so to the tiles behind. */
FUNCTION u64 digits_before(u64* status, i64 tile, int digit, u64 count) {
  u64* own = status + tile * DIGITS + digit;
  store_relaxed(own, (tile == 0 ? SUMMED : COUNTED) | count);
  u64 before = 0;
  bool summed = tile == 0;
#pragma unroll 1
  for (i64 at = tile - 1; !summed; at -= LOOKED_AT) {
    u64 words[LOOKED_AT];
#pragma unroll
    for (int back = 0; back < LOOKED_AT; back++) {
      words[back] = back <= at ? load_relaxed(status + (at - back) * DIGITS + digit) : SUMMED;
    }
#pragma unroll
    for (int back = 0; back < LOOKED_AT; back++) {
      u64 word = words[back];
      while (!summed && word >> 62 == 0) {
        __nanosleep(32);
        word = load_relaxed(status + (at - back) * DIGITS + digit);
      }
      if (!summed) before += word & COUNT_MASK;
      summed = summed || word >> 62 == 2;
    }
  }
  if (tile > 0) store_relaxed(own, SUMMED | (before + count));
  return before;
}

/* The element that a key was made of, or the key as it is, if nothing is to be flipped: first these bits, then others by
   whether the first one is 1. */
template <class T> struct Flips { T all, if_one, if_zero; };
template <class T> FUNCTION T restored(T key, const Flips<T>& flips) {
  const T bits = key ^ flips.all;
  return bits ^ (bits >> (8 * sizeof(T) - 1) ? flips.if_one : flips.if_zero);
}

/* One pass. `starts` are how many keys have lesser digits; `status` and `ticket` are 0 before. Without
   `values`, they are the numbers of the points; without `keys_out`, the keys are not needed any more; with `order_out`, the
   numbers are wanted there, and `values_out` is not: numbers of 64 bits are what the language has. `ALONE`, keys have nothing
   that goes with them, and go out restored. */
template <int THREADS, bool ALONE, class T>
FUNCTION void send_digits(const T* keys, const T* values, i64 points, int shift, const u64* starts,
                        u64* status, u32* ticket, T* keys_out, T* values_out, i64* order_out,
                        const Flips<T>& flips) {
  constexpr int WARPS = THREADS / 32, ITEMS = THREADS * SORT_ITEMS;
  __shared__ u32 local[WARPS * DIGITS];
  __shared__ u32 counts[DIGITS];  /* of the tile; then how many of it have lesser digits */
  __shared__ u64 bases[DIGITS];   /* where the tile's first key would go, if all had that digit */
  __shared__ T staged_keys[ITEMS], staged_values[ALONE ? 1 : ITEMS];
  __shared__ u32 number;
  const int thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
  if (thread == 0) number = atomicAdd(ticket, 1u);
  for (int at = thread; at < WARPS * DIGITS; at += THREADS) local[at] = 0;
  __syncthreads();  /* zero */
  const i64 tile = number, tile_first = tile * ITEMS;
  /* Each warp has consecutive elements, so that ranks follow the order. */
  const i64 first = tile_first + warp * (32 * SORT_ITEMS);
  T key[SORT_ITEMS];
  u32 rank[SORT_ITEMS];
#pragma unroll
  for (int item = 0; item < SORT_ITEMS; item++) {
    const i64 at = first + item * 32 + lane;
    key[item] = at < points ? keys[at] : 0;
  }
#pragma unroll
  for (int item = 0; item < SORT_ITEMS; item++) {
    const i64 at = first + item * 32 + lane;
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
    counts[digit] = sum;
    bases[digit] = starts[digit] + digits_before(status, tile, digit, sum);
  }
  __syncthreads();  /* offsets */
  if (warp == 0) {
    constexpr int EACH_LANE = DIGITS / 32;
    u32 own = 0;
#pragma unroll 1
    for (int at = 0; at < EACH_LANE; at++) own += counts[lane * EACH_LANE + at];
    u32 sum = own;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const u32 other = __shfl_up_sync(ALL_LANES, sum, step);
      if (lane >= step) sum += other;
    }
    sum -= own;
#pragma unroll 1
    for (int at = lane * EACH_LANE; at < (lane + 1) * EACH_LANE; at++) {
      const u32 count = counts[at];
      counts[at] = sum;
      bases[at] -= sum;
      sum += count;
    }
  }
  __syncthreads();  /* places */
#pragma unroll
  for (int item = 0; item < SORT_ITEMS; item++) {
    const i64 at = first + item * 32 + lane;
    if (at >= points) continue;
    const u32 digit = digit_of(key[item], shift);
    const u32 to = counts[digit] + local[warp * DIGITS + digit] + rank[item];
    staged_keys[to] = key[item];
    if (!ALONE) staged_values[to] = values ? values[at] : (T)at;
  }
  __syncthreads();  /* in order */
  const int here = (int)smaller(points - tile_first, ITEMS);
#pragma unroll 1
  for (int at = thread; at < here; at += THREADS) {
    const T own = staged_keys[at];
    const i64 to = (i64)(bases[digit_of(own, shift)] + (u64)at);
    if (ALONE) {
      keys_out[to] = restored(own, flips);
      continue;
    }
    if (keys_out) keys_out[to] = own;
    if (sizeof(T) == 4 && order_out) order_out[to] = (i64)staged_values[at];
    else values_out[to] = staged_values[at];
  }
}

/* Bits of floats in their order: -inf ... -0 < +0 ... inf, then NaN. */
FUNCTION u64 ordered_f32(u32 bits) { return bits >> 31 ? (u32)~bits : bits | 0x80000000u; }
FUNCTION u64 ordered_f64(u64 bits) { return bits >> 63 ? ~bits : bits | 0x8000000000000000ull; }

/* Keys in an order that was found so far, or as they are. */
template <int THREADS, class From, class T>
FUNCTION void gather_keys(u32* failure, const From* keys, const T* order, i64 points, T* out) {
  const i64 stride = (i64)gridDim.x * THREADS;
  u32 turn = 0;
#pragma unroll 1
  for (i64 at = (i64)blockIdx.x * THREADS + threadIdx.x; at < points; at += stride) {
    out[at] = keys[order ? (i64)order[at] : at];
    if (is_over_by(failure, turn)) return;
  }
}

/* The rows of the points, in an order that was found so far, or as they are. */
template <int THREADS, class T>
FUNCTION void row_keys(u32* failure, Rows rows, const Divisor& length, const T* order, i64 points,
                       T* out) {
  const i64 stride = (i64)gridDim.x * THREADS;
  u32 turn = 0;
#pragma unroll 1
  for (i64 at = (i64)blockIdx.x * THREADS + threadIdx.x; at < points; at += stride) {
    const i64 from = order ? (i64)order[at] : at;
    out[at] = (T)(rows.offsets ? row_of(rows.offsets, rows.count, from) : quotient(from, length));
    if (is_over_by(failure, turn)) return;
  }
}

/* The order as the language has it: within rows of one length, if that is not 0, else positions. Without
   `order`, the points are in order. */
template <int THREADS, class T>
FUNCTION void order_in_rows(u32* failure, const T* order, i64 points, const Divisor& length,
                            i64* out) {
  const i64 stride = (i64)gridDim.x * THREADS;
  u32 turn = 0;
#pragma unroll 1
  for (i64 at = (i64)blockIdx.x * THREADS + threadIdx.x; at < points; at += stride) {
    const i64 from = order ? (i64)order[at] : at;
    out[at] = from - (length.by ? quotient(at, length) * length.by : 0);
    if (is_over_by(failure, turn)) return;
  }
}

/* Keys of which no digit differs are in order. */
template <int THREADS, class T>
FUNCTION void restore_keys(u32* failure, const T* keys, i64 points, T* out, const Flips<T>& flips) {
  const i64 stride = (i64)gridDim.x * THREADS;
  u32 turn = 0;
#pragma unroll 1
  for (i64 at = (i64)blockIdx.x * THREADS + threadIdx.x; at < points; at += stride) {
    out[at] = restored(keys[at], flips);
    if (is_over_by(failure, turn)) return;
  }
}
