//! E0318: an operator of a fold or a scan that is not associative, with three elements that prove it.
//!
//! Note [Operators that are tried out]. Folds and scans group the elements as suits the machine, so the
//! language asks for an associative operator. Nobody can decide that for all operators, but most of those
//! that are wrong are wrong for small numbers: the interpreter tries the operator out on a few dozen
//! triples, always the same ones. There are three ways to be convicted:
//!
//! - by elements of the very array that is folded, if that array is at hand, and what the operator makes of
//!   them (`evidence.rs`);
//! - by small numbers of every domain in `samples.rs` in which the operator does something. An operator
//!   that is associative on flags, on shares or on positive numbers may be meant for these;
//! - if it is one on numbers, by numbers of both signs, 0 and those about the constants in its text, unless the
//!   array speaks for it, or a domain that it may be meant for and that uses all of it
//!   (`Note [Domains that use all of an operator]`).
//!
//! What an operator uses of the function around it is known from the calls of that function, as far as
//! it is the same for a whole call. Where it is not, some numbers are taken for it: an operator is convicted that is wrong with
//! all of them.
//!
//! Floats count as different only where rounding cannot be the reason. Operators with arrays, loops or
//! recursion in them, or that use what is not known here, are not tried out (`closed.rs`).

use std::sync::atomic::AtomicBool;

use weft_interp::{Call, Limits, with_function};
use weft_ir::{Scalar, Span, Type, Value};
use weft_lang::Diagnostic;
use weft_lang::builtins::Builtin;
use weft_lang::typed::{Arg, Expr, ExprKind, GlobalId, Program};
use weft_lang::types;

use super::closed::{Assumed, CHOICES, closed, closed_with, free_locals};
use super::evidence::Evidence;
use super::mutants::mutants;
use super::probes::{self, Numbers};
use super::samples::{Triple, domains, leaves, triples};
use super::{MOST_HARMLESS, Tried, Walk, is_name};
use crate::{display, references};

/// What an operator may use, which has no arrays and calls nothing that calls itself.
const LIMITS: Limits = Limits { memory: 1 << 20, recursion: 1000, stack: crate::stack::LEAST };

/// Three elements, and what the operator makes of them.
struct Counterexample {
    triple: Triple,
    /// `f (f a b) c`.
    left: Value,
    /// `f a (f b c)`.
    right: Value,
    /// What was assumed of variables that are not known.
    assumed: Vec<Assumed>,
}

impl<'p> Walk<'p, '_> {
    /// What there is to say about the operator that is passed to a fold or a scan.
    pub(super) fn operator(
        &mut self,
        builtin: Builtin,
        function: &Expr,
        args: &'p [Arg],
    ) -> Option<Diagnostic> {
        let position = position_of_array(builtin)?;
        let operator = &args.first()?.expr;
        if is_known(operator) || self.told.places.contains(&operator.span) {
            return None;
        }
        let types::Type::Function(element, _) = &operator.ty else { return None };
        let ty = element.to_value_type().filter(has_no_arrays)?;
        // What comes from the right is no beginning.
        let start = (position == 2 && !is_from_the_right(builtin)).then(|| &args[1].expr);
        let evidence = args.get(position).and_then(|arg| self.evidence(&arg.expr, start, &ty));
        let global = evidence.as_ref().and_then(|evidence| evidence.global);
        let key = (operator.span, ty.clone(), self.call_places(), global);
        if self.told.harmless.contains(&key) {
            return None;
        }
        let found = self.counterexample(operator, &ty, evidence.as_ref())?;
        if found.is_none() {
            if self.told.harmless.len() >= MOST_HARMLESS {
                self.told.harmless.clear();
            }
            self.told.harmless.insert(key);
        }
        let remark = self.diagnostic(builtin, function.span, operator.span, &ty, &found?);
        // What the operator uses may come from a call.
        match self.call_places().last() {
            Some(call) if !free_locals(operator).is_empty() => {
                Some(remark.label(*call, "in this call"))
            }
            _ => Some(remark),
        }
    }

    /// What there is against an operator; nothing at all if it cannot be tried out now.
    fn counterexample(
        &self,
        operator: &Expr,
        ty: &Type,
        evidence: Option<&Evidence>,
    ) -> Option<Option<Counterexample>> {
        if let Some(program) = closed(operator, &self.scope, self.program) {
            return self.tried(&program, ty, evidence);
        }
        let mut first = None;
        for choice in 0..CHOICES {
            let with = closed_with(operator, &self.scope, self.program, choice);
            let Some((program, assumed)) = with else { return Some(None) };
            let Some(found) = self.tried(&program, ty, evidence)? else { return Some(None) };
            first.get_or_insert(Counterexample { assumed, ..found });
        }
        // Where there was nothing to say in a call with known arguments, it may be meant for these.
        let harmless = |(span, of, ..): &Tried| *span == operator.span && of == ty;
        Some(first.filter(|_| !self.told.harmless.iter().any(harmless)))
    }

    /// What there is against the operator that a program is; nothing at all if it cannot be tried out now.
    fn tried(
        &self,
        program: &Program,
        ty: &Type,
        evidence: Option<&Evidence>,
    ) -> Option<Option<Counterexample>> {
        // Before a line has run, what comes of it is not there.
        let bodies = program.instances.iter().map(|instance| &*instance.body);
        let mut used = [&program.entry].into_iter().chain(bodies).flat_map(references::of_expr);
        used.all(|global| self.state.values.contains_key(&global)).then_some(())?;
        let values = |global| self.state.value(global);
        let tried = with_operator(program, &values, &mut |call| {
            let of_array = match evidence {
                Some(evidence) => of_evidence(evidence, call),
                None => Verdict::Unknown,
            };
            let suspicion = match of_array {
                Verdict::Associative => None,
                _ => suspicion(ty, program, &values, call),
            };
            (of_samples(ty, call), of_array, suspicion)
        });
        // The run reports what is wrong with a value that the operator uses.
        let Some((of_samples, of_array, suspicion)) = tried else { return Some(None) };
        let of_array = match of_array {
            Verdict::Not(example) => Some(*example),
            Verdict::Associative | Verdict::Unknown => None,
        };
        Some(of_samples.or(of_array).or_else(|| {
            let suspicion = suspicion?;
            (!suspicion.is_cleared(program, &values)).then_some(suspicion.example)
        }))
    }

    fn diagnostic(
        &self,
        builtin: Builtin,
        function: Span,
        operator: Span,
        ty: &Type,
        found: &Counterexample,
    ) -> Diagnostic {
        let name = match self.sources.slice(function) {
            name if is_name(name) => name.to_owned(),
            _ => "this fold or scan".to_owned(),
        };
        let name_quoted = if is_name(&name) { format!("`{name}`") } else { name };
        let text = |value: &Value| {
            let text = display::literal(value, ty);
            if text.starts_with('-') { format!("({text})") } else { text }
        };
        let [a, b, c] = found.triple.each_ref().map(text);
        let source = self.sources.slice(operator);
        let inner = source.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let (left, right) = match inner.map(str::trim).filter(|inner| is_symbol(inner)) {
            Some(symbol) => (
                format!("({a} {symbol} {b}) {symbol} {c}"),
                format!("{a} {symbol} ({b} {symbol} {c})"),
            ),
            None => {
                let f = if is_name(source) { source } else { "f" };
                let left = format!("{f} ({f} {a} {b}) {c}");
                (left, format!("{f} {a} ({f} {b} {c})"))
            }
        };
        let results = [&found.left, &found.right].map(|value| display::literal(value, ty));
        let named = if left.starts_with("f (") && source != "f" { "with this as f, " } else { "" };
        let mut assumed = Vec::new();
        for (span, number) in &found.assumed {
            let value = display::literal(&Value::Scalar(*number), &Type::Scalar(number.ty()));
            assumed.push(format!("where `{}` is {value}, ", self.sources.slice(*span)));
        }
        let assumed = assumed.concat();
        let remark =
            format!("{assumed}{named}{left} is {}, but {right} is {}", results[0], results[1]);
        let message = format!("{name_quoted} needs an associative operator, and this one is not");
        let note = "the elements are grouped in any way, so the result depends on how: it changes \
                    with the number of elements";
        Diagnostic::error("E0318", message, operator, remark)
            .warning()
            .note(note)
            .help(help(builtin, inner.unwrap_or_default().trim()))
    }
}

/// Which argument of a function that takes an associative operator holds the elements.
fn position_of_array(builtin: Builtin) -> Option<usize> {
    match builtin {
        Builtin::Fold1 | Builtin::Scanl1 | Builtin::Scanr1 => Some(1),
        Builtin::Fold
        | Builtin::FoldSeg
        | Builtin::Scanl
        | Builtin::ScanlPrime
        | Builtin::Prescanl
        | Builtin::Postscanl
        | Builtin::Scanr
        | Builtin::ScanrPrime
        | Builtin::Prescanr
        | Builtin::Postscanr => Some(2),
        Builtin::ScatterWith | Builtin::Permute => Some(3),
        _ => None,
    }
}

fn is_from_the_right(builtin: Builtin) -> bool {
    use Builtin::{Postscanr, Prescanr, Scanr, Scanr1, ScanrPrime};
    matches!(builtin, Scanr | ScanrPrime | Prescanr | Postscanr | Scanr1)
}

/// Whether an operator is one that is known to be associative.
fn is_known(operator: &Expr) -> bool {
    use weft_ir::ScalarOp::{Add, And, BitAnd, BitOr, BitXor, Gcd, Max, Min, Mul, Or};
    let ExprKind::Builtin(Builtin::Op(op), _) = &operator.kind else { return false };
    matches!(op, Add | Mul | Min | Max | Gcd | BitAnd | BitOr | BitXor | And | Or)
}

fn has_no_arrays(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) => true,
        Type::Tuple(parts) => parts.iter().all(has_no_arrays),
        Type::Record(fields) => fields.iter().all(|(_, ty)| has_no_arrays(ty)),
        Type::Array(_) => false,
    }
}

/// What is wrong in every domain: the example of the first.
fn of_samples(ty: &Type, call: &mut Call<'_>) -> Option<Counterexample> {
    let mut first = None;
    for domain in domains(ty) {
        match verdict(triples(ty, domain), call) {
            Verdict::Associative => return None,
            Verdict::Not(example) => first = first.or(Some(*example)),
            Verdict::Unknown => {}
        }
    }
    first
}

/// What the array says that is folded.
fn of_evidence(evidence: &Evidence, call: &mut Call<'_>) -> Verdict {
    let mut triples = evidence.neighbours.clone();
    triples.extend(evidence.triples(call));
    match verdict(triples, call) {
        Verdict::Associative if !evidence.is_telling() => Verdict::Unknown,
        // An operator that yields one of its arguments there may do more elsewhere.
        verdict => verdict,
    }
}

/// An operator on numbers for which there are some that convict it.
struct Suspicion {
    example: Counterexample,
    /// All numbers that were tried.
    all: Numbers,
    /// The domains in which the operator is associative.
    spoken_for: Vec<Numbers>,
}

/// What numbers of both signs say, 0 and those about the constants in the operator.
fn suspicion(
    ty: &Type,
    program: &Program,
    values: &dyn Fn(GlobalId) -> Value,
    call: &mut Call<'_>,
) -> Option<Suspicion> {
    let ty = probes::number_type(ty)?;
    let constants = probes::constants(program, values);
    let all = probes::signed(ty, &constants);
    let Verdict::Not(example) = verdict(all.triples(), call) else { return None };
    let mut example = *example;
    let mut spoken_for = Vec::new();
    for domain in probes::meant(ty, &constants).into_iter().rev() {
        match verdict(domain.triples(), call) {
            Verdict::Associative => spoken_for.push(domain),
            // The plainest numbers come last.
            Verdict::Not(plainer) => example = *plainer,
            Verdict::Unknown => {}
        }
    }
    Some(Suspicion { example, all, spoken_for })
}

impl Suspicion {
    /// Whether the operator is associative in a domain that makes use of all of it.
    fn is_cleared(&self, program: &Program, values: &dyn Fn(GlobalId) -> Value) -> bool {
        if self.spoken_for.is_empty() {
            return false;
        }
        let results = |program: &Program| {
            with_operator(program, values, &mut |call| {
                let domains = [&self.all].into_iter().chain(&self.spoken_for);
                domains.map(|domain| domain.results(call)).collect::<Vec<_>>()
            })
        };
        let Some(own) = results(program) else { return true };
        let mut uses_all = vec![true; self.spoken_for.len()];
        for mutant in mutants(program) {
            let Some(others) = results(&mutant) else { continue };
            let is_noticed: Vec<bool> =
                own.iter().zip(&others).map(|(own, other)| !are_same(own, other)).collect();
            if is_noticed.contains(&true) {
                uses_all.iter_mut().zip(&is_noticed[1..]).for_each(|(all, it)| *all &= it);
            }
        }
        uses_all.contains(&true)
    }
}

fn are_same(xs: &[Option<Value>], ys: &[Option<Value>]) -> bool {
    xs.iter().zip(ys).all(|pair| match pair {
        (Some(x), Some(y)) => x.same_bits(y),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    })
}

/// What comes of calls of the operator that a program is, if it is there without an error.
fn with_operator<T>(
    program: &Program,
    values: &dyn Fn(GlobalId) -> Value,
    work: &mut dyn FnMut(&mut Call<'_>) -> T,
) -> Option<T> {
    let never = AtomicBool::new(false);
    let mut found = None;
    let outcome = with_function(program, values, &LIMITS, &never, &mut |call| {
        found = Some(work(call));
    });
    outcome.ok()?;
    found
}

/// What the triples of a domain say.
enum Verdict {
    Associative,
    Not(Box<Counterexample>),
    /// Most of them have no result, or the operator does nothing there.
    Unknown,
}

fn verdict(triples: Vec<Triple>, call: &mut Call<'_>) -> Verdict {
    let all = triples.len();
    let (mut held, mut is_first, mut is_second) = (0, true, true);
    for triple in triples {
        let Some(attempt) = attempt(triple, call) else { continue };
        if let Some(example) = attempt.example {
            return Verdict::Not(Box::new(example));
        }
        held += 1;
        is_first &= attempt.is_first;
        is_second &= attempt.is_second;
    }
    if 2 * held >= all && !is_first && !is_second { Verdict::Associative } else { Verdict::Unknown }
}

/// What became of a triple.
struct Attempt {
    example: Option<Counterexample>,
    /// Whether the operator gave its first argument.
    is_first: bool,
    /// Whether the operator gave its second argument.
    is_second: bool,
}

/// Groups three elements in both ways. Nothing where that is an error, or not a number.
fn attempt(triple: Triple, call: &mut Call<'_>) -> Option<Attempt> {
    let mut apply = |a: &Value, b: &Value| {
        let result = call(&[a.clone(), b.clone()])?;
        leaves(&result).into_iter().all(is_finite).then_some(result)
    };
    let [a, b, c] = &triple;
    let (ab, bc) = (apply(a, b)?, apply(b, c)?);
    let (left, right) = (apply(&ab, c)?, apply(a, &bc)?);
    let largest = [a, b, c, &ab, &bc, &left, &right]
        .into_iter()
        .flat_map(leaves)
        .filter_map(float)
        .map(f64::abs)
        .fold(0.0, f64::max);
    let differs = leaves(&left).into_iter().zip(leaves(&right)).any(|(x, y)| differ(x, y, largest));
    let (is_first, is_second) = (ab.same_bits(a), ab.same_bits(b));
    let example = differs.then(|| Counterexample { triple, left, right, assumed: Vec::new() });
    Some(Attempt { example, is_first, is_second })
}

fn float(scalar: Scalar) -> Option<f64> {
    match scalar {
        Scalar::F32(value) => Some(value.into()),
        Scalar::F64(value) => Some(value),
        _ => None,
    }
}

fn is_finite(scalar: Scalar) -> bool {
    float(scalar).is_none_or(f64::is_finite)
}

/// Whether two results differ by more than rounding explains, where numbers are as large as `largest`.
fn differ(x: Scalar, y: Scalar, largest: f64) -> bool {
    let share = if matches!(x, Scalar::F32(_)) { 1e-2 } else { 1e-3 };
    match (float(x), float(y)) {
        (Some(x), Some(y)) => (x - y).abs() > share * largest,
        _ => !x.same_bits(y),
    }
}

/// Whether a text is an operator.
fn is_symbol(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_punctuation() && letter != '_')
}

/// What to write instead.
fn help(builtin: Builtin, symbol: &str) -> &'static str {
    let is_fold = matches!(builtin, Builtin::Fold | Builtin::Fold1);
    let is_send = matches!(builtin, Builtin::ScatterWith | Builtin::Permute);
    match symbol {
        "-" if builtin == Builtin::Fold => "`z - sum xs` takes all elements away from z",
        "/" if builtin == Builtin::Fold => "`z / product xs` divides z by all elements",
        "-" if is_send => "combine the negated elements with `(+)`",
        _ if is_fold => {
            "from left to right goes a loop: `loop s = z for x in xs do …`; `:explain E0318` has more"
        }
        _ if is_send => "`:explain E0318` shows what to do with such a step",
        _ => "from left to right goes `states step start xs`; `:explain E0318` has more",
    }
}
