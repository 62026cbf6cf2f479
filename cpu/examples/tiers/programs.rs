//! The programs that are measured, as plans.

pub(crate) const DOT: &str = "input a1: [a0]f32
input a2: [a0]f32
launch \"dot\" [a0] (r0)
  r1: f32 = read a1 r0
  r2: f32 = read a2 r0
  r3: f32 = mul r1 r2
  yield r3
  reduce r3 as (r4: f32) to a3: f32
  by (r5: f32) (r6: f32)
    r7: f32 = add r5 r6
    yield r7
  if_empty ()
    yield 0.0f32
end
output a3: f32
";

pub(crate) const SAXPY: &str = "input a1: [a0]f32
input a2: [a0]f32
launch \"saxpy\" [a0] (r0)
  r1: f32 = read a1 r0
  r2: f32 = read a2 r0
  r3: f32 = mul r1 2.5f32
  r4: f32 = add r3 r2
  yield r4
  store r4 to a3: [a0]f32
end
output a3: [a0]f32
";

pub(crate) const BLACK_SCHOLES: &str = "input a1: [a0]f32
launch \"black-scholes\" [a0] (r0)
  r1: f32 = read a1 r0
  r2: f32 = mul r1 40.0f32
  r3: f32 = add r1 0.25f32
  r4: f32 = div r2 30.0f32
  r5: f32 = log r4
  r6: f32 = mul r3 0.065f32
  r7: f32 = add r5 r6
  r8: f32 = sqrt r3
  r9: f32 = mul r8 0.3f32
  r10: f32 = div r7 r9
  r11: f32 = sub r10 r9
  r12: f32 = mul r10 0.70710677f32
  r13: f32 = erf r12
  r14: f32 = add r13 1.0f32
  r15: f32 = mul r14 0.5f32
  r16: f32 = mul r11 0.70710677f32
  r17: f32 = erf r16
  r18: f32 = add r17 1.0f32
  r19: f32 = mul r18 0.5f32
  r20: f32 = mul r3 -0.02f32
  r21: f32 = exp r20
  r22: f32 = mul r21 30.0f32
  r23: f32 = mul r22 r19
  r24: f32 = mul r2 r15
  r25: f32 = sub r24 r23
  r26: f32 = sub r22 r2
  r27: f32 = add r25 r26
  yield r25 r27
  store r25 to a2: [a0]f32
  store r27 to a3: [a0]f32
end
output a2: [a0]f32
output a3: [a0]f32
";

pub(crate) const MANDELBROT: &str = "launch \"mandelbrot\" [1000][1000] (r0 r1)
  r2: f32 = cast_f32 r0
  r3: f32 = cast_f32 r1
  r4: f32 = mul r2 0.0025f32
  r5: f32 = sub r4 1.25f32
  r6: f32 = mul r3 0.003f32
  r7: f32 = sub r6 2.25f32
  r8: f32, r9: f32, r10: i64 = while (r11: f32 = 0.0f32, r12: f32 = 0.0f32, r13: i64 = 0i64)
    r14: f32 = mul r11 r11
    r15: f32 = mul r12 r12
    r16: f32 = add r14 r15
    r17: bool = lt r16 4.0f32
    r18: bool = lt r13 256i64
    r19: bool = and r17 r18
    yield r19
  do
    r20: f32 = mul r11 r11
    r21: f32 = mul r12 r12
    r22: f32 = sub r20 r21
    r23: f32 = add r22 r7
    r24: f32 = mul r11 r12
    r25: f32 = add r24 r24
    r26: f32 = add r25 r5
    r27: i64 = add r13 1i64
    yield r23 r26 r27
  yield r10
  store r10 to a0: [1000][1000]i64
end
output a0: [1000][1000]i64
";

/// The attraction of each of n bodies in three dimensions by all others.
pub(crate) const BODIES: &str = "input a1: [a0]f32
input a2: [a0]f32
input a3: [a0]f32
launch \"bodies\" [a0][a0] (r0 r1)
  r2: f32 = read a1 r0
  r3: f32 = read a2 r0
  r4: f32 = read a3 r0
  r5: f32 = read a1 r1
  r6: f32 = read a2 r1
  r7: f32 = read a3 r1
  r8: f32 = sub r5 r2
  r9: f32 = sub r6 r3
  r10: f32 = sub r7 r4
  r11: f32 = mul r8 r8
  r12: f32 = mul r9 r9
  r13: f32 = mul r10 r10
  r14: f32 = add r11 r12
  r15: f32 = add r14 r13
  r16: f32 = add r15 0.01f32
  r17: f32 = sqrt r16
  r18: f32 = mul r16 r17
  r19: f32 = div 1.0f32 r18
  r20: f32 = mul r8 r19
  r21: f32 = mul r9 r19
  r22: f32 = mul r10 r19
  yield r20 r21 r22
  reduce r20 r21 r22 as (r23: f32, r24: f32, r25: f32) to a4: [a0]f32, a5: [a0]f32, a6: [a0]f32
  by (r26: f32, r27: f32, r28: f32) (r29: f32, r30: f32, r31: f32)
    r32: f32 = add r26 r29
    r33: f32 = add r27 r30
    r34: f32 = add r28 r31
    yield r32 r33 r34
  if_empty (r35)
    yield 0.0f32 0.0f32 0.0f32
end
output a4: [a0]f32
output a5: [a0]f32
output a6: [a0]f32
";
