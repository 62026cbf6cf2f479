//! Accesses of 16 bytes: the elements of consecutive points are loaded and stored together.

use std::fmt::Write as _;

use weft_codegen::{Dialect, Writer};
use weft_ir::ScalarType;
use weft_ir::code::{Code, Operand, Operation};
use weft_ir::flat::{Space, Type, Var, first_stored, storage};
use weft_ir::math::{self, Work};
use weft_ir::plan::Kernel;

use super::{Indices, Place, Structure, same_strides};
use crate::fields::Field;

/// Bodies of more operations than this are not repeated for each point of a vector: they are not bound
/// by memory.
const MOST_WORK: usize = 64;

/// Where the points of a vector stand, and whether what is loaded of them is read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stand {
    /// They are consecutive.
    Together,
    /// They are consecutive, and each is read once.
    Once,
    /// As far from each other as a warp has threads.
    Apart,
}

/// So many points of a thread that stand apart are at once in its registers, with their neighbours.
const MOST_APART: usize = 4;

/// What is loaded and stored so.
#[derive(Clone, Debug)]
pub(crate) struct Vectors {
    /// How many points go together.
    pub(crate) width: usize,
    /// The arrays that are loaded.
    pub(crate) loaded: Vec<Var>,
    stored: Vec<Var>,
}

impl Vectors {
    /// What the body of a kernel reads at every point, and what is stored at each; nothing, if vectors
    /// do not pay.
    pub(crate) fn of(kernel: &Kernel, stored: &[Var], types: &[Type]) -> Option<Vectors> {
        Vectors::of_body(kernel, &kernel.body, stored, types)
    }

    /// As [`Vectors::of`], where `usual` is what almost all points do instead of the body.
    pub(crate) fn of_body(
        kernel: &Kernel,
        usual: &Code,
        stored: &[Var],
        types: &[Type],
    ) -> Option<Vectors> {
        if !is_light(usual) {
            return None;
        }
        let mut loaded = Vec::new();
        let points = storage(&kernel.space);
        // Behind a check, an array that is shorter than the space may not be read at all points.
        let mut checked = false;
        for instruction in &kernel.body.instructions {
            if let Operation::Read(array, indices) = &instruction.operation {
                let extents = &types[array.0 as usize].extents;
                if reads_point(&kernel.space, kernel, indices)
                    && same_strides(&points, extents)
                    && (!checked || points == *extents)
                    && !loaded.contains(array)
                {
                    loaded.push(*array);
                }
            }
            checked |= instruction.walk().any(|at| matches!(at.operation, Operation::Check(_, _)));
        }
        let bytes = |var: &Var| types[var.0 as usize].element.bytes();
        let sizes = || loaded.iter().chain(stored).map(bytes);
        // 16 bytes of the narrowest, at most 64 of the widest, at most 8 points.
        let width = (16 / sizes().min()?).min(64 / sizes().max()?).min(8);
        (width > 1).then(|| Vectors { width, loaded, stored: stored.to_vec() })
    }
}

/// Whether the operands are the indices that address an array over the space.
fn reads_point(space: &Space, kernel: &Kernel, operands: &[Operand]) -> bool {
    let own = &kernel.indices[first_stored(space)..];
    operands.len() == own.len()
        && operands.iter().zip(own).all(|(operand, index)| *operand == Operand::Register(*index))
}

/// Whether code is so little that it may be there several times.
pub(crate) fn is_light(code: &Code) -> bool {
    work(code).is_some_and(|work| work <= MOST_WORK)
}

/// How many operations code takes; nothing, if that is not known.
fn work(code: &Code) -> Option<usize> {
    let mut sum = 0;
    for instruction in &code.instructions {
        sum += match &instruction.operation {
            Operation::Scalar(op, _) if math::work(*op) == Work::Simple => 1,
            Operation::Scalar(_, _) | Operation::Random(_, _) => 24,
            Operation::Read(_, _) | Operation::Check(_, _) => 2,
            Operation::If { then, otherwise, .. } => 1 + work(then)? + work(otherwise)?,
            Operation::While { .. } => return None,
        };
    }
    Some(sum)
}

impl Structure<'_, '_> {
    /// The members that load and store vectors.
    pub(crate) fn vectors(&mut self, vectors: &Vectors, stand: Stand) {
        let Vectors { width, loaded, stored } = vectors;
        let width = if stand == Stand::Apart { (*width).min(MOST_APART) } else { *width };
        let (load_how, store_how) = match stand {
            Stand::Together => ("vector", "vector"),
            Stand::Once => ("once", "vector"),
            Stand::Apart => ("apart", "apart"),
        };
        let ty = |structure: &Self, var: Var| -> &'static str {
            let ty: ScalarType = structure.type_of(var);
            Dialect::Cuda.type_name(ty)
        };
        let (mut streams, mut loads, mut results, mut stores) =
            (String::new(), String::new(), String::new(), String::new());
        let mut addresses = Vec::new();
        for &var in loaded {
            let name = self.field(Field::Array(var));
            let (ty, array) = (ty(self, var), format!("a{}", var.0));
            write!(streams, " {ty} {array}[N];").expect("a string takes all");
            write!(loads, "\n  load_{load_how}<N>({name} + at, from.{array});")
                .expect("a string takes all");
            addresses.push(format!("(u64){name}"));
        }
        for &var in stored {
            let name = self.field(Field::Output(var));
            let (ty, array) = (ty(self, var), format!("a{}", var.0));
            write!(results, " {ty} {array}[N];").expect("a string takes all");
            write!(stores, "\n  store_{store_how}<N>({name} + at, to.{array});")
                .expect("a string takes all");
            addresses.push(format!("(u64){name}"));
        }
        let addresses = addresses.join(" | ");
        let own = "static __device__ __forceinline__";
        self.member(&format!(
            "template <int N> struct Loaded {{{streams} }};\n\
             template <int N> {own} void load(const Arguments& in, i64 at, Loaded<N>& from) \
             {{{loads}\n}}"
        ));
        if !stored.is_empty() {
            self.member(&format!(
                "template <int N> struct Stored {{{results} }};\n\
                 template <int N> {own} void store(const Arguments& in, i64 at, const Stored<N>& to) \
                 {{{stores}\n}}"
            ));
        }
        self.member(&format!(
            "{own} bool aligned(const Arguments& in) {{ return (({addresses}) & 15) == 0; }}"
        ));
        self.width(width);
    }

    /// What skeletons for vectors want of a structure that has none.
    pub(crate) fn single(&mut self) {
        let own = "static __device__ __forceinline__";
        self.member(&format!(
            "template <int N> struct Loaded {{}};\n\
             template <int N> {own} void load(const Arguments&, i64, Loaded<N>&) {{}}\n\
             {own} bool aligned(const Arguments&) {{ return false; }}"
        ));
        self.width(1);
    }

    /// The functions that yield the element of a position of a row.
    pub(crate) fn elements(
        &mut self,
        vectors: Option<&Vectors>,
        point: &Indices,
        write: impl FnOnce(&mut Writer<'_>),
    ) {
        let leave = "return Element{};";
        let Some(vectors) = vectors else {
            let signature = "Element element(const Arguments& in, i64 row, i64 at)";
            self.function(signature, Place::new(leave, &[point]), write);
            self.width(1);
            return;
        };
        self.vectors(vectors, Stand::Once);
        let signature = "template <int N> Element element(const Arguments& in, i64 row, i64 at, \
                         const Loaded<N>& from, int lane)";
        self.function(
            signature,
            Place { leave, points: &[point], loaded: &vectors.loaded, is_checked: false },
            write,
        );
        self.member(
            "static __device__ __forceinline__ Element element(const Arguments& in, i64 row, i64 \
             at) {\n  Loaded<1> from;\n  load(in, at, from);\n  return element(in, row, at, from, \
             0);\n}",
        );
    }

    /// How many points go together; 1 if there are no vectors.
    pub(crate) fn width(&mut self, width: usize) {
        self.width = width as u64;
        self.member(&format!("static constexpr int WIDTH = {width};"));
    }
}
