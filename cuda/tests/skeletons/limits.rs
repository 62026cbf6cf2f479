//! What no device can do is said before it is tried.

use std::sync::atomic::AtomicBool;

use weft_cuda::{Access, Broken, Config, Halt, Policy, Target, generate, run_fallible};
use weft_ir::plan;

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
