/* Has some lines of memory loaded that are wanted soon; nothing happens where there are none. */
#define LINES_SOON(address, count) \
  for (i64 line = 0; line < (count); line++) __builtin_prefetch((const char *)(address) + 64 * line)
/* The same where nothing is summed meanwhile: the machine goes on with those behind them. */
#define WANTED_SOON(address) LINES_SOON(address, 16)

/* Sums of blocks of 64 elements, each from left to right. They begin with -0, which changes no number.
   Meanwhile they have what stands from an address on loaded, as many bytes as they sum, unless it is 0: a few
   lines at a time, as the machine waits for no more. */
#if defined(__AVX__) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define EXCHANGES
#endif
#endif

#ifdef EXCHANGES
/* Eight or four elements of each of as many blocks are exchanged, so that a vector holds the same
   element of all. */
#define MIX __builtin_shufflevector
typedef f32 eight_f32 __attribute__((vector_size(32)));
typedef f64 four_f64 __attribute__((vector_size(32)));
/* The same where it need not be aligned. */
typedef f32 eight_f32_anywhere __attribute__((vector_size(32), aligned(4)));
typedef f64 four_f64_anywhere __attribute__((vector_size(32), aligned(8)));

FUNCTION eight_f32 add_eight_f32(eight_f32 sum, const f32 *const *const of, const i64 at) {
#define BLOCK(number) ((eight_f32) * (const eight_f32_anywhere *)(of[number] + at))
  const eight_f32 a = MIX(BLOCK(0), BLOCK(1), 0, 8, 1, 9, 4, 12, 5, 13);
  const eight_f32 b = MIX(BLOCK(0), BLOCK(1), 2, 10, 3, 11, 6, 14, 7, 15);
  const eight_f32 c = MIX(BLOCK(2), BLOCK(3), 0, 8, 1, 9, 4, 12, 5, 13);
  const eight_f32 d = MIX(BLOCK(2), BLOCK(3), 2, 10, 3, 11, 6, 14, 7, 15);
  const eight_f32 e = MIX(BLOCK(4), BLOCK(5), 0, 8, 1, 9, 4, 12, 5, 13);
  const eight_f32 f = MIX(BLOCK(4), BLOCK(5), 2, 10, 3, 11, 6, 14, 7, 15);
  const eight_f32 g = MIX(BLOCK(6), BLOCK(7), 0, 8, 1, 9, 4, 12, 5, 13);
  const eight_f32 h = MIX(BLOCK(6), BLOCK(7), 2, 10, 3, 11, 6, 14, 7, 15);
#undef BLOCK
  const eight_f32 ac = MIX(a, c, 0, 1, 8, 9, 4, 5, 12, 13);
  const eight_f32 ca = MIX(a, c, 2, 3, 10, 11, 6, 7, 14, 15);
  const eight_f32 bd = MIX(b, d, 0, 1, 8, 9, 4, 5, 12, 13);
  const eight_f32 db = MIX(b, d, 2, 3, 10, 11, 6, 7, 14, 15);
  const eight_f32 eg = MIX(e, g, 0, 1, 8, 9, 4, 5, 12, 13);
  const eight_f32 ge = MIX(e, g, 2, 3, 10, 11, 6, 7, 14, 15);
  const eight_f32 fh = MIX(f, h, 0, 1, 8, 9, 4, 5, 12, 13);
  const eight_f32 hf = MIX(f, h, 2, 3, 10, 11, 6, 7, 14, 15);
  sum += MIX(ac, eg, 0, 1, 2, 3, 8, 9, 10, 11);
  sum += MIX(ca, ge, 0, 1, 2, 3, 8, 9, 10, 11);
  sum += MIX(bd, fh, 0, 1, 2, 3, 8, 9, 10, 11);
  sum += MIX(db, hf, 0, 1, 2, 3, 8, 9, 10, 11);
  sum += MIX(ac, eg, 4, 5, 6, 7, 12, 13, 14, 15);
  sum += MIX(ca, ge, 4, 5, 6, 7, 12, 13, 14, 15);
  sum += MIX(bd, fh, 4, 5, 6, 7, 12, 13, 14, 15);
  sum += MIX(db, hf, 4, 5, 6, 7, 12, 13, 14, 15);
  return sum;
}
FUNCTION four_f64 add_four_f64(four_f64 sum, const f64 *const *const of, const i64 at) {
#define BLOCK(number) ((four_f64) * (const four_f64_anywhere *)(of[number] + at))
  const four_f64 a = MIX(BLOCK(0), BLOCK(1), 0, 4, 2, 6), b = MIX(BLOCK(0), BLOCK(1), 1, 5, 3, 7);
  const four_f64 c = MIX(BLOCK(2), BLOCK(3), 0, 4, 2, 6), d = MIX(BLOCK(2), BLOCK(3), 1, 5, 3, 7);
#undef BLOCK
  sum += MIX(a, c, 0, 1, 4, 5);
  sum += MIX(b, d, 0, 1, 4, 5);
  sum += MIX(a, c, 2, 3, 6, 7);
  sum += MIX(b, d, 2, 3, 6, 7);
  return sum;
}
/* The sums of at most sixteen blocks, each where it stands. Where there are many two vectors run side by side, so that
   neither waits for its own last result. */
FUNCTION void add_blocks_at_f32(f32 *const sums, const f32 *const *const of, const i64 blocks,
                                const f32 *const soon) {
  const eight_f32 none = {-0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f};
  eight_f32 low = none, high = none;
  if (blocks > 8) {
    for (i64 at = 0; at < 64; at += 8) {
      if (soon) LINES_SOON(soon + 16 * at, 8);
      low = add_eight_f32(low, of, at);
      high = add_eight_f32(high, of + 8, at);
    }
  } else {
    for (i64 at = 0; at < 64; at += 8) {
      if (soon) LINES_SOON(soon + 16 * at, 8);
      low = add_eight_f32(low, of, at);
    }
  }
  *(eight_f32 *)sums = low;
  *(eight_f32 *)(sums + 8) = high;
}
FUNCTION void add_blocks_at_f64(f64 *const sums, const f64 *const *const of, const i64 blocks,
                                const f64 *const soon) {
  const four_f64 none = {-0.0, -0.0, -0.0, -0.0};
  for (i64 first = 0; first < blocks; first += 8) {
    four_f64 low = none, high = none;
    if (blocks - first > 4) {
      for (i64 at = 0; at < 64; at += 4) {
        if (soon) LINES_SOON(soon + 64 * first + 8 * at, 4);
        low = add_four_f64(low, of + first, at);
        high = add_four_f64(high, of + first + 4, at);
      }
    } else {
      for (i64 at = 0; at < 64; at += 4) low = add_four_f64(low, of + first, at);
    }
    *(four_f64 *)(sums + first) = low;
    *(four_f64 *)(sums + first + 4) = high;
  }
}
#else
FUNCTION void add_blocks_at_f32(f32 *const sums, const f32 *const *const of, const i64 blocks,
                                const f32 *const soon) {
  if (soon) WANTED_SOON(soon);
  for (i64 block = 0; block < blocks; block++) {
    sums[block] = -0.0f;
    for (i64 at = 0; at < 64; at++) sums[block] += of[block][at];
  }
}
FUNCTION void add_blocks_at_f64(f64 *const sums, const f64 *const *const of, const i64 blocks,
                                const f64 *const soon) {
  if (soon) WANTED_SOON(soon);
  for (i64 block = 0; block < blocks; block++) {
    sums[block] = -0.0;
    for (i64 at = 0; at < 64; at++) sums[block] += of[block][at];
  }
}
#endif

/* The same of blocks in a buffer, and of so many elements of an array, whose last block may end early. */
#define ADD_BLOCKS(F) \
  FUNCTION void add_blocks_##F(F *const sums, const F *const of, const i64 blocks, const F *const soon) { \
    const F *at[16]; \
    for (i64 block = 0; block < 16; block++) at[block] = of + 64 * block; \
    add_blocks_at_##F(sums, at, blocks, soon); \
  } \
  FUNCTION void add_array_##F(F *const sums, const F *const of, const i64 size, const F *const soon) { \
    F rest[64] __attribute__((aligned(64))); \
    const i64 whole = size >> 6; \
    const F *at[16]; \
    for (i64 block = 0; block < 16; block++) at[block] = block < whole ? of + 64 * block : rest; \
    if (whole < 16) \
      for (i64 element = 0; element < 64; element++) \
        rest[element] = element < size - 64 * whole ? of[64 * whole + element] : (F)-0.0; \
    add_blocks_at_##F(sums, at, (size + 63) >> 6, soon); \
  }
ADD_BLOCKS(f32)
ADD_BLOCKS(f64)

/* Keeps a loop over the variable from becoming vector instructions. */
#define ONE_BY_ONE(variable) __asm__("" : "+r"(variable))

/* Whether the minimum or the maximum of two floats is the first of them, and not the second too. */
#define COMES_FIRST(F) \
  FUNCTION bool precedes_##F(F a, F b) { \
    return (a < b) | ((a != a) & (b == b)) | ((a == b) & (raw_bits_##F(a) > raw_bits_##F(b))); \
  } \
  FUNCTION bool follows_##F(F a, F b) { \
    return (a > b) | ((a != a) & (b == b)) | ((a == b) & (raw_bits_##F(a) < raw_bits_##F(b))); \
  }
COMES_FIRST(f32)
COMES_FIRST(f64)

/* The greatest or the least of some floats, whose number is a multiple of 32. The instructions for that heed
   neither NaN nor the sign of zero: whether there is a NaN is noted besides, and whether all signs, or some,
   are set, which tells what zero it is if nothing is further from zero. */
#define EXTREME(NAME, F, B, BEFORE, FIRST, SIGNS, JOIN, SIGN, NAN_BITS) \
  FUNCTION F NAME##_##F(const F *const of, const i64 count) { \
    F best[32] __attribute__((aligned(64))); \
    B signs[32] __attribute__((aligned(64))), nans[32] __attribute__((aligned(64))); \
    for (i64 lane = 0; lane < 32; lane++) best[lane] = FIRST, signs[lane] = SIGNS, nans[lane] = 0; \
    for (i64 first = 0; first < count; first += 32) { \
      _Pragma("omp simd") \
      for (i64 lane = 0; lane < 32; lane++) { \
        const F value = of[first + lane]; \
        best[lane] = value BEFORE best[lane] ? value : best[lane]; \
        signs[lane] JOIN raw_bits_##F(value); \
        nans[lane] |= value != value ? 1 : 0; \
      } \
    } \
    F all = best[0]; \
    for (i64 lane = 1; lane < 32; lane++) { \
      all = best[lane] BEFORE all ? best[lane] : all; \
      signs[0] JOIN signs[lane]; \
      nans[0] |= nans[lane]; \
    } \
    return nans[0] ? number_##F(NAN_BITS) : all == 0 ? number_##F(signs[0] & SIGN) : all; \
  }
EXTREME(greatest, f32, u32, >, -INFINITY_F32, ~0U, &=, 0x80000000U, 0x7fc00000U)
EXTREME(greatest, f64, u64, >, -INFINITY_F64, ~0ULL, &=, 0x8000000000000000ULL, 0x7ff8000000000000ULL)
EXTREME(least, f32, u32, <, INFINITY_F32, 0U, |=, 0x80000000U, 0x7fc00000U)
EXTREME(least, f64, u64, <, INFINITY_F64, 0ULL, |=, 0x8000000000000000ULL, 0x7ff8000000000000ULL)
