//! Elements with which operators are tried out: the same ones each time.

use weft_ir::{Scalar, ScalarType, Type, Value};

/// Which numbers to take. Many an operator is associative only on some of them, and is meant for those: a
/// flag is 0 or 1, a share at most 1, and a sum that stops at 100 is not for negative numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Domain {
    /// Small positive numbers.
    Positive,
    /// 0 and 1.
    Bits,
    /// Floats from 0 to 1, integers 0 and 1.
    Shares,
    /// Small positive floats, integers 0 and 1.
    Flagged,
}

/// Three elements.
pub(super) type Triple = [Value; 3];

/// How many triples there may be for all to be tried.
const MOST: usize = 32;
/// How many are tried where there are more.
const SOME: usize = 32;

/// The domains in which elements of a type are different ones, the most natural one first.
pub(super) fn domains(ty: &Type) -> Vec<Domain> {
    let mut leaves = Vec::new();
    collect_leaves(ty, &mut leaves);
    let floats = leaves.iter().any(|leaf| leaf.is_float());
    let integers = leaves.iter().any(|leaf| leaf.is_int());
    let mut domains = vec![Domain::Positive];
    domains.extend((floats || integers).then_some(Domain::Bits));
    domains.extend(floats.then_some(Domain::Shares));
    domains.extend((floats && integers).then_some(Domain::Flagged));
    domains
}

/// Triples of elements: all, if they are few, else some that look arbitrary.
pub(super) fn triples(ty: &Type, domain: Domain) -> Vec<Triple> {
    let mut leaves = Vec::new();
    collect_leaves(ty, &mut leaves);
    let choices: Vec<Vec<Scalar>> = leaves.iter().map(|leaf| choices(*leaf, domain)).collect();
    let all = choices.iter().map(|each| each.len().pow(3)).try_fold(1_usize, usize::checked_mul);
    // The first elements of each domain, in order, make the plainest example.
    let plain = |place: usize| choices.iter().map(|each| each[place % each.len()]).collect();
    let mut triples = vec![[0, 1, 2].map(|place| element(ty, plain(place)))];
    let is_small = all.is_some_and(|all| all <= MOST);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for number in 0..all.filter(|all| *all <= MOST).unwrap_or(SOME) {
        let mut rest = number;
        let mut pick = |choices: &[Scalar]| {
            if is_small {
                let place = rest % choices.len();
                rest /= choices.len();
                return choices[place];
            }
            // Knuth's generator; its high bits are the good ones.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            choices[(state >> 33) as usize % choices.len()]
        };
        let mut next = || element(ty, choices.iter().map(|each| pick(each)).collect());
        triples.push([next(), next(), next()]);
    }
    triples
}

/// The scalars of a value, in order.
pub(super) fn leaves(value: &Value) -> Vec<Scalar> {
    match value {
        Value::Scalar(scalar) => vec![*scalar],
        Value::Tuple(parts) => parts.iter().flat_map(leaves).collect(),
        Value::Array(_) => Vec::new(),
    }
}

fn collect_leaves(ty: &Type, leaves: &mut Vec<ScalarType>) {
    match ty {
        Type::Scalar(ty) => leaves.push(*ty),
        Type::Tuple(parts) => parts.iter().for_each(|part| collect_leaves(part, leaves)),
        Type::Record(fields) => fields.iter().for_each(|(_, ty)| collect_leaves(ty, leaves)),
        Type::Array(_) => {}
    }
}

/// The value of a type that has these scalars.
fn element(ty: &Type, scalars: Vec<Scalar>) -> Value {
    fn build(ty: &Type, scalars: &mut dyn Iterator<Item = Scalar>) -> Value {
        match ty {
            Type::Scalar(_) => Value::Scalar(scalars.next().expect("one for each leaf")),
            Type::Tuple(parts) => {
                Value::Tuple(parts.iter().map(|part| build(part, scalars)).collect())
            }
            Type::Record(fields) => {
                Value::Tuple(fields.iter().map(|(_, ty)| build(ty, scalars)).collect())
            }
            Type::Array(_) => panic!("an element without arrays has one"),
        }
    }
    build(ty, &mut scalars.into_iter())
}

/// The scalars of a type in a domain. Floats are such that sums and products of them are exact.
pub(super) fn choices(ty: ScalarType, domain: Domain) -> Vec<Scalar> {
    let integers: &[u8] = match domain {
        Domain::Positive => &[1, 2, 3, 5],
        Domain::Bits | Domain::Shares | Domain::Flagged => &[0, 1],
    };
    let floats: &[f32] = match domain {
        Domain::Positive | Domain::Flagged => &[1.0, 2.0, 3.0, 0.5],
        Domain::Bits => &[0.0, 1.0],
        Domain::Shares => &[0.5, 0.25, 1.0, 0.0],
    };
    let of_integers = |make: fn(u8) -> Scalar| integers.iter().map(|value| make(*value)).collect();
    let of_floats = |make: fn(f32) -> Scalar| floats.iter().map(|value| make(*value)).collect();
    match ty {
        ScalarType::I8 => of_integers(|value| Scalar::I8(value as i8)),
        ScalarType::I16 => of_integers(|value| Scalar::I16(value.into())),
        ScalarType::I32 => of_integers(|value| Scalar::I32(value.into())),
        ScalarType::I64 => of_integers(|value| Scalar::I64(value.into())),
        ScalarType::U8 => of_integers(Scalar::U8),
        ScalarType::U16 => of_integers(|value| Scalar::U16(value.into())),
        ScalarType::U32 => of_integers(|value| Scalar::U32(value.into())),
        ScalarType::U64 => of_integers(|value| Scalar::U64(value.into())),
        ScalarType::F32 => of_floats(Scalar::F32),
        ScalarType::F64 => of_floats(|value| Scalar::F64(value.into())),
        ScalarType::Bool => vec![Scalar::Bool(true), Scalar::Bool(false)],
        ScalarType::Char => b"acbd".iter().map(|letter| Scalar::Char(*letter)).collect(),
    }
}
