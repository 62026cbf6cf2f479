/* Every point of a space on its own. K: point(in, position). */
template <class K> FUNCTION void map(const typename K::Arguments& in, i64 points) {
  const i64 stride = (i64)gridDim.x * K::THREADS;
#pragma unroll 1
  for (i64 at = (i64)blockIdx.x * K::THREADS + threadIdx.x; at < points; at += stride) {
    K::point(in, at);
  }
}
