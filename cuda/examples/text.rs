//! Prints the CUDA text of a plan: `cargo run -p weft-cuda --example text gate/plans/dot.plan`.
#![allow(clippy::print_stdout, reason = "it prints")]

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("the file of a plan")?;
    let program = weft_ir::plan::parse(&std::fs::read_to_string(path)?)?;
    weft_ir::plan::check(&program)?;
    println!("{}", weft_cuda::generate(&program, &weft_cuda::Policy::SM_90).text());
    Ok(())
}
