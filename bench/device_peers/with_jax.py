"""JAX. It has no events: its times are the host's, and include the way to the device and back."""


def run(size, report, _flush):
    import time

    import jax
    import jax.numpy as jnp

    if jax.devices()[0].platform != "gpu":
        raise RuntimeError("it sees no GPU")

    def clock(run, values):
        begin = time.perf_counter()
        jax.block_until_ready(run(*values))
        return (time.perf_counter() - begin) * 1e3

    key = jax.random.PRNGKey(1)

    def uniform(*shape):
        nonlocal key
        key, own = jax.random.split(key)
        return jax.random.uniform(own, shape, dtype=jnp.float32)

    def measure(program, run, make):
        report(program, "jax (by the host's clock)", jax.jit(run), make, clock)

    n, m = size(20_000_000, 2000), size(100_000_000, 2000)
    measure("dot", lambda x, y: (x * y).sum(), lambda: (uniform(n), uniform(n)))

    def price(s, x, t):
        def cnd(d):
            k = 1.0 / (1.0 + 0.2316419 * jnp.abs(d))
            p = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
            c = 0.3989422804 * jnp.exp(-0.5 * d * d) * p
            return jnp.where(d > 0.0, 1.0 - c, c)

        vs = 0.30 * jnp.sqrt(t)
        d1 = (jnp.log(s / x) + (0.02 + 0.5 * 0.30 * 0.30) * t) / vs
        d2 = d1 - vs
        xe = x * jnp.exp(-0.02 * t)
        return s * cnd(d1) - xe * cnd(d2), xe * (1.0 - cnd(d2)) - s * (1.0 - cnd(d1))

    options = lambda: (5.0 + 25.0 * uniform(n), 1.0 + 99.0 * uniform(n), 0.25 + 9.75 * uniform(n))
    measure("Black-Scholes", price, options)
    measure("prefix sum", jnp.cumsum, lambda: (uniform(m) - 0.5,))
    bins = lambda x: jnp.bincount((x * 256.0).astype(jnp.int32), length=256)
    measure("histogram", bins, lambda: (uniform(m),))

    def sweeps(u):
        def sweep(_, u):
            v = jnp.pad(u, 1, mode="edge")
            return 0.25 * (v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:])

        return jax.lax.fori_loop(0, 160, sweep, u)

    k = size(1448, 12)
    measure("fluid flow", sweeps, lambda: (uniform(k, k),))
    s = size(4_000_000, 300)

    def integers():
        nonlocal key
        key, own = jax.random.split(key)
        return (jax.random.randint(own, (s,), -(2**31), 2**31 - 1, dtype=jnp.int32),)

    measure("sort", jnp.sort, integers)
    d = size(4096, 16)
    product = lambda a, b: jnp.matmul(a, b, precision="highest")
    measure("matrix product", product, lambda: (uniform(d, d), uniform(d, d)))
