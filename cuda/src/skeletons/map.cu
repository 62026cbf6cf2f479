/* Every point of a space on its own. K::Index is the type of numbers of points: i32, if they are divided
   and 2^31 is far. */

/* K: point(in, number). */
template <class K> FUNCTION void map(const typename K::Arguments& in, i64 points) {
  typedef typename K::Index I;
  const I stride = (I)gridDim.x * K::THREADS, count = (I)points;
  u32 turn = 0;
#pragma unroll 1
  for (I at = (I)blockIdx.x * K::THREADS + threadIdx.x; at < count; at += stride) {
    K::point(in, at);
    if (is_over_by(in.failure, turn)) return;
  }
}

/* N points: consecutive ones, or where neighbours are read, such that stand APART. Then each load is one of 32 threads next
   to each other; of consecutive points it would go through four times as many lines of the first-level cache. */
template <class K, int N> FUNCTION void map_points(const typename K::Arguments& in, i64 at) {
  typename K::template Loaded<N> from;
  typename K::template Stored<N> to = {};
  K::load(in, at, from);
  bool done = false;
  if constexpr (K::INSIDE) done = K::template inside<N>(in, at, from, to);
  if (!done) {
#pragma unroll
    for (int lane = 0; lane < N; lane++) {
      K::point(in, at + lane * (K::INSIDE ? APART : 1), from, to, lane);
    }
  }
  K::store(in, at, to);
}

/* As map, with accesses of 16 bytes. K: WIDTH (how many points go together), aligned(in), Loaded and
   Stored (elements of N points), load(in, number, from), store(in, number, to),
   point(in, number, from, to, lane); INSIDE, and if so, inside(in, number, from, to), which does all points
   of a vector if none is at an edge of the space, and says whether it has. */
template <class K> FUNCTION void map_vectors(const typename K::Arguments& in, i64 points) {
  typedef typename K::Index I;
  constexpr int WIDTH = K::WIDTH, TOGETHER = WIDTH * (K::INSIDE ? APART : 1);
  const I stride = (I)gridDim.x * K::THREADS, count = (I)points;
  const I thread = (I)blockIdx.x * K::THREADS + threadIdx.x;
  const I whole = K::INSIDE || K::aligned(in) ? count & ~(I)(TOGETHER - 1) : 0;
  const I own = K::INSIDE ? thread / APART * TOGETHER + thread % APART : thread * WIDTH;
#pragma unroll 1
  for (I at = own; at < whole; at += stride * WIDTH) map_points<K, WIDTH>(in, at);
#pragma unroll 1
  for (I at = whole + thread; at < count; at += stride) map_points<K, 1>(in, at);
}
