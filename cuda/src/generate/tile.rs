//! Reductions whose points share what they read: matrix products, all pairs.

use std::collections::BTreeSet;

use weft_ir::ScalarType;
use weft_ir::code::{Operand, Operation, Operator};
use weft_ir::flat::Dimension;
use weft_ir::plan::Kernel;

use super::split::{Part, Split, split};
use super::uses;
use crate::structure::{Place, Structure, operands};
use crate::text::Sharing;

/// The most bytes of what a row shares, of what a column shares, and of an element: registers have to
/// hold several of each.
const MOST_BYTES: usize = 32;

/// The arguments of the functions below that say which point it is; `at` is the number of the point of
/// the dimensions before.
const GRID: &str = "const Arguments& in, i64 at, i64 i, i64 j, i64 k";
const PAIRS: &str = "const Arguments& in, i64 at, i64 k";

/// The most bytes of what varies in an element of which a thread folds 8 by 8: registers have to hold one level
/// of the tree of all, beside eight of what each side yields.
const MOST_BYTES_OF_LARGE: usize = 4;

/// The entries of a way to share.
pub(super) fn entries(sharing: Sharing) -> &'static [[&'static str; 3]] {
    const PARAMETERS: &str = ", i64 down, i64 across, i64 length";
    const GRIDS: [[&str; 3]; 2] = [
        ["reduce_grid", PARAMETERS, "reduce_grid<K, 4>(in, down, across, length)"],
        ["reduce_large_grid", PARAMETERS, "reduce_grid<K, 8>(in, down, across, length)"],
    ];
    match sharing {
        Sharing::Grid { large: false } => &GRIDS[..1],
        Sharing::Grid { large: true } => &GRIDS,
        Sharing::Pairs => {
            &[["reduce_pairs", ", i64 rows, i64 length", "reduce_pairs<K>(in, rows, length)"]]
        }
    }
}

/// Adds the functions by which points share what they read, if there is a way to.
pub(super) fn tile(
    kernel: &Kernel,
    structure: &mut Structure<'_, '_>,
    values: &[Operand],
    operators: &[&Operator],
) -> Option<Sharing> {
    let count = kernel.space.len();
    let is_dense = |dimension: &Dimension| matches!(dimension, Dimension::Dense(_));
    if !kernel.space.iter().all(is_dense) || !(2..32).contains(&count) {
        return None;
    }
    let all = (1_u32 << count) - 1;
    let bit = |from_last: usize| match from_last < count {
        true => 1_u32 << (count - 1 - from_last),
        false => 0,
    };
    let grid = || split(kernel, all & !bit(1), all & !bit(2), values).filter(is_small);
    let pairs = || split(kernel, all & !bit(0), bit(0), values).filter(is_small);
    let grid = if count > 2 { grid() } else { None };
    let (split, sharing, point, names): (Split, Sharing, &str, &[&str]) = match grid {
        Some(split) => {
            let varying = operators.iter().flat_map(|operator| {
                let fixed = usize::from(operator.is_sum_of_products());
                operator.left[fixed..].iter().map(|(_, ty)| ty.bytes())
            });
            let large = varying.sum::<usize>() <= MOST_BYTES_OF_LARGE && is_slight(&split);
            (split, Sharing::Grid { large }, GRID, &["i", "j", "k"])
        }
        None => (pairs()?, Sharing::Pairs, PAIRS, &["k"]),
    };
    // All pairs have no i: the number of the row is what is before k.
    let Split { left, right, rest } = split;
    function(kernel, structure, ("Left", "left"), &left, point, names);
    function(kernel, structure, ("Right", "right"), &right, point, names);
    if let Sharing::Grid { .. } = sharing {
        let (left, right) = (reads_along(kernel, &left), reads_along(kernel, &right));
        structure
            .member(&format!("static constexpr bool LEFT_ALONG = {left}, RIGHT_ALONG = {right};"));
    }
    let mut used = BTreeSet::new();
    uses::code(&rest, &mut used);
    let indices = structure.given(&kernel.space, &kernel.indices, &used, names);
    let signature = format!("Element element_of({point}, const Left& left, const Right& right)");
    structure.function(&signature, Place::new("return Element{};", &[]), |writer| {
        indices.write(writer);
        for (side, part) in [("left", &left), ("right", &right)] {
            for (at, (register, ty)) in part.yields.iter().enumerate() {
                writer.bind(*register, *ty, format!("{side}.c{at}"));
            }
        }
        let values = writer.code(&rest).join(", ");
        writer.statement(&format!("return Element{{{values}}};"));
    });
    settle(structure, operators);
    Some(sharing)
}

/// Adds what has to be kept of an element, and the functions between the two: of a pair that stands for its
/// product the product alone, which with 1 is such a pair.
fn settle(structure: &mut Structure<'_, '_>, operators: &[&Operator]) {
    let (mut types, mut kept, mut elements) = (Vec::new(), Vec::new(), Vec::new());
    for operator in operators {
        let first = elements.len();
        if operator.is_sum_of_products() {
            elements.extend([format!("kept.c{}", kept.len()), "1".to_owned()]);
            kept.push(format!("element.c{first} * element.c{}", first + 1));
            types.push(operator.left[0].1);
        } else {
            for (at, (_, ty)) in operator.left.iter().enumerate() {
                elements.push(format!("kept.c{}", kept.len()));
                kept.push(format!("element.c{}", first + at));
                types.push(*ty);
            }
        }
    }
    structure.members("Kept", &types);
    let functions = [
        ("Kept settle(const Element& element)", "Kept", kept),
        ("Element element(const Kept& kept)", "Element", elements),
    ];
    for (signature, ty, components) in functions {
        let leave = format!("return {ty}{{}};");
        structure.function(signature, Place::new(&leave, &[]), |writer| {
            writer.statement(&format!("return {ty}{{{}}};", components.join(", ")));
        });
    }
}

/// Adds a type for what a part yields, and the function that yields it.
fn function(
    kernel: &Kernel,
    structure: &mut Structure<'_, '_>,
    (ty, name): (&str, &str),
    part: &Part,
    point: &str,
    names: &[&str],
) {
    let types: Vec<ScalarType> = part.yields.iter().map(|(_, ty)| *ty).collect();
    structure.tuple(ty, &format!("{ty}Array"), &types);
    let mut used = BTreeSet::new();
    uses::code(&part.code, &mut used);
    let indices = structure.given(&kernel.space, &kernel.indices, &used, names);
    let leave = format!("return {ty}{{}};");
    let signature = format!("{ty} {name}({point})");
    structure.function(&signature, Place::new(&leave, &[]), |writer| {
        indices.write(writer);
        writer.code(&part.code);
        let yields: Vec<Operand> =
            part.yields.iter().map(|(register, _)| Operand::Register(*register)).collect();
        let yields = operands(writer, &yields).join(", ");
        writer.statement(&format!("return {ty}{{{yields}}};"));
    });
}

fn bytes(part: &Part) -> usize {
    part.yields.iter().map(|(_, ty)| ty.bytes()).sum()
}

fn is_small(split: &Split) -> bool {
    bytes(&split.left) <= MOST_BYTES && bytes(&split.right) <= MOST_BYTES
}

/// Whether registers hold eight of each side beside what is folded.
fn is_slight(split: &Split) -> bool {
    bytes(&split.left) <= MOST_BYTES_OF_LARGE && bytes(&split.right) <= MOST_BYTES_OF_LARGE
}

/// Whether neighbours along the last dimension are neighbours in the arrays that a part reads.
fn reads_along(kernel: &Kernel, part: &Part) -> bool {
    let last = kernel.indices.last().map(|register| Operand::Register(*register));
    part.code.instructions.iter().any(|instruction| match &instruction.operation {
        Operation::Read(_, indices) => indices.last().copied() == last && last.is_some(),
        Operation::Scalar(_, _)
        | Operation::Random(_, _)
        | Operation::Check(_, _)
        | Operation::If { .. }
        | Operation::While { .. } => false,
    })
}
