"""Times on a GPU what a user would write instead of Weft, with whatever packages are there.

Prints a line for each program and peer, `program<TAB>peer<TAB>milliseconds`: the median of runs that are
timed by events of the device, over three sets of inputs in turn, so that the cache of the device does not
hold them. Lines without tabs say what was skipped, and why. `--small` uses small sizes. The programs and
their sizes are those of `tests/src/device_check/timing.rs`.
"""

import statistics
import sys

SMALL = "--small" in sys.argv[1:]
RUNS = 3 if SMALL else 30
SETS = 3


def size(full, small):
    return small if SMALL else full


skipped = []


def report(program, peer, run, inputs, clock):
    """Runs with each of the inputs in turn; `clock` times one call."""
    try:
        for values in inputs:
            run(*values)
        times = [clock(run, inputs[turn % len(inputs)]) for turn in range(RUNS)]
    except Exception as error:
        skipped.append(f"{program} with {peer}: {type(error).__name__}: {error}".replace("\t", " ").splitlines()[0])
        return
    print(program, peer, f"{statistics.median(times):.4f}", sep="\t", flush=True)


def torch_peers():
    import torch

    if not torch.cuda.is_available():
        raise RuntimeError("it sees no GPU")
    torch.backends.cuda.matmul.allow_tf32 = False
    device = torch.device("cuda")

    def clock(run, values):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run(*values)
        end.record()
        end.synchronize()
        return begin.elapsed_time(end)

    def uniform(*shape):
        return torch.rand(*shape, device=device)

    def sets(make):
        return [make() for _ in range(SETS)]

    n, m, k, s = size(20_000_000, 2000), size(100_000_000, 2000), size(4096, 16), size(4_000_000, 300)
    report("dot", "torch (cuBLAS)", torch.dot, sets(lambda: (uniform(n), uniform(n))), clock)
    fused = torch.compile(lambda x, y: (x * y).sum())
    report("dot", "torch.compile", fused, sets(lambda: (uniform(n), uniform(n))), clock)
    scan = lambda x: torch.cumsum(x, 0)
    report("prefix sum", "torch", scan, sets(lambda: (uniform(m) - 0.5,)), clock)
    report("filter", "torch", lambda x: x[x > 0.5], sets(lambda: (uniform(m),)), clock)
    bins = lambda x: torch.bincount((x * 256.0).to(torch.int64), minlength=256)
    report("histogram", "torch", bins, sets(lambda: (uniform(m),)), clock)
    integers = lambda: (torch.randint(-(2**31), 2**31 - 1, (s,), device=device, dtype=torch.int32),)
    report("sort", "torch", lambda x: torch.sort(x).values, sets(integers), clock)
    report("matrix product", "torch (cuBLAS)", torch.matmul, sets(lambda: (uniform(k, k), uniform(k, k))), clock)


def cupy_peers():
    import cupy

    def clock(run, values):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        run(*values)
        end.record()
        end.synchronize()
        return cupy.cuda.get_elapsed_time(begin, end)

    def uniform(*shape):
        return cupy.random.random(shape, dtype=cupy.float32)

    def sets(make):
        return [make() for _ in range(SETS)]

    n, m, s = size(20_000_000, 2000), size(100_000_000, 2000), size(4_000_000, 300)
    report("dot", "cupy", cupy.dot, sets(lambda: (uniform(n), uniform(n))), clock)
    report("prefix sum", "cupy (CUB)", cupy.cumsum, sets(lambda: (uniform(m) - 0.5,)), clock)
    report("filter", "cupy", lambda x: x[x > 0.5], sets(lambda: (uniform(m),)), clock)
    bins = lambda x: cupy.bincount((x * 256).astype(cupy.int32), minlength=256)
    report("histogram", "cupy.bincount", bins, sets(lambda: (uniform(m),)), clock)
    integers = lambda: (cupy.random.randint(-(2**31), 2**31 - 1, s, dtype=cupy.int32),)
    report("sort", "cupy", cupy.sort, sets(integers), clock)


def jax_peers():
    import time

    import jax
    import jax.numpy as jnp

    if jax.devices()[0].platform != "gpu":
        raise RuntimeError("it sees no GPU")

    def clock(run, values):
        # It has no events: this includes the way to the device and back.
        begin = time.perf_counter()
        jax.block_until_ready(run(*values))
        return (time.perf_counter() - begin) * 1e3

    keys = iter(jax.random.split(jax.random.PRNGKey(1), 100))

    def uniform(*shape):
        return jax.random.uniform(next(keys), shape, dtype=jnp.float32)

    def sets(make):
        return [make() for _ in range(SETS)]

    n, m = size(20_000_000, 2000), size(100_000_000, 2000)
    dot = jax.jit(lambda x, y: (x * y).sum())
    report("dot", "jax (by the host's clock)", dot, sets(lambda: (uniform(n), uniform(n))), clock)
    scan = jax.jit(jnp.cumsum)
    report("prefix sum", "jax (by the host's clock)", scan, sets(lambda: (uniform(m) - 0.5,)), clock)


def main():
    for name, peers in [("torch", torch_peers), ("cupy", cupy_peers), ("jax", jax_peers)]:
        try:
            peers()
        except Exception as error:
            why = (str(error).splitlines() or [""])[0].replace("\t", " ")
            skipped.append(f"all of {name}: {type(error).__name__}: {why}")
    print(f"{len(skipped)} skipped")
    for reason in skipped:
        print(f"skipped: {reason}")


if __name__ == "__main__":
    main()
