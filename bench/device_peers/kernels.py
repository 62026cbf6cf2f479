"""CUDA C++ as one writes it by hand, for programs that no library has."""

# Rows of the sparse product and of the links, as in `tests/src/device_check/programs.rs`.
SPARSE, LINKS = 31, 45

NBODY = r"""
extern "C" __global__ void nbody(const float* x, const float* y, const float* z, const float* m, int n,
                                 float* fx, float* fy, float* fz) {
  __shared__ float4 staged[256];
  const int row = blockIdx.x * 256 + threadIdx.x, own = row < n ? row : n - 1;
  const float xi = x[own], yi = y[own], zi = z[own];
  float sx = 0, sy = 0, sz = 0;
  for (int base = 0; base < n; base += 256) {
    const int at = base + threadIdx.x < n ? base + threadIdx.x : n - 1;
    staged[threadIdx.x] = make_float4(x[at], y[at], z[at], m[at]);
    __syncthreads();
    const int here = n - base < 256 ? n - base : 256;
    for (int k = 0; k < here; k++) {
      const float4 body = staged[k];
      const float dx = body.x - xi, dy = body.y - yi, dz = body.z - zi;
      const float d = dx * dx + dy * dy + dz * dz + 0.01f, w = body.w / (d * sqrtf(d));
      sx += w * dx; sy += w * dy; sz += w * dz;
    }
    __syncthreads();
  }
  if (row < n) { fx[row] = sx; fy[row] = sy; fz[row] = sz; }
}
"""

MANDELBROT = r"""
extern "C" __global__ void mandelbrot(const float* cx, const float* cy, int width, int height, int* out) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= width * height) return;
  const float cr = cx[at % width], ci = cy[at / width];
  float x = 0, y = 0;
  int k = 0;
  while (k < 255 && x * x + y * y <= 4.0f) {
    const float next = x * x - y * y + cr;
    y = 2.0f * x * y + ci;
    x = next;
    k++;
  }
  out[at] = k;
}
"""

MD5 = r"""
__constant__ unsigned turns[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
extern "C" __global__ void md5(const unsigned* blocks, const unsigned* sines, long long n, unsigned* out) {
  const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (at >= n) return;
  unsigned a = 0x67452301u, b = 0xefcdab89u, c = 0x98badcfeu, d = 0x10325476u, word[16];
  for (int k = 0; k < 16; k++) word[k] = blocks[k * n + at];
#pragma unroll
  for (int i = 0; i < 64; i++) {
    unsigned f;
    int g;
    if (i < 16) { f = d ^ (b & (c ^ d)); g = i; }
    else if (i < 32) { f = c ^ (d & (b ^ c)); g = (5 * i + 1) % 16; }
    else if (i < 48) { f = b ^ c ^ d; g = (3 * i + 5) % 16; }
    else { f = c ^ (b | ~d); g = 7 * i % 16; }
    const unsigned sum = a + f + sines[i] + word[g], by = turns[i / 16 * 4 + i % 4];
    a = d; d = c; c = b;
    b += (sum << by) | (sum >> (32 - by));
  }
  out[at] = (a + 0x67452301u) ^ (b + 0xefcdab89u) ^ (c + 0x98badcfeu) ^ (d + 0x10325476u);
}
"""
