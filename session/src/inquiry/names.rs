//! What people call the arrays of a plan, and how large they are: names and sizes of the source in
//! the place of `a7`.

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::code::{Code, Operand, Operation, Register};
use weft_ir::flat::{Dimension, Size, Space, Type, Var};
use weft_ir::leaves::bind_inputs;
use weft_ir::plan::{Block, Step};
use weft_ir::{Scalar, Span, math};
use weft_lang::render::Sources as _;

use super::{Context, launches};
use crate::engine::Stages;
use crate::modes::size_text;
use crate::sources::Sources;

/// What people call the variables of a plan.
pub(super) struct Names<'a> {
    context: &'a Context<'a>,
    /// The earlier bindings that are inputs.
    inputs: BTreeMap<Var, String>,
    /// The names that the source binds to what the program computes.
    bound: BTreeMap<Var, String>,
    /// Those of them that stand for several arrays.
    ambiguous: BTreeSet<String>,
    /// What is said of arrays that no kernel writes.
    others: BTreeMap<Var, String>,
    /// Scalars that are known before anything runs.
    scalars: BTreeMap<Var, Scalar>,
    stages: &'a Stages,
}

impl<'a> Names<'a> {
    pub(super) fn new(context: &'a Context<'a>, stages: &'a Stages) -> Names<'a> {
        let mut names = Names {
            context,
            inputs: BTreeMap::new(),
            bound: BTreeMap::new(),
            ambiguous: BTreeSet::new(),
            others: BTreeMap::new(),
            scalars: BTreeMap::new(),
            stages,
        };
        names.name_inputs();
        names.name_results();
        let plan = &stages.compiled.plan;
        launches::others(&plan.body, &names.inputs, &mut names.others);
        for (var, stored) in bind_inputs(&plan.inputs, &plan.types, &stages.inputs) {
            names.scalars.extend(stored.as_scalar().map(|scalar| (var, scalar)));
        }
        names.evaluate(&plan.body);
        names
    }

    fn name_inputs(&mut self) {
        let mut leaves_left = self.stages.compiled.plan.inputs.iter();
        for (global, ty) in &self.stages.lowered.inputs {
            let name = self.context.state.name_of(*global);
            let mut own = Vec::new();
            leaf_names(&name, ty, &mut own);
            for (leaf, name) in leaves_left.by_ref().take(own.len()).zip(own) {
                for dimension in &leaf.axes {
                    if let Dimension::Ragged { offsets, .. } = *dimension {
                        self.inputs.insert(offsets, format!("the rows of {name}"));
                    }
                }
                self.inputs.insert(leaf.data, name);
            }
        }
    }

    fn name_results(&mut self) {
        let mut seen = BTreeSet::new();
        for (var, span) in &self.stages.compiled.report.spans {
            let is_array = !self.ty(*var).extents.is_empty();
            if let Some(name) = bound_name(self.context.sources, *span).filter(|_| is_array) {
                if !seen.insert(name.clone()) || self.inputs.values().any(|input| *input == name) {
                    self.ambiguous.insert(name.clone());
                }
                self.bound.insert(*var, name);
            }
        }
    }

    /// Evaluates what the host computes from known scalars alone: most sizes.
    fn evaluate(&mut self, block: &Block) {
        for step in &block.steps {
            match step {
                Step::Host { results, code, .. } => {
                    let values = known_results(code, &self.scalars);
                    for (result, value) in results.iter().zip(values) {
                        self.scalars.extend(value.map(|value| (*result, value)));
                    }
                }
                Step::If { then, otherwise, .. } => {
                    self.evaluate(then);
                    self.evaluate(otherwise);
                }
                Step::While { condition, body, .. } => {
                    self.evaluate(condition);
                    self.evaluate(body);
                }
                Step::Launch(_)
                | Step::Reshape { .. }
                | Step::Constant { .. }
                | Step::Check { .. }
                | Step::Free(_) => {}
            }
        }
    }

    /// The name of a variable: that of the source, if it has one.
    pub(super) fn of(&self, var: Var) -> String {
        match (self.inputs.get(&var), self.bound.get(&var)) {
            (Some(name), _) => name.clone(),
            (None, Some(name)) if self.ambiguous.contains(name) => format!("{name} ({var})"),
            (None, Some(name)) => name.clone(),
            (None, None) => var.to_string(),
        }
    }

    /// What an array is that no kernel writes: the state of a loop, say.
    pub(super) fn remark(&self, var: Var) -> Option<&str> {
        self.others.get(&var).map(String::as_str)
    }

    /// The type of a variable.
    pub(super) fn ty(&self, var: Var) -> &'a Type {
        &self.stages.compiled.plan.types[var.0 as usize]
    }

    /// The types of all variables.
    pub(super) fn types(&self) -> &'a [Type] {
        &self.stages.compiled.plan.types
    }

    /// The type of a variable as text, with the sizes that are known.
    pub(super) fn type_text(&self, var: Var) -> String {
        let ty = self.ty(var);
        let extents: Vec<String> =
            ty.extents.iter().map(|size| format!("[{}]", self.size(*size))).collect();
        format!("{}{}", extents.concat(), ty.element)
    }

    /// The bytes of a variable, if its sizes are known.
    pub(super) fn bytes(&self, var: Var) -> Option<u64> {
        let ty = self.ty(var);
        Some(self.count(&ty.extents)? * ty.element.bytes() as u64)
    }

    /// The product of sizes, if all are known.
    pub(super) fn count(&self, sizes: &[Size]) -> Option<u64> {
        sizes.iter().try_fold(1u64, |product, size| {
            let size = match *size {
                Size::Constant(value) => value,
                Size::Var(var) => match self.scalars.get(&var) {
                    Some(Scalar::I64(value)) => *value,
                    _ => return None,
                },
            };
            product.checked_mul(u64::try_from(size).ok()?)
        })
    }

    fn size(&self, size: Size) -> String {
        match (self.count(&[size]), size) {
            (Some(value), _) => value.to_string(),
            (None, Size::Var(var)) => self.of(var),
            (None, Size::Constant(value)) => value.to_string(),
        }
    }

    /// The points of a kernel.
    pub(super) fn space(&self, space: &Space) -> String {
        if space.is_empty() {
            return "one point".to_owned();
        }
        let dimensions = space.iter().map(|dimension| match *dimension {
            Dimension::Dense(size) => format!("[{}]", self.size(size)),
            Dimension::Ragged { offsets, .. } => match self.inputs.get(&offsets) {
                Some(name) => format!("[{name}]"),
                None => format!("[the rows of {}]", self.of(offsets)),
            },
        });
        dimensions.collect::<Vec<_>>().concat()
    }

    /// The source of an expression in one short line.
    pub(super) fn excerpt(&self, span: Span) -> String {
        const MOST: usize = 60;
        let text = self.context.sources.slice(span);
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(MOST) {
            Some((end, _)) => format!("`{}…`", &line[..end]),
            None => format!("`{line}`"),
        }
    }

    /// Where an expression stands.
    pub(super) fn place(&self, span: Span) -> String {
        self.context.sources.place(span)
    }

    /// The expression that computes a variable, if there is one.
    pub(super) fn span(&self, var: Var) -> Option<Span> {
        self.stages.compiled.report.spans.get(&var).copied()
    }

    /// The bytes of some arrays as text: `8k`, or nothing if they are not known.
    pub(super) fn bytes_of(&self, vars: &[Var]) -> Option<String> {
        let sum = vars.iter().try_fold(0u64, |sum, var| Some(sum + self.bytes(*var)?));
        sum.map(bytes_words)
    }
}

/// What the leaves of a value are called: `p.0`, `table.column`.
fn leaf_names(name: &str, ty: &weft_ir::Type, found: &mut Vec<String>) {
    let before = found.len();
    match ty {
        weft_ir::Type::Scalar(_) => found.push(name.to_owned()),
        weft_ir::Type::Array(element) => leaf_names(name, element, found),
        weft_ir::Type::Tuple(parts) => {
            for (number, part) in parts.iter().enumerate() {
                leaf_names(&format!("{name}.{number}"), part, found);
            }
        }
        weft_ir::Type::Record(fields) => {
            for (field, part) in fields.iter() {
                leaf_names(&format!("{name}.{field}"), part, found);
            }
        }
    }
    if found.len() == before {
        // A value without parts has a leaf all the same.
        found.push(name.to_owned());
    }
}

/// The results of code that reads nothing but known scalars; `None` for those that are not known.
fn known_results(code: &Code, scalars: &BTreeMap<Var, Scalar>) -> Vec<Option<Scalar>> {
    let mut registers: BTreeMap<Register, Scalar> = BTreeMap::new();
    for instruction in &code.instructions {
        let of = |operand: &Operand| match operand {
            Operand::Register(register) => registers.get(register).copied(),
            Operand::Scalar(scalar) => Some(*scalar),
        };
        let value = match &instruction.operation {
            Operation::Scalar(op, operands) => {
                let operands: Option<Vec<Scalar>> = operands.iter().map(of).collect();
                operands.and_then(|operands| math::eval(*op, &operands).ok())
            }
            Operation::Read(var, index) if index.is_empty() => scalars.get(var).copied(),
            Operation::Read(..)
            | Operation::Random(..)
            | Operation::Check(..)
            | Operation::If { .. }
            | Operation::While { .. } => None,
        };
        if let (Some(value), Some((register, _))) = (value, instruction.results.first()) {
            registers.insert(*register, value);
        }
    }
    let results = code.results.iter().map(|operand| match operand {
        Operand::Register(register) => registers.get(register).copied(),
        Operand::Scalar(scalar) => Some(*scalar),
    });
    results.collect()
}

/// The name that the source binds to an expression: that of `name = expression`, if nothing else
/// belongs to the binding.
fn bound_name(sources: &Sources, span: Span) -> Option<String> {
    let text = sources.text(span.source);
    let mut before = text.get(..span.start as usize)?.rsplit('\n').next()?.trim_end();
    let mut after = text.get(span.end as usize..)?.lines().next().unwrap_or("").trim_start();
    while let (Some(outer), Some(rest)) = (before.strip_suffix('('), after.strip_prefix(')')) {
        (before, after) = (outer.trim_end(), rest.trim_start());
    }
    if !(after.is_empty() || [";", "in ", "--"].iter().any(|end| after.starts_with(end))) {
        return None;
    }
    let words = before.strip_suffix('=')?.rsplit(';').next()?.trim();
    let name = words.strip_prefix("let ").or_else(|| words.rsplit_once(" let ").map(|(_, at)| at));
    let name = name.unwrap_or(words).trim();
    let mut characters = name.chars();
    let is_name = characters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|each| each.is_alphanumeric() || each == '_' || each == '\'');
    is_name.then(|| name.to_owned())
}

/// `800 bytes`, `20kB`.
pub(super) fn bytes_words(bytes: u64) -> String {
    if bytes < 10_000 { format!("{bytes} bytes") } else { size_text(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_whole_bindings() {
        let text = "def f x = let e = (exp x) in e + 1\n  let d = a + b -- why\n  ok = a <= b";
        let mut sources = Sources::default();
        let source = sources.add("In[1]", text);
        let name = |expression: &str| {
            let start = text.find(expression).expect("in the text");
            bound_name(&sources, Span::new(source, start, start + expression.len()))
        };
        assert_eq!(name("exp x").as_deref(), Some("e"));
        assert_eq!(name("a + b").as_deref(), Some("d"));
        assert_eq!(name("a <= b").as_deref(), Some("ok"));
        assert_eq!(name("a + "), None);
        assert_eq!(name("let e = (exp x) in e + 1"), None);
    }

    #[test]
    fn bytes_have_a_unit() {
        assert_eq!((bytes_words(8), bytes_words(20_000)), ("8 bytes".into(), "20kB".into()));
    }
}
