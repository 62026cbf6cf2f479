//! `:fuse`: the kernels that a program becomes, what each reads, holds and writes, what that saves, and
//! why arrays are stored that something reads.
//!
//! The first paragraph is made of counts alone: the `fuse` fences of the tests expect it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use weft_cpu::has_row_function;
use weft_cuda::{has_row_kernel, loops_on_one_thread};
use weft_ir::flat::Var;
use weft_ir::{Rows, Span, nested, plan};
use weft_lang::Diagnostic;
use weft_lang::typed::{Expr, ExprKind};
use weft_passes::fuse::{
    Apart, ApartReason, Chosen, KernelReport, Objective, Remark, Report, Unfused,
};
use weft_passes::pipeline::MOST_UNSHARED;
use weft_passes::share::unshare;
use weft_passes::unroll::WrittenOut;

use super::excerpt::excerpt;
use super::launches::{Launch, launches, outer_loops};
use super::names::{Names, bytes_words};
use super::{Answer, Context, graph};
use crate::engine::{Backend, Job, Stages, stages, unsupported_diagnostic};

/// Of so many kernels there is an overview.
const MANY_KERNELS: usize = 8;
/// How many places it names.
const MOST_PLACES: usize = 4;

/// What fusion did.
pub(super) fn answer(context: &Context<'_>, job: &Job<'_>) -> Result<Answer, Box<Diagnostic>> {
    let stages = stages(job).map_err(|unsupported| unsupported_diagnostic(&unsupported, job))?;
    let names = Names::new(context, &stages);
    let report = &stages.compiled.report;
    let mut paragraphs = vec![summary(&stages, &names, &job.program.entry)];
    let launches = launches(&stages.compiled.plan);
    let ways = Ways {
        loops: outer_loops(&stages.compiled.plan),
        is_recursive: !stages.lowered.program.functions.is_empty(),
    };
    paragraphs.extend(overview(report, &launches, &names));
    for (number, kernel) in report.kernels.iter().enumerate() {
        paragraphs.push(kernel_text(number + 1, kernel, launches.get(number), &ways, &names));
    }
    let changes = &stages.compiled.changes;
    let few = |written_out: &[WrittenOut]| -> Vec<String> {
        let one = |it: &WrittenOut| {
            format!("{}: {}", names.excerpt(it.span), counted(it.elements, "element"))
        };
        written_out.iter().map(one).collect()
    };
    let places = |spans: &[Span]| -> Vec<String> {
        let place = |span: &Span| format!("{}  {}", names.excerpt(*span), names.place(*span));
        spans.iter().map(place).collect()
    };
    let stays = Remark::InCondition;
    for (title, lines) in [
        ("Folds of few elements, written out:", few(&changes.written_out)),
        ("Rows of few elements, by as many arrays or scalars:", few(&changes.taken_apart)),
        (
            "Computed once for each element, before the map or loop around it:",
            places(&changes.moved),
        ),
        (&format!("{} {}", stays.code(), stays.heading()), places(&changes.stays)),
    ] {
        if !lines.is_empty() {
            paragraphs.push(format!("{title}\n{}", lines.join("\n")));
        }
    }
    let on_device = matches!(job.modes.backend, Backend::Gpu | Backend::GpuEmulated);
    let has_function = if on_device { has_row_kernel } else { has_row_function };
    let by_rows = loops_by_rows(&stages.compiled.plan.body, has_function);
    let rows_title = match on_device {
        true => "Row by row on the GPU, a thread for each:",
        false => {
            "Row by row on the CPU, as one function, once it has taken a millisecond (with much to do at a row, \
             if a trial is faster):"
        }
    };
    let alone = if on_device { loops_on_one_thread(&stages.compiled.plan) } else { Vec::new() };
    for (title, loops) in [(rows_title, by_rows), ("On one thread of the GPU:", alone)] {
        if !loops.is_empty() {
            let each = loops.into_iter().map(|span| names.excerpt(span));
            let lines: Vec<String> = std::iter::once(title.to_owned()).chain(each).collect();
            paragraphs.push(lines.join("\n"));
        }
    }
    paragraphs.extend(apart_text(report, &names));
    let edges = edges(report);
    if !edges.is_empty() {
        paragraphs.push("Stored, although a kernel or the host reads it again:".to_owned());
    }
    for edge in &edges {
        paragraphs.push(edge_text(edge, &names, context));
    }
    Ok(Answer { text: paragraphs.join("\n\n"), svg: graph::svg(&stages, &names), bug: None })
}

/// Whether a loop with this state is run row by row.
type HasFunction = fn(&Rows<plan::Program>, &[Var]) -> bool;

/// The loops of a block that a function can run row by row, but for those inside of others.
fn loops_by_rows(block: &plan::Block, has_function: HasFunction) -> Vec<Span> {
    let of = |step: &plan::Step| match step {
        plan::Step::While { state, rows: Some(rows), .. } if has_function(rows, state) => {
            vec![rows.span]
        }
        _ => step.blocks().flat_map(|block| loops_by_rows(block, has_function)).collect(),
    };
    block.steps.iter().flat_map(of).collect()
}

/// The counts: of the plan, of the plans that were not chosen, of what sharing and fusion saved.
fn summary(stages: &Stages, names: &Names<'_>, entry: &Expr) -> String {
    let report = &stages.compiled.report;
    let mut lines = vec![objective_text(&report.objective)];
    if report.kernels.is_empty() && matches!(entry.kind, ExprKind::Value(_)) {
        lines[0] = "no kernels: it is a value already, made by the cell that bound it".to_owned();
    }
    match report.chosen {
        Chosen::Unfused => lines[0].push_str(" (fusion is switched off)"),
        Chosen::TooDeep => lines[0].push_str(" (too deep to be fused)"),
        Chosen::Greedy => {}
        Chosen::Solver => lines.push(format!(
            "chosen by the solver; edge by edge: {}",
            objective_text(&report.greedy)
        )),
    }
    let is_fused = !matches!(report.chosen, Chosen::Unfused | Chosen::TooDeep);
    if is_fused && report.unfused_objective != report.objective {
        lines.push(format!("without fusion: {}", objective_text(&report.unfused_objective)));
    }
    let arrays: Vec<Var> = report.saved.iter().map(|saved| saved.array).collect();
    if !arrays.is_empty() {
        let bytes = names.bytes_of(&arrays).map_or_else(String::new, |bytes| format!(", {bytes}"));
        lines.push(format!("never stored: {}{bytes}", counted(arrays.len(), "array")));
    }
    let codes: BTreeSet<&str> = edges(report).iter().map(|edge| edge.first.reason.code()).collect();
    if !codes.is_empty() {
        let codes: Vec<&str> = codes.into_iter().collect();
        lines.push(format!("stored for a reader: {}", codes.join(", ")));
    }
    // Loops in place of recursive calls are other operations than these calls.
    if !stages.lowered.program.functions.is_empty() {
        return lines.join("\n");
    }
    let shared = operations(&stages.compiled.shared);
    let unshared = unshare(&stages.lowered.program, MOST_UNSHARED).map(|tree| operations(&tree));
    match unshared {
        Ok(unshared) if unshared == shared => {}
        Ok(unshared) => lines.push(format!(
            "{}; {unshared} if every use computed its own",
            counted(shared, "operation")
        )),
        Err(_) => lines.push(format!(
            "{}; more than {MOST_UNSHARED} if every use computed its own",
            counted(shared, "operation")
        )),
    }
    lines.join("\n")
}

fn objective_text(objective: &Objective) -> String {
    if *objective == Objective::default() {
        return "no kernels: the host computes it".to_owned();
    }
    let verbs = if objective.kernels == 1 { ("stores", "reads") } else { ("store", "read") };
    format!(
        "{} {} {} and {} {}",
        counted(objective.kernels, "kernel"),
        verbs.0,
        counted(objective.arrays, "array"),
        verbs.1,
        objective.reads
    )
}

/// `1 kernel`, `2 kernels`.
pub(super) fn counted(count: usize, what: &str) -> String {
    let ending = match count {
        1 => "",
        _ if what.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{count} {what}{ending}")
}

/// The operations of a program in its bodies; a lambda or a branch counts once.
fn operations(program: &nested::Program) -> usize {
    fn of(body: &nested::Body) -> usize {
        let mut sum = body.statements.len();
        for statement in &body.statements {
            statement.operation.for_each_body(&mut |inner| sum += of(inner));
        }
        sum
    }
    of(&program.body) + program.functions.iter().map(|function| of(&function.body)).sum::<usize>()
}

/// What is known of the loops of a plan.
struct Ways {
    /// How many there are that are not inside of others.
    loops: usize,
    /// Whether the program calls recursive functions.
    is_recursive: bool,
}

impl Ways {
    /// When a kernel runs that runs more than once.
    fn of(&self, launch: Option<&Launch<'_>>) -> &'static str {
        match launch.and_then(|launch| launch.turn_of) {
            None => "",
            Some(0) if self.is_recursive && self.loops == 2 => ", on the way down, level by level",
            Some(1) if self.is_recursive && self.loops == 2 => ", on the way up, level by level",
            Some(_) => ", in each turn of a loop",
        }
    }
}

fn kernel_text(
    number: usize,
    kernel: &KernelReport,
    launch: Option<&Launch<'_>>,
    ways: &Ways,
    names: &Names<'_>,
) -> String {
    let name = kernel.name.replace("_then_", ", then ").replace('_', " and ");
    let (space, way) = (names.space(&kernel.space), ways.of(launch));
    let branch = launch.and_then(|launch| launch.branch);
    let branch =
        branch.map_or_else(String::new, |branch| format!(", in the `{branch}` of an `if`"));
    let mut text = format!("kernel {number}: {name} over {space}{way}{branch}");
    let mut lines = Vec::new();
    let (mut reads, mut rows, mut onto) = (Vec::new(), Vec::new(), Vec::new());
    let starts = |var: &Var| launch.is_some_and(|launch| launch.starts_from(*var));
    for var in &kernel.reads {
        match kernel.whole.contains(var) {
            false => reads.push(*var),
            true if starts(var) => onto.push(*var),
            true => rows.push(*var),
        }
    }
    let inside: Vec<Var> = kernel.fused.iter().map(|(array, _)| *array).collect();
    for (verb, arrays, with_source) in [
        ("reads ", &reads, false),
        ("rows  ", &rows, false),
        ("onto  ", &onto, false),
        ("inside", &inside, true),
        ("writes", &kernel.writes, true),
    ] {
        for mut item in items(arrays, with_source, names) {
            if let Some(launch) = launch.filter(|_| verb == "onto  ") {
                item.push_str(&copied_text(launch, names));
            }
            lines.push((verb, item));
        }
    }
    let (count, mut before) = (lines.len(), "");
    for (place, (verb, item)) in lines.into_iter().enumerate() {
        let branch = if place + 1 == count { '└' } else { '├' };
        let shown = if verb == before { "      " } else { verb };
        let _ = write!(text, "\n{branch} {shown}  {item}");
        before = verb;
    }
    text
}

/// Whether what a kernel scatters into is copied first.
pub(super) fn copied_text(launch: &Launch<'_>, names: &Names<'_>) -> String {
    if launch.copied.is_empty() {
        return ", in place".to_owned();
    }
    let bytes: Option<u64> = launch.copied.iter().map(|var| names.bytes(*var)).sum();
    let bytes = bytes.map_or_else(String::new, |bytes| format!(" ({})", bytes_words(bytes)));
    format!(", copied first{bytes}")
}

/// Arrays, a line each; those of one type, and of one expression if that is shown, share a line.
fn items(vars: &[Var], with_source: bool, names: &Names<'_>) -> Vec<String> {
    const MOST: usize = 8;
    let mut groups: Vec<(String, Vec<Var>)> = Vec::new();
    for var in vars {
        let ty = names.type_text(*var);
        let rest = match names.span(*var).filter(|_| with_source) {
            Some(span) => format!("{ty} = {}  {}", names.excerpt(span), names.place(span)),
            None => match names.remark(*var) {
                Some(remark) => format!("{ty}, {remark}"),
                None => ty,
            },
        };
        match groups.iter_mut().find(|(known, _)| *known == rest) {
            Some((_, group)) => group.push(*var),
            None => groups.push((rest, vec![*var])),
        }
    }
    let left = groups.len().saturating_sub(MOST);
    let mut lines: Vec<String> = groups
        .into_iter()
        .take(MOST)
        .map(|(rest, group)| format!("{}: {rest}", name_list(&group, names)))
        .collect();
    if left > 0 {
        lines.push(format!("and {left} more"));
    }
    lines
}

/// `a1, a2, a3`; a long list has its ends only.
fn name_list(vars: &[Var], names: &Names<'_>) -> String {
    match vars {
        [first, _, _, .., last] => {
            format!("{} … {} ({} arrays)", names.of(*first), names.of(*last), vars.len())
        }
        _ => vars.iter().map(|var| names.of(*var)).collect::<Vec<_>>().join(", "),
    }
}

/// Of many kernels, how many are in loops, and where most is stored for a reader.
fn overview(report: &Report, launches: &[Launch<'_>], names: &Names<'_>) -> Option<String> {
    if report.kernels.len() < MANY_KERNELS {
        return None;
    }
    let mut lines = Vec::new();
    let in_loops = launches.iter().filter(|launch| launch.turn_of.is_some()).count();
    if in_loops > 0 {
        lines.push(format!(
            "{in_loops} of the {} are launched in each turn of a loop",
            report.kernels.len()
        ));
    }
    let edges = edges(report);
    let bytes =
        |edge: &Edge| edge.arrays.iter().filter_map(|array| names.bytes(*array)).sum::<u64>();
    let mut largest: Vec<(u64, &Edge, BTreeSet<&str>)> = Vec::new();
    for edge in edges.iter().filter(|edge| bytes(edge) > 0) {
        let code = edge.first.reason.code();
        match largest.iter_mut().find(|(_, other, _)| other.arrays == edge.arrays) {
            Some((.., codes)) => {
                codes.insert(code);
            }
            None => largest.push((bytes(edge), edge, BTreeSet::from([code]))),
        }
    }
    largest.sort_by_key(|(bytes, ..)| std::cmp::Reverse(*bytes));
    if !largest.is_empty() {
        lines.push("most of what is stored for a reader:".to_owned());
    }
    for (bytes, edge, codes) in largest.into_iter().take(MOST_PLACES) {
        let (array, span) = (name_list(&edge.arrays, names), edge.first.producer);
        let (bytes, source) = (bytes_words(bytes), names.excerpt(span));
        let codes = codes.into_iter().collect::<Vec<_>>().join(", ");
        lines.push(format!("  {array}, {bytes}: {source}  {}  {codes}", names.place(span)));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Which kernels read one array at the same points, and why they are several.
fn apart_text(report: &Report, names: &Names<'_>) -> Option<String> {
    let number = |var: Var| {
        report.kernels.iter().position(|kernel| kernel.writes.contains(&var)).map(|at| at + 1)
    };
    let mut groups: BTreeMap<ApartReason, Vec<String>> = BTreeMap::new();
    for Apart { first, second, reads, reason } in &report.apart {
        if let (Some(first), Some(second)) = (number(*first), number(*second)) {
            let line = format!("kernels {first} and {second} read {}", names.of(*reads));
            groups.entry(*reason).or_default().push(line);
        }
    }
    let code = Remark::Apart.code();
    let texts = groups
        .into_iter()
        .map(|(reason, lines)| format!("{code} {}: {}", lines.join("; "), reason.explanation()));
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| format!("{}\n{}", Remark::Apart.heading(), texts.join("\n")))
}

/// What did not fuse: the arrays that one expression makes and another reads.
struct Edge {
    arrays: Vec<Var>,
    first: Unfused,
}

fn edges(report: &Report) -> Vec<Edge> {
    let mut known: BTreeMap<(&str, &str, Span, Span), usize> = BTreeMap::new();
    let mut edges: Vec<Edge> = Vec::new();
    for unfused in &report.unfused {
        let Some(reader) = unfused.reader else { continue };
        let key = (unfused.reason.code(), unfused.explanation(), unfused.producer, reader);
        match known.get(&key) {
            Some(place) if edges[*place].arrays.contains(&unfused.array) => {}
            Some(place) => edges[*place].arrays.push(unfused.array),
            None => {
                known.insert(key, edges.len());
                edges.push(Edge { arrays: vec![unfused.array], first: *unfused });
            }
        }
    }
    edges
}

fn edge_text(edge: &Edge, names: &Names<'_>, context: &Context<'_>) -> String {
    let Unfused { reason, producer, reader, between, .. } = edge.first;
    let bytes =
        names.bytes_of(&edge.arrays).map_or_else(String::new, |bytes| format!(" ({bytes})"));
    let mut text = format!(
        "{} {}{bytes}: {}",
        reason.code(),
        name_list(&edge.arrays, names),
        edge.first.explanation()
    );
    let mut remarks = vec![(producer, "makes it")];
    remarks.extend(between.map(|between| (between, "has to be complete first")));
    match reader {
        Some(reader) if reader == producer => remarks[0].1 = "makes it, and reads it again",
        Some(reader) => remarks.push((reader, "reads it")),
        None => {}
    }
    for line in excerpt(&remarks, context.sources) {
        let _ = write!(text, "\n  {line}");
    }
    text
}
