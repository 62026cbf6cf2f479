"""The programs that are timed: for each the Weft text, and the bytes it must move at least.

The sizes and distributions are those of the peers' programs. `setup` makes the data and is not
timed; `expression` is. `bytes` is what a program has to read and write at least, or None where
time goes into arithmetic.
"""

from dataclasses import dataclass

N = 20_000_000
MATRICES = [
    "matrix/bcsstk16.mtx.gz",
    "matrix/bips98_606.mtx.gz",
    "matrix/fast0507.mtx.gz",
    "matrix/mbeacxc.mtx.gz",
    "matrix/memplus.mtx.gz",
    "matrix/ship001.mtx.xz",
    "matrix/wing_lap.mtx.gz",
]
GRAPHS = ["cnr-2000"]


@dataclass
class Program:
    """One program."""

    setup: str
    expression: str
    bytes: int | None = None
    # Files that it reads, relative to the data folder.
    files: tuple[str, ...] = ()
    # A smaller size for the interpreter, which is compared by time per element.
    small: tuple[str, str] | None = None
    scale: float = 1.0


def sized(setup: str, expression: str, n: int, small: int, per_element: int | None = None) -> Program:
    """A program over `N_` elements, whose interpreted form runs on fewer."""
    return Program(
        setup.replace("N_", str(n)),
        expression,
        None if per_element is None else n * per_element,
        small=(setup.replace("N_", str(small)), expression),
        scale=n / small,
    )


BLACK_SCHOLES = """\
def cnd (d : f32) =
  let k = 1.0 / (1.0 + 0.2316419 * abs d)
      p = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
      c = 0.3989422804 * exp (-0.5 * d * d) * p
  in if d > 0.0 then 1.0 - c else c
def price (s : f32) (x : f32) (t : f32) =
  let vs = 0.30 * sqrt t
      d1 = (log (s / x) + (0.02 + 0.5 * 0.30 * 0.30) * t) / vs
      d2 = d1 - vs
      xe = x * exp (-0.02 * t)
  in (s * cnd d1 - xe * cnd d2, xe * (1.0 - cnd d2) - s * (1.0 - cnd d1))
s = 5.0 + 25.0 * (random 1 N_ : []f32)
x = 1.0 + 99.0 * (random 2 N_ : []f32)
t = 0.25 + 9.75 * (random 3 N_ : []f32)
"""

MANDELBROT = """\
def escape (cr : f32) (ci : f32) =
  (loop (x, y, k) = (0.0, 0.0, 0i32) while k < 255 && x * x + y * y <= 4.0
    do (x * x - y * y + cr, 2.0 * x * y + ci, k + 1)).2
cx = -2.0 + 3.0 * f32 (iota W_) / W_.0
cy = -1.4 + 2.8 * f32 (iota H_) / H_.0
"""

NBODY = """\
x = 2.0 * (random 1 N_ : []f32) - 1.0
y = 2.0 * (random 2 N_ : []f32) - 1.0
z = 2.0 * (random 3 N_ : []f32) - 1.0
m = 0.5 + (random 4 N_ : []f32)
def pull (xi : f32, yi : f32, zi : f32) (xj : f32, yj : f32, zj : f32) mj =
  let dx = xj - xi ; dy = yj - yi ; dz = zj - zi
      d = dx * dx + dy * dy + dz * dz + 0.01
      w = mj / (d * sqrt d)
  in (w * dx, w * dy, w * dz)
def add3 (a : f32, b : f32, c : f32) (d, e, f) = (a + d, b + e, c + f)
bodies = zip3 x y z
"""
NBODY_EXPRESSION = "{ fold add3 (0.0, 0.0, 0.0) { pull p q k : q in bodies ; k in m } : p in bodies }"

JACOBI = """\
def sweep (u : [][]f32) = stencil clamp (\\w -> 0.25 * (w[-1, 0] + w[1, 0] + w[0, -1] + w[0, 1])) u
u0 = reshape (N_, N_) (random 7 (N_ * N_) : []f32)
"""

KMEANS = """\
n = N_
kind = randomInt 10 0 16 n
def component c = (random c n : []f32) + 0.7 * f32 (kind % 4)
x0 = component 11
x1 = component 12
x2 = component 13
x3 = component 14
def square (a : f32) = a * a
def nearest cs (a, b, c, d) =
  argmin { square (a - e) + square (b - f) + square (c - g) + square (d - h) : (e, f, g, h) in cs }
def step cs =
  let labels = { nearest cs (a, b, c, d) : a in x0 ; b in x1 ; c in x2 ; d in x3 }
      none = replicate 16 0.0
      counts = max 1.0 (f64 (histogram 16 labels))
      mean xs = f32 (scatterWith (+) none labels (f64 xs) / counts)
  in { (a, b, c, d) : a in mean x0 ; b in mean x1 ; c in mean x2 ; d in mean x3 }
start = { (x0[i], x1[i], x2[i], x3[i]) : i in iota 16 }
"""

MATRIX = """\
m = loadMtx "FILE_"
c = csr m
rows = segments c.counts (zip (i32 c.colIndex) c.values)
x = 1.0 + f64 (iota m.cols % 7) / 8.0
"""
SPMV_EXPRESSION = "{ sum { v * x[i64 j] : (j, v) in row } : row in rows }"

PAGERANK = """\
m = loadMtx "FILE_"
n = m.rows
c = csr m
source = flatten { replicate k r : k in c.counts ; r in iota n }
target = c.colIndex
order = argsort target
inLinks = segments (histogram n target) (i32 (gather source order))
degree = f64 c.counts
weight = { if d > 0.0 then 1.0 / d else 0.0 : d in degree }
def step (rank : []f64) =
  let share = rank * weight
      lost = sum { if d == 0.0 then r else 0.0 : r in rank ; d in degree }
      base = 0.15 / f64 n + 0.85 * lost / f64 n
  in { base + 0.85 * sum { share[i64 j] : j in links } : links in inLinks }
"""

CANNY = """\
picture = loadImage "FILE_"
def blur (g : [][]u8) =
  let v = stencil clamp (\\w -> i32 w[-2, 0] + 4 * i32 w[-1, 0] + 6 * i32 w[0, 0] + 4 * i32 w[1, 0] + i32 w[2, 0]) g
  in stencil clamp (\\w -> (w[0, -2] + 4 * w[0, -1] + 6 * w[0, 0] + 4 * w[0, 1] + w[0, 2] + 128) >> 8) v
def direction (x : i32) (y : i32) =
  let a = 13573 * abs x
      b = abs y << 15
  in if b < a then 0i32 else if b > a + (abs x << 16) then 1 else if (x < 0) == (y < 0) then 2 else 3
def phases (g : [][]u8) =
  let b = blur g
      gx = stencil clamp (\\w -> w[-1, 1] + 2 * w[0, 1] + w[1, 1] - (w[-1, -1] + 2 * w[0, -1] + w[1, -1])) b
      gy = stencil clamp (\\w -> w[1, -1] + 2 * w[1, 0] + w[1, 1] - (w[-1, -1] + 2 * w[-1, 0] + w[-1, 1])) b
      magnitude = gx * gx + gy * gy
      ridge = stencil2 (constant 0)
        (\\m d -> let c = m[0, 0]
                 in if d[0, 0] == 0 then c > m[0, -1] && c >= m[0, 1]
                    else if d[0, 0] == 1 then c > m[-1, 0] && c >= m[1, 0]
                    else if d[0, 0] == 2 then c > m[-1, -1] && c > m[1, 1]
                    else c > m[-1, 1] && c > m[1, -1])
        magnitude (direction gx gy)
  in (ridge && magnitude > 20 * 20, ridge && magnitude > 60 * 60)
"""

MD5 = """\
rotations = u32 (flatten { { row[k % 4] : k in 0..16 } : row in [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]] })
sines = { u32 (floor (abs (sin (f64 (i + 1))) * 4294967296.0)) : i in 0..64 }
def rotate32 (x : u32) (k : u32) = (x << k) .|. (x >> (32 - k))
n = N_
blocks = { u32 v : v in randomInt 5 0 4294967296 (16 * n) }
def md5 (at : i64) =
  let mix i b c d =
        if i < 16 then (d .^. (b .&. (c .^. d)), i)
        else if i < 32 then (c .^. (d .&. (b .^. c)), (5 * i + 1) % 16)
        else if i < 48 then (b .^. c .^. d, (3 * i + 5) % 16)
        else (c .^. (b .|. complement d), 7 * i % 16)
      (a0, b0, c0, d0) = (0x67452301u32, 0xefcdab89u32, 0x98badcfeu32, 0x10325476u32)
      (a, b, c, d) = loop (a, b, c, d) = (a0, b0, c0, d0) for i < 64 do
        let (f, g) = mix i b c d
        in (d, b + rotate32 (a + f + sines[i] + blocks[g * n + at]) rotations[i], b, c)
  in (a0 + a, b0 + b, c0 + c, d0 + d)
wanted = md5 (n - 12345)
"""
MD5_EXPRESSION = """\
let digests = { md5 i : i in iota n } in ({ d.0 : d in digests }, indexWhere (\\d -> d.0 == wanted.0 && d.1 == wanted.1 && d.2 == wanted.2 && d.3 == wanted.3) digests)"""

XY = "x = (random 1 N_ : []f32)\ny = (random 2 N_ : []f32)\n"
X = "x = (random 1 N_ : []f32)\n"


def mandelbrot(width: int, height: int) -> str:
    return MANDELBROT.replace("W_", str(width)).replace("H_", str(height))


def nbody(n: int) -> Program:
    return Program(
        NBODY.replace("N_", str(n)),
        NBODY_EXPRESSION,
        small=(NBODY.replace("N_", "256"), NBODY_EXPRESSION),
        scale=(n / 256) ** 2,
    )


PROGRAMS: dict[str, Program] = {
    "dotp": sized(XY, "dot x y", N, 200_000, 8),
    "saxpy": sized(XY, "2.5 * x + y", N, 200_000, 12),
    "blackscholes": sized(BLACK_SCHOLES, "unzip (zipWith3 price s x t)", N, 20_000, 20),
    "mandelbrot": Program(
        mandelbrot(1500, 1400),
        "{ { escape cr ci : cr in cx } : ci in cy }",
        small=(mandelbrot(150, 140), "{ { escape cr ci : cr in cx } : ci in cy }"),
        scale=100.0,
    ),
    "nbody4k": nbody(4096),
    "nbody8k": nbody(8192),
    "scan_f32": sized("x = (random 1 N_ : []f32) - 0.5\n", "scanl1 (+) x", N, 200_000, 8),
    "scan_i64": sized("x = randomInt 4 (-1000) 1000 N_\n", "scanl1 (+) x", N, 200_000, 16),
    "filter": sized(X, "{ v in x | v > 0.5 }", N, 200_000, 6),
    "hist": sized(X, "histogram 256 (i64 (x * 256.0))", N, 200_000, 4),
    "rowsum": Program(
        "m = reshape (20000, 1000) (random 6 20000000 : []f32)\n",
        "sum m",
        80_000_000,
        small=("m = reshape (200, 1000) (random 6 200000 : []f32)\n", "sum m"),
        scale=100.0,
    ),
    "colsum": Program(
        "m = reshape (20000, 1000) (random 6 20000000 : []f32)\n",
        "sum (transpose m)",
        80_000_000,
        small=("m = reshape (200, 1000) (random 6 200000 : []f32)\n", "sum (transpose m)"),
        scale=100.0,
    ),
    "jacobi": Program(
        JACOBI.replace("N_", "2048"),
        "iterate 100 sweep u0",
        100 * 2 * 4 * 2048 * 2048,
        small=(JACOBI.replace("N_", "128"), "iterate 10 sweep u0"),
        scale=2560.0,
    ),
    "matmul1024": Program(
        "a = reshape (1024, 1024) (random 1 1048576 : []f32)\nb = reshape (1024, 1024) (random 2 1048576 : []f32)\n",
        "matmul a b",
        small=(
            "a = reshape (64, 64) (random 1 4096 : []f32)\nb = reshape (64, 64) (random 2 4096 : []f32)\n",
            "matmul a b",
        ),
        scale=4096.0,
    ),
    "sort4M": sized(
        "x = i32 (randomInt 9 (-2147483648) 2147483648 N_)\n", "sort x", 4_000_000, 100_000
    ),
    "kmeans": sized(KMEANS, "iterate 10 step start", 1_000_000, 2_000),
    "md5_1M": sized(MD5, MD5_EXPRESSION, 1_000_000, 20_000),
}
for path in MATRICES:
    name = path.split("/")[1].split(".")[0]
    PROGRAMS[f"spmv:{name}"] = Program(MATRIX, SPMV_EXPRESSION, files=(path,))
for name in GRAPHS:
    path = f"graph/{name}.mtx.xz"
    PROGRAMS[f"spmv:{name}"] = Program(MATRIX, SPMV_EXPRESSION, files=(path,))
    PROGRAMS[f"pagerank:{name}"] = Program(
        PAGERANK, "iterate 50 step (replicate n (1.0 / f64 n))", files=(path,)
    )
for name in ("freespace_4mp_gray", "seeding_16mp_gray", "camera"):
    PROGRAMS[f"canny:{name}"] = Program(CANNY, "phases picture", files=(f"image/{name}.png",))
