//! Loops that few lanes take.
//!
//! Note [Few lanes]. A loop in a side of a conditional runs for all lanes of a group if one of them takes
//! that side. Where one in a hundred does, that is nearly all of them for nothing. So a function whose loops
//! are all in one side of a conditional finds out first, for each group, which lanes take it. If it
//! is none or more than half of them, the group is computed as any other. Else it is computed without what is in
//! that side, the results of those lanes are left as they are, and their positions are noted; as soon as as many
//! are noted as make a group, these lanes are computed as a group of their own. Nothing but a choice may
//! come after the side, so that what is not computed cannot be an error.

use weft_ir::code::{Code, Instruction, Operand, Operation, Register};
use weft_ir::{Scalar, ScalarType};

use super::guarded::partial;
use super::print::{Text, drop_unused, parameters};
use super::{Builder, Lanes, Value, written};

/// To find out who loops is worth as many instructions at most: it is done twice.
const MOST_BEFORE: usize = 64;

/// The functions around that of a group (Note [Few lanes]).
pub(super) const GROUPS: &str = include_str!("../prelude/few.c");

/// Where in a code a side of a conditional is: the numbers of the instructions around it, from outside, and which
/// side it is of each.
type Path = Vec<(usize, bool)>;

/// The side of a conditional in which all loops of some code are.
pub(super) fn looping_side<'a>(given: &Lanes<'a>) -> Option<&'a Code> {
    if given.rows || !given.folds.is_empty() {
        return None;
    }
    let path = path(given.code)?;
    let mut code = given.code;
    for &(at, holds) in &path {
        if code.instructions[at + 1..].iter().any(matters) {
            return None;
        }
        code = side(&code.instructions[at], holds);
    }
    let before = before(given.code, &path, &mut 0);
    (before.walk().count() <= MOST_BEFORE).then_some(code)
}

/// Whether it matters for which lanes an instruction runs.
fn matters(instruction: &Instruction) -> bool {
    partial(&Code { instructions: vec![instruction.clone()], results: Vec::new() })
}

fn path(code: &Code) -> Option<Path> {
    let mut path = Vec::new();
    let mut code = code;
    loop {
        let loops = code.instructions.iter().enumerate().filter(|(_, it)| has_loops(it));
        let loops: Vec<usize> = loops.map(|(at, _)| at).collect();
        let next = match loops[..] {
            [at] => match &code.instructions[at].operation {
                Operation::If { then, otherwise, .. } => {
                    match (then.has_loops(), otherwise.has_loops()) {
                        (true, false) => Some((at, true)),
                        (false, true) => Some((at, false)),
                        _ => None,
                    }
                }
                _ => None,
            },
            _ => None,
        };
        let Some((at, holds)) = next else { return (!path.is_empty()).then_some(path) };
        path.push((at, holds));
        code = side(&code.instructions[at], holds);
    }
}

fn has_loops(instruction: &Instruction) -> bool {
    match &instruction.operation {
        Operation::While { .. } => true,
        Operation::If { then, otherwise, .. } => then.has_loops() || otherwise.has_loops(),
        _ => false,
    }
}

fn side(instruction: &Instruction, holds: bool) -> &Code {
    match &instruction.operation {
        Operation::If { then, otherwise, .. } => {
            if holds {
                then
            } else {
                otherwise
            }
        }
        _ => panic!("lanes: a path leads through conditionals"),
    }
}

/// Code that says whether a lane takes the side; its new registers are numbered from `free` on.
fn before(code: &Code, path: &[(usize, bool)], free: &mut u32) -> Code {
    let constant = |holds| Operand::Scalar(Scalar::Bool(holds));
    let Some((&(at, holds), rest)) = path.split_first() else {
        return Code { instructions: Vec::new(), results: vec![constant(true)] };
    };
    let mut instructions = code.instructions[..at].to_vec();
    let around = &code.instructions[at];
    let Operation::If { condition, .. } = &around.operation else {
        panic!("lanes: a path leads through conditionals")
    };
    let taken = before(side(around, holds), rest, free);
    let other = Code { instructions: Vec::new(), results: vec![constant(false)] };
    let (then, otherwise) = if holds { (taken, other) } else { (other, taken) };
    let result = Register(*free);
    *free += 1;
    instructions.push(Instruction {
        results: vec![(result, ScalarType::Bool)],
        operation: Operation::If { condition: *condition, then, otherwise },
        span: around.span,
    });
    Code { instructions, results: vec![Operand::Register(result)] }
}

impl Builder<'_> {
    /// Makes the guard of the side hold for no lane that is skipped.
    pub(super) fn skip(&mut self) {
        let Some(guard) = self.guard.take() else { return };
        self.guard = Some(match guard.varies {
            false => guard,
            true => {
                self.skips = true;
                let name = "skipped".to_owned();
                self.line(Some((&name, "bool")), "skip ? skip[lane] : false", &[]);
                let skipped = Value { text: name, ty: ScalarType::Bool, varies: true };
                let text = format!("{} & !skipped", guard.name);
                self.compute(&text, ScalarType::Bool, &[guard.value(), skipped]).into_mask()
            }
        });
    }

    /// The function that notes which lanes take the side.
    pub(super) fn looping(&mut self) -> String {
        let path = path(self.given.code).expect("there is a side that loops");
        let Register(mut free) = self.given.free_register();
        let code = before(self.given.code, &path, &mut free);
        let given = Lanes { code: &code, results: &code.results, ..*self.given };
        let mut builder = written(&given, false);
        let taken = builder.value(&code.results[0]);
        builder.line(None, &format!("looping[lane] = {};", taken.text), &[&taken]);
        builder.close_segment();
        let mut nodes = builder.scopes.pop().expect("the function is a scope").nodes;
        while drop_unused(&mut nodes) {}
        let mut text = Text::of_group(&nodes);
        text.line(0, "FUNCTION u32 KERNEL_looping(const struct block *restrict const block,");
        text.line(0, "    const i64 first, const i64 count, bool *restrict const looping) {");
        parameters(&builder).iter().for_each(|line| text.line(1, line));
        text.nodes(1, &nodes);
        text.line(1, "return 0;");
        text.line(0, "}");
        self.functions.merge(&builder.functions);
        text.finish()
    }
}
