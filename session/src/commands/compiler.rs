//! Commands about how programs are compiled and where they run.

use weft_ir::{ScalarType, Span};
use weft_lang::render::Sources as _;
use weft_lang::types::{Class, Scheme, Type};
use weft_lang::{CheckedKind, Diagnostic};

use super::Call;
use crate::engine::Backend;
use crate::inquiry::{Inquiry, Stage};
use crate::modes::Modes;
use crate::plan::{Planner, Step};

/// `:ir stage e`.
pub(super) fn ir(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    let stages: Vec<&str> = Stage::ALL.into_iter().map(Stage::name).collect();
    let usage = format!("`:ir` takes a stage ({}) and an expression", stages.join(", "));
    let argument = call.needed(&usage)?;
    let (word, rest) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    let Some(stage) = Stage::from_name(word) else {
        let mut diagnostic = call.misuse(&usage);
        let turned = rest.split_whitespace().next().and_then(Stage::from_name);
        match (word, turned) {
            ("--diff", Some(stage)) => {
                let example =
                    format!("`--diff` stands behind the stage: `:ir {} --diff e`", stage.name());
                diagnostic = diagnostic.help(example);
            }
            _ => diagnostic = diagnostic.help(format!("for example `:ir plan {argument}`")),
        }
        return Err(Box::new(diagnostic));
    };
    let rest = rest.trim_start();
    let (diff, rest) = match rest.strip_prefix("--diff") {
        Some(rest) => (true, rest.trim_start()),
        None => (false, rest),
    };
    if rest.is_empty() {
        return Err(Box::new(call.misuse(&usage)));
    }
    if diff && !stage.has_difference() {
        let message = "`--diff` shows what a pass has changed: `:ir shared --diff e`, and \
                       `unrolled`, `flat`, `fused` and `plan`";
        return Err(Box::new(call.misuse(message)));
    }
    let mut span = call.argument_span;
    span.start = span.end - rest.len() as u32;
    inquire(planner, span, Inquiry::Ir { stage, diff })
}

/// `:fuse e`.
pub(super) fn fuse(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    call.needed("`:fuse` takes an expression")?;
    inquire(planner, call.argument_span, Inquiry::Fuse)
}

/// `:cost e`.
pub(super) fn cost(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    call.needed("`:cost` takes an expression")?;
    inquire(planner, call.argument_span, Inquiry::Cost)
}

/// `:compare e`.
pub(super) fn compare(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    call.needed("`:compare` takes an expression")?;
    inquire(planner, call.argument_span, Inquiry::Compare)
}

/// `:bench e`.
pub(super) fn bench(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    call.needed("`:bench` takes an expression")?;
    inquire(planner, call.argument_span, Inquiry::Bench)
}

/// `:check e`.
pub(super) fn check(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    call.needed("`:check` takes an expression")?;
    inquire(planner, call.argument_span, Inquiry::Check)
}

/// Plans a question about the program that an expression becomes.
fn inquire(planner: &mut Planner<'_>, span: Span, inquiry: Inquiry) -> Result<(), Box<Diagnostic>> {
    let Some(expression) = planner.expression(span) else { return Ok(()) };
    match expression.item.kind {
        CheckedKind::Show { program, ty, .. } | CheckedKind::Bind { program, ty, .. } => {
            planner.steps.push(Step::Inquire { inquiry, program, ty });
        }
        CheckedKind::ShowFunction { scheme, .. } | CheckedKind::Define { scheme, .. } => {
            let (what, used) = match scheme.ty {
                Type::Seq(_) => ("sequence", "consumed"),
                _ => ("function", "applied"),
            };
            let mut text = format!("a {what} : {scheme}\n(it becomes a program where it is {used}");
            let function = planner.sources.text(span.source).get(span.range()).unwrap_or_default();
            let name = function.trim();
            let is_name = name.chars().all(|one| one.is_alphanumeric() || one == '_');
            if let Some(arguments) = sample_arguments(&scheme).filter(|_| is_name) {
                text.push_str(&format!(", such as `{name} {arguments}`"));
            }
            text.push(')');
            planner.steps.push(Step::Text(text));
        }
        CheckedKind::Alias { .. } => {}
    }
    Ok(())
}

/// Arguments that a function of this type can be applied to, if it is one of data.
fn sample_arguments(scheme: &Scheme) -> Option<String> {
    let mut arguments = Vec::new();
    let mut ty = &scheme.ty;
    while let Type::Function(from, to) = ty {
        arguments.push(sample(from, scheme)?);
        ty = to;
    }
    (!arguments.is_empty() && scheme.records.is_empty()).then(|| arguments.join(" "))
}

/// A small value of a type.
fn sample(ty: &Type, scheme: &Scheme) -> Option<String> {
    match ty {
        Type::Var(var) => match scheme.vars.get(var.0 as usize)? {
            Some(class) if *class == Class::INT => Some("1".to_owned()),
            Some(_) | None => Some("1.0".to_owned()),
        },
        Type::Scalar(ScalarType::Bool) => Some("true".to_owned()),
        Type::Scalar(ScalarType::I64) => Some("1".to_owned()),
        Type::Scalar(ScalarType::F64) => Some("1.0".to_owned()),
        Type::Scalar(ScalarType::Char) => Some("'a'".to_owned()),
        Type::Scalar(other) => Some(format!("1{}", other.name())).filter(|_| other.is_int()),
        Type::Tuple(parts) if parts.len() > 1 => {
            let parts: Option<Vec<String>> =
                parts.iter().map(|part| sample(part, scheme)).collect();
            Some(format!("({})", parts?.join(", ")))
        }
        Type::Array(element) => {
            let element = sample(element, scheme)?;
            Some(format!("[{element}, {element}]"))
        }
        _ => None,
    }
}

/// `:backend`, `:backend name`.
pub(super) fn backend(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    let value = call.argument.as_str();
    match planner.state.modes.set("backend", value) {
        Ok(line) if value.is_empty() => planner.steps.push(Step::Text(line)),
        Ok(_) => {
            planner.change_modes();
            if planner.state.modes.backend == Backend::Gpu {
                planner.steps.push(Step::NeedsGpu);
            }
        }
        Err(problem) => return Err(Box::new(call.misuse(&problem))),
    }
    Ok(())
}

/// `:cache`, `:cache clear`.
pub(super) fn cache(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    let clear = match call.argument.as_str() {
        "" => false,
        "clear" => true,
        _ => return Err(Box::new(call.misuse("`:cache` takes nothing, or `clear`"))),
    };
    planner.steps.push(Step::Cache { clear });
    Ok(())
}

/// `:devices`.
pub(super) fn devices(planner: &mut Planner<'_>, _call: &Call) -> Result<(), Box<Diagnostic>> {
    planner.steps.push(Step::Devices);
    Ok(())
}

/// What `:devices` says. `gpu` is what there is of one, or why there is none.
pub(crate) fn devices_text(modes: &Modes, gpu: Result<String, String>) -> String {
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    let processor = processor().map_or_else(String::new, |name| format!(", {name}"));
    let memory = crate::modes::bytes_text(modes.memory);
    let used = |backend: Backend| if modes.backend == backend { "  (in use)" } else { "" };
    let automatic = modes.backend == Backend::Auto;
    let cpu = if automatic { "  (in use)" } else { used(Backend::Cpu) };
    let gpu = match gpu {
        Ok(device) if automatic => format!("{device}  (in use for large arrays)"),
        Ok(device) => format!("{device}{}", used(Backend::Gpu)),
        Err(why) => format!("none: {why}"),
    };
    format!(
        "cpu     {} of {most} threads{processor}; a run may take {memory}{cpu}\n\
         gpu     {gpu}\n\
         interp  the reference interpreter, on one thread{}",
        modes.threads,
        used(Backend::Interp),
    )
}

/// What the processor calls itself, where the system tells.
fn processor() -> Option<String> {
    let info = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("model name"))?;
    Some(line.trim_start_matches([' ', '\t', ':']).trim().to_owned())
}
