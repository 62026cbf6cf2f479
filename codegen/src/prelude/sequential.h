/* What a function of a sequential loop is given. */
struct serial {
  const void *const *inputs;    /* Per input its value, or its elements. */
  const i64 *const *strides;    /* Per input how far apart neighbours are along each dimension. */
  void *const *state;           /* Per part of the state its value, or its elements. */
  const i64 *extents;           /* The extents of all arrays of the state, one after the other. */
  const volatile u8 *cancel;    /* Not 0 when the run shall end. */
  u64 begun;                    /* How many turns of the outermost loop are done. */
  volatile u64 *done;           /* Is told how many are, unless it is 0. */
};

/* Says now and then how far the run has come, and looks whether it shall end. */
#define END_OF_TURN \
  if (!(++turns & 1023)) { \
    if (all->done) *all->done = rounds; \
    if (*all->cancel) return 1U << 31; \
  }
