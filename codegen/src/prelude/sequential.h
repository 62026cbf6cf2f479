/* What a function of a sequential loop is given. */
struct serial {
  const void *const *inputs;    /* Per input its value, or its elements. */
  const i64 *const *strides;    /* Per input how far apart neighbours are along each dimension. */
  void **state;                 /* Per part of the state its value, or its elements. */
  i64 *extents;                 /* The extents of all arrays of the state, one after the other. */
  const volatile u8 *cancel;    /* Not 0 when the run shall end. */
  u64 begun;                    /* How many turns of the outermost loop are done. */
  volatile u64 *done;           /* Is told how many are, unless it is 0. */
  char *scratch;                /* Memory for arrays (Note [Small loops]), at a multiple of 64. */
  u64 room;                     /* How many bytes. */
  i64 first, end;               /* The points to do, where the loop is run row by row. */
  u64 until;                    /* How many turns of the outermost loop are to be done at most, if the host may go on. */
  void *const *ends;            /* Per part of the state where its memory ends, if it moves there. */
  u32 (*is_late)(const void *); /* Whether a trial row by row has taken too long; 0 where it is none. */
  const void *trial;            /* What that is given. */
};

/* Whether the run shall end, or a trial, of which not every turn asks. */
#define IS_OVER (*all->cancel || (all->is_late && !(turns & 15) && all->is_late(all->trial)))

/* Says now and then how far the run has come, and looks whether it shall end. */
#define END_OF_TURN \
  if (!(++turns & 1023)) { \
    if (all->done) *all->done = rounds; \
    if (*all->cancel) return 1U << 31; \
  }

/* A function that has memory of its own for arrays (Note [Small loops]) ends here with the state as it was when
   the turn at hand began: the host goes on. */
#define LEAVE do { outcome = 1U << 30; goto leave; } while (0)

/* The same where it has done all turns that it was asked for. */
#define PAUSE do { outcome = 1U << 29; goto leave; } while (0)

/* The same where the memory behind an array of the state is full. */
#define NEED_ROOM do { outcome = 1U << 28; goto leave; } while (0)

/* What an update has replaced in an array of the state, and where (Note [Updates of small loops]). */
struct replaced {
  void *place;
  u64 value, size;
};

/* Writes what is at a place to the log. */
#define KEEP(TYPE, at) do { \
    if (log == log_end) LEAVE; \
    log->place = (at), log->size = sizeof(TYPE); \
    __builtin_memcpy(&log->value, (at), sizeof(TYPE)); \
    log++; \
  } while (0)

/* What is worth computing here: so many points of a kernel, and so many elements of a row that is folded or sorted, each
   after the one before. Two levels of the tree take 4096, three 64 times as many. Whether it pays for as many is tried out;
   where a loop is run row by row, so many pay without that. */
#define IS_SURE (all->end && !all->is_late)
#define MOST_POINTS (IS_SURE ? 1 << 12 : 1 << 17)
#define MOST_OF_SCAN (IS_SURE ? 1 << 9 : 1 << 12)
#define MOST_OF_FOLD (IS_SURE ? 1 << 9 : 1 << 18)
#define MOST_OF_SORT (1 << 9)

/* What plus the second is the first, or the least or greatest number where that is out of reach. */
FUNCTION i64 less_i64(i64 number, i64 offset) {
  i64 less;
  if (!__builtin_sub_overflow(number, offset, &less)) return less;
  return offset < 0 ? (i64)(~0ULL >> 1) : (i64)(1ULL << 63);
}

/* Multiplies a number of points by an extent. */
#define MORE_POINTS(count, extent) \
  if ((u64)(extent) > MOST_POINTS || (count *= (extent)) > MOST_POINTS) LEAVE

/* Memory for elements, at multiples of 64 bytes. Of as many as are ever taken no sum is too large. */
#define TAKE(TYPE, name, count) \
  TYPE *const name = (TYPE *)top; \
  if ((u64)(count) > 8 * MOST_POINTS) LEAVE; \
  top += ((u64)(count) * sizeof(TYPE) + 63) & ~63ULL; \
  if (top > limit) LEAVE

/* The same for what is computed once for a point, however much it is. */
#define TAKE_OWN(TYPE, name, count) \
  TYPE *const name = (TYPE *)top; \
  if ((u64)(count) > (u64)(limit - top) / sizeof(TYPE)) LEAVE; \
  top += ((u64)(count) * sizeof(TYPE) + 63) & ~63ULL; \
  if (top > limit) LEAVE

/* Copies an array to memory that stays. */
#define COPY(TYPE, name, count) do { \
    TAKE(TYPE, copy, count); \
    for (i64 at = 0; at < (i64)(count); at++) copy[at] = name[at]; \
    name = copy; \
  } while (0)

/* Floats as unsigned integers in the total order: all NaNs are one, and come last. */
FUNCTION u64 ordered_f32(f32 key) {
  const u32 bits = raw_bits_f32(key);
  return key != key ? ~0U : bits >> 31 ? ~bits : bits | 1U << 31;
}
FUNCTION u64 ordered_f64(f64 key) {
  const u64 bits = raw_bits_f64(key);
  return key != key ? ~0ULL : bits >> 63 ? ~bits : bits | 1ULL << 63;
}

/* Whether the key at one place is below that at another. */
FUNCTION bool is_below(const u64 *const *keys, int components, i64 one, i64 other) {
  int at = 0;
  while (at + 1 < components && keys[at][one] == keys[at][other]) at++;
  return keys[at][one] < keys[at][other];
}

/* The places of a row in the order of its keys, where places begin at a number. Runs of a few are put in order by
   counting what comes before each, then merged, without branches that depend on keys. What is equal stays in its order. */
static inline __attribute__((always_inline, unused)) void sort_row(
    const u64 *const *keys, const int components, i64 count, i64 begin, i64 *order, i64 *spare) {
  i64 run = 8;
  for (i64 first = 0; first < count; first += run) {
    const i64 many = min_i64(run, count - first);
    i64 to[8] = {0};
    for (i64 at = 1; at < many; at++)
      for (i64 before = 0; before < at; before++) {
        const bool below = is_below(keys, components, first + at, first + before);
        to[before] += below, to[at] += !below;
      }
    for (i64 at = 0; at < many; at++) order[first + to[at]] = first + at;
  }
  i64 *from = order, *merged = spare;
  for (; run < count; run *= 2) {
    for (i64 first = 0; first < count; first += 2 * run) {
      const i64 middle = min_i64(first + run, count), end = min_i64(middle + run, count);
      i64 left = first, right = middle, at = first;
      while (left < middle && right < end) {
        const i64 one = from[left], other = from[right];
        const bool below = is_below(keys, components, other, one);
        merged[at++] = one ^ ((one ^ other) & -(i64)below);
        left += !below, right += below;
      }
      while (left < middle) merged[at++] = from[left++];
      while (right < end) merged[at++] = from[right++];
    }
    i64 *const other = from;
    from = merged, merged = other;
  }
  for (i64 at = 0; at < count; at++) order[at] = begin + from[at];
}
