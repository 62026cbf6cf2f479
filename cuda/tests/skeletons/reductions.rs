//! Reductions.

use crate::{Compiled, emulated, f32s};

#[test]
fn sums() {
    let Some(emulated) = emulated() else { return };
    let compiled = Compiled::new(
        "input a1: [a0]f32
launch \"sum\" [a0] (r0)
  r1: f32 = read a1 r0
  yield r1
  reduce r1 as (r3: f32) to a2: f32
  by (r4: f32) (r5: f32)
    r6: f32 = add r4 r5
    yield r6
  from ()
    yield 0.5f32
end
output a2: f32
",
    );
    println!("{}", compiled.code.body);
    for length in [0, 1, 2, 63, 64, 65, 100, 4095, 4096, 4097, 10000] {
        for schedule in 0..3 {
            compiled.agree(emulated, &[f32s(length)], schedule);
        }
    }
}
