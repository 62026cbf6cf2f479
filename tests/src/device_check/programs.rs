//! The programs that are timed on a device.

/// The bytes in a second that the limits of programs are of: an H200's.
pub(super) const BANDWIDTH: f64 = 4.3e12;

/// A program.
pub(super) struct Program {
    /// As `bench/device_peers.py` has it.
    pub(super) name: &'static str,
    /// The cells that make its inputs, with `N_` for the size and `S_` for the number of the set of inputs.
    pub(super) setup: &'static str,
    pub(super) expression: &'static str,
    pub(super) size: u64,
    pub(super) small: u64,
    /// What an H200 needs at least for the whole size, in milliseconds: an estimate from its bandwidth (4.3
    /// TB/s) or its arithmetic (66.9 TFLOP/s of f32).
    pub(super) limit: f64,
    /// What that is, if not the bytes that must be moved.
    pub(super) limited_by: &'static str,
}

/// A program of small kernels, timed with and without what brings them to the device faster.
pub(super) struct Short {
    pub(super) name: &'static str,
    /// As of [`Program`].
    pub(super) setup: &'static str,
    pub(super) expression: &'static str,
    pub(super) size: u64,
    pub(super) small: u64,
}

/// Loops with kernels that are short, so that launching them counts.
pub(super) const LOOPS: &[Short] = &[
    Short {
        name: "fluid flow, 160 relaxations",
        setup: "def sweep (u : [][]f32) = stencil clamp (\\w -> 0.25 * (w[-1, 0] + w[1, 0] + w[0, -1] + w[0, 1])) u\n\
                u0 = reshape (N_, N_) (random 1 (N_ * N_) : []f32)",
        expression: "iterate 160 sweep u0",
        size: 1448,
        small: 12,
    },
    Short {
        name: "relaxations of a small grid, 4000",
        setup: "def sweep (u : [][]f32) = stencil clamp (\\w -> 0.25 * (w[-1, 0] + w[1, 0] + w[0, -1] + w[0, 1])) u\n\
                u0 = reshape (N_, N_) (random 1 (N_ * N_) : []f32)\n\
                turns = if N_ > 100 then 4000 else 100",
        expression: "iterate turns sweep u0",
        size: 200,
        small: 12,
    },
    Short {
        name: "n-body, 200 steps",
        setup: "x0 = (random 1 N_ : []f32)\nv0 = x0 * 0.0\n\
                def pull (xs : []f32) (x : f32) = sum { (y - x) / (0.01 + (y - x) * (y - x)) : y in xs }\n\
                def move (xs : []f32, vs : []f32) = let ws = vs + 0.001 * { pull xs x : x in xs } in (xs + 0.001 * ws, ws)",
        expression: "iterate 200 move (x0, v0)",
        size: 1024,
        small: 20,
    },
    Short {
        name: "k-means, 100 turns",
        setup: "points = (random 1 N_ : []f32)\n\
                def nearest (cs : []f32) = { argmin { abs (p - c) : c in cs } : p in points }\n\
                def centres (cs : []f32) =\n\
                \x20 let near = nearest cs\n\
                \x20 in scatterWith (+) (replicate 16 0.0f32) near points / max 1.0 (f32 (histogram 16 near))\n\
                c0 = (random 2 16 : []f32)",
        expression: "iterate 100 centres c0",
        size: 100_000,
        small: 100,
    },
];

/// Kernels that do not depend on each other and do not fill a device. Their extents differ, so that they are several.
pub(super) const BRANCHES: &[Short] = &[
    Short {
        name: "six prefix sums",
        setup: "def column (k : i64) = (random k (N_ + k) : []f32)\n\
                (a, b, c) = (column 1, column 2, column 3)\n(d, e, f) = (column 4, column 5, column 6)",
        expression: "(scanl1 (+) a, scanl1 max b, scanl1 min c, scanl1 (*) d, scanl1 (+) (e * e), scanl1 max (f - 0.5))",
        size: 100_000,
        small: 50,
    },
    Short {
        name: "four long recurrences of few points",
        setup: "turns = 20 * N_\n\
                def orbit (r : f32) (x : f32) = loop y = x for i < turns do r * y * (1.0 - y)\n\
                a = (random 1 N_ : []f32)\nb = (random 2 (N_ + 1) : []f32)\n\
                c = (random 3 (N_ + 2) : []f32)\nd = (random 4 (N_ + 3) : []f32)",
        expression: "({ orbit 3.1 x : x in a }, { orbit 3.3 x : x in b }, { orbit 3.5 x : x in c }, { orbit 3.7 x : x in d })",
        size: 500,
        small: 5,
    },
    Short {
        name: "two tables of sums, and what both come to",
        setup: "a = reshape (N_, N_) (random 1 (N_ * N_) : []f32)\n\
                b = reshape (N_ + 1, N_ + 1) (random 2 ((N_ + 1) * (N_ + 1)) : []f32)",
        expression: "let s = { sum row : row in a }; t = { sum (row * row) : row in b } in sum (scanl1 (+) s) + sum (scanl1 max t)",
        size: 300,
        small: 9,
    },
];

const BYTES: &str = "bytes";
const ARITHMETIC: &str = "arithmetic";
const PAIRS: &str =
    "arithmetic with fused multiplication and addition; without, as the language has it, 0.9";
const PRODUCTS: &str = "arithmetic with fused multiplication and addition, as `matmul` has it";

/// With the sizes of the table of limits.
pub(super) const PROGRAMS: &[Program] = &[
    Program {
        name: "dot",
        setup: "x = (random (10 * S_ + 1) N_ : []f32)\ny = (random (10 * S_ + 2) N_ : []f32)",
        expression: "sum (x * y)",
        size: 20_000_000,
        small: 2000,
        limit: 0.037,
        limited_by: BYTES,
    },
    Program {
        name: "Black-Scholes",
        setup: "def cnd (d : f32) =\n\
                \x20 let k = 1.0 / (1.0 + 0.2316419 * abs d)\n\
                \x20     p = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * \
                1.330274429))))\n\
                \x20     c = 0.3989422804 * exp (-0.5 * d * d) * p\n\
                \x20 in if d > 0.0 then 1.0 - c else c\n\
                def price (s : f32) (x : f32) (t : f32) =\n\
                \x20 let vs = 0.30 * sqrt t\n\
                \x20     d1 = (log (s / x) + (0.02 + 0.5 * 0.30 * 0.30) * t) / vs\n\
                \x20     d2 = d1 - vs\n\
                \x20     xe = x * exp (-0.02 * t)\n\
                \x20 in (s * cnd d1 - xe * cnd d2, xe * (1.0 - cnd d2) - s * (1.0 - cnd d1))\n\
                s = 5.0 + 25.0 * (random (10 * S_ + 1) N_ : []f32)\n\
                x = 1.0 + 99.0 * (random (10 * S_ + 2) N_ : []f32)\n\
                t = 0.25 + 9.75 * (random (10 * S_ + 3) N_ : []f32)",
        expression: "unzip (zipWith3 price s x t)",
        size: 20_000_000,
        small: 500,
        limit: 0.093,
        limited_by: BYTES,
    },
    Program {
        name: "prefix sum",
        setup: "x = (random (10 * S_) N_ : []f32) - 0.5",
        expression: "scanl1 (+) x",
        size: 100_000_000,
        small: 2000,
        limit: 0.186,
        limited_by: BYTES,
    },
    Program {
        name: "filter",
        setup: "x = (random (10 * S_) N_ : []f32)",
        expression: "{ v in x | v > 0.5 }",
        size: 100_000_000,
        small: 2000,
        limit: 0.140,
        limited_by: BYTES,
    },
    Program {
        name: "histogram",
        setup: "x = (random (10 * S_) N_ : []f32)",
        expression: "histogram 256 (i64 (x * 256.0))",
        size: 100_000_000,
        small: 2000,
        limit: 0.093,
        limited_by: BYTES,
    },
    Program {
        // Rows of 1 to 31 elements: 16 n of them, of 12 bytes each.
        name: "sparse product",
        setup: "n = N_\n\
                counts = { 1 + i * 17 % 31 : i in iota n }\n\
                total = sum counts\n\
                column = i32 (randomInt (10 * S_) 0 n total)\n\
                rows = segments counts (zip column (random (10 * S_ + 1) total : []f64))\n\
                x = 1.0 + f64 (iota n % 7) / 8.0",
        expression: "{ sum { v * x[i64 j] : (j, v) in row } : row in rows }",
        size: 4_000_000,
        small: 100,
        limit: 0.179,
        limited_by: BYTES,
    },
    Program {
        name: "n-body",
        setup: "x = 2.0 * (random (10 * S_ + 1) N_ : []f32) - 1.0\n\
                y = 2.0 * (random (10 * S_ + 2) N_ : []f32) - 1.0\n\
                z = 2.0 * (random (10 * S_ + 3) N_ : []f32) - 1.0\n\
                m = 0.5 + (random (10 * S_ + 4) N_ : []f32)\n\
                def pull (xi : f32, yi : f32, zi : f32) (xj : f32, yj : f32, zj : f32) mj =\n\
                \x20 let dx = xj - xi ; dy = yj - yi ; dz = zj - zi\n\
                \x20     d = dx * dx + dy * dy + dz * dz + 0.01\n\
                \x20     w = mj / (d * sqrt d)\n\
                \x20 in (w * dx, w * dy, w * dz)\n\
                def add3 (a : f32, b : f32, c : f32) (d, e, f) = (a + d, b + e, c + f)\n\
                bodies = zip3 x y z",
        expression: "{ fold add3 (0.0, 0.0, 0.0) { pull p q k : q in bodies ; k in m } : p in bodies }",
        size: 32_768,
        small: 70,
        limit: 0.45,
        limited_by: PAIRS,
    },
    Program {
        name: "Mandelbrot",
        setup: "def escape (cr : f32) (ci : f32) =\n\
                \x20 (loop (x, y, k) = (0.0, 0.0, 0i32) while k < 255 && x * x + y * y <= 4.0\n\
                \x20   do (x * x - y * y + cr, 2.0 * x * y + ci, k + 1)).2\n\
                cx = -2.0 + 3.0 * (f32 (iota N_) + 0.1 * S_.0) / f32 N_\n\
                cy = -1.4 + 2.8 * f32 (iota (N_ * 14 // 15)) / f32 (N_ * 14 // 15)",
        expression: "{ { escape cr ci : cr in cx } : ci in cy }",
        size: 1500,
        small: 15,
        limit: 0.12,
        limited_by: ARITHMETIC,
    },
    Program {
        name: "Canny",
        setup: "picture = reshape (N_, N_) (u8 (randomInt (10 * S_) 0 256 (N_ * N_)))\n\
                def blur (g : [][]u8) =\n\
                \x20 let v = stencil clamp (\\w -> i32 w[-2, 0] + 4 * i32 w[-1, 0] + 6 * i32 w[0, 0] + 4 * i32 w[1, \
                0] + i32 w[2, 0]) g\n\
                \x20 in stencil clamp (\\w -> (w[0, -2] + 4 * w[0, -1] + 6 * w[0, 0] + 4 * w[0, 1] + w[0, 2] + 128) \
                >> 8) v\n\
                def direction (x : i32) (y : i32) =\n\
                \x20 let a = 13573 * abs x\n\
                \x20     b = abs y << 15\n\
                \x20 in if b < a then 0i32 else if b > a + (abs x << 16) then 1 else if (x < 0) == (y < 0) then 2 \
                else 3\n\
                def phases (g : [][]u8) =\n\
                \x20 let b = blur g\n\
                \x20     gx = stencil clamp (\\w -> w[-1, 1] + 2 * w[0, 1] + w[1, 1] - (w[-1, -1] + 2 * w[0, -1] + w[1, \
                -1])) b\n\
                \x20     gy = stencil clamp (\\w -> w[1, -1] + 2 * w[1, 0] + w[1, 1] - (w[-1, -1] + 2 * w[-1, 0] + \
                w[-1, 1])) b\n\
                \x20     magnitude = gx * gx + gy * gy\n\
                \x20     ridge = stencil2 (constant 0)\n\
                \x20       (\\m d -> let c = m[0, 0]\n\
                \x20                in if d[0, 0] == 0 then c > m[0, -1] && c >= m[0, 1]\n\
                \x20                   else if d[0, 0] == 1 then c > m[-1, 0] && c >= m[1, 0]\n\
                \x20                   else if d[0, 0] == 2 then c > m[-1, -1] && c > m[1, 1]\n\
                \x20                   else c > m[-1, 1] && c > m[1, -1])\n\
                \x20       magnitude (direction gx gy)\n\
                \x20 in (ridge && magnitude > 20 * 20, ridge && magnitude > 60 * 60)",
        expression: "phases picture",
        size: 4096,
        small: 20,
        limit: 0.03,
        limited_by: "bytes, all phases in one pass; 0.18 in six",
    },
    Program {
        name: "fluid flow",
        setup: "def sweep (u : [][]f32) = stencil clamp (\\w -> 0.25 * (w[-1, 0] + w[1, 0] + w[0, -1] + w[0, 1])) u\n\
                u0 = reshape (N_, N_) (random (10 * S_) (N_ * N_) : []f32)",
        expression: "iterate 160 sweep u0",
        size: 1448,
        small: 12,
        limit: 0.4,
        limited_by: "launches and bytes of the second-level cache, 160 relaxations",
    },
    Program {
        name: "sort",
        setup: "x = i32 (randomInt (10 * S_) (-2147483648) 2147483648 N_)",
        expression: "sort x",
        size: 4_000_000,
        small: 300,
        limit: 0.033,
        limited_by: BYTES,
    },
    Program {
        name: "matrix product",
        setup: "a = reshape (N_, N_) (random (10 * S_ + 1) (N_ * N_) : []f32)\n\
                b = reshape (N_, N_) (random (10 * S_ + 2) (N_ * N_) : []f32)",
        expression: "matmul a b",
        size: 4096,
        small: 16,
        limit: 2.05,
        limited_by: PRODUCTS,
    },
    Program {
        name: "k-means",
        setup: "points = reshape (N_, 16) (random (10 * S_ + 1) (16 * N_) : []f32)\n\
                centres = reshape (64, 16) (random (10 * S_ + 2) (64 * 16) : []f32)\n\
                def distance (p : []f32) (q : []f32) = let d = p - q in sum (d * d)\n\
                def step (cs : [][]f32) =\n\
                \x20 let labels = { argmin { distance c p : c in cs } : p in points }\n\
                \x20     counts = max 1.0 (f32 (histogram 64 labels))\n\
                \x20     total column = scatterWith (+) (replicate 64 0.0f32) labels column\n\
                \x20 in transpose { total column / counts : column in transpose points }",
        expression: "step centres",
        size: 4_000_000,
        small: 200,
        limit: 0.12,
        limited_by: ARITHMETIC,
    },
    Program {
        name: "MD5",
        setup: "rotations = u32 (flatten { { row[k % 4] : k in 0..16 } : row in [[7, 12, 17, 22], [5, 9, 14, 20], [4, \
                11, 16, 23], [6, 10, 15, 21]] })\n\
                sines = { u32 (floor (abs (sin (f64 (i + 1))) * 4294967296.0)) : i in 0..64 }\n\
                def rotate32 (x : u32) (k : u32) = (x << k) .|. (x >> (32 - k))\n\
                n = N_\n\
                blocks = { u32 v : v in randomInt (10 * S_) 0 4294967296 (16 * n) }\n\
                def md5 (at : i64) =\n\
                \x20 let mix i b c d =\n\
                \x20       if i < 16 then (d .^. (b .&. (c .^. d)), i)\n\
                \x20       else if i < 32 then (c .^. (d .&. (b .^. c)), (5 * i + 1) % 16)\n\
                \x20       else if i < 48 then (b .^. c .^. d, (3 * i + 5) % 16)\n\
                \x20       else (c .^. (b .|. complement d), 7 * i % 16)\n\
                \x20     (a0, b0, c0, d0) = (0x67452301u32, 0xefcdab89u32, 0x98badcfeu32, 0x10325476u32)\n\
                \x20     (a, b, c, d) = loop (a, b, c, d) = (a0, b0, c0, d0) for i < 64 do\n\
                \x20       let (f, g) = mix i b c d\n\
                \x20       in (d, b + rotate32 (a + f + sines[i] + blocks[g * n + at]) rotations[i], b, c)\n\
                \x20 in (a0 + a, b0 + b, c0 + c, d0 + d)",
        expression: "{ let (a, b, c, d) = md5 i in a .^. b .^. c .^. d : i in iota n }",
        size: 14_000_000,
        small: 20,
        limit: 0.18,
        limited_by: ARITHMETIC,
    },
    Program {
        // 1 to 45 edges to each node: 23 n of them.
        name: "PageRank",
        setup: "n = N_\n\
                counts = { 1 + i * 17 % 45 : i in iota n }\n\
                links = segments counts (i32 (randomInt (10 * S_) 0 n (sum counts)))\n\
                weight = { 1.0f32 / f32 k : k in counts }\n\
                rank = replicate n (1.0f32 / f32 n)\n\
                def step (rank : []f32) =\n\
                \x20 let share = rank * weight\n\
                \x20 in { 0.15 / f32 n + 0.85 * sum { share[i64 j] : j in own } : own in links }",
        expression: "step rank",
        size: 5_700_000,
        small: 60,
        limit: 0.24,
        limited_by: "bytes, ranks from the second-level cache; 0.76 without",
    },
];
