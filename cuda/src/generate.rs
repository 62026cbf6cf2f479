//! From a plan to CUDA C++.
//!
//! Before: `launch "sum" [a0] (r0)`, `r1 = read a1 r0`, `reduce r1 …`. After: a structure with
//! `element` (the body), `combine` (the operator) and `finish` (what becomes of a row), and a
//! `__global__` function per skeleton that the row lengths may ask for.

mod filter;
mod interior;
mod interleave;
mod loops;
mod map;
mod rare;
mod reduce;
mod scan;
mod scatter;
mod sort;
mod split;
mod tile;
mod transposed;
mod turns;
mod uses;
mod works;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use weft_codegen::{Functions, Writer};
use weft_ir::code::{Code as ScalarCode, Operand, Register};
use weft_ir::flat::{Dimension, Space, Type, Var, first_stored, storage};
use weft_ir::plan::{Kernel, Program, Sink};
use weft_ir::{ScalarType, Span};

use crate::beside;
use crate::inside::stays_inside;
use crate::policy::Policy;
use crate::run::computed_scalars;
use crate::shared::{MOST_SHARED, declared};
use crate::structure::{Finished, Indices, Point, Remarks, Shared, Structure, same_strides};
use crate::text::{Code, Entry, KernelCode, Length, Piece, Skeleton};

pub use loops::has_row_kernel;
use works::{Role, Work, collect};

/// The kernels of a plan that [`weft_ir::plan::check`] accepts.
pub fn generate(program: &Program, policy: &Policy) -> Code {
    generated(program, policy, None)
}

/// As [`generate`], for people: comments tell which expression of the program code comes from.
pub fn generate_with_remarks(program: &Program, policy: &Policy, remarks: &Remarks<'_>) -> Code {
    generated(program, policy, Some(remarks))
}

fn generated(program: &Program, policy: &Policy, remarks: Option<&Remarks<'_>>) -> Code {
    let mut works = Vec::new();
    collect(&program.body, &program.types, &mut works);
    let computed: BTreeSet<Var> = works
        .iter()
        .flat_map(|work| match work {
            Work::Kernel(kernel, _) => computed_scalars(kernel, &program.types),
            Work::Rows { .. } | Work::Loop { .. } | Work::HostLoop { .. } => Vec::new(),
        })
        .collect();
    let axes = program.inputs.iter().flat_map(|leaf| &leaf.axes);
    let given: BTreeSet<Var> = axes
        .filter_map(|axis| match axis {
            Dimension::Ragged { offsets, .. } => Some(*offsets),
            Dimension::Dense(_) => None,
        })
        .collect();
    let mut functions = Functions::new();
    let mut generator = Generator {
        text: String::new(),
        entries: Vec::new(),
        common: String::new(),
        common_entries: Vec::new(),
        policy,
        remarks,
        sites: 0,
        computed: &computed,
        given: &given,
        in_loop: false,
    };
    let mut codes: Vec<KernelCode> = Vec::new();
    // The kernels before this one are of loops that are kernels themselves.
    let mut behind = 0;
    for (number, work) in works.into_iter().enumerate() {
        generator.in_loop = number < behind;
        let code = generator.work(&work, number, &program.types, &mut functions);
        if let Work::Rows { kernels, .. } | Work::Loop { kernels, .. } = work
            && !code.pieces.is_empty()
        {
            behind = behind.max(number + 1 + kernels);
        }
        codes.push(code);
    }
    generator.helpers(&codes);
    beside::mark(&program.body, &mut codes);
    let Generator { text, mut entries, common, common_entries, .. } = generator;
    let definitions = functions.definitions();
    for entry in &mut entries {
        entry.at = entry.at.start + definitions.len()..entry.at.end + definitions.len();
    }
    let body = format!("{definitions}{text}");
    Code { body, entries, common, common_entries, kernels: codes }
}

/// The loops of a plan that run on one thread of a device (`Note [Loops on one thread]`), but for those inside of others.
pub fn loops_on_one_thread(program: &Program) -> Vec<Span> {
    let mut works = Vec::new();
    collect(&program.body, &program.types, &mut works);
    let (mut behind, mut found) = (0, Vec::new());
    for (number, work) in works.iter().enumerate() {
        let is_own = match work {
            Work::Rows { rows, state, .. } => has_row_kernel(rows, state),
            _ => loops::loop_on_one_thread(work, &program.types).is_some(),
        };
        if number < behind || !is_own {
            continue;
        }
        match work {
            Work::Kernel(..) => {}
            Work::Rows { kernels, .. } => behind = number + 1 + kernels,
            Work::Loop { kernels, span, .. } => {
                behind = number + 1 + kernels;
                found.push(*span);
            }
            Work::HostLoop { span, .. } => found.push(*span),
        }
    }
    found
}

struct Generator<'a> {
    text: String,
    entries: Vec<Entry>,
    common: String,
    common_entries: Vec<Entry>,
    policy: &'a Policy,
    remarks: Option<&'a Remarks<'a>>,
    /// How many sites there are so far.
    sites: usize,
    /// The scalars that kernels compute.
    computed: &'a BTreeSet<Var>,
    /// The offsets of rows that the program takes.
    given: &'a BTreeSet<Var>,
    /// Whether the kernel at hand is of a loop that is a kernel itself: hardly ever launched.
    in_loop: bool,
}

/// A kernel that is being generated.
struct Draft<'k, 'a> {
    kernel: &'k Kernel,
    number: usize,
    shared: Shared<'a>,
    pieces: Vec<Piece>,
    text: String,
    /// The `__global__` functions: the name, the parameters after the arguments, the call.
    entries: Vec<Global>,
    lengths: Vec<Length>,
}

/// A `__global__` function that is to be written.
struct Global {
    name: String,
    chosen: bool,
    rare: bool,
    shared: usize,
    structure: String,
    /// How many bytes its text has.
    written: usize,
    /// Whether its elements have at most 4 bytes.
    narrow: bool,
    parameters: String,
    call: String,
}

impl Generator<'_> {
    fn work(
        &mut self,
        work: &Work<'_>,
        number: usize,
        types: &[Type],
        functions: &mut Functions,
    ) -> KernelCode {
        let (of_loop, written);
        let (kernel, relies) = match work {
            Work::Kernel(kernel, _) => {
                written = turns::written_out(kernel);
                let relies = !stays_inside(kernel, types, self.given);
                (written.as_ref().unwrap_or(kernel), relies)
            }
            Work::Rows { .. } | Work::Loop { .. } | Work::HostLoop { .. } => {
                of_loop = loops::kernel(work);
                (&of_loop, true)
            }
        };
        let (policy, threads) = (self.policy, self.policy.threads);
        let shared = Shared {
            types,
            functions,
            sites: Vec::new(),
            sites_before: self.sites,
            computed: self.computed,
            temporaries: Vec::new(),
            policy,
            remarks: self.remarks,
        };
        let mut draft = Draft {
            kernel,
            number,
            shared,
            pieces: Vec::new(),
            text: String::new(),
            entries: Vec::new(),
            lengths: Vec::new(),
        };
        match work {
            Work::Kernel(_, Role::Nothing) => {
                draft.text.push_str("/* None: the kernel before sorts the keys themselves. */\n");
            }
            Work::Kernel(_, Role::Usual) => draft.pieces(None),
            Work::Kernel(_, Role::SortsAlone(sorted)) => draft.pieces(Some(*sorted)),
            Work::Rows { rows, state, .. } => draft.rows(rows, state),
            Work::Loop { .. } | Work::HostLoop { .. } => draft.one_thread(work),
        }
        let Draft { pieces, text, entries, lengths, shared, .. } = draft;
        let name = kernel.name.replace(['\n', '\r'], " ").replace("*/", "");
        writeln!(self.text, "/* Kernel {number}: {name} */\n{text}").expect("a string takes all");
        for global in entries {
            let Global { name, chosen, rare, shared, structure, .. } = global;
            let Global { written, narrow, parameters, call, .. } = global;
            let start = self.text.len();
            let bounds = match resident(&name, narrow, policy) {
                1 => threads.to_string(),
                resident => format!("{threads}, {resident}"),
            };
            writeln!(
                self.text,
                "extern \"C\" __global__ void __launch_bounds__({bounds})\n\
                 {name}(const __grid_constant__ {structure}::Arguments in{parameters}) {{\n  \
                 if (is_over_for_all(in.failure)) return;\n  {call};\n}}"
            )
            .expect("a string takes all");
            let at = start..self.text.len();
            let rare = rare || self.in_loop;
            self.entries.push(Entry { name, chosen, rare, shared, at, written });
        }
        self.text.push('\n');
        let Shared { sites, sites_before, temporaries, .. } = shared;
        self.sites += sites.len();
        KernelCode {
            kernel: kernel.clone(),
            number,
            pieces,
            temporaries,
            lengths,
            sites,
            sites_before,
            relies,
            beside: false,
            beside_long: false,
        }
    }

    /// The functions that belong to no kernel.
    fn helpers(&mut self, codes: &[KernelCode]) {
        let threads = self.policy.threads;
        let skeletons = || codes.iter().flat_map(|code| &code.pieces).map(|piece| &piece.skeleton);
        let folds_ragged = |code: &KernelCode| {
            let is_fold = |piece: &Piece| matches!(piece.skeleton, Skeleton::Reduce { .. });
            matches!(code.kernel.space.last(), Some(Dimension::Ragged { .. }))
                && code.pieces.iter().any(is_fold)
        };
        if codes.iter().any(folds_ragged) {
            self.helper(
                "path_of_rows",
                false,
                "Rows rows, i64 span, i64 parts, i64* path",
                &format!("cut_path(failure, rows, span, parts, path, {threads})"),
            );
        }
        if skeletons()
            .any(|skeleton| matches!(skeleton, Skeleton::Filter { positions: Some(_), .. }))
        {
            self.helper(
                "offsets_of_kept",
                false,
                "Rows rows, i64 points, const i64* positions, i64* offsets",
                &format!("filter_offsets(failure, rows, points, positions, offsets, {threads})"),
            );
        }
        let sorts = |skeleton: &Skeleton| {
            matches!(skeleton, Skeleton::Sort { .. } | Skeleton::Targets { .. })
        };
        if skeletons().any(sorts) {
            let used = rare::sorts(codes);
            for (suffix, ty, of) in [("", "u32", &used[0]), ("_wide", "u64", &used[1])] {
                self.helper(
                    &format!("sort_histogram{suffix}"),
                    !of.passes && !of.alone,
                    &format!("const {ty}* keys, i64 points, int positions, u64* counts"),
                    &format!("count_digits<{threads}>(failure, keys, points, positions, counts)"),
                );
                let common = format!(
                    "const {ty}* keys, i64 points, int shift, const u64* starts, u64* status, u32* \
                     ticket, {ty}* keys_out"
                );
                self.helper(
                    &format!("sort_pass{suffix}"),
                    !of.passes,
                    &format!("{common}, const {ty}* values, {ty}* values_out, i64* order_out"),
                    &format!(
                        "send_digits<{threads}, false>(keys, values, points, shift, starts, status, \
                         ticket, keys_out, values_out, order_out, Flips<{ty}>{{}})"
                    ),
                );
                self.helper(
                    &format!("sort_pass_alone{suffix}"),
                    !of.alone,
                    &format!("{common}, Flips<{ty}> flips"),
                    &format!(
                        "send_digits<{threads}, true>(keys, ({ty}*)0, points, shift, starts, status, \
                         ticket, keys_out, ({ty}*)0, (i64*)0, flips)"
                    ),
                );
                self.helper(
                    &format!("sort_gather{suffix}"),
                    !of.gathers,
                    &format!("const {ty}* keys, const {ty}* order, i64 points, {ty}* out"),
                    &format!("gather_keys<{threads}>(failure, keys, order, points, out)"),
                );
                self.helper(
                    &format!("sort_rows{suffix}"),
                    !of.rows,
                    &format!("Rows rows, Divisor length, const {ty}* order, i64 points, {ty}* out"),
                    &format!("row_keys<{threads}>(failure, rows, length, order, points, out)"),
                );
                self.helper(
                    &format!("sort_order{suffix}"),
                    !of.orders,
                    &format!("const {ty}* order, i64 points, Divisor length, i64* out"),
                    &format!("order_in_rows<{threads}>(failure, order, points, length, out)"),
                );
                self.helper(
                    &format!("sort_restore{suffix}"),
                    true,
                    &format!("const {ty}* keys, i64 points, {ty}* out, Flips<{ty}> flips"),
                    &format!("restore_keys<{threads}>(failure, keys, points, out, flips)"),
                );
            }
            self.helper(
                "sort_widen",
                true,
                "const u32* keys, const u64* order, i64 points, u64* out",
                &format!("gather_keys<{threads}>(failure, keys, order, points, out)"),
            );
        }
    }

    fn helper(&mut self, name: &str, rare: bool, parameters: &str, call: &str) {
        let start = self.common.len();
        writeln!(
            self.common,
            "extern \"C\" __global__ void __launch_bounds__({})\n{name}(u32* failure, \
             {parameters}) {{\n  if (is_over_for_all(failure)) return;\n  {call};\n}}",
            self.policy.threads
        )
        .expect("a string takes all");
        let (name, at) = (name.to_owned(), start..self.common.len());
        let (chosen, shared, written) = (false, 0, 0);
        self.common_entries.push(Entry { name, chosen, rare, shared, at, written });
    }
}

impl<'a> Draft<'_, 'a> {
    /// With what a sort yields in place of an order.
    fn pieces(&mut self, sorted: Option<Var>) {
        let sinks = &self.kernel.sinks;
        let reduces = sinks.iter().any(|sink| matches!(sink, Sink::Reduce { .. }));
        let stores = sinks.iter().any(|sink| matches!(sink, Sink::Store { .. }));
        let interleaves = sinks.iter().any(|sink| matches!(sink, Sink::Interleave { .. }));
        if reduces {
            self.reduce();
        } else if interleaves {
            self.interleave();
        } else if stores {
            self.map();
        }
        // Where the epilogue finds what the scans have come to.
        let mut scanned = Vec::new();
        for (at, sink) in sinks.iter().enumerate() {
            match sink {
                Sink::Store { .. } | Sink::Interleave { .. } | Sink::Reduce { .. } => {}
                Sink::Scan { .. } => scanned.extend(self.scan(at)),
                Sink::Filter { .. } => self.filter(at),
                Sink::Scatter { .. } => self.scatter(at),
                Sink::Sort { .. } => self.sort(at, sorted),
            }
        }
        let filters = sinks.iter().any(|sink| matches!(sink, Sink::Filter { .. }));
        if self.kernel.epilogue.is_some() && !filters && !self.over_rows() {
            self.scan_epilogue(&scanned);
        }
    }

    /// Whether the epilogue follows reductions, row by row.
    fn over_rows(&self) -> bool {
        let dimensions = self.kernel.epilogue.as_ref().map(|epilogue| epilogue.indices.len());
        let outer = self.kernel.space.len() - 1;
        outer > 0
            && dimensions == Some(outer)
            && self.kernel.sinks.iter().any(|sink| matches!(sink, Sink::Reduce { .. }))
    }

    /// The types of operands of the body.
    fn types_of(&self, operands: &[Operand]) -> Vec<ScalarType> {
        let mut used = BTreeSet::new();
        uses::operands(operands, &mut used);
        let known = map::used_of_body(self.kernel, &used);
        let of = |operand: &Operand| match operand {
            Operand::Scalar(scalar) => scalar.ty(),
            Operand::Register(register) => {
                let found = known.iter().find(|(known, _)| known == register);
                found.expect("a register of the body").1
            }
        };
        operands.iter().map(of).collect()
    }

    fn structure(&mut self, name: &str) -> Structure<'_, 'a> {
        Structure::new(self.name(name), &mut self.shared)
    }

    fn name(&self, piece: &str) -> String {
        format!("K{}_{piece}", self.number)
    }

    /// Adds a finished structure and what is launched for it.
    fn piece(
        &mut self,
        name: &str,
        finished: Finished,
        skeleton: Skeleton,
        entries: &[[String; 3]],
    ) {
        let Finished { text, fields, divides, width } = finished;
        let name = self.name(name);
        self.text.push_str(&text);
        let variants: &[(&str, &str)] = match divides {
            true => &[("", "<i32>"), ("_wide", "<i64>")],
            false => &[("", "")],
        };
        let alternatives = entries.len() > 1 && !matches!(skeleton, Skeleton::Scatter(_));
        let narrow = match &skeleton {
            Skeleton::Scan { components, .. } => {
                components.iter().map(|ty| ty.bytes()).sum::<usize>() <= 4
            }
            _ => false,
        };
        for [entry, parameters, call] in entries {
            let shared = declared(entry, &skeleton, self.shared.policy);
            for (suffix, index) in variants {
                let structure = format!("{name}{index}");
                let rare = !suffix.is_empty()
                    || shared > MOST_SHARED
                    || rare::is_rare(self.kernel, &skeleton, entry, self.shared.policy);
                self.entries.push(Global {
                    name: format!("k{}_{entry}{suffix}", self.number),
                    chosen: alternatives || !suffix.is_empty(),
                    rare,
                    shared,
                    parameters: parameters
                        .replace("K::", &format!("{structure}::"))
                        .replace("<K>", &format!("<{structure}>")),
                    call: call
                        .replace("<K>", &format!("<{structure}>"))
                        .replace("<K,", &format!("<{structure},")),
                    structure,
                    written: text.len(),
                    narrow,
                });
            }
        }
        self.pieces.push(Piece { name, fields, skeleton, wide: divides, width });
    }
}

/// The blocks of a function that a multiprocessor shall hold at once, at least. While one waits at a barrier,
/// another folds.
fn resident(name: &str, narrow: bool, policy: &Policy) -> u32 {
    match name {
        _ if name.contains("reduce_large_grid") => 2,
        // What tiles wait for each other with is worth fewer registers, if elements are in few.
        _ if name.contains("scan_tiles") && narrow => policy.resident,
        _ => 1,
    }
}

/// The indices of a point that the kernel's body and some operands need.
fn indices(
    kernel: &Kernel,
    structure: &mut Structure<'_, '_>,
    wanted: &[Operand],
    point: Point,
) -> Indices {
    needed(&kernel.space, &kernel.indices, &[&kernel.body], wanted, structure, point)
}

/// As [`indices`], of any space, for code and operands.
fn needed(
    space: &Space,
    registers: &[Register],
    code: &[&ScalarCode],
    wanted: &[Operand],
    structure: &mut Structure<'_, '_>,
    point: Point,
) -> Indices {
    // An array over the space is read at the number of the point.
    let stored = &registers[first_stored(space)..];
    let extents = storage(space);
    let mut used = BTreeSet::new();
    let at_point = |array: Var, indices: &[Operand]| {
        same_strides(&structure.extents_of(array), &extents)
            && indices.len() == stored.len()
            && indices.iter().zip(stored).all(|(index, own)| *index == Operand::Register(*own))
    };
    code.iter().for_each(|code| uses::but_reads(code, &at_point, &mut used));
    uses::operands(wanted, &mut used);
    structure.indices(space, registers, &used, point)
}

/// Writes indices and body.
fn write_body(kernel: &Kernel, writer: &mut Writer<'_>, indices: &Indices) {
    indices.write(writer);
    writer.code(&kernel.body);
}
