//! What no device can do is said before it is tried.

use std::sync::atomic::AtomicBool;

use weft_cuda::{Access, Broken, Config, Halt, Policy, Target, generate, run_fallible};
use weft_ir::plan;

use crate::{Compiled, emulated, f64s};

/// A device that takes everything and does nothing.
#[derive(Debug, Default)]
struct Idle {
    allocated: u64,
    launched: Vec<u32>,
}

impl Target for Idle {
    fn allocate(&mut self, bytes: u64, _element: usize, _name: &str) -> Result<u64, Broken> {
        self.allocated += bytes + 256;
        Ok(self.allocated)
    }

    fn free(&mut self, _address: u64) -> Result<(), Broken> {
        Ok(())
    }

    fn write(&mut self, _address: u64, _bytes: &[u8]) -> Result<(), Broken> {
        Ok(())
    }

    fn read(&mut self, _address: u64, into: &mut [u8]) -> Result<(), Broken> {
        into.fill(0);
        Ok(())
    }

    fn copy(&mut self, _to: u64, _from: u64, _bytes: u64) -> Result<(), Broken> {
        Ok(())
    }

    fn clear(&mut self, _address: u64, _bytes: u64) -> Result<(), Broken> {
        Ok(())
    }

    fn launch(
        &mut self,
        _entry: &str,
        blocks: u32,
        _threads: u32,
        _parameters: &[Vec<u8>],
        _access: Access<'_>,
    ) -> Result<(), Broken> {
        self.launched.push(blocks);
        Ok(())
    }
}

#[test]
fn a_grid_of_too_many_blocks_is_not_launched() {
    // Two blocks of threads for each row.
    let rows = 1_100_000_000_u64;
    let text = format!(
        "launch \"sums\" [{rows}][5000] (r0 r1)
  r2: i64 = add r0 r1
  r3: f32 = cast_f32 r2
  yield r3
  reduce r3 as (r4: f32) to a0: [{rows}]f32
  by (r5: f32) (r6: f32)
    r7: f32 = add r5 r6
    yield r7
  from (r8)
    yield 0.0f32
end
output a0: [{rows}]f32
"
    );
    let program = plan::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    plan::check(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let policy = Policy::SM_90;
    let code = generate(&program, &policy);
    let (mut idle, cancel) = (Idle::default(), AtomicBool::new(false));
    let config = Config { policy: &policy, memory_limit: 1 << 50 };
    let ran = run_fallible(&program, &code, &[], &mut idle, &config, &cancel, &mut |_| {});
    assert!(
        matches!(ran, Err(Halt::Broken(Broken::Grid(blocks))) if blocks == 2 * rows),
        "{ran:?}"
    );
    assert_eq!(idle.launched, []);
}

#[test]
fn counters_of_32_bits_have_less_points_than_they_count() {
    let points = 1_u64 << 44;
    let text = format!(
        "input a1: [a0]i64
launch \"histogram\" [{points}] (r0)
  r1: i64 = bit_and r0 1i64
  yield r1
  scatter 1i64 at r1 into a1 to a2: [a0]i64
  by (r2: i64) (r3: i64)
    r4: i64 = add r2 r3
    yield r4
end
output a2: [a0]i64
"
    );
    let program = plan::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    plan::check(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let policy = Policy::SM_90;
    let code = generate(&program, &policy);
    let (mut idle, cancel) = (Idle::default(), AtomicBool::new(false));
    let config = Config { policy: &policy, memory_limit: 1 << 50 };
    let inputs = [crate::i64s([0, 0])];
    let ran = run_fallible(&program, &code, &inputs, &mut idle, &config, &cancel, &mut |_| {});
    assert!(ran.is_ok(), "{ran:?}");
    assert_eq!(idle.launched, [1 << 13]);
}

/// A scan whose elements are tuples of so many `f64`.
fn wide_scan(components: usize) -> String {
    let list = |each: &dyn Fn(usize) -> String, between: &str| -> String {
        (0..components).map(each).collect::<Vec<_>>().join(between)
    };
    let values = list(&|_| "r1".to_owned(), " ");
    let types = |first: usize| list(&|at| format!("r{}: f64", first + at), ", ");
    let targets = list(&|at| (if at == 0 { "a2: [a1]f64" } else { "_" }).to_owned(), ", ");
    let sums =
        list(&|at| format!("    r{}: f64 = add r{} r{}\n", 400 + at, 200 + at, 300 + at), "");
    format!(
        "input a0: [a1]f64
launch \"scan\" [a1] (r0)
  r1: f64 = read a0 r0
  yield {values}
  scan inclusive {values} as ({}) to {targets}
  by ({}) ({})
{sums}    yield {}
end
output a2: [a1]f64
",
        types(100),
        types(200),
        types(300),
        list(&|at| format!("r{}", 400 + at), " "),
    )
}

#[test]
fn elements_may_be_as_wide_as_shared_memory_holds() {
    let Some(emulated) = emulated() else { return };
    let golden = include_str!("../../gate/plans/wide_scan.plan");
    assert_eq!(wide_scan(30), golden, "the golden plan is the widest");
    let elements: Vec<f64> = (0..200).map(|number| f64::from(number) / 3.0).collect();
    // Blocks of 64 are scanned on their own, and what stands before them is added.
    let mut before = 0.0;
    let mut expected = Vec::new();
    for block in elements.chunks(64) {
        let mut sum = 0.0;
        let first = expected.is_empty();
        for (at, element) in block.iter().enumerate() {
            sum = if at == 0 { *element } else { sum + element };
            expected.push(if first { sum } else { before + sum });
        }
        before = if first { sum } else { before + sum };
    }
    let inputs = [f64s(elements)];
    Compiled::new(golden).yields(emulated, &inputs, 1, &[f64s(expected)]);
}

#[test]
fn what_wants_more_shared_memory_than_there_is_is_not_launched() {
    let program = plan::parse(&wide_scan(31)).expect("a plan");
    let policy = Policy::SM_90;
    let code = generate(&program, &policy);
    assert!(!code.usual_entries().any(|name| name == "k0_scan_tiles0"), "it is not compiled");
    let (mut idle, cancel) = (Idle::default(), AtomicBool::new(false));
    let config = Config { policy: &policy, memory_limit: 1 << 50 };
    let inputs = [f64s([1.0, 2.0])];
    let ran = run_fallible(&program, &code, &inputs, &mut idle, &config, &cancel, &mut |_| {});
    let Err(Halt::Broken(broken @ Broken::Shared { wanted, .. })) = ran else { panic!("{ran:?}") };
    assert_eq!(wanted, 31 * 8 * 202 + 16);
    assert!(broken.to_string().contains("so wide that a block of threads would take"), "{broken}");
    assert_eq!(idle.launched, []);
}
