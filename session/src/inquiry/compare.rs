//! `:compare`: the same expression on every engine.

use std::time::{Duration, Instant};

use weft_cpu::Tier;
use weft_ir::{Exhausted, Failure, Scalar, Type, Value};
use weft_lang::typed::Program;

use super::fuse::counted;
use super::names::bytes_words;
use super::{Answer, Context};
use crate::display;
use crate::engine::{Backend, Counters, Fallback, Job, Ran};
use crate::footer::time_text;
use crate::modes::Modes;
use crate::run::Stop;
use crate::sink::{Cancel, Event, Sink};

/// The back ends and configurations that are compared, the reference first.
fn configurations(modes: &Modes, has_gpu: bool) -> Vec<(&'static str, Modes)> {
    let with = |backend| Modes { backend, ..modes.clone() };
    let cpu = with(Backend::Cpu);
    let mut all = vec![
        ("interp", with(Backend::Interp)),
        ("nested", with(Backend::Nested)),
        ("flat", with(Backend::Flat)),
        ("plan", Modes { fusion: true, sharing: true, ..with(Backend::Plan) }),
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

/// An engine that has ended.
struct Ended {
    /// Its place in the table.
    place: usize,
    /// How long it took.
    time: Duration,
    /// What it has to say for itself, in place of a result: why the interpreter ran.
    instead: Option<String>,
    /// What it yields, if that is not bit for bit what the first one yields.
    result: Option<Result<Value, Failure>>,
    counters: Counters,
}

/// The answers, times, launches and memory of all engines and configurations.
///
/// The interpreters are the last to run, as they can take a thousand times as long as the others, so that somebody
/// who interrupts them sees what is known by then: it is told to the sink.
pub(super) fn answer(
    program: &Program,
    ty: &Type,
    context: &Context<'_>,
    job: &Job<'_>,
    sink: &mut dyn Sink,
) -> Result<Answer, Stop> {
    let all = configurations(job.modes, context.engine.gpu().is_ok());
    let mut table = Table {
        names: all.iter().map(|(name, _)| *name).collect(),
        ended: Vec::new(),
        first: None,
        ty,
    };
    let place = context.sources.place(program.entry.span);
    let progress = job.meter.begin(all.len() as u64);
    let interpreters = |place: &usize| all[*place].1.backend.is_interpreter();
    let (last, first): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(interpreters);
    // The reference is the slowest of all.
    for (done, place_in_table) in first.into_iter().chain(last.into_iter().rev()).enumerate() {
        let (name, modes) = &all[place_in_table];
        context.cancel.set_activity(format!("comparing {place} on {name}"));
        if let Some(progress) = &progress {
            progress.set(done as u64);
        }
        let job = Job { program, modes, ..*job };
        let started = Instant::now();
        let (result, ran) = context.engine.run(&job);
        let time = started.elapsed();
        if let Err(Failure::Exhausted(Exhausted::Interrupted)) = result {
            sink.event(Event::Text(table.interrupted(place_in_table, time)));
            return Err(match bug(&table.wrong()) {
                Some(problem) => Stop::Bug(problem),
                None => Stop::Interrupted,
            });
        }
        table.add(place_in_table, time, result, ran);
    }
    Ok(Answer { text: table.lines().join("\n"), svg: None, bug: bug(&table.wrong()) })
}

/// What is known so far.
struct Table<'a> {
    names: Vec<&'static str>,
    ended: Vec<Ended>,
    /// What the first engine yields that has a result of its own.
    first: Option<Result<Value, Failure>>,
    ty: &'a Type,
}

impl Table<'_> {
    fn add(&mut self, place: usize, time: Duration, result: Result<Value, Failure>, ran: Ran) {
        let instead = match &ran.fallback {
            // The reference itself is no way round.
            None => None,
            Some(Fallback::Unsupported(unsupported)) => {
                Some(format!("on the interpreter: {}", unsupported.reason))
            }
            Some(Fallback::Fault(fault)) => {
                Some(format!("met a fault ({}): the interpreter decides", fault.kind))
            }
            Some(Fallback::Bug(message)) => Some(format!("BROKE OFF, a bug in Weft: {message}")),
        };
        let result = match &self.first {
            _ if instead.is_some() => None,
            Some(first) if is_same(&agreement(first, &result, self.ty)) => None,
            Some(_) => Some(result),
            None => {
                self.first = Some(result);
                None
            }
        };
        self.ended.push(Ended { place, time, instead, result, counters: ran.counters });
    }

    /// What the engine at a place says of the reference: the interpreter, or the first one as long as that has not
    /// ended.
    fn verdict(&self, ended: &Ended) -> String {
        let reference = self.reference();
        match (&ended.instead, reference, self.result(ended)) {
            (Some(instead), ..) => instead.clone(),
            (None, Some(reference), Some(result)) if reference.place == ended.place => {
                shown(result, self.ty)
            }
            (None, Some(reference), Some(result)) => match self.result(reference) {
                Some(wanted) => agreement(wanted, result, self.ty),
                None => shown(result, self.ty),
            },
            (None, _, _) => String::new(),
        }
    }

    fn result<'e>(&'e self, ended: &'e Ended) -> Option<&'e Result<Value, Failure>> {
        ended.result.as_ref().or(self.first.as_ref())
    }

    /// The interpreter, or the first of the others.
    fn reference(&self) -> Option<&Ended> {
        let has_result = |ended: &&Ended| ended.instead.is_none();
        self.ended
            .iter()
            .find(|ended| ended.place == 0)
            .or_else(|| self.ended.iter().find(has_result))
    }

    /// The names of those that are wrong.
    fn wrong(&self) -> Vec<&'static str> {
        let mut wrong: Vec<&Ended> =
            self.ended.iter().filter(|ended| is_wrong(&self.verdict(ended))).collect();
        wrong.sort_by_key(|ended| ended.place);
        wrong.into_iter().map(|ended| self.names[ended.place]).collect()
    }

    fn lines(&self) -> Vec<String> {
        let mut ended: Vec<&Ended> = self.ended.iter().collect();
        ended.sort_by_key(|ended| ended.place);
        ended.into_iter().map(|ended| self.line(ended)).collect()
    }

    fn line(&self, ended: &Ended) -> String {
        let (name, time) = (self.names[ended.place], time_text(ended.time));
        let mut line = format!("{name:<15} {time:>9}  {}", self.verdict(ended));
        let Counters { launches, peak_bytes, .. } = ended.counters;
        if launches > 0 && ended.instead.is_none() {
            let peak = bytes_words(peak_bytes);
            line.push_str(&format!("; {}, at most {peak}", counted(launches as usize, "launch")));
        }
        line
    }

    /// The table when the engine at a place was interrupted.
    fn interrupted(&self, place: usize, time: Duration) -> String {
        let mut lines = self.lines();
        let time = time_text(time);
        lines.push(format!("{:<15} {time:>9}  interrupted", self.names[place]));
        let has_ended = |other: usize| self.ended.iter().any(|ended| ended.place == other);
        let left = (0..self.names.len()).filter(|other| *other != place && !has_ended(*other));
        let left: Vec<&str> = left.map(|other| self.names[other]).collect();
        if !left.is_empty() {
            lines.push(format!("not begun: {}", left.join("; ")));
        }
        lines.join("\n")
    }
}

/// Whether a verdict leaves nothing to tell apart.
fn is_same(verdict: &str) -> bool {
    matches!(verdict, "the same bits" | "the same error")
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
            let text = display::text(value, ty, &display::Options::new(60), &Cancel::new());
            let text = text.unwrap_or_default();
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
        // What is stored, and so what there is room for, is no part of a result.
        (_, Err(Failure::Exhausted(Exhausted::Memory { .. }))) => "no room here".to_owned(),
        (Err(Failure::Exhausted(Exhausted::Memory { .. })), _) => {
            format!("{}, for which the reference has no room", shown(result, ty))
        }
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
