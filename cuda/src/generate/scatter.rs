//! Scatters.

use weft_codegen::literal;
use weft_ir::code::{Operand, Operation, Operator};
use weft_ir::flat::Var;
use weft_ir::plan::Sink;
use weft_ir::{FaultKind, Scalar, ScalarOp, ScalarType};

use super::map::{POINT, entry};
use super::{Draft, indices, write_body};
use crate::fields::Field;
use crate::structure::{Place, Point, Stand, Structure, Vectors, operands};
use crate::text::{Length, Skeleton};

/// The parameters of functions that find what is loaded ahead of a point.
const OF: &str = ", const Loaded<N>& from, int lane";

/// The entries for runs of equal targets.
const RUNS: [[&str; 3]; 3] = [
    ["scatter_runs", ", Runs<K::Index> runs, Nodes<K> blocks", "scatter_runs<K>(in, runs, blocks)"],
    [
        "scatter_long",
        ", Runs<K::Index> runs, Nodes<K> blocks, Nodes<K> tiles",
        "reduce_long<K>(in, runs, blocks, tiles)",
    ],
    [
        "scatter_longest",
        ", Runs<K::Index> runs, Nodes<K> tiles",
        "reduce_longest<K>(in, runs, tiles)",
    ],
];

impl Draft<'_, '_> {
    pub(super) fn scatter(&mut self, sink: usize) {
        let Sink::Scatter { operator, .. } = &self.kernel.sinks[sink] else { return };
        let atomic: Option<Vec<ScalarOp>> = operator.as_ref().and_then(atomic);
        match (operator, atomic) {
            (None, _) => self.replace(sink),
            (Some(_), Some(ops)) => self.update(sink, &ops),
            (Some(operator), None) => self.combine_sorted(sink, operator),
        }
    }

    /// The last value wins.
    fn replace(&mut self, sink: usize) {
        let kernel = self.kernel;
        let Sink::Scatter { values, arrays, .. } = &kernel.sinks[sink] else { return };
        let mut structure = self.structure("scatter");
        target(kernel, sink, &mut structure, None);
        let point = indices(kernel, &mut structure, values, Point::Number);
        let outputs: Vec<String> =
            arrays.iter().map(|array| structure.field(Field::Output(*array))).collect();
        let signature = "void write(const Arguments& in, i64 at, i64 to)";
        structure.function(signature, Place::new("return;", &[&point]), |writer| {
            write_body(kernel, writer, &point);
            for (value, output) in operands(writer, values).iter().zip(&outputs) {
                writer.statement(&format!("{output}[to] = {value};"));
            }
        });
        let finished = structure.finish();
        let parameters = ", i64 points, u64* winners";
        let entries = [
            ["scatter_vote", parameters, "scatter_vote<K>(in, points, winners)"],
            ["scatter_write", parameters, "scatter_write<K>(in, points, winners)"],
        ];
        let entries = entries.map(|entry| entry.map(str::to_owned));
        self.piece("scatter", finished, Skeleton::Scatter(sink), &entries);
    }

    /// By atomic operations of the machine, one per component.
    fn update(&mut self, sink: usize, ops: &[ScalarOp]) {
        let kernel = self.kernel;
        let Sink::Scatter { values, arrays, .. } = &kernel.sinks[sink] else { return };
        let vectors = Vectors::of(kernel, &[], self.shared.types);
        let mut structure = self.structure("scatter");
        let loaded = vectors.as_ref().map_or(&[][..], |vectors| &vectors.loaded[..]);
        match &vectors {
            Some(vectors) => structure.vectors(vectors, Stand::Together),
            None => structure.single(),
        }
        target(kernel, sink, &mut structure, Some(loaded));
        let point = indices(kernel, &mut structure, values, Point::Number);
        let outputs: Vec<String> =
            arrays.iter().map(|array| structure.field(Field::Output(*array))).collect();
        let types: Vec<ScalarType> = arrays.iter().map(|array| structure.type_of(*array)).collect();
        let signature =
            format!("template <int N> void update(const Arguments& in, i64 at, i64 to{OF})");
        let points = [&point];
        // The target of the point was asked for before.
        let place = Place { leave: "return;", points: &points, loaded, is_checked: true };
        structure.function(&signature, place, |writer| {
            write_body(kernel, writer, &point);
            let values = operands(writer, values);
            for (((value, output), op), ty) in values.iter().zip(&outputs).zip(ops).zip(&types) {
                writer.statement(&call(*op, *ty, &format!("{output} + to"), value));
            }
        });
        let mut entries = vec![["scatter_update", ", i64 points", "scatter_update<K>(in, points)"]];
        if let ([op], [ty], [output]) = (ops, &types[..], &outputs[..]) {
            let counts = *op == ScalarOp::Add && is_one(&values[0]);
            // A block of threads has less than 2^32 points, and shared memory counts in 32 bits.
            let of_bin = if counts { ScalarType::U32 } else { *ty };
            let name = weft_codegen::Dialect::Cuda.type_name(of_bin);
            let zero = literal(neutral(*op, of_bin));
            structure.member(&format!("typedef {name} Bin;"));
            structure.member(&format!(
                "static __device__ __forceinline__ Bin zero_bin() {{ return {zero}; }}"
            ));
            let signature = format!(
                "template <int N> void update_bin(const Arguments& in, i64 at, Bin* bin{OF})"
            );
            structure.function(&signature, place, |writer| {
                write_body(kernel, writer, &point);
                let value = operands(writer, values).remove(0);
                writer.statement(&call(*op, of_bin, "bin", &value));
            });
            let signature = "void flush(const Arguments& in, i64 to, Bin bin)";
            structure.function(signature, Place::new("return;", &[]), |writer| {
                let update = call(*op, *ty, &format!("{output} + to"), "bin");
                writer.statement(&format!("if (bin != zero_bin()) {update}"));
            });
            entries.push([
                "scatter_bins",
                ", i64 points, int bins",
                "scatter_bins<K>(in, points, bins)",
            ]);
        }
        let entries: Vec<[String; 3]> =
            entries.into_iter().map(|entry| entry.map(str::to_owned)).collect();
        let finished = structure.finish();
        self.piece("scatter", finished, Skeleton::Update(sink), &entries);
    }

    /// Any operator: points are sorted by target, then each run is folded as a ragged row is.
    fn combine_sorted(&mut self, sink: usize, operator: &Operator) {
        let kernel = self.kernel;
        let Sink::Scatter { values, destinations, arrays, .. } = &kernel.sinks[sink] else {
            return;
        };
        let components: Vec<ScalarType> = operator.left.iter().map(|(_, ty)| *ty).collect();
        let mut structure = self.structure("targets");
        structure.has_numbers();
        let (keys, order) =
            (structure.temporary(ScalarType::U64), structure.temporary(ScalarType::U64));
        let held: Vec<usize> = components.iter().map(|ty| structure.temporary(*ty)).collect();
        target(kernel, sink, &mut structure, None);
        let point = indices(kernel, &mut structure, values, Point::Number);
        let extents = structure.extents_of(destinations[0]);
        let all: Vec<String> =
            extents.iter().map(|extent| format!("(I){}", structure.size(*extent))).collect();
        let (keys_name, order_name) =
            (structure.field(Field::Numbers(keys)), structure.field(Field::Numbers(order)));
        let outputs: Vec<String> =
            held.iter().map(|at| structure.field(Field::Temporary(*at))).collect();
        structure.function(POINT, Place::new("return;", &[&point]), |writer| {
            writer.statement("const i64 to = target(in, at);");
            // Points that are dropped come behind all targets.
            writer.statement(&format!("{keys_name}[at] = to < 0 ? {} : (I)to;", all.join(" * ")));
            writer.statement(&format!("{order_name}[at] = (I)at;"));
            write_body(kernel, writer, &point);
            for (value, output) in operands(writer, values).iter().zip(&outputs) {
                writer.statement(&format!("{output}[at] = {value};"));
            }
        });
        let finished = structure.finish();
        self.lengths.extend([Length::Numbers; 2]);
        self.lengths.extend(vec![Length::Points; held.len()]);
        let targets = Skeleton::Targets { keys, order };
        self.piece("targets", finished, targets, &[entry("targets", false)]);

        let mut structure = self.structure("runs");
        structure.has_numbers();
        structure.element(&components);
        let (keys_name, order) =
            (structure.field(Field::Numbers(keys)), structure.field(Field::Numbers(order)));
        let held: Vec<String> =
            held.iter().map(|at| structure.field(Field::Temporary(*at))).collect();
        let signature = "Element element(const Arguments& in, i64, i64 at)";
        structure.function(signature, Place::new("return Element{};", &[]), |writer| {
            writer.statement(&format!("const I from = {order}[at];"));
            let values: Vec<String> = held.iter().map(|field| format!("{field}[from]")).collect();
            writer.statement(&format!("return Element{{{}}};", values.join(", ")));
        });
        structure.combine(&[operator]);
        let outputs: Vec<String> =
            arrays.iter().map(|array| structure.field(Field::Output(*array))).collect();
        let signature = "void finish(const Arguments& in, i64 at, bool, const Element& value)";
        structure.function(signature, Place::new("return;", &[]), |writer| {
            writer.statement(&format!("const i64 to = (i64){keys_name}[at];"));
            let old: Vec<String> = outputs.iter().map(|output| format!("{output}[to]")).collect();
            writer.statement(&format!("const Element old = Element{{{}}};", old.join(", ")));
            writer.statement("const Element next = combine(in, old, value);");
            for (at, output) in outputs.iter().enumerate() {
                writer.statement(&format!("{output}[to] = next.c{at};"));
            }
        });
        let span = structure.policy().span(&components);
        structure.member(&format!("static constexpr int SPAN = {span};"));
        let finished = structure.finish();
        let entries = RUNS.map(|entry| entry.map(str::to_owned));
        let runs = Skeleton::Runs { sink, keys, components };
        self.piece("runs", finished, runs, &entries);
    }
}

/// Adds the function `target`; for several points at a time, if these arrays are loaded ahead.
fn target(
    kernel: &weft_ir::plan::Kernel,
    sink: usize,
    structure: &mut Structure<'_, '_>,
    loaded: Option<&[Var]>,
) {
    let Sink::Scatter { target, destinations, .. } = &kernel.sinks[sink] else { return };
    let point = indices(kernel, structure, target, Point::Number);
    let extents = structure.extents_of(destinations[0]);
    let sizes: Vec<String> = extents.iter().map(|extent| structure.size(*extent)).collect();
    let fail = structure.fail(FaultKind::IndexOutOfRange, kernel.span);
    let names: Vec<String> = (0..target.len()).map(|at| format!("to{at}")).collect();
    let to = structure.storage_index(&names, &extents);
    let signature = match loaded {
        Some(_) => format!("template <int N> i64 target(const Arguments& in, i64 at{OF})"),
        None => "i64 target(const Arguments& in, i64 at)".to_owned(),
    };
    let points = [&point];
    let loaded = loaded.unwrap_or_default();
    let place = Place { leave: "return -1;", points: &points, loaded, is_checked: false };
    structure.function(&signature, place, |writer| {
        write_body(kernel, writer, &point);
        for (name, operand) in names.iter().zip(operands(writer, target)) {
            writer.statement(&format!("const i64 {name} = {operand};"));
        }
        let beyond = |(name, size): (&String, &String)| format!("(u64){name} >= (u64){size}");
        let beyond: Vec<String> = names.iter().zip(&sizes).map(beyond).collect();
        // One branch for all that is unusual.
        writer.statement(&format!(
            "if ({}) {{ if (to0 != -1) {{ {fail} }} return -1; }}",
            beyond.join(" || ")
        ));
        writer.statement(&format!("return {to};"));
    });
}

/// The operators of the components, if the machine has each as an atomic operation and it is exact in
/// any order.
fn atomic(operator: &Operator) -> Option<Vec<ScalarOp>> {
    let code = &operator.code;
    let of = |(at, result): (usize, &Operand)| {
        let Operand::Register(result) = *result else { return None };
        let mut instructions = code.instructions.iter();
        let instruction =
            instructions.find(|instruction| instruction.results.iter().any(|at| at.0 == result))?;
        let Operation::Scalar(op, found) = &instruction.operation else { return None };
        let (left, ty) = operator.left[at];
        let (left, right) = (Operand::Register(left), Operand::Register(operator.right[at].0));
        let own = *found == [left, right] || *found == [right, left];
        let wide =
            matches!(ty, ScalarType::I32 | ScalarType::I64 | ScalarType::U32 | ScalarType::U64);
        let known = matches!(
            op,
            ScalarOp::Add
                | ScalarOp::Min
                | ScalarOp::Max
                | ScalarOp::BitAnd
                | ScalarOp::BitOr
                | ScalarOp::BitXor
        );
        (own && wide && known).then_some(*op)
    };
    code.results.iter().enumerate().map(of).collect()
}

/// Whether a value is the number 1: what is combined by addition is counted then.
fn is_one(value: &Operand) -> bool {
    matches!(value, Operand::Scalar(Scalar::I64(1) | Scalar::U64(1)))
}

/// The statement that updates an address.
fn call(op: ScalarOp, ty: ScalarType, address: &str, value: &str) -> String {
    let (function, signed) = match op {
        ScalarOp::Min => ("atomicMin", true),
        ScalarOp::Max => ("atomicMax", true),
        ScalarOp::BitAnd => ("atomicAnd", false),
        ScalarOp::BitOr => ("atomicOr", false),
        ScalarOp::BitXor => ("atomicXor", false),
        _ => ("atomicAdd", false),
    };
    let ty = match ty {
        ScalarType::I32 if !signed => ScalarType::U32,
        ScalarType::I64 if !signed => ScalarType::U64,
        other => other,
    };
    format!("{function}(({ty}*)({address}), ({ty})({value}));")
}

/// What changes nothing.
fn neutral(op: ScalarOp, ty: ScalarType) -> Scalar {
    let all_ones = op == ScalarOp::BitAnd;
    match (op, ty) {
        (ScalarOp::Min, ScalarType::I32) => Scalar::I32(i32::MAX),
        (ScalarOp::Min, ScalarType::I64) => Scalar::I64(i64::MAX),
        (ScalarOp::Min, ScalarType::U32) => Scalar::U32(u32::MAX),
        (ScalarOp::Min, ScalarType::U64) => Scalar::U64(u64::MAX),
        (ScalarOp::Max, ScalarType::I32) => Scalar::I32(i32::MIN),
        (ScalarOp::Max, ScalarType::I64) => Scalar::I64(i64::MIN),
        (_, ScalarType::I32) if all_ones => Scalar::I32(-1),
        (_, ScalarType::I64) if all_ones => Scalar::I64(-1),
        (_, ScalarType::U32) if all_ones => Scalar::U32(u32::MAX),
        (_, ScalarType::U64) if all_ones => Scalar::U64(u64::MAX),
        (_, ty) => Scalar::zero(ty),
    }
}
