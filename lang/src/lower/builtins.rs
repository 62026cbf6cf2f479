//! The builtins: what each becomes. They are grouped by subject, as in the interpreter and in the
//! manual; the interpreter is what they are held against.

mod element_wise;
mod linear;
mod look;
mod make;
mod neighbourhood;
mod nest;
mod order;
mod range;
mod reduce;
mod reindex;
mod scan;
mod select;
mod send;

use std::rc::Rc;

use weft_ir::ScalarOp;
use weft_ir::nested::{Atom, Lambda, ScanForm};

use super::builder::{Lowering, Outcome};
use super::value::{Boundary, Seq, Value, component_types, element_type};
use crate::builtins::Builtin;
use crate::types::Type;

/// An application of a builtin to all its arguments.
struct Call<'p> {
    args: Vec<Value<'p>>,
    /// The types of the parameters.
    params: Vec<&'p Type>,
    /// The type of the result.
    result: &'p Type,
}

impl<'p> Call<'p> {
    /// The leaves of an argument that is an array.
    fn array(&self, index: usize) -> Rc<[Atom]> {
        self.args[index].expect_array()
    }

    /// An argument that is a scalar.
    fn scalar(&self, index: usize) -> Atom {
        self.args[index].expect_scalar()
    }

    /// An argument that is a sequence.
    fn sequence(&self, index: usize) -> &Seq<'p> {
        match &self.args[index] {
            Value::Seq(sequence) => sequence,
            _ => panic!("lower: a sequence is expected"),
        }
    }

    /// The type of the elements of a parameter.
    fn element(&self, index: usize) -> &'p Type {
        element_type(self.params[index])
    }

    /// A component of the result's type.
    fn component(&self, index: usize) -> &'p Type {
        component_types(self.result)[index]
    }

    /// How many axes a parameter of any rank has.
    fn rank(&self, index: usize) -> usize {
        self.params[index].peel().0
    }
}

impl<'p> Lowering<'p> {
    /// Applies a builtin of a type to all its arguments.
    pub(super) fn builtin(
        &mut self,
        builtin: Builtin,
        ty: &'p Type,
        args: Vec<Value<'p>>,
    ) -> Outcome<Value<'p>> {
        let mut params = Vec::with_capacity(args.len());
        let mut result = ty;
        for _ in &args {
            let Type::Function(param, rest) = result else {
                panic!("lower: {builtin:?} has type {ty}");
            };
            params.push(&**param);
            result = rest;
        }
        let call = Call { args, params, result };
        self.define_builtin(builtin, &call)
    }

    fn define_builtin(&mut self, builtin: Builtin, call: &Call<'p>) -> Outcome<Value<'p>> {
        match builtin {
            Builtin::Op(op) => Ok(self.operator_value(op, call)),
            Builtin::Iota => self.iota_of(call),
            Builtin::Range => self.range_of(call),
            Builtin::Linspace => self.linspace(call),
            Builtin::Replicate => self.replicate_of(call),
            Builtin::Generate => self.generate(call),
            Builtin::Fill => self.fill(call),
            Builtin::Random => self.random(call),
            Builtin::RandomInt => self.random_int(call),
            Builtin::Identity => self.identity(call),
            Builtin::Length => Ok(Value::Scalar(self.length(call.array(0)[0]))),
            Builtin::Shape => self.shape(call),
            Builtin::Size => self.size(call),
            Builtin::Null => self.null(call),
            Builtin::Indices => self.indices(call),
            Builtin::Lengths => self.lengths(call),
            Builtin::First => self.first(call),
            Builtin::Last => self.last(call),
            Builtin::Reshape => self.reshape_of(call),
            Builtin::Flatten => self.flatten(call),
            Builtin::Transpose => self.transpose(call),
            Builtin::Reverse => self.reverse(call),
            Builtin::Rotate => self.rotate(call),
            Builtin::Take => self.take(call),
            Builtin::Drop => self.drop_first(call),
            Builtin::Init => self.all_but_one(call, 0),
            Builtin::Tail => self.all_but_one(call, 1),
            Builtin::Backpermute => self.backpermute(call),
            Builtin::Gather => self.gather(call),
            Builtin::Concat => self.concat(call),
            Builtin::Interleave => self.interleave(call),
            Builtin::Zip => self.zip(call),
            Builtin::Zip3 => self.zip(call),
            Builtin::Unzip | Builtin::Unzip3 => self.unzip(call),
            Builtin::Index(_) => self.index_of(call),
            Builtin::Update(_) => self.update(call),
            Builtin::Places(axes) => self.places(call, axes.into()),
            Builtin::Replace(axes, kept) => self.replace(call, axes.into(), kept.into()),
            Builtin::Segments => self.segments(call),
            Builtin::Chunks => self.chunks(call),
            Builtin::Windows => self.windows(call, false),
            Builtin::WindowsBy => self.windows(call, true),
            Builtin::GroupBy => self.group_by(call),
            Builtin::Split => self.split(call),
            Builtin::Csr => self.csr(call),
            Builtin::Map | Builtin::ZipWith | Builtin::ZipWith3 | Builtin::ZipWith4 => {
                self.zip_with(call)
            }
            Builtin::MapWithIndex => self.map_with_index(call),
            Builtin::Fold => self.fold(call),
            Builtin::Fold1 => self.fold1(call),
            Builtin::FoldSeg => self.fold_segments(call),
            Builtin::Sum => self.sum(call),
            Builtin::Product => self.product(call),
            Builtin::Minimum => self.extreme(call, ScalarOp::Min),
            Builtin::Maximum => self.extreme(call, ScalarOp::Max),
            Builtin::Mean => self.mean(call),
            Builtin::All => self.decide(call, ScalarOp::And),
            Builtin::Any => self.decide(call, ScalarOp::Or),
            Builtin::Count => self.count_true(call),
            Builtin::Argmin => self.arg_extreme(call, ScalarOp::Min),
            Builtin::Argmax => self.arg_extreme(call, ScalarOp::Max),
            Builtin::Dot => self.dot(call),
            Builtin::Scanl => self.scan(call, ScanForm::Full, false),
            Builtin::Scanl1 => self.scan1(call, false),
            Builtin::ScanlPrime => self.scan_apart(call, false),
            Builtin::Prescanl => self.scan(call, ScanForm::Exclusive, false),
            Builtin::Postscanl => self.scan(call, ScanForm::Inclusive, false),
            Builtin::Scanr => self.scan(call, ScanForm::Full, true),
            Builtin::Scanr1 => self.scan1(call, true),
            Builtin::ScanrPrime => self.scan_apart(call, true),
            Builtin::Prescanr => self.scan(call, ScanForm::Exclusive, true),
            Builtin::Postscanr => self.scan(call, ScanForm::Inclusive, true),
            Builtin::Scatter => self.scatter(call),
            Builtin::ScatterWith => self.scatter_with(call),
            Builtin::Permute => self.permute(call),
            Builtin::Histogram => self.histogram(call),
            Builtin::Pack => self.pack_of(call),
            Builtin::Filter => self.filter(call),
            Builtin::Partition => self.partition(call),
            Builtin::Unique => self.unique(call),
            Builtin::IndexWhere => self.index_where(call),
            Builtin::Sort => self.sort(call, false),
            Builtin::SortDesc => self.sort(call, true),
            Builtin::SortBy => self.sort_by(call),
            Builtin::Argsort => self.argsort(call),
            Builtin::SearchSorted => self.search_sorted(call),
            Builtin::Merge => self.merge(call),
            Builtin::Stencil => self.stencil(call),
            Builtin::Stencil2 => self.stencil2(call),
            Builtin::Convolve => self.convolve(call),
            Builtin::Clamp | Builtin::Mirror | Builtin::Wrap => {
                panic!("lower: {builtin:?} is a constant")
            }
            Builtin::Constant => {
                Ok(Value::Boundary(Rc::new(Boundary::Constant(call.args[0].clone()))))
            }
            Builtin::Outside => {
                Ok(Value::Boundary(Rc::new(Boundary::Outside(call.args[0].clone()))))
            }
            Builtin::Matmul => self.matmul(call),
            Builtin::Outer => self.outer(call),
            Builtin::Iterate => self.iterate(call),
            Builtin::Assert => self.assert_of(call),
            Builtin::SeqMake => Ok(Value::Seq(Rc::new(Seq {
                length: call.scalar(0),
                filtered: call.scalar(1),
                part: call.args[2].clone(),
            }))),
            Builtin::SeqLength => Ok(Value::Scalar(call.sequence(0).length)),
            Builtin::SeqFiltered => Ok(Value::Scalar(call.sequence(0).filtered)),
            Builtin::SeqWeight => Ok(self.weight(call)),
            Builtin::SeqPart => self.call(&call.sequence(0).part, call.args[1..].to_vec()),
            Builtin::Error => self.error(call),
        }
    }

    /// A scalar operator that is passed to a function or mapped.
    fn operator_value(&mut self, op: ScalarOp, call: &Call<'p>) -> Value<'p> {
        self.operate(op, &call.args)
    }

    /// A function value as the operator of a fold of elements of a type.
    fn operator_of(&mut self, function: &Value<'p>, element: &'p Type) -> Outcome<Lambda> {
        let types = self.leaf_types(element)?;
        self.operator(&types, &mut |lowering, left, right| {
            let args = vec![Value::of_leaves(element, left), Value::of_leaves(element, right)];
            let result = lowering.call(function, args)?;
            lowering.leaves(&result)
        })
    }

    /// A function of the elements, of this type, of the leaves of one array.
    fn map_elements(
        &mut self,
        leaves: &[Atom],
        element: &'p Type,
        function: &Value<'p>,
    ) -> Outcome<Vec<Atom>> {
        self.map(leaves, &mut |lowering, atoms| {
            let result = lowering.call(function, vec![Value::of_leaves(element, atoms)])?;
            lowering.leaves(&result)
        })
    }

    /// The elements of the leaves of an array at `count` positions.
    fn rearrange(
        &mut self,
        leaves: &[Atom],
        count: Atom,
        position: &mut dyn FnMut(&mut Self, Atom) -> Atom,
    ) -> Outcome<Value<'p>> {
        let moved = self.tabulate(count, &mut |lowering, at| {
            let at = position(lowering, at);
            Ok(lowering.index_all(leaves, &[at]))
        })?;
        Ok(Value::array(moved))
    }

    /// The elements of the leaves of an array at the positions that an array of integers has.
    fn gather_at(&mut self, leaves: &[Atom], positions: Atom) -> Outcome<Vec<Atom>> {
        self.map(&[positions], &mut |lowering, at| Ok(lowering.index_all(leaves, at)))
    }
}
