//! The array that is folded, where it is at hand: elements of it with which an operator is tried out.

use std::sync::Arc;

use weft_interp::Call;
use weft_ir::{Array, Scalar, Type, Value};
use weft_lang::typed::{Expr, ExprKind, GlobalId};

use super::Walk;
use super::probes::number;
use super::samples::Triple;

/// How many triples of neighbours of an array are tried.
const MOST_NEIGHBOURS: usize = 16;
/// At how many places an array is looked at for its least and greatest element.
const MOST_PLACES: usize = 4096;
/// How many elements, from the first one on, a fold is followed through from left to right.
const MOST_STEPS: usize = 256;
/// How many elements go into triples, but for the least and the greatest.
const MOST_ELEMENTS: usize = 4;

/// What is known of the elements.
pub(super) struct Evidence {
    /// The value of the session from which they come.
    pub(super) global: Option<GlobalId>,
    /// Three elements one after the other.
    pub(super) neighbours: Vec<Triple>,
    /// Some different ones, the least and the greatest among them.
    elements: Vec<Value>,
    /// What the fold begins with.
    start: Option<Value>,
    /// The first elements, in order.
    first: Vec<Value>,
}

impl Evidence {
    /// Triples of what meets in a fold: on the left also what has come of a beginning.
    pub(super) fn triples(&self, call: &mut Call<'_>) -> Vec<Triple> {
        let mut apply = |a: &Value, b: &Value| call(&[a.clone(), b.clone()]);
        let mut firsts = self.elements.clone();
        let mut others = self.elements.clone();
        if let [a, b, ..] = &self.elements[..] {
            for partial in [apply(a, b), apply(b, a)].into_iter().flatten() {
                insert(&mut firsts, &partial);
                insert(&mut others, &partial);
            }
        }
        if let Some(start) = &self.start {
            insert(&mut firsts, start);
            for element in &self.elements {
                let Some(next) = apply(start, element) else { continue };
                insert(&mut firsts, &next);
                for element in self.elements.iter().rev().take(2) {
                    if let Some(next) = apply(&next, element) {
                        insert(&mut firsts, &next);
                    }
                }
            }
            self.extremes_on_the_way(start, &mut apply)
                .for_each(|state| insert(&mut firsts, &state));
        }
        let mut triples = Vec::new();
        for a in &firsts {
            for b in &others {
                triples.extend(others.iter().map(|c| [a.clone(), b.clone(), c.clone()]));
            }
        }
        triples
    }

    /// The least and the greatest of what a fold comes to on its way from left to right: a sum that stops somewhere
    /// behaves until it gets there.
    fn extremes_on_the_way(
        &self,
        start: &Value,
        apply: &mut dyn FnMut(&Value, &Value) -> Option<Value>,
    ) -> impl Iterator<Item = Value> {
        let mut extremes = Extremes::default();
        let mut state = start.clone();
        for element in &self.first {
            let Some(next) = apply(&state, element) else { break };
            state = next;
            extremes.add(&state);
        }
        extremes.both()
    }

    /// Whether there are elements enough for them to speak for an operator.
    pub(super) fn is_telling(&self) -> bool {
        self.elements.len() > 1
    }
}

impl Walk<'_, '_> {
    /// What is known of an array of such elements, or of arrays of such, unless it would have to be fetched.
    pub(super) fn evidence(
        &self,
        array: &Expr,
        start: Option<&Expr>,
        element: &Type,
    ) -> Option<Evidence> {
        let array = self.resolved(array);
        let start = start.and_then(|start| self.constant(start));
        match &array.kind {
            ExprKind::Array(parts) => {
                let all: Option<Vec<Value>> =
                    parts.iter().map(|part| self.constant(part)).collect();
                let is_such = array.ty.to_value_type() == Some(Type::array(element.clone()));
                let all = all.filter(|_| is_such)?;
                Some(of_elements(None, all.len(), &|place| all[place].clone(), start))
            }
            _ => {
                let (global, value, ty) = self.at_hand(array)?;
                let Value::Array(array) = value else { return None };
                array.elements.is_here().then_some(())?;
                let mut ty = &ty;
                let mut row: Arc<Array> = array;
                loop {
                    let Type::Array(inner) = ty else { return None };
                    if **inner == *element {
                        let get = |place| row.elements.get(place);
                        return Some(of_elements(Some(global), row.len(), &get, start));
                    }
                    // Of several rows the first one stands for all.
                    let Value::Array(first) = (!row.is_empty()).then(|| row.elements.get(0))?
                    else {
                        return None;
                    };
                    (row, ty) = (first, &**inner);
                }
            }
        }
    }

    /// A value of the session, or a field of one.
    pub(super) fn at_hand(&self, expr: &Expr) -> Option<(GlobalId, Value, Type)> {
        let ty = expr.ty.to_value_type()?;
        match &expr.kind {
            ExprKind::Value(global) => Some((*global, self.state.values.get(global)?.clone(), ty)),
            ExprKind::Field { record, index, depth: 0 } => {
                let (global, value, _) = self.at_hand(self.resolved(record))?;
                let Value::Tuple(parts) = value else { return None };
                Some((global, parts.get(*index)?.clone(), ty))
            }
            _ => None,
        }
    }

    /// The value of an expression that is written out, or a value of the session.
    fn constant(&self, expr: &Expr) -> Option<Value> {
        let expr = self.resolved(expr);
        match &expr.kind {
            ExprKind::Scalar(scalar) => Some(Value::Scalar(*scalar)),
            ExprKind::Tuple(parts) => {
                let parts: Option<Vec<Value>> =
                    parts.iter().map(|part| self.constant(part)).collect();
                Some(Value::Tuple(parts?.into()))
            }
            ExprKind::Value(global) => match self.state.values.get(global)? {
                Value::Array(_) => None,
                value => Some(value.clone()),
            },
            _ => None,
        }
    }
}

fn of_elements(
    global: Option<GlobalId>,
    count: usize,
    get: &dyn Fn(usize) -> Value,
    start: Option<Value>,
) -> Evidence {
    let places = count.saturating_sub(2);
    let tried = places.min(MOST_NEIGHBOURS);
    let neighbours = (0..tried)
        .map(|number| [0, 1, 2].map(|offset| get(number * places / tried + offset)))
        .collect();
    let mut elements = Vec::new();
    let looked_at = count.min(MOST_PLACES);
    let mut extremes = Extremes::default();
    for number in 0..looked_at {
        let value = get(number * count / looked_at);
        if of_number(&value).is_none() {
            if elements.len() < MOST_ELEMENTS + 2 {
                insert(&mut elements, &value);
            }
            continue;
        }
        if elements.len() < MOST_ELEMENTS {
            insert(&mut elements, &value);
        }
        extremes.add(&value);
    }
    extremes.both().for_each(|value| insert(&mut elements, &value));
    let first = (0..count.min(MOST_STEPS)).map(get).collect();
    Evidence { global, neighbours, elements, start, first }
}

/// The least and the greatest of some numbers.
#[derive(Default)]
struct Extremes(Option<[(f64, Value); 2]>);

impl Extremes {
    fn add(&mut self, value: &Value) {
        let Some(size) = of_number(value) else { return };
        let own = (size, value.clone());
        match &mut self.0 {
            None => self.0 = Some([own.clone(), own]),
            Some([least, _]) if size < least.0 => *least = own,
            Some([_, greatest]) if size > greatest.0 => *greatest = own,
            Some(_) => {}
        }
    }

    fn both(self) -> impl Iterator<Item = Value> {
        self.0.into_iter().flatten().map(|(_, value)| value)
    }
}

/// The size of an element that is a number.
fn of_number(value: &Value) -> Option<f64> {
    let Value::Scalar(scalar) = value else { return None };
    let scalar: Scalar = *scalar;
    number(scalar).filter(|number| number.is_finite())
}

fn insert(values: &mut Vec<Value>, value: &Value) {
    if !values.iter().any(|other| other.same_bits(value)) {
        values.push(value.clone());
    }
}
