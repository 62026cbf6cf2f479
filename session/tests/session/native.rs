//! Machine code: the same answers as without it.

use weft_lang::builtins;

use crate::transcript::Transcript;

/// A session in which everything is compiled, as the tier says.
fn session(tier: &str) -> Transcript {
    let mut transcript = Transcript::new();
    for (mode, value) in [("backend", "cpu"), ("threads", "1"), ("tier", tier)] {
        transcript.session.set_mode(mode, value).expect("a mode");
    }
    transcript
}

#[test]
fn the_examples_of_the_builtins_are_the_same_as_machine_code() {
    let (mut interpreted, mut native) = (session("0"), session("1"));
    // Every other one: each calls the compiler. The suite runs the rest.
    for entry in builtins::all().step_by(2) {
        let expected = interpreted.eval(entry.example);
        assert_eq!(native.eval(entry.example), expected, "{}", entry.example);
    }
    let told = native.eval(":cache");
    assert!(told.contains(", 0 failed"), "{told}");
    assert!(!told.contains("\n0 functions became machine code, 0 more"), "{told}");
    let told = interpreted.eval(":cache");
    assert!(told.contains("0 functions became machine code, 0 more"), "{told}");
}

#[test]
fn the_wait_for_machine_code_is_no_part_of_the_run() {
    let mut session = session("1");
    let told = session.eval(":time sum (map (\\x -> x * 0.7391 + 0.1357) (f64 (iota 10)))");
    let times = told.replace('\n', " · ");
    let nanoseconds = |phase: &str| -> f64 {
        let time = times.split(" · ").find_map(|part| part.strip_prefix(phase)).expect("a phase");
        let (number, unit) = time.trim().split_once(' ').expect("a unit");
        let scale = match unit {
            "ns" => 1.0,
            "µs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            _ => panic!("{time}"),
        };
        number.parse::<f64>().expect("a number") * scale
    };
    assert!(nanoseconds("compile") > nanoseconds("run"), "{told}");
}

#[test]
fn c_and_assembler_of_an_expression() {
    let mut session = session("auto");
    let text = session.eval(":ir c map exp [1.0, 2.0]");
    assert!(text.contains("u32 kernel_1(const struct block"), "{text}");
    assert!(text.contains("exp_f64("), "{text}");
    let text = session.eval(":ir asm map exp [1.0, 2.0]");
    assert!(text.contains("kernel_1:"), "{text}");
}
