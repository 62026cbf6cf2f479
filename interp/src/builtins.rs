//! The builtins: which function defines each. The definitions are grouped by subject, as in the
//! manual.
//!
//! A definition gets its arguments evaluated. Where it says `?`, an error in what it looks at is the
//! error of its whole result; errors in elements that it only moves stay where they are.

pub(crate) mod element_wise;
pub(crate) mod linear;
pub(crate) mod look;
pub(crate) mod make;
pub(crate) mod neighbourhood;
pub(crate) mod nest;
pub(crate) mod order;
pub(crate) mod reduce;
pub(crate) mod reindex;
pub(crate) mod scan;
pub(crate) mod select;
pub(crate) mod send;
pub(crate) mod sequence;

use weft_ir::{Scalar, Span, TrapKind, Type};
use weft_lang::builtins::Builtin;

use crate::code::BuiltinCode;
use crate::elements::Elements;
use crate::evaluate::settle;
use crate::machine::{Machine, Outcome, Stop, Unwind};
use crate::value::{Val, component_type, element_type};

/// An application of a builtin to all its arguments.
pub(crate) struct Call<'a> {
    pub(crate) code: &'a BuiltinCode,
    args: Vec<Val>,
    /// The application.
    pub(crate) span: Span,
}

impl Call<'_> {
    /// An argument, whatever it is.
    pub(crate) fn value(&mut self, index: usize) -> Val {
        std::mem::replace(&mut self.args[index], Val::NOTHING)
    }

    /// An argument that is an array.
    pub(crate) fn array(&mut self, index: usize) -> Outcome<Elements> {
        match self.value(index) {
            Val::Array(column) => Ok(Elements::Packed(column)),
            Val::Boxed(elements) => Ok(Elements::Boxed(elements)),
            Val::Error(error) => Err(Stop::Error(error)),
            other => panic!("argument {index} of {:?} is {other:?}", self.code.builtin),
        }
    }

    /// An argument that is a scalar.
    pub(crate) fn scalar(&mut self, index: usize) -> Outcome<Scalar> {
        let val = self.value(index);
        match (val.scalar(), val) {
            (Some(scalar), _) => Ok(scalar),
            (None, Val::Error(error)) => Err(Stop::Error(error)),
            (None, other) => panic!("argument {index} of {:?} is {other:?}", self.code.builtin),
        }
    }

    /// An argument that is an `i64`.
    pub(crate) fn integer(&mut self, index: usize) -> Outcome<i64> {
        match self.scalar(index)? {
            Scalar::I64(value) => Ok(value),
            other => panic!("argument {index} of {:?} is {other:?}", self.code.builtin),
        }
    }

    /// The type of the result.
    pub(crate) fn result(&self) -> &Type {
        self.code.result.as_ref().expect("the result is a value")
    }

    /// The type of the elements of the result.
    pub(crate) fn element(&self) -> &Type {
        element_type(self.result())
    }

    /// The type of the elements of component `index` of the result.
    pub(crate) fn component_element(&self, index: usize) -> &Type {
        element_type(component_type(self.result(), index))
    }

    /// The type of a parameter.
    pub(crate) fn param(&self, index: usize) -> &Type {
        self.code.params[index].as_ref().expect("the parameter is a value")
    }

    /// What messages call the operation.
    pub(crate) fn name(&self) -> &'static str {
        name(self.code.builtin)
    }
}

impl Machine<'_> {
    /// Applies a builtin to all its arguments.
    #[inline(never)]
    pub(crate) fn call_builtin(
        &mut self,
        code: &BuiltinCode,
        args: Vec<Val>,
        span: Span,
    ) -> Result<Val, Unwind> {
        if let Some(operator) = code.operator {
            return Ok(operator.apply(self, &args, span));
        }
        self.spend(&args)?;
        let call = Call { code, args, span };
        let result = settle(self.define(call))?;
        self.spend(std::slice::from_ref(&result))?;
        Ok(result)
    }

    /// What each builtin yields.
    fn define(&mut self, call: Call<'_>) -> Outcome<Val> {
        match call.code.builtin {
            Builtin::Op(op) => panic!("{op:?} is no operator here"),
            Builtin::Iota => self.iota(call),
            Builtin::Range => self.range(call),
            Builtin::Linspace => self.linspace(call),
            Builtin::Replicate => self.replicate(call),
            Builtin::Generate => self.generate(call),
            Builtin::Fill => self.fill(call),
            Builtin::Random => self.random(call),
            Builtin::RandomInt => self.random_int(call),
            Builtin::Identity => self.identity(call),
            Builtin::Length => self.length(call),
            Builtin::Shape => self.shape(call),
            Builtin::Size => self.size(call),
            Builtin::Null => self.null(call),
            Builtin::Indices => self.indices(call),
            Builtin::Lengths => self.lengths(call),
            Builtin::First => self.first(call),
            Builtin::Last => self.last(call),
            Builtin::Reshape => self.reshape(call),
            Builtin::Flatten => self.flatten(call),
            Builtin::Transpose => self.transpose(call),
            Builtin::Reverse => self.reverse(call),
            Builtin::Rotate => self.rotate(call),
            Builtin::Take => self.take(call),
            Builtin::Drop => self.drop_first(call),
            Builtin::Init => self.init(call),
            Builtin::Tail => self.tail(call),
            Builtin::Backpermute => self.backpermute(call),
            Builtin::Gather => self.gather(call),
            Builtin::Concat => self.concat(call),
            Builtin::Interleave => self.interleave(call),
            Builtin::Zip => self.zip(call, 2),
            Builtin::Zip3 => self.zip(call, 3),
            Builtin::Unzip => self.unzip(call, 2),
            Builtin::Unzip3 => self.unzip(call, 3),
            Builtin::Index(axes) => self.index_value(call, axes),
            Builtin::Update(axes) => self.update_value(call, axes),
            Builtin::Places(axes) => self.places_of(call, axes.into()),
            Builtin::Replace(axes, kept) => self.replace(call, axes.into(), kept.into()),
            Builtin::Segments => self.segments(call),
            Builtin::Chunks => self.chunks(call),
            Builtin::Windows => self.windows(call),
            Builtin::WindowsBy => self.windows_by(call),
            Builtin::GroupBy => self.group_by(call),
            Builtin::Split => self.split(call),
            Builtin::Csr => self.csr(call),
            Builtin::Map => self.zip_with(call, 1),
            Builtin::ZipWith => self.zip_with(call, 2),
            Builtin::ZipWith3 => self.zip_with(call, 3),
            Builtin::ZipWith4 => self.zip_with(call, 4),
            Builtin::MapWithIndex => self.map_with_index(call),
            Builtin::Fold => self.fold(call),
            Builtin::Fold1 => self.fold1(call),
            Builtin::FoldSeg => self.fold_segments(call),
            Builtin::Sum => self.sum(call),
            Builtin::Product => self.product(call),
            Builtin::Minimum => self.extreme(call, weft_ir::ScalarOp::Min),
            Builtin::Maximum => self.extreme(call, weft_ir::ScalarOp::Max),
            Builtin::Mean => self.mean(call),
            Builtin::All => self.all(call),
            Builtin::Any => self.any(call),
            Builtin::Count => self.count(call),
            Builtin::Argmin => self.arg_extreme(call, weft_ir::ScalarOp::Min),
            Builtin::Argmax => self.arg_extreme(call, weft_ir::ScalarOp::Max),
            Builtin::Dot => self.dot(call),
            Builtin::Scanl => self.scan(call, scan::SCANL),
            Builtin::Scanl1 => self.scan(call, scan::SCANL1),
            Builtin::ScanlPrime => self.scan(call, scan::SCANL_PRIME),
            Builtin::Prescanl => self.scan(call, scan::PRESCANL),
            Builtin::Postscanl => self.scan(call, scan::POSTSCANL),
            Builtin::Scanr => self.scan(call, scan::SCANR),
            Builtin::Scanr1 => self.scan(call, scan::SCANR1),
            Builtin::ScanrPrime => self.scan(call, scan::SCANR_PRIME),
            Builtin::Prescanr => self.scan(call, scan::PRESCANR),
            Builtin::Postscanr => self.scan(call, scan::POSTSCANR),
            Builtin::Scatter => self.scatter(call),
            Builtin::ScatterWith => self.scatter_with(call),
            Builtin::Permute => self.permute(call),
            Builtin::Histogram => self.histogram(call),
            Builtin::Pack => self.pack(call),
            Builtin::Filter => self.filter(call),
            Builtin::Partition => self.partition(call),
            Builtin::Unique => self.unique(call),
            Builtin::IndexWhere => self.index_where(call),
            Builtin::Sort => self.sort(call),
            Builtin::SortDesc => self.sort_desc(call),
            Builtin::SortBy => self.sort_by(call),
            Builtin::Argsort => self.argsort(call),
            Builtin::SearchSorted => self.search_sorted(call),
            Builtin::Merge => self.merge(call),
            Builtin::Stencil => self.stencil(call),
            Builtin::Stencil2 => self.stencil2(call),
            Builtin::Convolve => self.convolve(call),
            Builtin::Clamp | Builtin::Mirror | Builtin::Wrap => {
                panic!("{} is a constant", call.name())
            }
            Builtin::Constant => self.constant(call),
            Builtin::Outside => self.outside(call),
            Builtin::Matmul => self.matmul(call),
            Builtin::Outer => self.outer(call),
            Builtin::Iterate => self.iterate(call),
            Builtin::Assert => self.assert(call),
            Builtin::SeqMake => Ok(self.make_sequence(call)),
            Builtin::SeqLength => Ok(sequence::component(call, sequence::LENGTH)),
            Builtin::SeqFiltered => Ok(sequence::component(call, sequence::FILTERED)),
            Builtin::SeqWeight => Ok(sequence::weight(call)),
            Builtin::SeqPart => self.sequence_part(call),
            Builtin::Error => self.error(call),
        }
    }

    /// `iterate n f x`: n times f, from x on.
    fn iterate(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let count = call.integer(0)?;
        let count = self.new_length(&call, count)?;
        let function = call.value(1);
        let mut state = call.value(2);
        if count == 0 {
            return Ok(state);
        }
        self.with_callee(&function, 1, call.span, |machine, callee| {
            let piece = machine.meter.begin(count as u64);
            for round in 0..count {
                if let Some(piece) = &piece {
                    piece.set(round as u64);
                }
                state = machine.apply(callee, [state])?;
            }
            Ok(state)
        })
    }

    /// `assert condition x`: x if the condition holds.
    fn assert(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        match call.scalar(0)? {
            Scalar::Bool(true) => Ok(call.value(1)),
            _ => Err(self.fail(TrapKind::AssertionFailed, call.span)),
        }
    }

    /// `error message`.
    fn error(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let message = call.array(0)?;
        let mut bytes = Vec::with_capacity(message.len());
        for byte in message.iter() {
            match byte {
                Val::Char(byte) => bytes.push(byte as u8),
                Val::Error(error) => return Err(Stop::Error(error)),
                other => panic!("{other:?} is no char"),
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Err(self.fail(TrapKind::Error(text), call.span))
    }

    /// `a[i, …]`, where it is not applied directly.
    fn index_value(&mut self, mut call: Call<'_>, axes: u8) -> Outcome<Val> {
        let array = call.array(0)?.into_val();
        let mut positions = Vec::with_capacity(usize::from(axes));
        for axis in 0..usize::from(axes) {
            positions.push(call.integer(axis + 1)?);
        }
        Ok(self.element_at(&array, &positions, call.span))
    }

    /// `(a with [i, …] = v)`, where it is not applied directly.
    fn update_value(&mut self, mut call: Call<'_>, axes: u8) -> Outcome<Val> {
        let array = call.array(0)?.into_val();
        let mut positions = Vec::with_capacity(usize::from(axes));
        for axis in 0..usize::from(axes) {
            positions.push(call.integer(axis + 1)?);
        }
        let value = call.value(usize::from(axes) + 1);
        self.admit_copy(&array, call.span)?;
        Ok(self.replace_at(array, &positions, value, call.result(), call.span))
    }
}

/// What messages call a builtin.
pub(crate) fn name(builtin: Builtin) -> &'static str {
    match builtin {
        Builtin::Index(_) => "indexing",
        Builtin::Update(_) | Builtin::Places(_) | Builtin::Replace(..) => "with",
        builtin => weft_lang::builtins::all()
            .find(|entry| entry.builtin == builtin)
            .map_or("a builtin", |entry| entry.name),
    }
}
