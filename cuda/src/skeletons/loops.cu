/* Loops that run row by row, a thread for each point. Warps go to all blocks in turn: a thread works long, and there may
   be fewer of them than a device has room for. K: point(in, number). */
template <class K> FUNCTION void rows(const typename K::Arguments& in, i64 points) {
  const i64 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const i64 stride = (i64)gridDim.x * K::THREADS;
  u32 turn = 0;
#pragma unroll 1
  for (i64 at = (warp * gridDim.x + blockIdx.x) * 32 + lane; at < points; at += stride) {
    K::point(in, at);
    if (is_over_by(in.failure, turn)) return;
  }
}

/* A loop in which nothing is parallel, on one thread. K: point(in, number). */
template <class K> FUNCTION void loop(const typename K::Arguments& in) {
  if (threadIdx.x == 0) K::point(in, 0);
}

/* What functions of C are given as `struct serial`, as members of a structure of which the compiler sees where each
   comes from. */
#define restrict __restrict__

struct Address {
  const void* at;
  template <class T> FUNCTION_MEMBER operator T*() const { return (T*)at; }
};

/* Not 0 when the run shall end. */
struct Over {
  u32* failure;
  FUNCTION_MEMBER bool operator*() const { return is_over(failure); }
};

#define END_OF_TURN if (!(++turns & 1023) && *all->cancel) return 1U << 31;

/* What the function of a loop says: the number of the check that failed, or of none. */
FUNCTION void left(u32* failure, u32 outcome, u32 sites_before) {
  if (outcome && outcome < 1U << 30) fail(failure, sites_before + outcome);
}
