"""CuPy: its libraries, fused functions, and kernels written by hand."""

from .kernels import LINKS, MANDELBROT, MD5, NBODY, SPARSE


def run(size, report, flush):
    import cupy

    flushed = cupy.empty(flush // 4, dtype=cupy.float32)
    # What is read behind that: the caches have nothing left then that is not in memory.
    read = flushed[flush // 8 : flush // 8 + flush // 32]

    def clock(run, values):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        flushed.data.memset_async(0, flush)
        read.sum()
        begin.record()
        run(*values)
        end.record()
        end.synchronize()
        return cupy.cuda.get_elapsed_time(begin, end)

    def uniform(*shape):
        return cupy.random.random(shape, dtype=cupy.float32)

    def time(program, peer, run, make):
        report(program, peer, run, make, clock)

    n, m = size(20_000_000, 2000), size(100_000_000, 2000)
    time("dot", "cupy (cuBLAS)", cupy.dot, lambda: (uniform(n), uniform(n)))

    price = cupy.ElementwiseKernel(
        "float32 s, float32 x, float32 t",
        "float32 call, float32 put",
        """
        const float vs = 0.30f * sqrtf(t), d1 = (logf(s / x) + 0.065f * t) / vs, d2 = d1 - vs;
        const float xe = x * expf(-0.02f * t), c1 = cnd(d1), c2 = cnd(d2);
        call = s * c1 - xe * c2;
        put = xe * (1.0f - c2) - s * (1.0f - c1);
        """,
        "price",
        preamble="""
        __device__ float cnd(float d) {
          const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
          const float p = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f +
                          k * (-1.821255978f + k * 1.330274429f))));
          const float c = 0.3989422804f * expf(-0.5f * d * d) * p;
          return d > 0.0f ? 1.0f - c : c;
        }
        """,
    )
    options = lambda: (5.0 + 25.0 * uniform(n), 1.0 + 99.0 * uniform(n), 0.25 + 9.75 * uniform(n))
    time("Black-Scholes", "cupy, one kernel", price, options)
    time("prefix sum", "cupy (CUB)", cupy.cumsum, lambda: (uniform(m) - cupy.float32(0.5),))
    time("filter", "cupy", lambda x: x[x > 0.5], lambda: (uniform(m),))
    bins = lambda x: cupy.bincount((x * 256).astype(cupy.int32), minlength=256)
    time("histogram", "cupy.bincount", bins, lambda: (uniform(m),))

    def csr(rows, longest, values_of, ones):
        from cupyx.scipy.sparse import csr_matrix

        counts = 1 + cupy.arange(rows) * 17 % longest
        ends = cupy.concatenate([cupy.zeros(1, dtype=cupy.int64), cupy.cumsum(counts)]).astype(cupy.int32)
        total = int(ends[-1])
        columns = cupy.random.randint(0, rows, total, dtype=cupy.int32)
        values = cupy.ones(total, dtype=values_of) if ones else cupy.random.random(total, dtype=values_of)
        return csr_matrix((values, columns, ends), shape=(rows, rows)), counts

    rows = size(4_000_000, 100)

    def sparse():
        matrix, _ = csr(rows, SPARSE, cupy.float64, False)
        return matrix, cupy.random.random(rows)

    time("sparse product", "cupy (cuSPARSE)", lambda a, x: a @ x, sparse)

    b = size(32_768, 70)
    nbody = cupy.RawKernel(NBODY, "nbody")

    def pull(x, y, z, m, fx, fy, fz):
        nbody(((b + 255) // 256,), (256,), (x, y, z, m, cupy.int32(b), fx, fy, fz))

    time("n-body", "cupy, a raw kernel", pull, lambda: tuple(uniform(b) for _ in range(7)))

    w = size(1500, 15)
    h = w * 14 // 15
    mandelbrot = cupy.RawKernel(MANDELBROT, "mandelbrot")
    real = (-2.0 + 3.0 * cupy.arange(w) / w).astype(cupy.float32)
    imaginary = (-1.4 + 2.8 * cupy.arange(h) / h).astype(cupy.float32)

    def escape(cx, cy, out):
        mandelbrot(((w * h + 255) // 256,), (256,), (cx, cy, cupy.int32(w), cupy.int32(h), out))

    time("Mandelbrot", "cupy, a raw kernel", escape, lambda: (real, imaginary, cupy.zeros(w * h, dtype=cupy.int32)))

    c = size(4096, 20)

    def canny(g):
        from cupyx.scipy import ndimage

        row = cupy.array([1, 4, 6, 4, 1], dtype=cupy.int32)
        v = ndimage.correlate1d(g.astype(cupy.int32), row, axis=0, mode="nearest")
        b = (ndimage.correlate1d(v, row, axis=1, mode="nearest") + 128) >> 8
        gx, gy = ndimage.sobel(b, axis=1, mode="nearest"), ndimage.sobel(b, axis=0, mode="nearest")
        return ridge(gx, gy)

    @cupy.fuse()
    def strong(gx, gy):
        return gx * gx + gy * gy

    def ridge(gx, gy):
        s = cupy.pad(strong(gx, gy), 1)
        m = s[1:-1, 1:-1]
        a, b = 13573 * cupy.abs(gx), cupy.abs(gy) << 15
        flat, steep = b < a, b > a + (cupy.abs(gx) << 16)
        falls = (gx < 0) == (gy < 0)
        keep = cupy.where(
            flat,
            (m > s[1:-1, :-2]) & (m >= s[1:-1, 2:]),
            cupy.where(
                steep,
                (m > s[:-2, 1:-1]) & (m >= s[2:, 1:-1]),
                cupy.where(
                    falls, (m > s[:-2, :-2]) & (m > s[2:, 2:]), (m > s[:-2, 2:]) & (m > s[2:, :-2])
                ),
            ),
        )
        return keep & (m > 400), keep & (m > 3600)

    picture = lambda: (cupy.random.randint(0, 256, (c, c), dtype=cupy.int32).astype(cupy.uint8),)
    time("Canny", "cupy", canny, picture)

    s = size(4_000_000, 300)
    integers = lambda: (cupy.random.randint(-(2**31), 2**31 - 1, s, dtype=cupy.int32),)
    time("sort", "cupy (Thrust)", cupy.sort, integers)
    d = size(4096, 16)
    time("matrix product", "cupy (cuBLAS)", cupy.matmul, lambda: (uniform(d, d), uniform(d, d)))

    count = size(14_000_000, 20)
    md5 = cupy.RawKernel(MD5, "md5")
    sines = cupy.floor(cupy.abs(cupy.sin(cupy.arange(1, 65, dtype=cupy.float64))) * 4294967296.0).astype(cupy.uint32)

    def digest(blocks, out):
        md5(((count + 255) // 256,), (256,), (blocks, sines, cupy.int64(count), out))

    def words():
        blocks = cupy.random.randint(0, 2**31 - 1, 16 * count, dtype=cupy.int32).view(cupy.uint32)
        return blocks, cupy.zeros(count, dtype=cupy.uint32)

    time("MD5", "cupy, a raw kernel", digest, words)

    nodes = size(5_700_000, 60)

    def links():
        matrix, counts = csr(nodes, LINKS, cupy.float32, True)
        return matrix, cupy.full(nodes, 1.0 / nodes, dtype=cupy.float32), (1.0 / counts).astype(cupy.float32)

    rank = lambda matrix, rank, weight: cupy.float32(0.15 / nodes) + cupy.float32(0.85) * (matrix @ (rank * weight))
    time("PageRank", "cupy (cuSPARSE)", rank, links)
