//! Making arrays.

use std::rc::Rc;

use weft_ir::math::random;
use weft_ir::{Column, Scalar, ScalarOp, ScalarType, Span, TrapKind, Type, math};

use super::Call;
use crate::collect::Collector;
use crate::elements::Elements;
use crate::extents::Known;
use crate::machine::{CHUNK, Machine, Outcome, Stop, Unwind};
use crate::operator::number;
use crate::value::{Val, under};

impl Machine<'_> {
    /// `iota n`: 0 to n - 1.
    pub(super) fn iota(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let length = call.integer(0)?;
        let length = self.new_length(&call, length)?;
        Ok(self.integers(length, call.span)?.into_val())
    }

    /// 0 to `length` - 1.
    pub(super) fn integers(&mut self, length: usize, span: Span) -> Outcome<Elements> {
        self.admit(length as u128 * 8, span)?;
        let mut integers = Vec::with_capacity(length);
        while integers.len() < length {
            let start = integers.len();
            integers.extend(start as i64..length.min(start + CHUNK) as i64);
            self.poll()?;
        }
        Ok(Elements::packed(Column::I64(integers.into())))
    }

    /// `range start stop step`: start + i·step for all i from 0 on, as long as that is below stop
    /// (above it, for a negative step). Floats are computed as written, in their type.
    pub(super) fn range(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let [start, stop, step] = [call.scalar(0)?, call.scalar(1)?, call.scalar(2)?];
        let ty = start.ty();
        if step == number(0, ty) {
            return Err(self.bad_argument(&call, "the step is 0"));
        }
        let count = if ty.is_float() {
            let [start, stop, step] = [float(start), float(stop), float(step)];
            if ![start, stop, step].into_iter().all(f64::is_finite) {
                return Err(self.bad_argument(&call, "the bounds and the step must be finite"));
            }
            // A float beyond the range saturates, and is refused below.
            ((stop - start) / step).ceil().max(0.0) as i128
        } else {
            let [start, stop, step] = [integer(start), integer(stop), integer(step)];
            let distance = if step > 0 { stop - start } else { start - stop };
            let step = step.abs();
            if distance <= 0 { 0 } else { (distance + step - 1) / step }
        };
        let count = self.new_length_wide(&call, count)?;
        let at = |index: usize| affine(start, step, Scalar::I64(index as i64));
        let before_stop = |index: usize| {
            let op = if below(number(0, ty), step) { ScalarOp::Lt } else { ScalarOp::Gt };
            eval(op, &[at(index), stop]) == Scalar::Bool(true)
        };
        // The division above was rounded.
        let count = match count {
            count if count > 0 && !before_stop(count - 1) => count - 1,
            count if ty.is_float() && before_stop(count) => count + 1,
            count => count,
        };
        self.tabulate(call.element().clone(), count, call.span, |_, index| {
            Ok(Val::of_scalar(at(index)))
        })
    }

    /// `linspace start stop n`: n numbers at equal distances, start + i·((stop - start) / (n - 1)),
    /// but that the last one is stop itself. One number is start.
    pub(super) fn linspace(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let ends = [call.scalar(0), call.scalar(1)];
        let length = call.integer(2)?;
        let length = self.new_length(&call, length)?;
        let (start, stop) = match ends {
            [Ok(start), Ok(stop)] => (start, stop),
            [Err(error), _] | [_, Err(error)] => return self.elements_of(error, length, &call),
        };
        let gaps = cast(Scalar::I64(length as i64 - 1), start.ty());
        let step = eval(ScalarOp::Div, &[eval(ScalarOp::Sub, &[stop, start]), gaps]);
        self.tabulate(call.element().clone(), length, call.span, |_, index| {
            Ok(Val::of_scalar(match index {
                0 => start,
                index if index + 1 == length => stop,
                index => affine(start, step, Scalar::I64(index as i64)),
            }))
        })
    }

    /// `replicate n x`.
    pub(super) fn replicate(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let length = call.integer(0)?;
        let length = self.new_length(&call, length)?;
        let val = call.value(1);
        self.copies(val, length, call.element(), call.span)
    }

    /// An array of `length` times the same element.
    fn copies(&mut self, val: Val, length: usize, ty: &Type, span: Span) -> Outcome<Val> {
        self.admit(length as u128 * u128::from(val.bytes()), span)?;
        if let (0, Val::Array(column)) = (length, &val) {
            let inner = Box::new(column.slice(0, 0));
            return Ok(Val::array(Column::Dense { len: 0, extent: column.len(), inner }));
        }
        self.tabulate(ty.clone(), length, span, |_, _| Ok(val.clone()))
    }

    /// `generate shape f`: the element at each index is f of it.
    pub(super) fn generate(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let shape = call.value(0);
        let extents = self.new_shape(&call, &shape)?;
        let function = call.value(1);
        let count = extents.iter().product();
        let ty = under(call.result(), extents.len()).clone();
        let elements = self.with_callee(&function, 1, call.span, |machine, callee| {
            let mut collector = Collector::new(&ty, call.span);
            machine.admit_elements(count as u128, &ty, call.span)?;
            for position in 0..count {
                let index = index_at(position, &extents);
                let val = machine.apply(callee, [index])?;
                machine.collect(&mut collector, val)?;
            }
            let result = machine.finish(collector);
            Ok(machine.with_extents(result, &ty, |machine| {
                machine.known_of_call(callee, vec![Known::Nothing])
            })?)
        })?;
        Ok(into_shape(elements, &extents, call.result()))
    }

    /// `fill shape x`.
    pub(super) fn fill(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let shape = call.value(0);
        let extents = self.new_shape(&call, &shape)?;
        let val = call.value(1);
        let ty = under(call.result(), extents.len());
        let elements = match self.copies(val, extents.iter().product(), ty, call.span)? {
            Val::Boxed(elements) => Elements::Boxed(elements),
            Val::Array(column) => Elements::Packed(column),
            other => panic!("{other:?} is no array"),
        };
        Ok(into_shape(elements, &extents, call.result()))
    }

    /// As many elements as are errors; where there is none, nothing is.
    pub(super) fn elements_of(
        &mut self,
        error: Stop,
        length: usize,
        call: &Call<'_>,
    ) -> Outcome<Val> {
        match error {
            Stop::Error(_) if length == 0 => Ok(Val::Array(Rc::new(Column::empty(call.element())))),
            error => self.erroneous(error, length, call.span),
        }
    }

    /// `random seed n`: element i is `uniform(seed, i)` of [`weft_ir::math::random`].
    pub(super) fn random(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let seed = call.integer(0);
        let length = call.integer(1)?;
        let length = self.new_length(&call, length)?;
        let seed = match seed {
            Ok(seed) => seed,
            Err(stop) => return self.elements_of(stop, length, &call),
        };
        let is_single = *call.element() == Type::Scalar(ScalarType::F32);
        self.tabulate(call.element().clone(), length, call.span, |_, index| {
            Ok(Val::of_scalar(if is_single {
                Scalar::F32(random::uniform_f32(seed, index as u64))
            } else {
                Scalar::F64(random::uniform_f64(seed, index as u64))
            }))
        })
    }

    /// `randomInt seed lo hi n`: element i is `int_below(seed, i, lo, hi)` of
    /// [`weft_ir::math::random`].
    pub(super) fn random_int(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let [seed, low, high] = [call.integer(0)?, call.integer(1)?, call.integer(2)?];
        let length = call.integer(3)?;
        let length = self.new_length(&call, length)?;
        if low >= high && length > 0 {
            return Err(self.bad_argument(&call, &format!("no integer is in {low}..{high}")));
        }
        self.tabulate(call.element().clone(), length, call.span, |_, index| {
            Ok(Val::I64(random::int_below(seed, index as u64, low, high)))
        })
    }

    /// `identity n`: 1 on the diagonal, else 0.
    pub(super) fn identity(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let length = call.integer(0)?;
        let length = self.new_length(&call, length)?;
        let leaf = under(call.result(), 2).clone();
        let Type::Scalar(ty) = leaf else { panic!("identity of {leaf}") };
        let count = self.new_length_wide(&call, length as i128 * length as i128)?;
        let (zero, one) = (number(0, ty), number(1, ty));
        let inner = self.tabulate(leaf, count, call.span, |_, index| {
            Ok(Val::of_scalar(if index / length == index % length { one } else { zero }))
        })?;
        let Val::Array(column) = inner else { panic!("an error in the identity") };
        Ok(into_shape(Elements::Packed(column), &[length, length], call.result()))
    }

    /// The array of `f(0)` to `f(length - 1)`, whose type is `ty`.
    pub(super) fn tabulate(
        &mut self,
        ty: Type,
        length: usize,
        span: Span,
        mut f: impl FnMut(&mut Self, usize) -> Result<Val, Unwind>,
    ) -> Outcome<Val> {
        self.admit_elements(length as u128, &ty, span)?;
        let mut collector = Collector::new(&ty, span);
        for index in 0..length {
            let val = f(self, index)?;
            self.collect(&mut collector, val)?;
        }
        Ok(self.finish(collector).into_val())
    }

    /// A length that the program asks for.
    pub(super) fn new_length(&self, call: &Call<'_>, length: i64) -> Outcome<usize> {
        self.new_length_wide(call, i128::from(length))
    }

    /// A length that the program asks for, before it is known to be in range.
    pub(super) fn new_length_wide(&self, call: &Call<'_>, length: i128) -> Outcome<usize> {
        match i64::try_from(length) {
            Ok(length) if length >= 0 => Ok(length as usize),
            _ => {
                let operation = call.name().to_owned();
                Err(self.fail(TrapKind::BadLength { operation, length }, call.span))
            }
        }
    }

    /// The extents that an `i64` or a tuple of them asks for.
    pub(super) fn new_shape(&mut self, call: &Call<'_>, shape: &Val) -> Outcome<Vec<usize>> {
        let mut extents = Vec::new();
        let mut product: i128 = 1;
        let mut arrays: i128 = 1;
        for extent in index_parts(shape)? {
            extents.push(self.new_length(call, extent)?);
            product = product.saturating_mul(i128::from(extent));
            arrays = arrays.max(product);
        }
        self.new_length_wide(call, product)?;
        if product == 0 {
            // The arrays without elements are not free either.
            self.admit(arrays as u128 * 8, call.span)?;
        }
        Ok(extents)
    }

    pub(super) fn bad_argument(&self, call: &Call<'_>, problem: &str) -> Stop {
        let operation = call.name().to_owned();
        self.fail(TrapKind::BadArgument { operation, problem: problem.to_owned() }, call.span)
    }
}

/// The components of an index or shape: an `i64`, or a tuple of them.
pub(crate) fn index_parts(index: &Val) -> Outcome<Vec<i64>> {
    match index {
        Val::I64(value) => Ok(vec![*value]),
        Val::Tuple(parts) => {
            let mut indices = Vec::with_capacity(parts.len());
            for part in parts.iter() {
                indices.extend(index_parts(part)?);
            }
            Ok(indices)
        }
        Val::Error(error) => Err(Stop::Error(Rc::clone(error))),
        other => panic!("{other:?} is no index"),
    }
}

/// The index of the element at a position in row-major order.
pub(crate) fn index_at(position: usize, extents: &[usize]) -> Val {
    let mut rest = position;
    let mut parts: Vec<Val> = extents
        .iter()
        .rev()
        .map(|extent| {
            let part = Val::I64((rest % extent) as i64);
            rest /= extent;
            part
        })
        .collect();
    if parts.len() == 1 {
        return parts.remove(0);
    }
    parts.reverse();
    Val::tuple(parts)
}

/// The array of these extents, of type `ty`, out of its elements in row-major order.
pub(crate) fn into_shape(elements: Elements, extents: &[usize], ty: &Type) -> Val {
    if let Elements::Packed(column) = &elements {
        let mut column = (**column).clone();
        for (depth, extent) in extents.iter().enumerate().skip(1).rev() {
            let len = extents[..depth].iter().product();
            column = Column::Dense { len, extent: *extent, inner: Box::new(column) };
        }
        return Val::array(column);
    }
    let mut elements = elements;
    for depth in (1..extents.len()).rev() {
        let (row, extent) = (under(ty, depth), extents[depth]);
        let rows = (0..extents[..depth].iter().product())
            .map(|at| elements.slice(at * extent, extent, under(row, 1)).into_val());
        elements = Collector::from_iter(row, rows.collect::<Vec<_>>().into_iter());
    }
    elements.into_val()
}

/// start + index·step, in their type.
fn affine(start: Scalar, step: Scalar, index: Scalar) -> Scalar {
    let index = cast(index, start.ty());
    eval(ScalarOp::Add, &[start, eval(ScalarOp::Mul, &[index, step])])
}

fn below(a: Scalar, b: Scalar) -> bool {
    eval(ScalarOp::Lt, &[a, b]) == Scalar::Bool(true)
}

fn cast(scalar: Scalar, ty: ScalarType) -> Scalar {
    eval(ScalarOp::Cast(ty), &[scalar])
}

/// An operator that does not trap.
fn eval(op: ScalarOp, args: &[Scalar]) -> Scalar {
    match math::eval(op, args) {
        Ok(scalar) => scalar,
        Err(kind) => panic!("{op:?} traps: {kind}"),
    }
}

/// A float as an `f64`.
fn float(scalar: Scalar) -> f64 {
    match cast(scalar, ScalarType::F64) {
        Scalar::F64(value) => value,
        other => panic!("a cast to f64 yields {other:?}"),
    }
}

/// An integer of any type.
pub(crate) fn integer(scalar: Scalar) -> i128 {
    match scalar {
        Scalar::I8(value) => value.into(),
        Scalar::I16(value) => value.into(),
        Scalar::I32(value) => value.into(),
        Scalar::I64(value) => value.into(),
        Scalar::U8(value) => value.into(),
        Scalar::U16(value) => value.into(),
        Scalar::U32(value) => value.into(),
        Scalar::U64(value) => value.into(),
        other => panic!("{other:?} is no integer"),
    }
}
