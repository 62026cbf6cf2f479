/* A map over a grid `down` by `across`, before which may come a batch of grids, that reads along `down`. K:
   Staged, StagedArray<N>, fetch(in, batch, i, j), point_of(in, batch, i, j, staged). A block of threads has
   a tile: a warp reads its columns into shared memory, and goes on with its rows. */
constexpr int EDGE = 32;
template <class K>
FUNCTION void map_transposed(const typename K::Arguments& in, i64 down, i64 across) {
  /* One apart from a multiple of the banks, as columns are read. */
  constexpr int PITCH = EDGE + 1, WARPS = K::THREADS / 32;
  __shared__ typename K::template StagedArray<EDGE * PITCH> staged;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const u32 tiles_across = (u32)((across + EDGE - 1) / EDGE);
  const u32 tiles = (u32)((down + EDGE - 1) / EDGE) * tiles_across;
  const u32 batch = blockIdx.x / tiles, tile = blockIdx.x - batch * tiles;
  const u32 tile_down = tile / tiles_across;
  const i64 first_i = (i64)tile_down * EDGE;
  const i64 first_j = (i64)(tile - tile_down * tiles_across) * EDGE;
  const int rows = (int)smaller(down - first_i, EDGE);
  const int columns = (int)smaller(across - first_j, EDGE);
#pragma unroll 4
  for (int column = warp; column < EDGE; column += WARPS) {
    if (lane < rows && column < columns) {
      staged.put(column * PITCH + lane, K::fetch(in, batch, first_i + lane, first_j + column));
    }
  }
  __syncthreads();  /* fetched */
#pragma unroll 4
  for (int row = warp; row < EDGE; row += WARPS) {
    if (row < rows && lane < columns) {
      K::point_of(in, batch, first_i + row, first_j + lane, staged.get(lane * PITCH + row));
    }
  }
}
