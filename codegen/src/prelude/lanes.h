/* What a kernel function is given. */
struct block {
  i64 count;                    /* How many lanes. */
  i64 position;                 /* The position of the first lane in the storage. */
  i64 steps;                    /* How many elements of each lane are combined. */
  const i64 *indices;           /* Per index its value, or the first lane's. */
  const i64 *const *lanes;      /* Per index that varies its lanes. */
  const void *const *arrays;    /* Per array its elements. */
  const i64 *const *strides;    /* Per array how far apart neighbours are along each dimension. */
  const void *const *inputs;    /* Per input its lanes; where rows are folded, start values or nothing. */
  void *const *results;         /* Per result room for the lanes. */
  const volatile u8 *cancel;    /* Not 0 when the run shall end. */
  /* Of a function that folds rows, which are counted instead of lanes; the steps are the elements of
     each. */
  i64 end;                      /* The position after the last row. */
  i64 row;                      /* The number of the first row. */
  i64 advance;                  /* 1, or 0 if all are pieces of one row. */
  const i64 *extents;           /* The extents of all dimensions but the last; of all, if lanes run on to further rows. */
  const i64 *offsets;           /* The positions of the rows and of the end, if their lengths differ. */
  /* Of a function that stores its results. */
  i64 past;                     /* 1 if they are to go past the caches, and begin at a multiple of 16. */
};

/* Copies what the host has just written word by word, as it has done: a load of several words at once would wait until
   they are in the cache, behind all that was written before, elements among it. */
FUNCTION void copy_words(void *const to, const void *const from, const u64 bytes) {
  for (u64 at = 0; at < bytes / 8; at++) ((u64 *)to)[at] = ((const volatile u64 *)from)[at];
}

/* Bits that leave at the upper end come in at the lower one; fewer than there are. */
FUNCTION u32 rotate_u32(u32 a, u32 by) { return a << by | a >> (-by & 31); }
FUNCTION u64 rotate_u64(u64 a, u64 by) { return a << by | a >> (-by & 63); }

/* Copies bytes past the caches; their number and both addresses are multiples of 16. They are there for
   others after past_is_written. */
#if defined(__SSE2__)
typedef long long two_words __attribute__((vector_size(16), may_alias));
#if defined(__clang__)
#define WRITE_WORDS(to, words) __builtin_nontemporal_store(words, to)
#else
#define WRITE_WORDS(to, words) __builtin_ia32_movntdq(to, words)
#endif
FUNCTION void write_past(void *const to, const void *const from, const i64 bytes) {
  for (i64 at = 0; at < bytes / 16; at++)
    WRITE_WORDS((two_words *)to + at, ((const two_words *)from)[at]);
}
FUNCTION void past_is_written(void) { __builtin_ia32_sfence(); }
#else
FUNCTION void write_past(void *const to, const void *const from, const i64 bytes) {
  __builtin_memcpy(to, from, (unsigned long)bytes);
}
FUNCTION void past_is_written(void) {}
#endif
