//! A box for each side of a conditional.
//!
//! Where arrays stand behind one another, a point belongs to one of them by a condition that is a bound of its
//! index. Both sides have a box then, with a code of its own: that of one array is where the condition holds, that
//! of the other where it does not.

use weft_ir::code::{Code, Operand, Register};

use super::{Bound, Finder, Interior, Limit, Number, Steady, found};

/// The most boxes of a kernel: each is a function to compile.
const MOST: usize = 4;

/// The interiors of a canonical kernel's body, no two of which have a point in common.
pub fn interiors(indices: &[Register], body: &Code, results: &[Operand]) -> Vec<Interior> {
    boxes(indices, body, results, None)
}

/// The same, where offsets may also be what is the same along a row: what comes of the other indices.
pub(crate) fn interiors_of_rows(
    indices: &[Register],
    body: &Code,
    results: &[Operand],
) -> Vec<Interior> {
    let outer = indices.split_last().map_or(&[][..], |(_, outer)| outer);
    boxes(indices, body, results, Some(&Steady::new(outer)))
}

fn boxes(
    indices: &[Register],
    body: &Code,
    results: &[Operand],
    steady: Option<&Steady>,
) -> Vec<Interior> {
    let mut interiors = Vec::new();
    let mut open = vec![Vec::new()];
    while let Some(wanted) = open.pop() {
        let first = wanted.len();
        let finder = Finder { wanted, steady: steady.cloned(), ..Finder::default() };
        let Some((interior, sides)) = found(finder, indices, indices, body, results) else {
            continue;
        };
        interiors.push(interior);
        if interiors.len() == MOST {
            break;
        }
        // The last that is put here is the next: the boxes come in the order of the arrays.
        for at in first..sides.len() {
            open.push([&sides[..at], &[true]].concat());
        }
    }
    interiors
}

/// Whether what a side yields has names, under which it can stand in the place of the conditional.
pub(super) fn yields_registers(side: &Code) -> bool {
    side.results.iter().all(|operand| matches!(operand, Operand::Register(_)))
}

impl Finder {
    /// The side of a conditional that a box takes, and what bounds that, given the bounds within which the condition
    /// holds: the first side, if it is an element of an array, or else the other; the one that is
    /// wanted where both can be.
    pub(super) fn side<'c>(
        &mut self,
        bounds: Vec<Bound>,
        then: &'c Code,
        otherwise: &'c Code,
    ) -> Option<(&'c Code, Vec<Bound>)> {
        let beyond = match &bounds[..] {
            [bound] if yields_registers(otherwise) => bound.complement(),
            _ => None,
        };
        match (yields_registers(then), beyond) {
            (true, Some(beyond)) => {
                let other = self.wanted.get(self.sides.len()).copied().unwrap_or(false);
                self.sides.push(other);
                Some(if other { (otherwise, vec![beyond]) } else { (then, bounds) })
            }
            (true, None) => Some((then, bounds)),
            (false, Some(beyond)) => Some((otherwise, vec![beyond])),
            (false, None) => None,
        }
    }
}

impl Bound {
    /// Holds where this one does not.
    pub(super) fn complement(&self) -> Option<Bound> {
        let (offset, limit) = match self.limit {
            Limit::AtLeast(number) => (self.offset.clone(), Limit::Below(number)),
            Limit::Below(number) => (self.offset.clone(), Limit::AtLeast(number)),
            Limit::AtMost(Number::Half(_)) => return None,
            Limit::AtMost(number) => (self.offset.clone().plus(1, true)?, Limit::AtLeast(number)),
        };
        Some(Bound { dimension: self.dimension, offset, limit })
    }
}

#[cfg(test)]
mod tests {
    use weft_ir::code::{Register, parse_code};
    use weft_ir::text::Reader;

    use super::interiors;
    use crate::interior::{Bound, Limit, Number, Offset};

    #[test]
    fn each_of_three_arrays_has_a_box() {
        let text = "r1: i64 = read a0
r2: bool = lt r0 r1
r9: f64 = if r2
  r3: f64 = read a1 r0
  yield r3
else
  r4: i64 = sub r0 4i64
  r5: bool = le r4 9i64
  r8: f64 = if r5
    r6: f64 = read a2 r4
    yield r6
  else
    r7: f64 = read a3 r0
    yield r7
  yield r8
yield r9
";
        let mut reader = Reader::new(text).expect("a code");
        let code = parse_code(&mut reader).expect("a code");
        let found = interiors(&[Register(0)], &code, &code.results);
        let by = |constant| Offset::default().plus(constant, false).expect("no overflow");
        let bound = |offset, limit| Bound { dimension: 0, offset: by(offset), limit };
        let first = bound(0, Limit::Below(Number::Read(0)));
        let beyond = bound(0, Limit::AtLeast(Number::Read(0)));
        let second = bound(-4, Limit::AtMost(Number::Constant(9)));
        let third = bound(-5, Limit::AtLeast(Number::Constant(9)));
        let bounds: Vec<&[Bound]> = found.iter().map(|found| &found.bounds[..]).collect();
        assert_eq!(bounds, [&[first][..], &[beyond.clone(), second][..], &[beyond, third][..]]);
        let reads: Vec<Register> = found
            .iter()
            .map(|found| found.code.instructions.last().expect("a read").results[0].0)
            .collect();
        assert_eq!(reads, [Register(3), Register(6), Register(7)]);
    }
}
