//! Writes one kernel: the body, the sinks, the epilogue.

use std::collections::BTreeSet;

use weft_ir::code::{
    Code, Instruction, Operand, Operation as CodeOperation, Operator, Register, Thunk,
};
use weft_ir::flat::{Operation, Space, Start, Var};
use weft_ir::plan::{Epilogue, Kernel, Sink};
use weft_ir::{Scalar, ScalarOp, ScalarType};

use super::super::cluster::{Arrangement, Clustering};
use super::super::compose::{Composer, Delayed, Lookup, Renaming};
use super::super::graph::Graph;
use super::super::interleave::elements_of;
use super::super::prune::remove_dead_code;
use super::super::region::Kind;
use super::{Context, Members, element, kept, name};

/// The kernel of a cluster.
pub(super) fn write(
    graph: &Graph,
    clustering: &Clustering,
    context: &Context,
    members: &[usize],
    arrangement: &Arrangement,
) -> Kernel {
    let region = graph.region;
    let inside: BTreeSet<usize> = members.iter().copied().collect();
    let lookup = Members { graph, members: &inside };
    let space = region.nodes[arrangement.main].space;
    let mut writer = Writer {
        graph,
        clustering,
        context,
        composer: Composer::new(&lookup),
        sinks: Vec::new(),
        given: Vec::new(),
    };
    let indices = writer.composer.enter_point(space.len());
    for member in members {
        if !arrangement.epilogue.contains(member) {
            writer.member(*member, &lookup);
        }
    }
    let results: Vec<Operand> = writer.sinks.iter().flat_map(Sink::operands).copied().collect();
    if writer.sinks.is_empty() && arrangement.epilogue.is_empty() {
        let sink = writer.only_checks(arrangement.main);
        writer.sinks.push(sink);
    }
    let mut body = Code { instructions: writer.composer.take(), results };
    let epilogue =
        (!arrangement.epilogue.is_empty()).then(|| writer.epilogue(&arrangement.epilogue, &lookup));
    if let Some(epilogue) = &epilogue {
        // A filter's epilogue sees the body's registers at the points that are kept.
        let filtered =
            writer.given.iter().filter(|(index, _)| region.nodes[*index].kind == Kind::Filter);
        let given: Vec<Operand> =
            filtered.flat_map(|(_, elements)| elements.iter().copied()).collect();
        let used = used_registers(epilogue);
        body.results.extend(given.into_iter().filter(|operand| match operand {
            Operand::Register(register) => used.contains(register),
            Operand::Scalar(_) => false,
        }));
    }
    body.results = distinct(&body.results);
    remove_dead_code(&mut body);
    let mut fused = writer.composer.absorbed.clone();
    for member in members {
        for part in &graph.parts[*member] {
            let results = &region.nodes[*part].statement.results;
            fused.extend(results);
            for array in results.iter().filter_map(|result| context.absorbed.get(result)) {
                fused.extend(array);
            }
        }
    }
    let mut kernel = Kernel {
        name: name(&skeleton(&writer.sinks, epilogue.is_some())),
        space: space.clone(),
        indices,
        body,
        sinks: writer.sinks,
        epilogue,
        fused: Vec::new(),
        span: graph.parts[members[0]]
            .first()
            .map_or(region.nodes[members[0]].statement.span, |part| {
                region.nodes[*part].statement.span
            }),
    };
    for var in kernel.results() {
        fused.remove(&var);
    }
    kernel.fused = fused.into_iter().filter(|array| region.rank(*array) > 0).collect();
    kernel
}

struct Writer<'a, 'r, 'p> {
    graph: &'a Graph<'r, 'p>,
    clustering: &'a Clustering,
    context: &'a Context<'a>,
    composer: Composer<'a, 'p>,
    sinks: Vec<Sink>,
    /// What the epilogue knows: the elements of a statement at its points.
    given: Vec<(usize, Vec<Operand>)>,
}

impl<'a, 'r, 'p> Writer<'a, 'r, 'p> {
    /// Writes a statement of the body and its sinks.
    fn member(&mut self, index: usize, lookup: &Members<'_, 'r, 'p>) {
        let node = &self.graph.region.nodes[index];
        let results = &node.statement.results;
        let Some(thunk) = node.thunk else { return };
        if node.kind == Kind::Map {
            let values = self.map(index, lookup);
            for (value, array) in values.into_iter().zip(results) {
                if let Some(array) = kept(self.graph, self.clustering, index, *array) {
                    self.sinks.push(Sink::Store { value, array });
                }
            }
            return;
        }
        if let (Kind::Interleave, Operation::Map { space, .. }) =
            (node.kind, &node.statement.operation)
        {
            self.interleave(index, thunk, space);
            return;
        }
        let point = self.composer.stored_point(node.space);
        let values = self.composer.instantiate(index as u32, thunk, node.space, point);
        let sink = match &node.statement.operation {
            Operation::Reduce { operator, start, .. } => {
                let registers = self.registers(index);
                Sink::Reduce {
                    values,
                    operator: self.operator(operator),
                    start: self.start(start, index),
                    registers,
                    arrays: self.arrays(index),
                }
            }
            Operation::Scan { form, from_right, operator, start, full, .. } => {
                let registers = if full.is_none() { self.registers(index) } else { Vec::new() };
                Sink::Scan {
                    values,
                    form: *form,
                    from_right: *from_right,
                    operator: self.operator(operator),
                    start: self.start(start, index),
                    full: *full,
                    registers,
                    arrays: self.arrays(index),
                }
            }
            Operation::Filter { space, .. } => {
                let (counts, arrays) = results.split_at(if space.len() > 1 { 2 } else { 1 });
                // The counts are no elements: they only hold the places of the results.
                let mut elements = vec![Operand::Scalar(Scalar::I64(0)); counts.len()];
                elements.extend(&values[1..]);
                self.given.push((index, elements));
                let kept = values[1..].iter().zip(arrays).filter_map(|(value, array)| {
                    let array = kept(self.graph, self.clustering, index, *array)?;
                    Some((*value, array))
                });
                Sink::Filter { flag: values[0], counts: counts.to_vec(), kept: kept.collect() }
            }
            Operation::Scatter { destinations, operator, .. } => {
                let (target, values) = values.split_at(values.len() - destinations.len());
                Sink::Scatter {
                    target: target.to_vec(),
                    values: values.to_vec(),
                    destinations: destinations.clone(),
                    operator: operator.as_ref().map(|operator| self.operator(operator)),
                    arrays: results.clone(),
                }
            }
            Operation::Sort { descending, .. } => {
                Sink::Sort { keys: values, descending: *descending, order: results[0] }
            }
            // The other operations are no kernels.
            _ => return,
        };
        self.sinks.push(sink);
    }

    /// The elements of literal rows, whose map has this space, at the present point (Note [Rows of literals]).
    fn interleave(&mut self, index: usize, thunk: &'p Thunk, space: &Space) {
        let node = &self.graph.region.nodes[index];
        let mut elements = vec![Vec::new(); node.statement.results.len()];
        for inner in elements_of(&space[node.space.len()..]) {
            let mut point = self.composer.stored_point(node.space);
            point.extend(inner);
            let values = self.composer.instantiate(index as u32, thunk, space, point);
            elements.iter_mut().zip(values).for_each(|(elements, value)| elements.push(value));
        }
        for (values, array) in elements.into_iter().zip(&node.statement.results) {
            if let Some(array) = kept(self.graph, self.clustering, index, *array) {
                self.sinks.push(Sink::Interleave { values, array });
            }
        }
    }

    /// The elements of a map at the present point.
    fn map(&mut self, index: usize, lookup: &Members<'_, 'r, 'p>) -> Vec<Operand> {
        let node = &self.graph.region.nodes[index];
        match node.statement.results.first() {
            Some(first) => match lookup.delayed(*first) {
                Some(delayed) => self.composer.element_here(delayed),
                None => Vec::new(),
            },
            None => self.composer.element_here(Delayed {
                statement: index as u32,
                result: 0,
                thunk: node.thunk,
                space: node.space,
            }),
        }
    }

    /// Registers for the results of a reduction or scan in the epilogue.
    fn registers(&mut self, index: usize) -> Vec<(Register, ScalarType)> {
        let results = &self.graph.region.nodes[index].statement.results;
        let registers: Vec<(Register, ScalarType)> = results
            .iter()
            .map(|result| (self.composer.fresh(), element(self.context.types, *result)))
            .collect();
        let elements = registers.iter().map(|(register, _)| Operand::Register(*register)).collect();
        self.given.push((index, elements));
        registers
    }

    fn arrays(&self, index: usize) -> Vec<Option<Var>> {
        let results = &self.graph.region.nodes[index].statement.results;
        results.iter().map(|result| kept(self.graph, self.clustering, index, *result)).collect()
    }

    fn operator(&mut self, operator: &Operator) -> Operator {
        let mut renaming = Renaming::new();
        let mut side = |registers: &[(Register, ScalarType)], composer: &mut Composer<'a, 'p>| {
            let mut fresh = Vec::with_capacity(registers.len());
            for (register, ty) in registers {
                let new = composer.fresh();
                renaming.insert(*register, Operand::Register(new));
                fresh.push((new, *ty));
            }
            fresh
        };
        let left = side(&operator.left, &mut self.composer);
        let right = side(&operator.right, &mut self.composer);
        let (instructions, results) =
            self.composer.apart(|composer| composer.write(&operator.code, &mut renaming));
        let mut code = Code { instructions, results };
        remove_dead_code(&mut code);
        Operator { left, right, code }
    }

    fn start(&mut self, start: &Start<Thunk>, index: usize) -> Start<Thunk> {
        match start {
            Start::None => Start::None,
            Start::Combined(thunk) => Start::Combined(self.start_thunk(thunk, index)),
            Start::IfEmpty(thunk) => Start::IfEmpty(self.start_thunk(thunk, index)),
        }
    }

    fn start_thunk(&mut self, thunk: &Thunk, index: usize) -> Thunk {
        let space = self.graph.region.nodes[index].space;
        let outer = space[..space.len().saturating_sub(1)].to_vec();
        let (instructions, (indices, results)) = self.composer.apart(|composer| {
            let indices = composer.enter_point(outer.len());
            let mut renaming: Renaming = thunk
                .indices
                .iter()
                .zip(&indices)
                .map(|(old, new)| (*old, Operand::Register(*new)))
                .collect();
            (indices, composer.write(&thunk.code, &mut renaming))
        });
        let mut code = Code { instructions, results };
        remove_dead_code(&mut code);
        Thunk { indices, code }
    }

    /// A sink for a body that only checks: it holds at every point, or the check has failed.
    fn only_checks(&mut self, index: usize) -> Sink {
        let outer = self.graph.region.nodes[index].space.len().saturating_sub(1);
        let (left, right, result) =
            (self.composer.fresh(), self.composer.fresh(), self.composer.fresh());
        let both = Instruction {
            results: vec![(result, ScalarType::Bool)],
            operation: CodeOperation::Scalar(
                ScalarOp::And,
                vec![Operand::Register(left), Operand::Register(right)],
            ),
            span: self.graph.region.nodes[index].statement.span,
        };
        let code = Code { instructions: vec![both], results: vec![Operand::Register(result)] };
        let holds = Operand::Scalar(Scalar::Bool(true));
        let start = Thunk {
            indices: (0..outer).map(|_| self.composer.fresh()).collect(),
            code: Code { instructions: Vec::new(), results: vec![holds] },
        };
        let register = self.composer.fresh();
        Sink::Reduce {
            values: vec![holds],
            operator: Operator {
                left: vec![(left, ScalarType::Bool)],
                right: vec![(right, ScalarType::Bool)],
                code,
            },
            start: Start::IfEmpty(start),
            registers: vec![(register, ScalarType::Bool)],
            arrays: vec![None],
        }
    }

    fn epilogue(&mut self, members: &BTreeSet<usize>, lookup: &Members<'_, 'r, 'p>) -> Epilogue {
        let region = self.graph.region;
        let given = self.given.clone();
        // All members run over one space.
        let Some(space) = members.first().map(|member| region.nodes[*member].space) else {
            return Epilogue { indices: Vec::new(), code: Code::default(), stores: Vec::new() };
        };
        let (graph, clustering) = (self.graph, self.clustering);
        let (instructions, (indices, stores)) = self.composer.apart(|composer| {
            let indices = composer.enter_point(space.len());
            let point = composer.stored_point(space);
            for (statement, elements) in given {
                composer.give(statement as u32, &point, elements);
            }
            let mut stores = Vec::new();
            for member in members {
                let results = &region.nodes[*member].statement.results;
                let Some(first) = results.first() else { continue };
                let Some(delayed) = lookup.delayed(*first) else { continue };
                let values = composer.element_here(delayed);
                for (value, array) in values.into_iter().zip(results) {
                    if let Some(array) = kept(graph, clustering, *member, *array) {
                        stores.push((value, array));
                    }
                }
            }
            (indices, stores)
        });
        let results: Vec<Operand> = stores.iter().map(|(value, _)| *value).collect();
        let mut code = Code { instructions, results: distinct(&results) };
        remove_dead_code(&mut code);
        Epilogue { indices, code, stores }
    }
}

/// The registers among the operands, each once.
fn distinct(operands: &[Operand]) -> Vec<Operand> {
    let mut seen = BTreeSet::new();
    operands
        .iter()
        .filter(|operand| match operand {
            Operand::Register(register) => seen.insert(*register),
            Operand::Scalar(_) => false,
        })
        .copied()
        .collect()
}

/// The registers that an epilogue uses; more than are free in it, but no others of the body.
fn used_registers(epilogue: &Epilogue) -> BTreeSet<Register> {
    let stored = epilogue.stores.iter().filter_map(|(value, _)| value.register());
    let mut used: BTreeSet<Register> = stored.collect();
    epilogue.code.for_each_used(&mut |operand| used.extend(operand.register()));
    used
}

/// The words of a kernel's name: what it does, in the order of its sinks, each once.
fn skeleton(sinks: &[Sink], has_epilogue: bool) -> Vec<&'static str> {
    let mut words = Vec::new();
    for sink in sinks {
        let word = match sink {
            Sink::Store { .. } | Sink::Interleave { .. } => "map",
            Sink::Reduce { .. } => "reduce",
            Sink::Scan { .. } => "scan",
            Sink::Filter { .. } => "filter",
            Sink::Scatter { .. } => "scatter",
            Sink::Sort { .. } => "sort",
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    if has_epilogue {
        words.extend(["then", "map"]);
    }
    words
}
