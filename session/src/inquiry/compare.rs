//! `:compare`: the same expression on every engine.

use std::time::Instant;

use weft_cpu::Tier;
use weft_ir::{Failure, Scalar, Type, Value};
use weft_lang::typed::Program;

use super::fuse::counted;
use super::names::bytes_words;
use super::{Answer, Context};
use crate::display;
use crate::engine::{Backend, Counters, Fallback, Job};
use crate::footer::time_text;
use crate::modes::Modes;
use crate::run::Stop;

/// The back ends and configurations that are compared, the reference first.
fn configurations(modes: &Modes, has_gpu: bool) -> Vec<(&'static str, Modes)> {
    let with = |backend| Modes { backend, ..modes.clone() };
    let cpu = with(Backend::Cpu);
    let mut all = vec![
        ("interp", with(Backend::Interp)),
        ("nested", with(Backend::Nested)),
        ("flat", with(Backend::Flat)),
        ("cpu", Modes { fusion: true, sharing: true, ..cpu.clone() }),
        ("cpu, in C", Modes { fusion: true, sharing: true, tier: Tier::Native, ..cpu.clone() }),
        ("cpu, no fusion", Modes { fusion: false, sharing: true, ..cpu.clone() }),
        ("cpu, no sharing", Modes { fusion: true, sharing: false, ..cpu }),
    ];
    // What runs for long does so in C; whoever has chosen a tier means that one.
    if modes.tier != Tier::Automatic {
        all.retain(|(name, _)| *name != "cpu, in C");
    }
    if has_gpu {
        all.push(("gpu", Modes { fusion: true, sharing: true, ..with(Backend::Gpu) }));
    }
    all
}

/// The answers, times, launches and memory of all engines and configurations.
pub(super) fn answer(
    program: &Program,
    ty: &Type,
    context: &Context<'_>,
    job: &Job<'_>,
) -> Result<Answer, Stop> {
    let mut lines = Vec::new();
    let mut reference: Option<Result<Value, Failure>> = None;
    let mut wrong = Vec::new();
    for (name, modes) in configurations(job.modes, context.engine.gpu().is_ok()) {
        let job = Job { program, modes: &modes, ..*job };
        let started = Instant::now();
        let (result, ran) = context.engine.run(&job);
        let time = started.elapsed();
        if let Err(Failure::Exhausted(weft_ir::Exhausted::Interrupted)) = result {
            return Err(Stop::Interrupted);
        }
        let verdict = match (&reference, &ran.fallback) {
            (None, _) => shown(&result, ty),
            (_, Some(Fallback::Unsupported(unsupported))) => {
                format!("on the interpreter: {}", unsupported.reason)
            }
            (_, Some(Fallback::Fault(fault))) => {
                format!("met a fault ({}): the interpreter decides", fault.kind)
            }
            (_, Some(Fallback::Bug(message))) => format!("BROKE OFF, a bug in Weft: {message}"),
            (Some(reference), None) => agreement(reference, &result, ty),
        };
        if is_wrong(&verdict) {
            wrong.push(name);
        }
        let mut line = format!("{name:<15} {:>9}  {verdict}", time_text(time));
        let Counters { launches, peak_bytes, .. } = ran.counters;
        if launches > 0 && ran.fallback.is_none() {
            let peak = bytes_words(peak_bytes);
            line.push_str(&format!("; {}, at most {peak}", counted(launches as usize, "launch")));
        }
        lines.push(line);
        reference.get_or_insert(result);
    }
    Ok(Answer { text: lines.join("\n"), svg: None, bug: bug(&wrong) })
}

/// How verdicts begin that say that an engine is wrong.
const WRONG: [&str; 2] = ["DIFFERENT", "BROKE OFF"];

fn is_wrong(verdict: &str) -> bool {
    WRONG.iter().any(|begin| verdict.starts_with(begin))
}

/// What to report of engines that are wrong.
fn bug(wrong: &[&str]) -> Option<String> {
    let engines = wrong.join("; ");
    (!wrong.is_empty()).then(|| format!("not the answer of the interpreter: {engines}"))
}

fn shown(result: &Result<Value, Failure>, ty: &Type) -> String {
    match result {
        Ok(value) => {
            let text = display::text(value, ty, &display::Options::new(60));
            let words: Vec<&str> = text.split_whitespace().take(12).collect();
            words.join(" ")
        }
        Err(Failure::Trap(trap)) => format!("{}: {}", trap.kind.code(), trap.kind),
        Err(Failure::Exhausted(exhausted)) => format!("{}: {exhausted}", exhausted.code()),
    }
}

/// Whether an engine says what the reference says. All combine floats in the same tree, so that nothing but
/// the same bits will do.
fn agreement(
    reference: &Result<Value, Failure>,
    result: &Result<Value, Failure>,
    ty: &Type,
) -> String {
    match (reference, result) {
        (Ok(a), Ok(b)) if a.same_elements(b) => {
            // How long the rows of nothing are may be known to one and not to the other.
            match (display::discovered_type(a, ty), display::discovered_type(b, ty)) {
                (of_a, of_b) if of_a == of_b => "the same bits".to_owned(),
                (_, of_b) => format!("the same bits, as {of_b}"),
            }
        }
        (Err(a), Err(b)) if a == b => "the same error".to_owned(),
        (Ok(a), Ok(b)) => match first_difference(a, b, String::new()) {
            Some(difference) => format!("DIFFERENT: {difference}"),
            None => "DIFFERENT in shape".to_owned(),
        },
        _ => format!("DIFFERENT: {}", shown(result, ty)),
    }
}

/// The first element in which two values differ, in words.
fn first_difference(a: &Value, b: &Value, path: String) -> Option<String> {
    match (a, b) {
        (Value::Scalar(x), Value::Scalar(y)) if x.same_bits(*y) => None,
        (Value::Scalar(x), Value::Scalar(y)) => {
            let place = if path.is_empty() { String::new() } else { format!("at {path} ") };
            let distance = match (x, y) {
                (Scalar::F64(x), Scalar::F64(y)) => ulps(x.to_bits() as i64, y.to_bits() as i64),
                (Scalar::F32(x), Scalar::F32(y)) => {
                    ulps(i64::from(x.to_bits() as i32), i64::from(y.to_bits() as i32))
                }
                _ => String::new(),
            };
            Some(format!("{place}{x:?} and {y:?}{distance}"))
        }
        (Value::Tuple(xs), Value::Tuple(ys)) => xs
            .iter()
            .zip(ys.iter())
            .enumerate()
            .find_map(|(index, (x, y))| first_difference(x, y, format!("{path}.{index}"))),
        (Value::Array(xs), Value::Array(ys)) => {
            if xs.len() != ys.len() {
                return Some(format!("{} and {} elements at {path}", xs.len(), ys.len()));
            }
            (0..xs.len()).find_map(|index| {
                let (x, y) = (xs.elements.get(index), ys.elements.get(index));
                first_difference(&x, &y, format!("{path}[{index}]"))
            })
        }
        _ => None,
    }
}

/// How many floats of one sign lie between two, by their bits.
fn ulps(x: i64, y: i64) -> String {
    if (x < 0) != (y < 0) { String::new() } else { format!(", {} ulp apart", x.abs_diff(y)) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use weft_ir::{Array, Column, ColumnBuilder, Scalar, ScalarType, Type, Value};

    use super::{agreement, bug, is_wrong};

    #[test]
    fn floats_that_differ_in_one_bit_are_different() {
        let ty = Type::Scalar(ScalarType::F64);
        let verdict = |a: f64, b: f64| {
            let value = |x| Ok(Value::Scalar(Scalar::F64(x)));
            agreement(&value(a), &value(b), &ty)
        };
        assert_eq!(verdict(0.5, 0.5), "the same bits");
        assert_eq!(verdict(f64::NAN, -f64::NAN), "the same bits");
        let next = verdict(1.0, 1.0 + f64::EPSILON);
        assert!(next.starts_with("DIFFERENT: ") && next.ends_with(", 1 ulp apart"), "{next}");
        assert!(verdict(1.0, 1e9).starts_with("DIFFERENT: "));
        assert!(verdict(0.0, -0.0).starts_with("DIFFERENT: "));
    }

    #[test]
    fn extents_of_nothing_may_differ() {
        let ty = Type::array(Type::array(Type::Scalar(ScalarType::I64)));
        let rows = |extent| {
            let nothing = ColumnBuilder::new(&Type::Scalar(ScalarType::I64)).finish_array();
            let elements = Column::Dense { len: 0, extent, inner: Box::new(nothing.elements) };
            Ok(Value::Array(Arc::new(Array::new(elements))))
        };
        assert_eq!(agreement(&rows(3), &rows(3), &ty), "the same bits");
        let verdict = agreement(&rows(0), &rows(3), &ty);
        assert_eq!(verdict, "the same bits, as [0][3]i64");
        assert!(!is_wrong(&verdict));
    }

    #[test]
    fn an_engine_that_differs_is_a_bug() {
        let ty = Type::Scalar(ScalarType::F64);
        let value = |x| Ok(Value::Scalar(Scalar::F64(x)));
        assert!(is_wrong(&agreement(&value(1.0), &value(2.0), &ty)));
        assert!(!is_wrong(&agreement(&value(1.0), &value(1.0), &ty)));
        assert_eq!(bug(&[]), None);
        let problem = bug(&["cpu", "flat"]).expect("two are wrong");
        assert!(problem.ends_with(": cpu; flat"), "{problem}");
    }
}
