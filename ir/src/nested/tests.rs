//! Tests of the text and the check of nested programs.

use super::{Atom, Body, check, parse};

/// A program that uses every operation.
const EVERYTHING: &str = r#"params x0: []f64, x1: [][]i64, x2: i64, x3: []bool
function f0 "fact \"of\" n" x4: i64 -> i64
  x5: bool = le x4 1i64
  x6: i64 = if x5
    yield 1i64
  else
    x7: i64 = sub x4 1i64
    x8: i64 = call f0 x7
    x9: i64 = mul x4 x8
    yield x9
  yield x6
x10: i64 = length x0
x11: f64 = index x0 0i64
x12: [][]i64 = update x1 at 0i64 1i64 value 7i64
x13: []f64 = literal x11 2.5f64
x14: [][]char = constant ragged [0 1 3] char['a' '\x00' 'c']
x15: []i64 = iota x10
x16: [][]f64 = replicate 3i64 x13
x17: []f64, x18: []i64 = map x0 x15
  \x19: f64, x20: i64
    x21: f64 = sqrt x19
    yield x21 x20
x22: f64 = fold over x0
  \x23: f64, x24: f64
    x25: f64 = add x23 x24
    yield x25
x26: i64, x27: f64 = fold from 0i64 nanf64 over x15 x0
  \x28: i64, x29: f64, x30: i64, x31: f64
    yield x28 x31
x32: f64 = fold if_empty 0.0f64 over x0
  \x33: f64, x34: f64
    x35: f64 = max x33 x34
    yield x35
x36: []i64 = scan full right from 1i64 over x15
  \x37: i64, x38: i64
    x39: i64 = mul x37 x38
    yield x39
x40: []i64 = scan inclusive over x15
  \x41: i64, x42: i64
    yield x42
x43: []f64 = pack x3 over x0
x44: []f64 = scatter x0 at x15 values x0
x45: []i64 = scatter x15 at x15 values x15 drops
  \x46: i64, x47: i64
    x48: i64 = add x46 x47
    yield x48
x49: []i64 = sort_order x0 x3
x50: []i64 = sort_order descending x0
x51: [][]i64 = transpose x1
x52: [][][]i64 = reshape x1 2 to 2i64 3i64 4i64
x53: i64 = extent x1 1
x54: []i64 = flatten x1
x55: [][]i64 = segments x15 x15
x56: []i64 = concat x15 x54
x57: i64, x58: f64 = while x59: i64 = 0i64, x60: f64 = x11
  x61: bool = lt x59 x10
  yield x61
do
  x62: i64 = add x59 1i64
  yield x62 x60
x63: f64 = for x64 < 10i64 x65: f64 = 0.0f64
  x66: f64 = cast_f64 x64
  yield x66
x67: i64 = assert division true values x2
x68: i64 = random_int 1i64 2i64 3i64 4i64
x69: f32 = uniform_f32 1i64 x68
x70: i64 = call f0 x67
yield x22 x69 true 'x' x17
"#;

#[test]
fn every_operation_is_read_as_it_is_written() {
    let program = parse(EVERYTHING).expect("a program");
    assert_eq!(program.variables, 71);
    assert_eq!(program.to_string(), EVERYTHING);
    assert_eq!(check(&program), Ok(()));
}

#[test]
fn errors_of_the_grammar() {
    for (text, message) in [
        ("", "1:1: expected a statement or `yield`, but the text ends"),
        ("x0: f64 = add 1i64\n", "2:1: expected a statement or `yield`, but the text ends"),
        ("x0: f64 = spin 1i64\nyield", "1:11: expected an operation, not `spin`"),
        ("x0: real = add 1i64\nyield", "1:5: expected a scalar type, not `real`"),
        ("yield x1 add", "1:10: expected the line's end, not `add`"),
        ("yield x1\nx2", "2:1: expected the end of the program, not `x2`"),
        ("x0: i64 = iota x1 x2\nyield", "1:19: expected the line's end, not `x2`"),
        ("x4294967295: i64 = iota x1\nyield", "1:1: this number of a variable is too large"),
    ] {
        assert_eq!(parse(text).expect_err(text).to_string(), message);
    }
}

#[test]
fn errors_of_the_check() {
    for (text, message) in [
        ("yield x0", "x0 is not bound"),
        ("x0: i64 = add x0 1i64\nyield x0", "x0: x0 is not bound"),
        ("params x0: i64, x0: i64\nyield x0", "x0 is bound twice"),
        ("x0: i64 = add 1i64 1i64\nx0: i64 = add 1i64 1i64\nyield x0", "x0 is bound twice"),
        ("x0: f64 = add 1i64 1i64\nyield x0", "x0: i64 where f64 stands"),
        ("x0: f64 = add 1i64 1f64\nyield x0", "x0: add does not take i64 f64"),
        ("params x0: []i64\nx1: i64 = add x0 x0\nyield x1", "x1: add does not take []i64 []i64"),
        ("x0: i64 = length 1i64\nyield x0", "x0: 1i64 is i64, not of rank 1"),
        ("x0: i64 = call f0\nyield x0", "x0: there is no function f0"),
        (
            "x0: i64 = if true\n  x1: i64 = neg 1i64\n  yield x1\nelse\n  yield x1\nyield x0",
            "x0: x1 is out of scope",
        ),
        (
            "x0: i64 = if true\n  x1: i64 = neg true\n  yield x1\nelse\n  yield 1i64\nyield x0",
            "x1: neg does not take bool",
        ),
        (
            "x0: i64 = if true\n  yield 1i64\nelse\n  yield 1i64 2i64\nyield x0",
            "x0: the other branch: i64 i64 where i64 stands",
        ),
        (
            "params x0: []i64\nx1: []i64 = map x0\n  \\x2: f64\n    yield 1i64\nyield x1",
            "x1: the lambda's parameters: i64 where f64 stands",
        ),
        (
            "params x0: []i64\nx1: i64 = fold over x0\n  \\x2: i64\n    yield 1i64\nyield x1",
            "x1: the lambda's parameters: i64 i64 where i64 stands",
        ),
        (
            "params x0: []i64\nx1: []i64 = scan full over x0\n  \\x2: i64, x3: i64\n    yield x2\n\
             yield x1",
            "x1: a scan in full form has a start",
        ),
        (
            "function f0 \"f\" x0: i64 -> f64\n  yield x0\nyield 1i64",
            "function f: i64 where f64 stands",
        ),
        (
            "params x0: i64\nfunction f0 \"f\" x1: i64 -> i64\n  yield x0\nyield x0",
            "x0 is not bound",
        ),
    ] {
        let program = parse(text).expect(text);
        assert_eq!(check(&program), Err(message.to_owned()), "{text}");
    }
}

#[test]
fn the_walks_reach_every_variable() {
    let mut program = parse(EVERYTHING).expect("a program");
    let (mut seen, mut written) = (Vec::new(), Vec::new());
    for function in &mut program.functions {
        function.params.iter_mut().for_each(|(var, _)| var.0 += 100);
        shift(&mut function.body, &mut seen);
    }
    program.params.iter_mut().for_each(|(var, _)| var.0 += 100);
    shift(&mut program.body, &mut seen);
    let text = program.to_string();
    for word in EVERYTHING.split(|char: char| !char.is_ascii_alphanumeric()) {
        if let Some(Ok(number)) = word.strip_prefix('x').map(str::parse::<u32>) {
            written.push(format!("x{}", number + 100));
            assert!(!text.contains(&format!("x{number} ")), "x{number} was not reached");
        }
    }
    written.sort();
    written.dedup();
    seen.sort();
    seen.dedup();
    // Those that nothing uses and no operation binds are results of statements and parameters.
    assert!(seen.iter().all(|var| written.contains(var)));
    for bound in ["x119", "x124", "x130", "x141", "x147", "x159", "x160", "x164", "x165"] {
        assert!(seen.contains(&bound.to_owned()), "{bound}");
    }
}

/// Adds 100 to every variable of a body, and collects those that the shared walks then find.
fn shift(body: &mut Body, seen: &mut Vec<String>) {
    let shift_atom = |atom: &mut Atom| {
        if let Atom::Var(var) = atom {
            var.0 += 100;
        }
    };
    for statement in &mut body.statements {
        statement.results.iter_mut().for_each(|(var, _)| var.0 += 100);
        let operation = &mut statement.operation;
        operation.for_each_atom_mut(&mut |atom| shift_atom(atom));
        operation.for_each_bound_mut(&mut |var, _| var.0 += 100);
        operation.for_each_body_mut(&mut |body| shift(body, seen));
        operation.for_each_atom(&mut |atom| {
            seen.extend(matches!(atom, Atom::Var(_)).then(|| atom.to_string()))
        });
        operation.for_each_bound(&mut |var, _| seen.push(var.to_string()));
        let mut bodies = 0;
        operation.for_each_body(&mut |_| bodies += 1);
        assert!(bodies <= 2);
    }
    body.results.iter_mut().for_each(shift_atom);
}
