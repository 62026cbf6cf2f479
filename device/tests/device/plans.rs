//! Texts of plans, put together of kernels over the points of the input.

/// A kernel over `a0` points `r0`.
pub(crate) fn launch(code: &str, result: &str) -> String {
    let code: String = code.lines().map(|line| format!("    {}\n", line.trim())).collect();
    format!(
        "  launch \"map\" [a0] (r0)\n{code}    yield r9\n    store r9 to {result}: [a0]f32\n  end\n"
    )
}

/// Elements become the mean of them and their left neighbours.
pub(crate) fn sweep(from: &str, to: &str) -> String {
    let code = format!(
        "r1: i64 = add r0 -1i64
         r2: i64 = max r1 0i64
         r3: f32 = read {from} r2
         r4: f32 = read {from} r0
         r5: f32 = add r3 r4
         r9: f32 = mul 0.5f32 r5"
    );
    launch(&code, to)
}

/// Elements of two arrays, put together.
pub(crate) fn joined(operator: &str, left: &str, right: &str, to: &str) -> String {
    let code = format!(
        "r1: f32 = read {left} r0
         r2: f32 = read {right} r0
         r9: f32 = {operator} r1 r2"
    );
    launch(&code, to)
}

/// Elements and a number, put together.
pub(crate) fn changed(operator: &str, from: &str, number: &str, to: &str) -> String {
    launch(&format!("r1: f32 = read {from} r0\nr9: f32 = {operator} r1 {number}"), to)
}
