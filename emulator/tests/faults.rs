//! Kernels with one fault each, which the emulator has to report with its line; and kernels without,
//! which it has to run.

use std::io::Write as _;
use std::sync::atomic::AtomicBool;

use weft_emulator::{Device, Emulator, Error, Grid, Schedule, Statistics};

/// The schedules that a fault may need.
const SCHEDULES: u64 = 8;

/// The emulator; `None`, after saying so, where the machine has no compiler.
fn emulator() -> Option<Emulator> {
    match Emulator::new() {
        Ok(emulator) => Some(emulator),
        Err(error @ Error::Unavailable(_)) => {
            // Past the capture of a passing test's output.
            let _ = writeln!(std::io::stderr(), "skipped: a test of faults: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Runs `kernel(u32* a, u32* b, u32 n)` with `a` = 0, 1, … and `b` garbage, 64 elements each.
fn run(emulator: &Emulator, body: &str, grid: Grid, schedule: u64) -> Result<Vec<u32>, Error> {
    run_counted(emulator, body, grid, schedule).map(|(values, _)| values)
}

fn run_counted(
    emulator: &Emulator,
    body: &str,
    grid: Grid,
    schedule: u64,
) -> Result<(Vec<u32>, Statistics), Error> {
    let text = format!(
        "typedef unsigned u32;\ntypedef unsigned long long u64;\nextern \"C\" __global__ void \
         kernel(u32* a, u32* b, u32 n) {{\n  u32 t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\
         \n{body}\n}}\n"
    );
    let module = emulator.compile(&text, &["kernel"])?;
    let mut device = Device::new(emulator)?;
    let a = device.allocate(256, 4, "a")?;
    let b = device.allocate(256, 4, "b")?;
    let values: Vec<u8> = (0..64_u32).flat_map(u32::to_le_bytes).collect();
    device.write(a, &values)?;
    let arguments =
        [a.0.to_le_bytes().to_vec(), b.0.to_le_bytes().to_vec(), 64_u32.to_le_bytes().to_vec()];
    let schedule = Schedule { patience: 3000, ..Schedule::numbered(schedule) };
    let cancel = AtomicBool::new(false);
    let statistics = device.launch(&module, "kernel", grid, &arguments, &schedule, &cancel)?;
    let bytes = device.read(b, 256)?;
    let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    Ok((bytes.chunks_exact(4).map(word).collect(), statistics))
}

/// A fault, what the report says of it, and the line of the body that it names.
struct Planted {
    body: &'static str,
    blocks: u32,
    threads: u32,
    says: &'static str,
    line: u32,
}

const PLANTED: &[Planted] = &[
    Planted {
        body: "if (i <= n) b[i] = 1;",
        blocks: 1,
        threads: 96,
        says: "out of bounds",
        line: 1,
    },
    Planted {
        body: "if (i < n)\n  b[i] = a[(int)i - 1];",
        blocks: 1,
        threads: 64,
        says: "out of bounds",
        line: 2,
    },
    Planted {
        body: "b[t] = *(u64*)(a + 1 + t % 8 * 2);",
        blocks: 1,
        threads: 64,
        says: "misaligned",
        line: 1,
    },
    Planted { body: "a[t] = b[t];", blocks: 1, threads: 64, says: "uninitialised", line: 1 },
    Planted {
        body: "__shared__ u32 s[64];\nif (t < 63) s[t] = 1;\n__syncthreads();\nb[t] = s[t];",
        blocks: 1,
        threads: 64,
        says: "uninitialised: a read of shared memory",
        line: 4,
    },
    Planted {
        body: "__shared__ u32 s[64];\ns[t] = t;\nb[t] = s[63 - t];",
        blocks: 1,
        threads: 64,
        says: "",
        line: 3,
    },
    Planted {
        body: "__shared__ u32 s[64];\ns[t] = t; __syncthreads();\ns[t] = s[63 - t] + 1;\nb[t] = 0;",
        blocks: 1,
        threads: 64,
        says: "race",
        line: 3,
    },
    Planted { body: "b[i / 2] = i;", blocks: 2, threads: 32, says: "race", line: 1 },
    Planted { body: "a[0] += 1;", blocks: 2, threads: 1, says: "race", line: 1 },
    Planted {
        body: "if (i == 0) a[0] += 1; else atomicAdd(a, 1u);",
        blocks: 2,
        threads: 32,
        says: "race",
        line: 1,
    },
    Planted {
        body: "if (i + 1 < n) a[i] = a[i + 1];",
        blocks: 2,
        threads: 32,
        says: "race",
        line: 1,
    },
    Planted {
        body: "if (t < 32) __syncthreads();\nb[t] = 1;",
        blocks: 1,
        threads: 64,
        says: "divergent barrier",
        line: 1,
    },
    Planted {
        body: "if (t < 32) {\n  __syncthreads(); } else {\n  __syncthreads(); }\nb[t] = 1;",
        blocks: 1,
        threads: 64,
        says: "divergent barrier",
        line: 2,
    },
    Planted {
        body: "u32 v = t;\nif (t < 16) v = __shfl_xor_sync(0xffffffffu, v, 1);\nb[t] = v;",
        blocks: 1,
        threads: 32,
        says: "warp",
        line: 2,
    },
    Planted {
        body: "u32 v = t;\nif (t < 16) v = __shfl_down_sync(0xffffu, v, 8);\nb[t] = v;",
        blocks: 1,
        threads: 32,
        says: "shuffle",
        line: 2,
    },
    Planted {
        body: "b[t] = __ballot_sync(0xffffffffu, t & 1);",
        blocks: 1,
        threads: 40,
        says: "warp",
        line: 1,
    },
    Planted {
        body: "__shared__ u32 s[32];\nif (t < 32) s[t] = t;\nif (t < 32) b[t] = s[31 - t];",
        blocks: 1,
        threads: 32,
        says: "",
        line: 3,
    },
    Planted {
        body: "b[t] = (int)(2147483600 + t % 64 - 0u) < 0;\nb[t] = 1u << (t + 1);",
        blocks: 1,
        threads: 64,
        says: "undefined: a shift",
        line: 2,
    },
    Planted {
        body: "int k = 2147483600 + (int)t;\nb[t] = k + 1;",
        blocks: 1,
        threads: 64,
        says: "undefined: a signed addition",
        line: 2,
    },
    Planted {
        body: "b[t] = 100 / (int)(a[t] - 1);",
        blocks: 1,
        threads: 64,
        says: "undefined: a division",
        line: 1,
    },
    // The flag is set without a fence: what was stored before is not ordered.
    Planted {
        body: "if (i == 0) { b[0] = 7; __nv_atomic_store_n(a, 99u, __NV_ATOMIC_RELAXED, \
               __NV_THREAD_SCOPE_DEVICE); }\nif (i == 1) { while (__nv_atomic_load_n(a, \
               __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) != 99u) {}\n  a[5] = b[0]; }",
        blocks: 2,
        threads: 1,
        says: "race",
        line: 3,
    },
    // Block 0 waits for block 3, which gets no room.
    Planted {
        body: "atomicAdd(a + 1, 1u);\nwhile (__nv_atomic_load_n(a + 1, __NV_ATOMIC_RELAXED, \
               __NV_THREAD_SCOPE_DEVICE) < 10u) {}\nb[t] = 1;",
        blocks: 8,
        threads: 1,
        says: "no progress",
        line: 0,
    },
];

#[test]
fn reports_every_planted_fault() {
    let Some(emulator) = emulator() else { return };
    for Planted { body, blocks, threads, says, line } in PLANTED {
        let grid = Grid::linear(*blocks, *threads);
        let found =
            (0..SCHEDULES).find_map(|schedule| match run(&emulator, body, grid, schedule) {
                Err(Error::Report(report)) => Some(report),
                Ok(_) => None,
                Err(other) => panic!("{other}\nin\n{body}"),
            });
        let report = found.unwrap_or_else(|| panic!("nothing was reported of\n{body}"));
        assert!(report.contains(says), "{report}\nis not {says:?} in\n{body}");
        // The body begins on line 5.
        let expected = format!("line {}", line + 4);
        assert!(*line == 0 || report.contains(&expected), "{report}\nnot {expected} in\n{body}");
    }
}

#[test]
fn shared_memory_has_an_end() {
    let Some(emulator) = emulator() else { return };
    // 48 KiB, in one array or in two.
    for (words, fits) in [(12287, true), (12288, false)] {
        let body = format!(
            "__shared__ u32 s[{words}], one[1];\ns[t] = t; one[0] = 1;\n__syncthreads();\n\
             b[t] = s[63 - t] + one[0];"
        );
        let body = body.replace("one[0] = 1", "if (t == 0) one[0] = 1");
        match run(&emulator, &body, Grid::linear(1, 64), 0) {
            Ok(_) => assert!(fits, "{words}"),
            Err(Error::Compile(said)) => {
                assert!(!fits && said.contains("declares 49156 bytes of shared memory"), "{said}");
            }
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn a_grid_has_blocks_and_not_too_many() {
    let Some(emulator) = emulator() else { return };
    for (blocks, says) in [(0, "no blocks"), (1 << 31, "too large")] {
        let report = match run(&emulator, "b[i] = i;", Grid::linear(blocks, 32), 0) {
            Err(Error::Report(report)) => report,
            other => panic!("{other:?}"),
        };
        assert!(report.contains(says), "{report}");
    }
}

/// Correct kernels, and what `b` holds after them at index t, with 2 blocks of 32 threads.
type Correct = (&'static str, fn(u32) -> u32);

const CORRECT: &[Correct] = &[
    ("b[i] = a[i] * 2;", |at| at * 2),
    ("__shared__ u32 s[32];\ns[t] = a[i]; __syncthreads();\nb[i] = s[31 - t];", |at| {
        at / 32 * 32 + 31 - at % 32
    }),
    ("b[i] = __shfl_up_sync(0xffffffffu, a[i], 1);", |at| if at % 32 == 0 { at } else { at - 1 }),
    ("b[i] = __ballot_sync(0xffffffffu, a[i] < 3);", |at| if at < 32 { 7 } else { 0 }),
    (
        "b[i] = __match_any_sync(0xffffffffu, a[i] / 4 * 0 + t / 16) == (t < 16 ? 0xffffu : \
      0xffff0000u);",
        |_| 1,
    ),
    (
        "__shared__ u32 s[32];\ns[t] = a[i];\n__syncwarp();\nu32 v = s[t ^ 1];\n__syncwarp();\n\
         s[t] = v;\nb[i] = s[t];",
        |at| at ^ 1,
    ),
    // The second block waits for what the first one hands on with a fence.
    (
        "if (t == 0 && blockIdx.x == 1) { b[0] = 5; __threadfence(); atomicExch(a + 40, 99u); }\n\
         if (t == 1 && blockIdx.x == 1) { while (atomicAdd(a + 40, 0u) != 99u) {}\n  \
         __threadfence(); b[33] = b[0] + 1; }\nif (i > 0 && i != 33) b[i] = i;",
        |at| {
            if at == 0 {
                5
            } else if at == 33 {
                6
            } else {
                at
            }
        },
    ),
    ("b[i] = __syncthreads_count(t < 5) + __syncthreads_or(t == 3);", |_| 6),
];

#[test]
fn runs_correct_kernels_under_every_schedule() {
    let Some(emulator) = emulator() else { return };
    for (body, expected) in CORRECT {
        for schedule in 0..SCHEDULES {
            let found = run(&emulator, body, Grid::linear(2, 32), schedule)
                .unwrap_or_else(|error| panic!("{error}\nin\n{body}"));
            let expected: Vec<u32> = (0..64).map(expected).collect();
            assert_eq!(found, expected, "schedule {schedule} of\n{body}");
        }
    }
}

#[test]
fn a_schedule_fixes_the_order_of_events() {
    let Some(emulator) = emulator() else { return };
    let body = "b[i] = atomicAdd(a, 1u);";
    let of = |schedule| {
        run_counted(&emulator, body, Grid::linear(2, 32), schedule)
            .unwrap_or_else(|error| panic!("{error}"))
    };
    for schedule in 0..4 {
        assert_eq!(of(schedule), of(schedule));
    }
    assert_ne!(of(2).0, of(3).0);
    assert_ne!(of(2).1.trace, of(3).1.trace);
}

#[test]
fn text_that_is_no_program_is_refused() {
    let Some(emulator) = emulator() else { return };
    let Err(Error::Compile(message)) = emulator.compile("int x = ;\n", &[]) else {
        panic!("it was accepted")
    };
    assert!(message.contains("kernel.cu:1"), "{message}");
}
