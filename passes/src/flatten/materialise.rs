//! Storing views, and the dimensions that collective operations run over.

use std::rc::Rc;

use weft_ir::flat::{
    Code, CodeOperation, Dimension, Instruction, Operand, Operation, Operator, Register, ScanForm,
    Size, Start, Statement, Thunk, Type, Var, storage,
};
use weft_ir::{FaultKind, Scalar, ScalarOp, ScalarType, nested};

use super::compile::Sharing;
use super::scalar::{Definition, ScalarId};
use super::view::{Length, Source, Value, View};
use super::{Flattener, Outcome};

impl<'p> Flattener<'p> {
    /// The same array stored over the current context: its prefix is the current point.
    pub(super) fn materialise(&mut self, view: &Rc<View<'p>>) -> Outcome<Rc<View<'p>>> {
        if self.is_stored_here(view) {
            return Ok(Rc::clone(view));
        }
        if let Some(stored) = self.rows_behind_rows(view)? {
            return Ok(stored);
        }
        let mut axes = Vec::new();
        let mut value = Value::Array(Rc::clone(view));
        let element = loop {
            match value {
                Value::Scalar(id) => break id,
                Value::Array(array) => {
                    let (dimension, index) = self.enter_array(&array);
                    axes.push(dimension);
                    value = self.element_unchecked(&array, index);
                }
            }
        };
        let space = self.context.space.clone();
        // Also an array without elements is an error if the index of its row is.
        let outer = self.needed_at.replace(space.len() - axes.len());
        let thunk = self.thunk(&[element], space.len(), Sharing::Store);
        self.needed_at = outer;
        let var = self.array_over(&space, view.ty.element);
        for _ in &axes {
            self.leave();
        }
        let (operation, span) = (Operation::Map { space, thunk }, self.span);
        self.emit(Statement { results: vec![var], operation, span });
        let prefix = self.identity();
        Ok(self.view(view.ty, Source::Stored { var, prefix, axes }))
    }

    fn is_stored_here(&mut self, view: &View<'p>) -> bool {
        match &view.source {
            Source::Stored { prefix, .. } => self.is_identity(prefix),
            _ => false,
        }
    }

    /// Whether a prefix is the current point.
    pub(super) fn is_identity(&mut self, prefix: &[(ScalarId, Size)]) -> bool {
        let identity = self.identity();
        prefix.len() == identity.len()
            && prefix.iter().zip(&identity).all(|(index, here)| {
                index.0 == here.0 && self.same_size(index.1) == self.same_size(here.1)
            })
    }

    /// Enters the outermost axis of an array; yields the dimension and the index within the array.
    pub(super) fn enter_array(&mut self, view: &View<'p>) -> (Dimension, ScalarId) {
        let dimension = self.dimension(view);
        self.check_without_elements(view, dimension);
        (dimension, self.enter_dimension(dimension))
    }

    /// Enters a dimension; yields the index within the row.
    pub(super) fn enter_dimension(&mut self, dimension: Dimension) -> ScalarId {
        match dimension {
            Dimension::Dense(_) => self.enter(dimension),
            Dimension::Ragged { offsets, .. } => {
                let prefix = self.identity();
                let (start, _) = self.row_bounds(offsets, &prefix);
                let position = self.enter(dimension);
                self.op(ScalarOp::Sub, &[position, start])
            }
        }
    }

    /// The dimension of the outermost axis of an array.
    fn dimension(&mut self, view: &View<'p>) -> Dimension {
        if let Source::Stored { prefix, axes, .. } = &view.source
            && matches!(axes[0], Dimension::Ragged { .. })
            && self.is_identity(prefix)
        {
            return axes[0];
        }
        if let Source::Gathered(indices, _) = &view.source {
            return self.dimension(indices);
        }
        match self.length(view) {
            Length::Uniform(size) => Dimension::Dense(size),
            Length::Varying(length) => self.segments_of(length),
        }
    }

    /// Enters the outermost axes of arrays that are traversed in lockstep; checks that they have one
    /// length. Yields the dimension and the index within the arrays.
    pub(super) fn enter_arrays(&mut self, views: &[Rc<View<'p>>]) -> (Dimension, ScalarId) {
        let lengths: Vec<Length> = views.iter().map(|view| self.length(view)).collect();
        let uniform = lengths.iter().position(|length| matches!(length, Length::Uniform(_)));
        let leader = uniform
            .unwrap_or_else(|| views.iter().position(|view| has_descriptor(view)).unwrap_or(0));
        for &length in &lengths {
            self.check_equal(lengths[leader], length);
        }
        let dimension = self.dimension(&views[leader]);
        for view in views {
            self.check_without_elements(view, dimension);
        }
        (dimension, self.enter_dimension(dimension))
    }

    /// Checks that two lengths agree, at every point.
    pub(super) fn check_equal(&mut self, left: Length, right: Length) {
        if left == right {
            return;
        }
        let (a, b) = (self.length_scalar(left), self.length_scalar(right));
        if a == b {
            return;
        }
        let equal = self.op(ScalarOp::Eq, &[a, b]);
        self.check_everywhere(equal, FaultKind::LengthMismatch);
        if let (Length::Uniform(left), Length::Uniform(right)) = (left, right) {
            let (left, right) = (self.same_size(left), self.same_size(right));
            match (left, right) {
                (Size::Var(_), Size::Constant(_)) => self.equal.insert(left, right),
                (Size::Constant(_), Size::Constant(_)) => None,
                _ if left != right => self.equal.insert(right, left),
                _ => None,
            };
        }
    }

    /// A fault unless the condition holds at every point of the current context.
    pub(super) fn check_everywhere(&mut self, condition: ScalarId, kind: FaultKind) {
        let everywhere = self.reduced(condition, ScalarOp::And);
        self.check(everywhere, kind);
    }

    /// Whether a scalar holds at all points (with `And`), or at any (with `Or`), of the current
    /// context: a scalar of the host.
    pub(super) fn reduced(&mut self, scalar: ScalarId, op: ScalarOp) -> ScalarId {
        let mut scalar = scalar;
        let (outer, depth) = (self.context.clone(), self.scalars.depth(scalar));
        for depth in (1..=depth).rev() {
            self.context.space.truncate(depth);
            self.context.levels.truncate(depth);
            let space = self.context.space.clone();
            let thunk = self.thunk(&[scalar], depth, Sharing::Contain);
            let of_none = constant_thunk(depth - 1, Scalar::Bool(op == ScalarOp::And));
            let operation = Operation::Reduce {
                thunk,
                operator: plain_operator(op, ScalarType::Bool),
                start: Start::IfEmpty(of_none),
                space: space.clone(),
            };
            let var = self.array_over(&space[..depth - 1], ScalarType::Bool);
            let span = self.span;
            self.emit(Statement { results: vec![var], operation, span });
            self.leave();
            let prefix = self.identity();
            let ty = nested::Type::scalar(ScalarType::Bool);
            if let Value::Scalar(reduced) = self.stored_part(var, ty, prefix, Vec::new()) {
                scalar = reduced;
            }
        }
        self.context = outer;
        scalar
    }

    /// The segment descriptor of rows with these lengths, one for each point of the context.
    pub(super) fn segments_of(&mut self, length: ScalarId) -> Dimension {
        for known in self.descriptors.iter().rev() {
            if let Some(&dimension) = known.get(&(length, self.context.space.clone())) {
                return dimension;
            }
        }
        let counts = self.store_here(length);
        let (counts, rows) = self.as_vector(counts);
        let thunk = Thunk {
            indices: vec![Register(0)],
            code: Code {
                instructions: vec![Instruction {
                    results: vec![(Register(1), ScalarType::I64)],
                    operation: CodeOperation::Read(counts, vec![Operand::Register(Register(0))]),
                    span: self.span,
                }],
                results: vec![Operand::Register(Register(1))],
            },
        };
        let rows_and_one = self.size_plus(rows, 1);
        let offsets = self.typed(Type { element: ScalarType::I64, extents: vec![rows_and_one] });
        let operation = Operation::Scan {
            space: vec![Dimension::Dense(rows)],
            thunk,
            form: ScanForm::Full,
            from_right: false,
            operator: plain_operator(ScalarOp::Add, ScalarType::I64),
            start: Start::Combined(constant_thunk(0, Scalar::I64(0))),
            full: Some(Dimension::Dense(rows_and_one)),
        };
        let span = self.span;
        self.emit(Statement { results: vec![offsets], operation, span });
        let total = self.last_offset(offsets, rows);
        let dimension = Dimension::Ragged { offsets, total };
        self.note_row_length(offsets, length);
        let key = (length, self.context.space.clone());
        self.descriptors.last_mut().expect("a block is open").insert(key, dimension);
        dimension
    }

    /// The last element of a segment descriptor.
    pub(super) fn last_offset(&mut self, offsets: Var, rows: Size) -> Size {
        let last = self.scalars.size(rows);
        let span = self.span;
        let total = self.scalars.read(offsets, ScalarType::I64, &[last], None, span);
        self.host_size(total)
    }

    /// A scalar stored over the whole of the current context.
    pub(super) fn store_here(&mut self, id: ScalarId) -> Var {
        self.store_all_here(&[id])[0]
    }

    /// Scalars stored over the whole of the current context, by one operation.
    pub(super) fn store_all_here(&mut self, ids: &[ScalarId]) -> Vec<Var> {
        let identity: Vec<ScalarId> = self.identity().into_iter().map(|(index, _)| index).collect();
        let depth = self.depth();
        let extents = storage(&self.context.space);
        let whole = |var: Var| {
            let own = &self.types[var.0 as usize].extents;
            let same = |(a, b): (&Size, &Size)| self.same_size(*a) == self.same_size(*b);
            own.len() == extents.len() && own.iter().zip(&extents).all(same)
        };
        let known: Vec<Option<Var>> = ids
            .iter()
            .map(|&id| {
                let node = self.scalars.node(id);
                match &node.definition {
                    Definition::Read(var, index) if *index == identity && whole(*var) => Some(*var),
                    Definition::Host(var) if depth == 0 => Some(*var),
                    _ if node.depth == depth => node.stored,
                    _ => None,
                }
            })
            .collect();
        let mut fresh: Vec<ScalarId> = Vec::new();
        for (&id, known) in ids.iter().zip(&known) {
            if known.is_none() && !fresh.contains(&id) {
                fresh.push(id);
            }
        }
        let mut vars = Vec::new();
        if !fresh.is_empty() {
            let space = self.context.space.clone();
            let thunk = self.thunk(&fresh, depth, Sharing::Contain);
            for &id in &fresh {
                let ty = self.scalars.ty(id);
                let var = self.array_over(&space, ty);
                vars.push(var);
                let node = self.scalars.node(id);
                if node.depth == depth && node.home.is_none() && node.stored.is_none() {
                    self.remember_stored(id, var);
                }
            }
            let (operation, span) = (Operation::Map { space, thunk }, self.span);
            self.emit(Statement { results: vars.clone(), operation, span });
        }
        ids.iter()
            .zip(known)
            .map(|(id, known)| {
                known.unwrap_or_else(|| {
                    vars[fresh.iter().position(|other| other == id).expect("listed above")]
                })
            })
            .collect()
    }

    /// An array over the current context as a vector, and its length.
    pub(super) fn as_vector(&mut self, var: Var) -> (Var, Size) {
        let extents = self.types[var.0 as usize].extents.clone();
        match extents[..] {
            [rows] => (var, rows),
            _ => {
                let rows = self.product(&extents);
                (self.reshaped(var, vec![rows]), rows)
            }
        }
    }

    /// The number of points of the current context that have storage: of rows, for a descriptor.
    pub(super) fn rows(&mut self) -> Size {
        let extents = storage(&self.context.space);
        self.product(&extents)
    }

    /// The same elements with other extents.
    pub(super) fn reshaped(&mut self, var: Var, extents: Vec<Size>) -> Var {
        if self.types[var.0 as usize].extents == extents {
            return var;
        }
        let element = self.types[var.0 as usize].element;
        let result = self.typed(Type { element, extents });
        let (operation, span) = (Operation::Reshape(var), self.span);
        self.emit(Statement { results: vec![result], operation, span });
        result
    }

    pub(super) fn product(&mut self, sizes: &[Size]) -> Size {
        let mut product = self.scalars.integer(1);
        for &size in sizes {
            let size = self.scalars.size(size);
            let span = self.span;
            product = self.scalars.op(ScalarOp::Mul, &[product, size], None, span);
        }
        self.host_size(product)
    }

    pub(super) fn size_plus(&mut self, size: Size, more: i64) -> Size {
        let (size, more) = (self.scalars.size(size), self.scalars.integer(more));
        let span = self.span;
        let sum = self.scalars.op(ScalarOp::Add, &[size, more], None, span);
        self.host_size(sum)
    }

    /// Arrays that were stored inside a dimension, seen from outside of it.
    pub(super) fn under(
        &mut self,
        dimension: Dimension,
        ty: nested::Type,
        var: Var,
        inner: &[Dimension],
    ) -> Value<'p> {
        let mut axes = vec![dimension];
        axes.extend_from_slice(inner);
        let prefix = self.identity();
        Value::Array(self.view(ty, Source::Stored { var, prefix, axes }))
    }
}

/// Whether a descriptor of the rows that an array is one of is there already.
fn has_descriptor(view: &View<'_>) -> bool {
    match &view.source {
        Source::Stored { axes, .. } => matches!(axes[0], Dimension::Ragged { .. }),
        Source::Gathered(indices, _) => has_descriptor(indices),
        _ => false,
    }
}

/// A binary scalar operator as an operator of reductions.
pub(super) fn plain_operator(op: ScalarOp, ty: ScalarType) -> Operator {
    let [left, right, result] = [Register(0), Register(1), Register(2)];
    Operator {
        left: vec![(left, ty)],
        right: vec![(right, ty)],
        code: Code {
            instructions: vec![Instruction {
                results: vec![(result, ty)],
                operation: CodeOperation::Scalar(
                    op,
                    vec![Operand::Register(left), Operand::Register(right)],
                ),
                span: weft_ir::Span::default(),
            }],
            results: vec![Operand::Register(result)],
        },
    }
}

/// The thunk of a constant.
pub(super) fn constant_thunk(dimensions: usize, value: Scalar) -> Thunk {
    Thunk {
        indices: (0..dimensions as u32).map(Register).collect(),
        code: Code { instructions: Vec::new(), results: vec![Operand::Scalar(value)] },
    }
}

/// A thunk of a zero of each type.
pub(super) fn zeros_thunk(dimensions: usize, types: &[ScalarType]) -> Thunk {
    let results = types.iter().map(|&ty| Operand::Scalar(Scalar::zero(ty))).collect();
    Thunk {
        indices: (0..dimensions as u32).map(Register).collect(),
        code: Code { instructions: Vec::new(), results },
    }
}
