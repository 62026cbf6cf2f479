//! Random programs of *nested*: their text reads back, the check finds what is wrong with them, and
//! sharing changes no result.

use std::sync::atomic::AtomicBool;

use weft_interp::{Limits, run_nested};
use weft_ir::nested::{Atom, Operation, Program, Var, check, parse};
use weft_ir::{Column, Stop, Value};
use weft_passes::share::{Config, share, unshare};
use weft_tests::nested_program::random_program;

const PROGRAMS: u64 = 2000;

#[test]
fn what_is_written_reads_back() {
    for seed in 0..PROGRAMS {
        let (program, _) = random_program(seed);
        assert_eq!(check(&program), Ok(()), "seed {seed}\n{program}");
        let text = program.to_string();
        let read = parse(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        assert_eq!(read.to_string(), text, "seed {seed}");
        assert_eq!(check(&read), Ok(()), "seed {seed}\n{text}");
    }
}

/// Makes a program wrong, if it has the place for that.
type Mutation = fn(&mut Program) -> bool;

#[test]
fn the_check_finds_mutations() {
    let mutations: [(&str, Mutation); 6] = [
        ("bound twice", |program| {
            let var = program.params[0].0;
            program.body.statements[0].results[0].0 = var;
            true
        }),
        ("another rank", |program| {
            let statements = &mut program.body.statements;
            let middle = statements.len() / 2;
            statements[middle].results[0].1.rank += 1;
            true
        }),
        ("not bound", |program| {
            program.body.results[0] = Atom::Var(Var(program.variables));
            true
        }),
        ("used before it is bound", |program| {
            let last = program.body.statements.last().expect("a statement").results[0].0;
            let first = &mut program.body.statements[0].operation;
            let mut operands = 0;
            first.for_each_atom_mut(&mut |atom| {
                *atom = Atom::Var(last);
                operands += 1;
            });
            operands > 0
        }),
        ("one operand less", |program| {
            let scalar = program.body.statements.iter_mut().find_map(|statement| {
                match &mut statement.operation {
                    Operation::Scalar(_, atoms) => atoms.pop(),
                    _ => None,
                }
            });
            scalar.is_some()
        }),
        ("a result less in a body", |program| {
            let mut found = false;
            for statement in &mut program.body.statements {
                statement.operation.for_each_body_mut(&mut |body| {
                    found |= body.results.pop().is_some();
                });
            }
            found
        }),
    ];
    for (name, mutate) in mutations {
        let mut mutated = 0;
        for seed in 0..PROGRAMS / 10 {
            let (mut program, _) = random_program(seed);
            if mutate(&mut program) {
                mutated += 1;
                assert!(check(&program).is_err(), "{name}, seed {seed}\n{program}");
            }
        }
        assert!(mutated > 20, "{name}: {mutated} programs");
    }
}

/// The results, or why there are none.
fn run(program: &Program, inputs: &[Value]) -> Result<Vec<Value>, Stop> {
    let limits = Limits { memory: 1 << 20, recursion: 60, stack: weft_lang::STACK_BYTES };
    run_nested(program, inputs, &limits, &AtomicBool::new(false))
}

fn equal(left: &[Value], right: &[Value]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).all(|pair| match pair {
            (Value::Array(left), Value::Array(right)) => {
                equal_elements(&left.elements, &right.elements)
            }
            (left, right) => left.same_bits(right),
        })
}

/// Whether the elements are equal. Rows that are not there may have any extent: where a pass computes less,
/// more of an extent is found not to depend on the elements.
fn equal_elements(left: &Column, right: &Column) -> bool {
    if left.is_empty() || right.is_empty() {
        return left.len() == right.len();
    }
    if left.scalar_type().is_some() {
        return left.same_bits(right);
    }
    left.len() == right.len()
        && (0..left.len()).all(|row| left.row_len(row) == right.row_len(row))
        && equal_elements(&left.flatten(), &right.flatten())
}

/// Runs random programs before and after a pass. `may_fail` says whether the pass may move an error
/// to where it is met.
fn compare(pass: impl Fn(Program) -> Option<Program>, may_fail: bool) {
    let mut compared = 0;
    for seed in 0..PROGRAMS {
        let (before, inputs) = random_program(seed);
        let Ok(expected) = run(&before, &inputs) else { continue };
        let Some(after) = pass(before.clone()) else { continue };
        let context = || format!("seed {seed}\n{before}\nbecame\n{after}");
        assert_eq!(check(&after), Ok(()), "{}", context());
        match run(&after, &inputs) {
            Ok(found) => {
                assert!(equal(&found, &expected), "{found:?}\n{expected:?}\n{}", context());
                compared += 1;
            }
            Err(stop) => assert!(may_fail, "{stop:?}\n{}", context()),
        }
    }
    assert!(compared > PROGRAMS / 4, "{compared} programs were compared");
}

#[test]
fn sharing_changes_no_result() {
    compare(|program| Some(share(program, &Config { hoist: false, sink: true })), false);
}

#[test]
fn hoisting_changes_no_result() {
    compare(|program| Some(share(program, &Config { hoist: true, sink: true })), true);
    compare(|program| Some(share(program, &Config { hoist: true, sink: false })), true);
}

#[test]
fn sharing_twice_is_sharing_once() {
    let config = Config { hoist: true, sink: true };
    let size = |program: &Program| program.to_string().lines().count();
    for seed in 0..PROGRAMS {
        let once = share(random_program(seed).0, &config);
        let twice = share(once.clone(), &config);
        assert!(size(&twice) <= size(&once), "seed {seed}\n{once}\nbecame\n{twice}");
    }
}

#[test]
fn the_tree_without_sharing_has_the_same_results() {
    compare(|program| unshare(&program, 2000).ok(), false);
}
