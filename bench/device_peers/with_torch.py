"""PyTorch: its libraries, and what `torch.compile` makes."""

from .kernels import LINKS, SPARSE


def run(size, report, flush):
    import torch

    if not torch.cuda.is_available():
        raise RuntimeError("it sees no GPU")
    torch.backends.cuda.matmul.allow_tf32 = False
    device = torch.device("cuda")
    flushed = torch.empty(flush // 4, dtype=torch.float32, device=device)
    # What is read behind that: the caches have nothing left then that is not in memory.
    read = flushed[flush // 8 : flush // 8 + flush // 32]
    compiled = torch.compile

    def clock(run, values):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        flushed.zero_()
        read.sum()
        begin.record()
        run(*values)
        end.record()
        end.synchronize()
        return begin.elapsed_time(end)

    def uniform(*shape):
        return torch.rand(*shape, device=device)

    def time(program, peer, run, make):
        report(program, peer, run, make, clock)

    n, m = size(20_000_000, 2000), size(100_000_000, 2000)
    time("dot", "torch (cuBLAS)", torch.dot, lambda: (uniform(n), uniform(n)))
    time("dot", "torch.compile", compiled(lambda x, y: (x * y).sum()), lambda: (uniform(n), uniform(n)))

    def price(s, x, t):
        def cnd(d):
            k = 1.0 / (1.0 + 0.2316419 * d.abs())
            p = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
            c = 0.3989422804 * torch.exp(-0.5 * d * d) * p
            return torch.where(d > 0.0, 1.0 - c, c)

        vs = 0.30 * torch.sqrt(t)
        d1 = (torch.log(s / x) + (0.02 + 0.5 * 0.30 * 0.30) * t) / vs
        d2 = d1 - vs
        xe = x * torch.exp(-0.02 * t)
        return s * cnd(d1) - xe * cnd(d2), xe * (1.0 - cnd(d2)) - s * (1.0 - cnd(d1))

    def options():
        return 5.0 + 25.0 * uniform(n), 1.0 + 99.0 * uniform(n), 0.25 + 9.75 * uniform(n)

    time("Black-Scholes", "torch.compile", compiled(price), options)
    time("prefix sum", "torch", lambda x: torch.cumsum(x, 0), lambda: (uniform(m) - 0.5,))
    time("filter", "torch", lambda x: x[x > 0.5], lambda: (uniform(m),))
    bins = lambda x: torch.bincount((x * 256.0).to(torch.int64), minlength=256)
    time("histogram", "torch", bins, lambda: (uniform(m),))

    rows = size(4_000_000, 100)

    def sparse():
        counts = 1 + torch.arange(rows, device=device) * 17 % SPARSE
        ends = torch.cat([torch.zeros(1, dtype=torch.int64, device=device), torch.cumsum(counts, 0)]).to(torch.int32)
        total = int(ends[-1])
        columns = torch.randint(0, rows, (total,), device=device, dtype=torch.int32)
        values = torch.rand(total, device=device, dtype=torch.float64)
        matrix = torch.sparse_csr_tensor(ends, columns, values, (rows, rows))
        return matrix, torch.rand(rows, device=device, dtype=torch.float64)

    time("sparse product", "torch (cuSPARSE)", torch.mv, sparse)

    def pull(x, y, z, m):
        dx, dy, dz = (v[None, :] - v[:, None] for v in (x, y, z))
        d = dx * dx + dy * dy + dz * dz + 0.01
        w = m[None, :] / (d * torch.sqrt(d))
        return (w * dx).sum(1), (w * dy).sum(1), (w * dz).sum(1)

    b = size(32_768, 70)
    time("n-body", "torch.compile", compiled(pull), lambda: tuple(uniform(b) for _ in range(4)))

    k = size(1448, 12)

    def sweep(u):
        v = torch.nn.functional.pad(u[None, None], (1, 1, 1, 1), mode="replicate")[0, 0]
        return 0.25 * (v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:])

    def fluid_flow(peer, sweep):
        """160 sweeps as one graph, which is captured with the first inputs."""
        captured = []

        def capture():
            static = uniform(k, k)
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(3):
                    sweep(static)
            torch.cuda.current_stream().wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                u = static
                for _ in range(160):
                    u = sweep(u)
            return static, graph

        def make():
            if not captured:
                captured.extend(capture())
            return (uniform(k, k),)

        def replay(u):
            static, graph = captured
            static.copy_(u)
            graph.replay()

        time("fluid flow", peer, replay, make)

    fluid_flow("torch, a graph", sweep)

    s = size(4_000_000, 300)
    integers = lambda: (torch.randint(-(2**31), 2**31 - 1, (s,), device=device, dtype=torch.int32),)
    time("sort", "torch", lambda x: torch.sort(x).values, integers)
    d = size(4096, 16)
    time("matrix product", "torch (cuBLAS)", torch.matmul, lambda: (uniform(d, d), uniform(d, d)))

    p = size(4_000_000, 200)

    def step(points, centres):
        # The square of the point is the same for all centres.
        distance = (centres * centres).sum(1)[None, :] - 2.0 * points @ centres.T
        labels = distance.argmin(1)
        sums = torch.zeros_like(centres).index_add_(0, labels, points)
        counts = torch.bincount(labels, minlength=64).clamp(min=1).to(torch.float32)
        return sums / counts[:, None]

    points = lambda: (uniform(p, 16), uniform(64, 16))
    time("k-means", "torch.compile", compiled(step), points)
    time("k-means", "torch", step, points)

    nodes = size(5_700_000, 60)

    def graph_of_links():
        counts = 1 + torch.arange(nodes, device=device) * 17 % LINKS
        ends = torch.cat([torch.zeros(1, dtype=torch.int64, device=device), torch.cumsum(counts, 0)]).to(torch.int32)
        total = int(ends[-1])
        columns = torch.randint(0, nodes, (total,), device=device, dtype=torch.int32)
        ones = torch.ones(total, device=device)
        matrix = torch.sparse_csr_tensor(ends, columns, ones, (nodes, nodes))
        return matrix, torch.full((nodes,), 1.0 / nodes, device=device), 1.0 / counts.to(torch.float32)

    rank = lambda matrix, rank, weight: 0.15 / nodes + 0.85 * torch.mv(matrix, rank * weight)
    time("PageRank", "torch (cuSPARSE)", rank, graph_of_links)

    # The last, as what captures it may fail in ways that others would suffer from. It compiles one sweep: 160 of them take
    # the compiler minutes.
    fluid_flow("torch.compile, a graph", compiled(sweep))
