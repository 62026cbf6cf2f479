//! Expressions.

use std::rc::Rc;

use weft_ir::nested::{Atom, Operation};
use weft_ir::{Column, ColumnBuilder, FaultKind, Scalar, ScalarOp, ScalarType, math};

use super::builder::{Lowering, Outcome};
use super::operations::bool_atom;
use super::value::{Boundary, Frame, Function, Value, component_types, element_type, leaf_count};
use crate::ast::Number;
use crate::builtins::Builtin;
use crate::typed::{Expr, ExprKind, FunctionRef, InstanceId};
use crate::types::Type;

impl<'p> Lowering<'p> {
    /// The value of an expression.
    pub(super) fn expression(
        &mut self,
        expr: &'p Expr,
        frame: &Rc<Frame<'p>>,
    ) -> Outcome<Value<'p>> {
        // A chain of bindings is a loop here, not a tower of calls.
        let mut expr = expr;
        loop {
            match &expr.kind {
                ExprKind::Let { pattern, value, body } => {
                    let value = self.expression(value, frame)?;
                    frame.bind(pattern, &value);
                    expr = body;
                }
                ExprKind::LetFunction { local, value, body, .. } => {
                    let value = self.expression(value, frame)?;
                    frame.set(*local, value);
                    expr = body;
                }
                _ => break,
            }
        }
        let outer = std::mem::replace(&mut self.span, expr.span);
        self.enter_expression()?;
        let result = self.simple_expression(expr, frame);
        self.leave_expression();
        self.span = outer;
        result
    }

    fn simple_expression(&mut self, expr: &'p Expr, frame: &Rc<Frame<'p>>) -> Outcome<Value<'p>> {
        Ok(match &expr.kind {
            ExprKind::Let { .. } | ExprKind::LetFunction { .. } => {
                return self.expression(expr, frame);
            }
            ExprKind::Number(number) => Value::Scalar(Atom::Scalar(scalar_of(*number, &expr.ty))),
            ExprKind::Scalar(scalar) => Value::Scalar(Atom::Scalar(*scalar)),
            ExprKind::Text(bytes) => self.column(Column::Char(bytes.to_vec().into())),
            ExprKind::NumberArray(_) => {
                let column = literal(expr).expect("numbers are constants").remove(0);
                self.column(column.into_column())
            }
            ExprKind::Local(local, _) => frame.get(*local),
            ExprKind::Value(global) => {
                let leaves = self.read_global(*global, &expr.ty)?;
                Value::of_leaves(&expr.ty, &leaves)
            }
            ExprKind::Function(FunctionRef::Instance(id)) => return self.instance(*id),
            ExprKind::Function(FunctionRef::Generic(..)) => {
                panic!("lower: the program is not monomorphic")
            }
            ExprKind::Builtin(builtin, _) => self.builtin_value(*builtin, expr),
            ExprKind::Lambda { params, body } => Value::Function(Rc::new(Function::Closure {
                params,
                body,
                frame: Rc::clone(frame),
            })),
            ExprKind::Apply { function, args, depth } => {
                return self.application(expr, function, args, *depth, frame);
            }
            ExprKind::If { condition, then, otherwise } => {
                let condition = self.expression(condition, frame)?.expect_scalar();
                return self.choose(
                    condition,
                    &expr.ty,
                    &mut |lowering| lowering.expression(then, frame),
                    &mut |lowering| lowering.expression(otherwise, frame),
                );
            }
            ExprKind::Loop { pattern, init, control, body } => {
                return self.repeat(pattern, init, control, body, frame);
            }
            ExprKind::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.expression(part, frame));
                Value::tuple(parts.collect::<Outcome<_>>()?)
            }
            ExprKind::RecordUpdate { record, fields } => {
                let Value::Tuple(parts) = self.expression(record, frame)? else {
                    panic!("lower: an update of what is no record");
                };
                let mut parts = parts.to_vec();
                for (index, field) in fields {
                    parts[*index] = self.expression(field, frame)?;
                }
                Value::tuple(parts)
            }
            ExprKind::Field { record, index, depth } => {
                let value = self.expression(record, frame)?;
                component(&value, &record.ty, *index, *depth)
            }
            ExprKind::Array(elements) => return self.array_literal(expr, elements, frame),
            ExprKind::Slice { array, axes } => return self.slice(array, axes, frame),
            ExprKind::WindowRead { window, offset } => {
                let Value::Window(window) = self.expression(window, frame)? else {
                    panic!("lower: a read of what is no window");
                };
                return self.read_window(&window, offset);
            }
            ExprKind::Comprehension { body, generators, filter } => {
                return self.comprehension(body, generators, filter.as_deref(), frame);
            }
            ExprKind::CheckSizes { checks, body } => {
                let holds = self.check_sizes(checks, frame);
                let value = self.expression(body, frame)?;
                if holds == bool_atom(true) {
                    return Ok(value);
                }
                let leaves = self.leaves(&value)?;
                let leaves = self.assert(holds, FaultKind::SizeMismatch, leaves);
                Value::of_leaves(&body.ty, &leaves)
            }
        })
    }

    /// A constant array.
    fn column(&mut self, column: Column) -> Value<'p> {
        Value::array(vec![self.constant_array(column)])
    }

    /// A constant array without tuples.
    pub(super) fn constant_array(&mut self, column: Column) -> Atom {
        let (mut rank, mut inner) = (1, &column);
        let element = loop {
            match inner {
                Column::Dense { inner: rows, .. } | Column::Ragged { inner: rows, .. } => {
                    rank += 1;
                    inner = rows;
                }
                scalars => break scalars.scalar_type().expect("no tuples"),
            }
        };
        let ty = weft_ir::nested::Type { rank, element };
        self.emit_one(Operation::Constant(column), ty)
    }

    /// A top-level function; a definition without parameters is computed.
    fn instance(&mut self, id: InstanceId) -> Outcome<Value<'p>> {
        let program = self.program;
        let instance = &program.instances[id.0 as usize];
        if let ExprKind::Lambda { .. } = &instance.body.kind {
            return Ok(Value::Function(Rc::new(Function::Instance(id))));
        }
        if self.recursion.is_recursive(id) {
            return self
                .unsupported(format!("`{}` is recursive without parameters", instance.name));
        }
        if let Some(value) = self.constant(id) {
            return Ok(value);
        }
        let value = self.expression(&instance.body, &Frame::new(None))?;
        self.set_constant(id, value.clone());
        Ok(value)
    }

    /// A builtin that stands alone.
    fn builtin_value(&mut self, builtin: Builtin, expr: &'p Expr) -> Value<'p> {
        match builtin {
            Builtin::Clamp => Value::Boundary(Rc::new(Boundary::Clamp)),
            Builtin::Mirror => Value::Boundary(Rc::new(Boundary::Mirror)),
            Builtin::Wrap => Value::Boundary(Rc::new(Boundary::Wrap)),
            builtin => Value::Function(Rc::new(Function::Builtin {
                builtin,
                ty: &expr.ty,
                span: expr.span,
            })),
        }
    }

    fn array_literal(
        &mut self,
        expr: &'p Expr,
        elements: &'p [Expr],
        frame: &Rc<Frame<'p>>,
    ) -> Outcome<Value<'p>> {
        if let Some(leaves) = literal(expr) {
            let leaves = leaves.into_iter().map(|leaf| self.constant_array(leaf.into_column()));
            return Ok(Value::array(leaves.collect()));
        }
        let mut rows: Vec<Vec<Atom>> = Vec::with_capacity(elements.len());
        for element in elements {
            let value = self.expression(element, frame)?;
            rows.push(self.leaves(&value)?);
        }
        let count = rows.first().map_or(0, Vec::len);
        let mut leaves = Vec::with_capacity(count);
        for leaf in 0..count {
            let atoms: Vec<Atom> = rows.iter().map(|row| row[leaf]).collect();
            let ty = self.type_of(atoms[0]).array();
            leaves.push(self.emit_one(Operation::Literal(atoms), ty));
        }
        Ok(Value::array(leaves))
    }

    /// `a && b` or `a || b`, whose second operand is needed only sometimes.
    pub(super) fn short_circuit(
        &mut self,
        op: ScalarOp,
        operands: [&'p Expr; 2],
        frame: &Rc<Frame<'p>>,
    ) -> Outcome<Value<'p>> {
        let first = self.expression(operands[0], frame)?.expect_scalar();
        self.open();
        let second = self.expression(operands[1], frame).map(|value| value.expect_scalar());
        let body = self.close(second.clone().into_iter().collect());
        let second = second?;
        if body.statements.iter().all(|statement| is_harmless(&statement.operation)) {
            self.splice(body);
            return Ok(Value::Scalar(self.scalar(op, &[first, second])));
        }
        let decided = weft_ir::nested::Body {
            statements: Vec::new(),
            results: vec![bool_atom(op == ScalarOp::Or)],
        };
        let (then, otherwise) = if op == ScalarOp::And { (body, decided) } else { (decided, body) };
        let operation = Operation::If { condition: first, then, otherwise };
        Ok(Value::Scalar(self.emit_one(operation, super::builder::BOOL)))
    }
}

/// Whether an operation is cheap and cannot fail.
fn is_harmless(operation: &Operation) -> bool {
    match operation {
        // Floats that are divided or raised to powers do not fail, but neither is it cheap.
        Operation::Scalar(op, _) => !math::can_fail(*op, ScalarType::I64),
        _ => false,
    }
}

/// Component `index` of the tuples of type `ty` under `depth` axes.
fn component<'p>(value: &Value<'p>, ty: &Type, index: usize, depth: usize) -> Value<'p> {
    match value {
        Value::Tuple(parts) if depth == 0 => parts[index].clone(),
        Value::Array(leaves) => {
            let mut tuple = ty;
            for _ in 0..depth {
                tuple = element_type(tuple);
            }
            let types = component_types(tuple);
            let start: usize = types[..index].iter().map(|ty| leaf_count(ty)).sum();
            Value::array(leaves[start..start + leaf_count(types[index])].to_vec())
        }
        _ => panic!("lower: a component of what is no tuple"),
    }
}

/// A number of the program text.
fn scalar_of(number: Number, ty: &Type) -> Scalar {
    let Type::Scalar(scalar) = ty else { panic!("lower: a number of type {ty}") };
    number.to_scalar(*scalar).expect("the checker has made sure that it fits")
}

/// A leaf of a literal whose parts are all known.
enum Literal {
    Scalar(Scalar),
    Array(Column),
}

impl Literal {
    fn into_column(self) -> Column {
        match self {
            Literal::Array(column) => column,
            Literal::Scalar(_) => panic!("lower: a scalar is no array"),
        }
    }
}

/// The leaves of an expression that is made of constants only.
fn literal(expr: &Expr) -> Option<Vec<Literal>> {
    match &expr.kind {
        ExprKind::Number(number) => Some(vec![Literal::Scalar(scalar_of(*number, &expr.ty))]),
        ExprKind::Scalar(scalar) => Some(vec![Literal::Scalar(*scalar)]),
        ExprKind::Text(bytes) => Some(vec![Literal::Array(Column::Char(bytes.to_vec().into()))]),
        ExprKind::NumberArray(numbers) => {
            let element = element_type(&expr.ty);
            let mut builder =
                ColumnBuilder::with_capacity(&element.to_value_type()?, numbers.len());
            for number in numbers.iter() {
                builder.push_scalar(scalar_of(*number, element));
            }
            Some(vec![Literal::Array(builder.finish())])
        }
        ExprKind::Tuple(parts) if parts.is_empty() => {
            Some(vec![Literal::Scalar(Scalar::Bool(false))])
        }
        ExprKind::Tuple(parts) => {
            let mut leaves = Vec::new();
            for part in parts {
                leaves.extend(literal(part)?);
            }
            Some(leaves)
        }
        ExprKind::Array(elements) => {
            let types = super::value::leaf_types(element_type(&expr.ty))?;
            let mut builders: Vec<ColumnBuilder> = types.iter().map(|ty| builder(*ty)).collect();
            for element in elements {
                for (builder, leaf) in builders.iter_mut().zip(literal(element)?) {
                    match leaf {
                        Literal::Scalar(scalar) => builder.push_scalar(scalar),
                        Literal::Array(column) => builder.push_array(&column),
                    }
                }
            }
            Some(builders.into_iter().map(|builder| Literal::Array(builder.finish())).collect())
        }
        _ => None,
    }
}

/// A builder of arrays with elements of a leaf type.
pub(super) fn builder(ty: weft_ir::nested::Type) -> ColumnBuilder {
    let scalar = weft_ir::Type::Scalar(ty.element);
    ColumnBuilder::new(&(0..ty.rank).fold(scalar, |ty, _| weft_ir::Type::array(ty)))
}
