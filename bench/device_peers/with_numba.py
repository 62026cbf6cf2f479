"""Numba's kernels for CUDA."""


def run(size, report, flush):
    import numpy

    # NumPy 2.5 has no such name any more, and numba-cuda still asks for it.
    if not hasattr(numpy, "row_stack"):
        numpy.row_stack = numpy.vstack
    from numba import cuda
    from numba.cuda.cudadrv import driver

    if not cuda.is_available():
        raise RuntimeError("it sees no GPU")
    flushed, found = cuda.device_array(flush // 4, dtype=numpy.float32), cuda.device_array(1, dtype=numpy.float32)

    @cuda.jit
    def read(words, found):
        """Reads an eighth of what is cleared: the caches have nothing left then that is not in memory."""
        at = words.size // 2 + cuda.grid(1)
        # Never so: it keeps the loads.
        if words[at] != numpy.float32(0):
            found[0] = words[at]

    def clock(run, values):
        begin, end = cuda.event(), cuda.event()
        driver.device_memset(flushed, 0, flush)
        read[flush // 32 // 256, 256](flushed, found)
        begin.record()
        run(*values)
        end.record()
        end.synchronize()
        return cuda.event_elapsed_time(begin, end)

    @cuda.jit(fastmath=False)
    def escape(cx, cy, out):
        i, j = cuda.grid(2)
        if i < cx.size and j < cy.size:
            cr, ci = cx[i], cy[j]
            x = y = numpy.float32(0)
            k = 0
            while k < 255 and x * x + y * y <= numpy.float32(4):
                x, y = x * x - y * y + cr, numpy.float32(2) * x * y + ci
                k += 1
            out[j, i] = k

    w = size(1500, 15)
    h = w * 14 // 15
    real = (-2.0 + 3.0 * numpy.arange(w) / w).astype(numpy.float32)
    imaginary = (-1.4 + 2.8 * numpy.arange(h) / h).astype(numpy.float32)
    grid = ((w + 31) // 32, (h + 7) // 8)

    def make():
        out = cuda.device_array((h, w), dtype=numpy.int32)
        return cuda.to_device(real), cuda.to_device(imaginary), out

    report("Mandelbrot", "numba-cuda", lambda cx, cy, out: escape[grid, (32, 8)](cx, cy, out), make, clock)
