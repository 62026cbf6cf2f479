//! Values to leaves to flat variables and back, on random nested values.

use std::sync::Arc;

use weft_ir::leaves::{
    Axis, Stored, bind_inputs, input_leaf, leaf_layout, leaf_types, leaves_to_value, shared_axes,
    stored_to_leaf, value_to_leaves,
};
use weft_ir::{Array, Buf, Column, ColumnBuilder, Scalar, ScalarType, Type, Value, nested};

/// A small generator of numbers, so that a failure can be repeated from its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % bound
    }
}

fn random_type(random: &mut Random, depth: usize) -> Type {
    match random.below(if depth == 0 { 3 } else { 8 }) {
        0 => Type::Scalar(ScalarType::F32),
        1 => Type::Scalar(ScalarType::I64),
        2 => Type::Scalar(ScalarType::Char),
        3 => Type::Tuple((0..random.below(4)).map(|_| random_type(random, depth - 1)).collect()),
        4 => Type::Record(
            ["x", "y"].map(|name| (Arc::from(name), random_type(random, depth - 1))).into(),
        ),
        _ => Type::array(random_type(random, depth - 1)),
    }
}

/// A value whose arrays have, where `regular` says so, one length per axis of the type.
fn random_value(random: &mut Random, ty: &Type, regular: &[Option<usize>]) -> Value {
    match ty {
        Type::Scalar(ScalarType::F32) => Value::Scalar(Scalar::F32(random.below(100) as f32)),
        Type::Scalar(ScalarType::I64) => Value::Scalar(Scalar::I64(random.below(100) as i64)),
        Type::Scalar(_) => Value::Scalar(Scalar::Char(b'a' + random.below(26) as u8)),
        Type::Tuple(parts) => {
            Value::Tuple(parts.iter().map(|part| random_value(random, part, regular)).collect())
        }
        Type::Record(fields) => Value::Tuple(
            fields.iter().map(|(_, field)| random_value(random, field, regular)).collect(),
        ),
        Type::Array(element) => {
            let (own, inner) = regular.split_first().unwrap_or((&None, &[]));
            let length = own.unwrap_or_else(|| random.below(4));
            let mut builder = ColumnBuilder::new(element);
            for _ in 0..length {
                builder.push(&random_value(random, element, inner));
            }
            Value::Array(Arc::new(builder.finish_array()))
        }
    }
}

/// Every row that is sliced out of something larger, so that no buffer begins where its leaf does.
fn sliced(random: &mut Random, value: &Value) -> Value {
    match value {
        Value::Array(array) if !array.is_empty() => {
            let start = random.below(array.len());
            let len = random.below(array.len() - start + 1);
            Value::Array(Arc::new(Array::new(array.elements.slice(start, len))))
        }
        other => other.clone(),
    }
}

fn has_tuple(column: &Column) -> bool {
    match column {
        Column::Tuple { .. } => true,
        Column::Dense { inner, .. } | Column::Ragged { inner, .. } => has_tuple(inner),
        _ => false,
    }
}

/// Whether every axis with rows of one length is dense, and every ragged one begins at 0.
fn canonical(column: &Column) -> bool {
    match column {
        Column::Tuple { parts, .. } => parts.iter().all(canonical),
        Column::Dense { len, extent, inner } => inner.len() == len * extent && canonical(inner),
        Column::Ragged { offsets, inner } => {
            let offsets = offsets.as_slice();
            column.extent().is_err()
                && offsets[0] == 0
                && offsets.last() == Some(&inner.len())
                && canonical(inner)
        }
        _ => true,
    }
}

fn is_canonical(value: &Value) -> bool {
    match value {
        Value::Scalar(_) => true,
        Value::Tuple(parts) => parts.iter().all(is_canonical),
        Value::Array(array) => canonical(&array.elements),
    }
}

fn round_trip(value: &Value, ty: &Type) {
    let leaves = value_to_leaves(value, ty);
    let types = leaf_types(ty);
    assert_eq!(leaves.len(), types.len(), "{ty}");
    for (leaf, ty) in leaves.iter().zip(&types) {
        assert_eq!(leaf_layout(leaf).len(), ty.rank, "{leaf:?}");
        match leaf {
            Value::Scalar(scalar) => assert_eq!(scalar.ty(), ty.element),
            Value::Array(array) => assert!(!has_tuple(&array.elements), "{leaf:?}"),
            Value::Tuple(_) => panic!("{leaf:?} is a tuple"),
        }
    }
    let back = leaves_to_value(&leaves, ty);
    assert!(back.same_bits(value), "{back:?} is not {value:?}");
    assert!(is_canonical(&back), "{back:?}");

    let mut flat_types = Vec::new();
    let mut inputs: Vec<weft_ir::flat::Leaf> = Vec::new();
    for ((leaf, ty), shared) in leaves.iter().zip(&types).zip(shared_axes(ty)) {
        let mut layout = leaf_layout(leaf);
        layout[..shared].fill(Axis::Shared);
        let leaf = input_leaf(&layout, &inputs, ty.element, &mut flat_types);
        inputs.push(leaf);
    }
    let bindings = bind_inputs(&inputs, &flat_types, &leaves);
    for (index, (var, stored)) in bindings.iter().enumerate() {
        assert_eq!(var.0 as usize, index, "variables are bound in the order they were made");
        assert_eq!(stored.extents.iter().product::<usize>(), stored.elements.len());
        assert_eq!(stored.elements.scalar_type(), Some(flat_types[index].element));
        let lookup = |size| match size {
            weft_ir::flat::Size::Constant(size) => Some(size),
            weft_ir::flat::Size::Var(var) => bindings[var.0 as usize].1.as_i64(),
        };
        let extents: Vec<_> = flat_types[index].extents.iter().copied().map(lookup).collect();
        let found: Vec<_> = stored.extents.iter().map(|extent| Some(*extent as i64)).collect();
        assert_eq!(extents, found, "extents of a{index}");
    }
    assert_eq!(bindings.len(), flat_types.len());
    let unbound: Vec<Value> = inputs
        .iter()
        .map(|input| stored_to_leaf(input, |var| bindings[var.0 as usize].1.clone()))
        .collect();
    for (before, after) in leaves.iter().zip(&unbound) {
        assert!(before.same_bits(after), "{after:?} is not {before:?}");
        assert_eq!(leaf_layout(before), leaf_layout(after));
    }
    assert!(leaves_to_value(&unbound, ty).same_bits(value));
}

#[test]
fn random_values_come_back() {
    for seed in 1..3000 {
        let mut random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let ty = random_type(&mut random, 4);
        let regular: Vec<_> = (0..4)
            .map(|_| if random.below(2) == 0 { None } else { Some(random.below(3)) })
            .collect();
        let value = random_value(&mut random, &ty, &regular);
        round_trip(&value, &ty);
        let slice = sliced(&mut random, &value);
        round_trip(&slice, &ty);
        round_trip(&sliced(&mut random, &slice), &ty);
    }
}

fn scalar(ty: ScalarType) -> Type {
    Type::Scalar(ty)
}

fn i64s(values: &[i64]) -> Column {
    Column::I64(values.to_vec().into())
}

fn array(elements: Column) -> Value {
    Value::Array(Arc::new(Array::new(elements)))
}

fn buffer(column: &Column) -> &Buf<i64> {
    match column {
        Column::I64(buf) => buf,
        Column::Dense { inner, .. } | Column::Ragged { inner, .. } => buffer(inner),
        other => panic!("{other:?} has no i64s"),
    }
}

#[test]
fn leaves_share_the_elements() {
    let rows = Column::Tuple { len: 3, parts: vec![i64s(&[1, 2, 3]), i64s(&[4, 5, 6])] };
    let ragged = Column::Ragged { offsets: vec![0, 1, 3].into(), inner: Box::new(rows.clone()) };
    let pair = Type::Tuple([scalar(ScalarType::I64), scalar(ScalarType::I64)].into());
    let ty = Type::array(Type::array(pair));
    let leaves = value_to_leaves(&array(ragged), &ty);
    let Column::Tuple { parts, .. } = &rows else { panic!("just made") };
    for (leaf, part) in leaves.iter().zip(parts) {
        let Value::Array(leaf) = leaf else { panic!("{leaf:?} is no array") };
        assert_eq!(leaf_layout(&Value::Array(leaf.clone())), [Axis::Dense, Axis::Ragged]);
        assert_eq!(
            buffer(&leaf.elements).as_slice().as_ptr(),
            buffer(part).as_slice().as_ptr(),
            "the elements are not copied"
        );
    }
}

#[test]
fn components_of_an_array_of_tuples_share_its_axes() {
    let number = scalar(ScalarType::I64);
    let pair = Type::Tuple([number.clone(), Type::array(number.clone())].into());
    assert_eq!(shared_axes(&number), [0]);
    assert_eq!(shared_axes(&pair), [0, 0]);
    assert_eq!(shared_axes(&Type::array(pair.clone())), [0, 1]);
    let rows = Type::array(Type::array(pair));
    assert_eq!(shared_axes(&Type::Tuple([rows, number].into())), [0, 2, 0]);
}

#[test]
fn units_keep_their_length() {
    let unit = Type::Tuple([].into());
    let boolean = nested::Type::scalar(ScalarType::Bool);
    assert_eq!(leaf_types(&unit), [boolean]);
    assert_eq!(leaf_types(&Type::array(unit.clone())), [boolean.array()]);
    let units = array(Column::Tuple { len: 2, parts: Vec::new() });
    let leaves = value_to_leaves(&units, &Type::array(unit.clone()));
    assert!(leaves[0].same_bits(&array(Column::Bool(vec![false; 2].into()))));
    round_trip(&units, &Type::array(unit.clone()));
    round_trip(&Value::Tuple([].into()), &unit);
}

#[test]
fn a_ragged_axis_of_equal_rows_becomes_dense() {
    let ragged = Column::Ragged {
        offsets: vec![1, 3, 5].into(),
        inner: Box::new(i64s(&[9, 1, 2, 3, 4, 9])),
    };
    let dense = Column::Dense { len: 2, extent: 2, inner: Box::new(i64s(&[5, 6, 7, 8])) };
    let pair = Type::Tuple([scalar(ScalarType::I64), scalar(ScalarType::I64)].into());
    let ty = Type::array(Type::array(pair));
    let Value::Array(joined) = leaves_to_value(&[array(ragged), array(dense)], &ty) else {
        panic!("an array");
    };
    let Column::Dense { len: 2, extent: 2, inner } = &joined.elements else {
        panic!("{joined:?} is not dense");
    };
    let parts = vec![i64s(&[1, 2, 3, 4]), i64s(&[5, 6, 7, 8])];
    assert_eq!(**inner, Column::Tuple { len: 4, parts });
}

#[test]
fn no_rows_keep_the_extent_that_a_leaf_knows() {
    let dense = Column::Dense { len: 0, extent: 3, inner: Box::new(i64s(&[])) };
    let ragged = Column::Ragged { offsets: vec![0].into(), inner: Box::new(i64s(&[])) };
    let pair = Type::Tuple([scalar(ScalarType::I64), scalar(ScalarType::I64)].into());
    let ty = Type::array(Type::array(pair));
    let Value::Array(joined) = leaves_to_value(&[array(ragged), array(dense)], &ty) else {
        panic!("an array");
    };
    assert_eq!(joined.elements.extent(), Ok(3));
}

#[test]
fn nested_descriptors_are_in_terms_of_the_axis_above() {
    // [[[1, 2], [], [3]], [], [[4]]] with the first row cut off.
    let inner = Column::Ragged {
        offsets: vec![0, 2, 2, 3, 4].into(),
        inner: Box::new(i64s(&[1, 2, 3, 4])),
    };
    let outer = Column::Ragged { offsets: vec![0, 3, 3, 4].into(), inner: Box::new(inner) };
    let value = array(outer.slice(1, 2));
    let mut types = Vec::new();
    let leaf = input_leaf(&leaf_layout(&value), &[], ScalarType::I64, &mut types);
    let bindings = bind_inputs(&[leaf], &types, &[value]);
    let stored: Vec<Stored> = bindings.into_iter().map(|(_, stored)| stored).collect();
    let number = |value| Stored::scalar(Scalar::I64(value));
    assert_eq!(
        stored,
        [
            number(2),
            number(3),
            Stored::vector(i64s(&[0, 0, 1])),
            number(1),
            number(2),
            Stored::vector(i64s(&[0, 1])),
            number(1),
            Stored::vector(i64s(&[4])),
        ]
    );
}
