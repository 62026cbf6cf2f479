//! Indices that are sums: of indices along dimensions, of lengths and of constants.
//!
//! Note [Sums in range]. `drop k xs` reads `i + min k n` along a dimension of `n - min k n`, and `windows k xs` reads
//! `i + j` along dimensions of `max (n - k + 1) 0` and `k`. What such an index is at most is a sum of what the host
//! has: an index along a dimension is at most its extent less 1, and an extent that is there is what it was computed
//! from. The index is below `n` if `n - 1` less that sum is at least 0; mostly all terms cancel. Sums in 64 bits wrap:
//! intervals of all parts say where they do not, for which extents are taken to be below [`MOST_ELEMENTS`].
//!
//! That an extent is not negative is known in the block of the host in which there is such an array: behind a condition,
//! say. What a check says of a scalar holds where an extent of a dimension around was computed from the scalar: the host
//! has made that check before.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet};

use weft_ir::flat::{Dimension, Size, Var};
use weft_ir::{ScalarOp, ScalarType};

use super::{Definition, Flattener, ScalarId};

/// How many scalars are looked at for one index.
const MOST_LOOKS: u32 = 300;
/// How often a smaller or a greater one of two terms takes the place of `min` and `max` …
const MOST_CHOICES: u32 = 3;
/// … and how many of the facts are put together.
const MOST_TOGETHER: u32 = 2;
/// How many conditions that the host has checked are looked at.
const MOST_FACTS: usize = 16;
/// More elements than any array has.
const MOST_ELEMENTS: i128 = 1 << 60;

/// All integers.
const ANY: (i128, i128) = (i64::MIN as i128, i64::MAX as i128);
/// Those that are not negative.
const NATURAL: (i128, i128) = (0, i64::MAX as i128);

/// Sums at the points of the outermost dimensions.
pub(super) struct Sums<'f, 'p> {
    flattener: &'f Flattener<'p>,
    /// How many dimensions.
    around: usize,
    /// Scalars that checks say are not negative.
    natural: RefCell<HashSet<ScalarId>>,
    /// What the host has checked to be at least 0.
    facts: Vec<Sum>,
    looks: Cell<u32>,
}

/// What the host has, as a term of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Term {
    Var(Var),
    Scalar(ScalarId),
}

/// A sum of terms with their factors, and a constant.
#[derive(Clone, Debug, Default)]
struct Sum {
    terms: BTreeMap<Term, i128>,
    constant: i128,
}

impl Sum {
    fn constant(constant: i128) -> Sum {
        Sum { terms: BTreeMap::new(), constant }
    }

    fn term(term: Term) -> Sum {
        Sum { terms: BTreeMap::from([(term, 1)]), constant: 0 }
    }

    /// This sum, and `factor` times another; none where that is more than anybody computes with.
    fn plus(mut self, factor: i128, other: &Sum) -> Option<Sum> {
        self.constant = self.constant.checked_add(factor.checked_mul(other.constant)?)?;
        for (term, own) in &other.terms {
            let sum = self.terms.entry(*term).or_default();
            *sum = sum.checked_add(factor.checked_mul(*own)?)?;
            if *sum == 0 {
                self.terms.remove(term);
            }
        }
        Some(self)
    }

    fn less_one(self) -> Option<Sum> {
        self.plus(-1, &Sum::constant(1))
    }
}

impl<'f, 'p> Sums<'f, 'p> {
    pub(super) fn new(flattener: &'f Flattener<'p>, around: usize) -> Sums<'f, 'p> {
        let mut sums = Sums {
            flattener,
            around,
            natural: RefCell::new(HashSet::new()),
            facts: Vec::new(),
            looks: Cell::new(MOST_LOOKS),
        };
        let mut checked: Vec<ScalarId> =
            flattener.checked.iter().flatten().map(|(condition, _)| *condition).collect();
        checked.sort_unstable();
        for condition in checked.into_iter().rev().take(MOST_FACTS) {
            sums.learn(condition);
        }
        for dimension in sums.dimensions() {
            if let Dimension::Dense(extent) = *dimension {
                // For what its checks say.
                sums.extent(extent, true);
            }
        }
        sums
    }

    /// Whether an index is in `0 .. size`.
    pub(super) fn is_below(&self, index: ScalarId, size: Size) -> bool {
        let Some((0.., _)) = self.interval(index) else { return false };
        let room = || {
            let most = self.most(index)?;
            self.extent(size, self.is_around(size)).less_one()?.plus(-1, &most)
        };
        room().is_some_and(|room| self.is_natural(&room, MOST_CHOICES, MOST_TOGETHER))
    }

    fn dimensions(&self) -> &'f [Dimension] {
        let space = &self.flattener.context.space;
        &space[..self.around.min(space.len())]
    }

    /// Whether a size is that of a dimension that has a point.
    fn is_around(&self, size: Size) -> bool {
        let same = |other: Size| self.flattener.same_size(other) == self.flattener.same_size(size);
        self.dimensions().iter().any(|dimension| match dimension {
            Dimension::Dense(extent) => same(*extent),
            Dimension::Ragged { .. } => false,
        })
    }

    /// Whether a sum is at least 0.
    fn is_natural(&self, sum: &Sum, choices: u32, together: u32) -> bool {
        let least = sum.terms.iter().try_fold(sum.constant, |least, (term, factor)| {
            let (low, high) = self.interval_of(*term);
            least.checked_add(factor.checked_mul(if *factor > 0 { low } else { high })?)
        });
        if least.is_some_and(|least| least >= 0) {
            return true;
        }
        if let Some(together) = together.checked_sub(1) {
            let mut lessened = self.facts.iter().filter_map(|fact| {
                // A fact helps that has a term in common.
                let has = |(term, factor): (&Term, &i128)| {
                    sum.terms.get(term).is_some_and(|own| own.signum() == factor.signum())
                };
                fact.terms.iter().any(has).then(|| sum.clone().plus(-1, fact))?
            });
            if lessened.any(|sum| self.is_natural(&sum, choices, together)) {
                return true;
            }
        }
        let Some(choices) = choices.checked_sub(1) else { return false };
        sum.terms.iter().any(|(term, factor)| {
            let Term::Scalar(id) = term else { return false };
            let Definition::Op(op, args) = &self.definition(*id) else { return false };
            // The smaller of two is at most each of them, and the greater one at least.
            let is_bound =
                matches!((op, *factor > 0), (ScalarOp::Min, false) | (ScalarOp::Max, true));
            is_bound
                && args.iter().any(|&arg| {
                    let other = self.value(arg, false).plus(-1, &Sum::term(*term));
                    let sum = other.and_then(|other| sum.clone().plus(*factor, &other));
                    sum.is_some_and(|sum| self.is_natural(&sum, choices, together))
                })
        })
    }

    /// What an index is at most.
    fn most(&self, id: ScalarId) -> Option<Sum> {
        self.look()?;
        if self.flattener.scalars.depth(id) == 0 {
            return Some(self.value(id, false));
        }
        match self.definition(id) {
            Definition::Index(_) => self.extent_along(id)?.less_one(),
            Definition::Checked(value, ..) => self.most(value),
            // What is read is there, so that the dimensions have points of which it is an element.
            Definition::Read(var, _) => self.most(*self.flattener.definitions.get(&var)?),
            Definition::Op(op, args) => match (op, &args[..]) {
                (ScalarOp::Add, &[a, b]) => self.most(a)?.plus(1, &self.most(b)?),
                (ScalarOp::Sub, &[a, b]) => {
                    let (least, _) = self.interval(b)?;
                    self.most(a)?.plus(-1, &Sum::constant(least))
                }
                (ScalarOp::Mul, &[a, b]) => self.multiple(a, b).or_else(|| self.multiple(b, a)),
                _ => None,
            },
            _ => None,
        }
    }

    /// `i * step`, where the extent of `i` may be that of all multiples up to a limit: `limit // step + 1`.
    fn multiple(&self, index: ScalarId, step: ScalarId) -> Option<Sum> {
        let factor = self.constant(step).filter(|step| *step > 0)?;
        let of_all = || {
            let Definition::Index(_) = self.definition(index) else { return None };
            let rest = self.extent_along(index)?.less_one()?;
            let [(&Term::Scalar(quotient), 1)] = rest.terms.iter().collect::<Vec<_>>()[..] else {
                return None;
            };
            let Definition::Op(ScalarOp::FloorDiv, args) = self.definition(quotient) else {
                return None;
            };
            let is_it = rest.constant == 0 && self.constant(args[1]) == Some(factor);
            is_it.then(|| self.value(args[0], false))
        };
        of_all().or_else(|| Sum::default().plus(factor, &self.most(index)?))
    }

    /// The extent of the dimension of an index.
    fn extent_along(&self, index: ScalarId) -> Option<Sum> {
        self.size_along(index).map(|size| self.extent(size, true))
    }

    fn size_along(&self, index: ScalarId) -> Option<Size> {
        let Definition::Index(level) = self.definition(index) else { return None };
        self.flattener.extents_along.get(&level).copied()
    }

    /// An extent as a sum; `is_there` says that it is not 0.
    fn extent(&self, size: Size, is_there: bool) -> Sum {
        match self.flattener.same_size(size) {
            Size::Constant(value) => Sum::constant(value.into()),
            Size::Var(var) => self.host(var, is_there),
        }
    }

    /// A variable of the host as a sum.
    fn host(&self, var: Var, is_there: bool) -> Sum {
        match self.flattener.definitions.get(&var) {
            Some(&id) => self.value(id, is_there),
            None => Sum::term(Term::Var(var)),
        }
    }

    /// What the host has as a sum; `is_there` says that it is greater than 0.
    fn value(&self, id: ScalarId, is_there: bool) -> Sum {
        let own = || Sum::term(Term::Scalar(id));
        if let Some(value) = self.constant(id) {
            return Sum::constant(value);
        }
        if self.look().is_none() {
            return own();
        }
        let is_nothing = |id: ScalarId| self.constant(id).is_some_and(|value| value <= 0);
        match self.definition(id) {
            Definition::Host(var) => self.extent(Size::Var(var), is_there),
            Definition::Checked(value, condition, _) => {
                // At a point of a dimension the host has checked what its extent is made of.
                if is_there && self.says_natural(condition, value) {
                    self.natural.borrow_mut().insert(value);
                }
                self.value(value, is_there)
            }
            Definition::Op(op, args) => match (op, &args[..]) {
                (ScalarOp::Max, &[a, b]) if is_there && is_nothing(b) => self.value(a, true),
                (ScalarOp::Max, &[a, b]) if is_there && is_nothing(a) => self.value(b, true),
                (ScalarOp::Select, &[_, a, b]) if is_there && is_nothing(b) => self.value(a, true),
                (ScalarOp::Min, &[a, b]) if is_there => {
                    // Both are then.
                    self.value(a, true);
                    self.value(b, true);
                    own()
                }
                (ScalarOp::Add | ScalarOp::Sub, &[a, b]) => {
                    // That the sum is there says nothing of its parts but that their checks hold.
                    if is_there {
                        self.note_checks(a);
                        self.note_checks(b);
                    }
                    let (first, second) = (self.value(a, false), self.value(b, false));
                    let sum = first.plus(if op == ScalarOp::Add { 1 } else { -1 }, &second);
                    sum.filter(|_| self.interval(id).is_some()).unwrap_or_else(own)
                }
                _ => own(),
            },
            Definition::Result(..) if is_there => match self.flattener.branches(id) {
                Some((a, b)) if is_nothing(b) => self.value(a, true),
                Some((a, b)) if is_nothing(a) => self.value(b, true),
                _ => own(),
            },
            _ => own(),
        }
    }

    /// Takes up what the checks say that stand in the definition of what the host has.
    fn note_checks(&self, id: ScalarId) {
        if self.look().is_none() {
            return;
        }
        match self.definition(id) {
            Definition::Checked(value, condition, _) => {
                if self.says_natural(condition, value) {
                    self.natural.borrow_mut().insert(value);
                }
                self.note_checks(value);
            }
            Definition::Op(_, args) => args.iter().for_each(|arg| self.note_checks(*arg)),
            Definition::Host(var) => {
                if let Some(&id) = self.flattener.definitions.get(&var) {
                    self.note_checks(id);
                }
            }
            _ => {}
        }
    }

    /// Takes up what a condition says that the host has checked.
    fn learn(&mut self, condition: ScalarId) {
        let Definition::Op(op, args) = self.definition(condition) else { return };
        let &[a, b] = &args[..] else { return };
        let (greater, less, gap) = match op {
            ScalarOp::And => {
                self.learn(a);
                return self.learn(b);
            }
            ScalarOp::Ge => (a, b, 0),
            ScalarOp::Gt => (a, b, 1),
            ScalarOp::Le => (b, a, 0),
            ScalarOp::Lt => (b, a, 1),
            _ => return,
        };
        let is_integer = self.flattener.scalars.ty(a) == ScalarType::I64;
        if !is_integer || self.flattener.scalars.depth(condition) > 0 {
            return;
        }
        if self.constant(less).is_some_and(|less| less >= 0) {
            self.natural.borrow_mut().insert(greater);
        }
        let difference = self.value(greater, false).plus(-1, &self.value(less, false));
        let fact = difference.and_then(|difference| difference.plus(-1, &Sum::constant(gap)));
        self.facts.extend(fact.filter(|fact| !fact.terms.is_empty()));
    }

    /// Whether a condition is that a scalar is at least 0, or more.
    fn says_natural(&self, condition: ScalarId, value: ScalarId) -> bool {
        match self.definition(condition) {
            Definition::Op(op, args) => match (op, &args[..]) {
                (ScalarOp::Ge | ScalarOp::Gt, &[a, b]) => {
                    a == value && self.constant(b).is_some_and(|least| least >= 0)
                }
                (ScalarOp::Le | ScalarOp::Lt, &[a, b]) => {
                    b == value && self.constant(a).is_some_and(|least| least >= 0)
                }
                (ScalarOp::And, &[a, b]) => {
                    self.says_natural(a, value) || self.says_natural(b, value)
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// The least and the greatest value of a scalar; none where its computation may wrap.
    fn interval(&self, id: ScalarId) -> Option<(i128, i128)> {
        if let Some(value) = self.constant(id) {
            return Some((value, value));
        }
        self.look()?;
        let known = match self.definition(id) {
            Definition::Index(_) => {
                let high =
                    self.size_along(id).map_or(MOST_ELEMENTS, |size| self.interval_of_size(size).1);
                (0, (high - 1).max(0))
            }
            Definition::Host(var) => self.interval_of_host(var),
            Definition::Read(var, _) => {
                let element = self.flattener.definitions.get(&var);
                element.and_then(|element| self.interval(*element)).unwrap_or(ANY)
            }
            Definition::Checked(value, ..) => self.interval(value)?,
            Definition::Op(op, args) => {
                let (a, b) = match args[..] {
                    [a, b] => (self.interval(a), self.interval(b)),
                    _ => (None, None),
                };
                match (op, a, b) {
                    (ScalarOp::Min, a, b) => {
                        let (a, b) = (a.unwrap_or(ANY), b.unwrap_or(ANY));
                        (a.0.min(b.0), a.1.min(b.1))
                    }
                    (ScalarOp::Max, a, b) => {
                        let (a, b) = (a.unwrap_or(ANY), b.unwrap_or(ANY));
                        (a.0.max(b.0), a.1.max(b.1))
                    }
                    (ScalarOp::Add, Some(a), Some(b)) => (a.0 + b.0, a.1 + b.1),
                    (ScalarOp::Sub, Some(a), Some(b)) => (a.0 - b.1, a.1 - b.0),
                    (ScalarOp::Mul, Some(a), Some(b)) if a.0 >= 0 && b.0 >= 0 => {
                        (a.0 * b.0, a.1 * b.1)
                    }
                    (ScalarOp::FloorDiv, Some(a), Some(b)) if b.0 == b.1 && b.0 > 0 => {
                        (a.0.div_euclid(b.0), a.1.div_euclid(b.0))
                    }
                    (ScalarOp::Add | ScalarOp::Sub | ScalarOp::Mul, ..) => return None,
                    _ => ANY,
                }
            }
            _ => ANY,
        };
        let is_natural = self.natural.borrow().contains(&id);
        let (low, high) = if is_natural { (known.0.max(0), known.1) } else { known };
        (ANY.0 <= low && high <= ANY.1).then_some((low, high))
    }

    fn interval_of(&self, term: Term) -> (i128, i128) {
        match term {
            Term::Var(var) => self.interval_of_host(var),
            Term::Scalar(id) => self.interval(id).unwrap_or(ANY),
        }
    }

    fn interval_of_host(&self, var: Var) -> (i128, i128) {
        let is_extent = self.flattener.extents.iter().any(|extents| extents.contains(&var));
        if is_extent || self.is_around(Size::Var(var)) {
            return self.interval_of_size(Size::Var(var));
        }
        match self.flattener.definitions.get(&var) {
            Some(&id) => self.interval(id).unwrap_or(ANY),
            None => ANY,
        }
    }

    fn interval_of_size(&self, size: Size) -> (i128, i128) {
        match self.flattener.same_size(size) {
            Size::Constant(value) => (value.into(), value.into()),
            Size::Var(var) => {
                let known = self.flattener.definitions.get(&var);
                let (low, high) = known.and_then(|id| self.interval(*id)).unwrap_or(NATURAL);
                (low.max(0), high.min(MOST_ELEMENTS))
            }
        }
    }

    fn look(&self) -> Option<()> {
        self.looks.set(self.looks.get().checked_sub(1)?);
        Some(())
    }

    fn definition(&self, id: ScalarId) -> Definition {
        self.flattener.scalars.node(id).definition.clone()
    }

    fn constant(&self, id: ScalarId) -> Option<i128> {
        self.flattener.scalars.known_integer(id).map(i128::from)
    }
}
