//! The compiler of the device as a gate, without a device: golden kernels compile to machine code for
//! sm_90, and leave room for others on a multiprocessor.
//!
//! NVRTC comes from a Python wheel, pinned to CUDA 13.0: `pip install nvidia-cuda-nvrtc==13.0.88`. Where
//! `$WEFT_PYTHON` (else `python3`) has it not, the test says so and is skipped.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use weft_cuda::{Policy, generate};
use weft_ir::plan;

/// More registers than that leave room for fewer than two blocks of 256 threads on a multiprocessor.
const MOST_REGISTERS: u32 = 128;

#[test]
fn golden_kernels_compile_for_the_device() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let temporary = std::env::temp_dir().join(format!("weft-gate-{}", std::process::id()));
    std::fs::create_dir_all(&temporary).expect("a folder");
    let mut plans: Vec<_> = std::fs::read_dir(root.join("gate/plans"))
        .expect("the golden plans")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    plans.sort();
    let mut command =
        Command::new(std::env::var("WEFT_PYTHON").unwrap_or_else(|_| "python3".into()));
    command.arg(root.join("gate/compile.py"));
    for path in &plans {
        let text = std::fs::read_to_string(path).expect("a plan");
        let program = plan::parse(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        plan::check(&program).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let file = temporary.join(path.file_name().expect("a name")).with_extension("cu");
        std::fs::write(&file, generate(&program, &Policy::SM_90).text()).expect("the folder");
        command.arg(file);
    }
    let output = command.output();
    std::fs::remove_dir_all(&temporary).expect("the folder");
    let output = match output {
        Ok(output) if output.status.code() != Some(3) => output,
        Ok(output) => {
            let reason = String::from_utf8_lossy(&output.stderr);
            return say_skipped(plans.len(), &reason);
        }
        Err(error) => return say_skipped(plans.len(), &error.to_string()),
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| fields[at].parse::<u32>().expect("a number");
        assert!(number(2) <= MOST_REGISTERS, "too many registers: {line}");
        assert!(number(5) <= 48 << 10, "too much shared memory: {line}");
    }
}

/// Says what is not checked, past the capture of a passing test's output.
fn say_skipped(kernels: usize, reason: &str) {
    let reason = reason.trim_end();
    let _ = writeln!(std::io::stderr(), "skipped: {kernels} golden kernels: {reason}");
}
