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

/* What is worth computing here: so many points of a kernel, and so many elements of a row that is folded, each
   after the one before. Two levels of the tree take 4096, three 64 times as many. Whether it pays for as many is tried out;
   where a loop is run row by row, so many pay without that. */
#define IS_SURE (all->end && !all->is_late)
#define MOST_POINTS (IS_SURE ? 1 << 12 : 1 << 17)
#define MOST_OF_SCAN (IS_SURE ? 1 << 9 : 1 << 12)
#define MOST_OF_FOLD (IS_SURE ? 1 << 9 : 1 << 18)

/* So many elements are copied in a turn at most by loops inside that have functions of their own, which replace
   elements where they are: about as many as the host could copy while it begins one. */
#define MOST_COPIED (1 << 16)

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
