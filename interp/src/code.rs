//! The resolved program: the typed program with every variable turned into a slot of its function's
//! frame and every operator into the function that computes it. Nothing is rearranged or optimised.
//!
//! Note \[Frames\]. A function's variables live in consecutive slots of one stack: first its
//! arguments, in order, then whatever its patterns bind and its closure captured. No two variables
//! of a function share a slot, so a slot is written once per call or iteration.

use std::rc::Rc;

use weft_ir::math::{Ternary, Unary};
use weft_ir::{Name, Span, Type};
use weft_lang::builtins::Builtin;
use weft_lang::typed::{InstanceId, Size, SizeStep};

use crate::operator::{BinaryOperator, Operator};
use crate::value::Val;

/// A slot, counted from the base of the frame.
pub(crate) type Slot = usize;

/// A function whose variables are slots.
#[derive(Debug)]
pub(crate) struct Code {
    /// Its name if it has one: calls of named functions are the call sites that traps report.
    pub(crate) name: Option<Name>,
    /// Where each argument goes; argument `i` arrives in slot `i`.
    pub(crate) params: Vec<Target>,
    /// The slots of the captured variables, in the order of [`Node::Closure`].
    pub(crate) captures: Vec<Slot>,
    /// How many slots it needs.
    pub(crate) slots: usize,
    pub(crate) body: Node,
    /// Its body.
    pub(crate) span: Span,
}

impl Code {
    pub(crate) fn arity(&self) -> usize {
        self.params.len()
    }
}

/// A builtin at particular types.
#[derive(Debug)]
pub(crate) struct BuiltinCode {
    pub(crate) builtin: Builtin,
    /// How to compute it, if it is a scalar operator.
    pub(crate) operator: Option<Operator>,
    /// The types of its parameters that are types of values.
    pub(crate) params: Vec<Option<Type>>,
    /// The type of its result, if that is one of values.
    pub(crate) result: Option<Type>,
    /// Where its errors are: its name, or the application over outer axes.
    pub(crate) span: Span,
}

/// Where the parts of a value go.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Ignore,
    Slot(Slot),
    Tuple(Vec<Target>),
}

/// An expression.
#[derive(Debug)]
pub(crate) enum Node {
    Constant(Val),
    Local(Slot),
    /// A variable at its last use: its value is moved out (see [`crate::liveness`]).
    Take(Slot),
    Instance(InstanceId),
    Closure {
        code: Rc<Code>,
        /// The variables of the surrounding function that it captures.
        captures: Vec<Slot>,
    },
    Unary {
        function: Unary,
        operand: Box<Node>,
        span: Span,
    },
    Binary {
        operator: BinaryOperator,
        operands: Box<[Node; 2]>,
        span: Span,
    },
    Ternary {
        function: Ternary,
        operands: Box<[Node; 3]>,
        span: Span,
    },
    And(Box<[Node; 2]>),
    Or(Box<[Node; 2]>),
    /// `if` and `select`: only one of the last two is evaluated.
    If(Box<[Node; 3]>),
    Index {
        array: Box<Node>,
        indices: Vec<Node>,
        span: Span,
    },
    Update(Box<Update>),
    /// A builtin applied to all its arguments.
    Builtin {
        code: Rc<BuiltinCode>,
        args: Vec<Node>,
        span: Span,
    },
    /// A top-level function applied to all its arguments.
    CallInstance {
        instance: InstanceId,
        args: Vec<Node>,
        span: Span,
    },
    /// A call of the same top-level function that is the last thing it does.
    TailCall(Vec<Node>),
    Call {
        function: Box<Node>,
        args: Vec<Node>,
        span: Span,
    },
    Mapped(Box<Mapped>),
    Let {
        target: Target,
        value: Box<Node>,
        body: Box<Node>,
    },
    Loop(Box<Loop>),
    Tuple(Vec<Node>),
    RecordUpdate {
        record: Box<Node>,
        /// How many fields it has.
        width: usize,
        fields: Vec<(usize, Node)>,
    },
    Field {
        record: Box<Node>,
        index: usize,
        depth: usize,
        /// The result's type.
        ty: Box<Type>,
    },
    Array {
        elements: Vec<Node>,
        /// The type of one.
        ty: Type,
        span: Span,
    },
    Slice(Box<Slice>),
    WindowRead {
        window: Box<Node>,
        offset: Vec<i64>,
        span: Span,
    },
    Comprehension(Box<Comprehension>),
    CheckSizes {
        checks: Vec<Check>,
        body: Box<Node>,
    },
}

impl Node {
    /// The expressions that it consists of; of a closure the body of its function.
    pub(crate) fn children(&self) -> Vec<&Node> {
        match self {
            Node::Constant(_) | Node::Local(_) | Node::Take(_) | Node::Instance(_) => Vec::new(),
            Node::Closure { code, captures: _ } => vec![&code.body],
            Node::Unary { operand, .. } => vec![operand],
            Node::Binary { operands, .. } | Node::And(operands) | Node::Or(operands) => {
                operands.iter().collect()
            }
            Node::Ternary { operands, .. } | Node::If(operands) => operands.iter().collect(),
            Node::Index { array, indices, span: _ } => {
                std::iter::once(&**array).chain(indices).collect()
            }
            Node::Update(update) => {
                update.indices.iter().chain([&update.value, &update.array]).collect()
            }
            Node::Builtin { args: nodes, .. }
            | Node::CallInstance { args: nodes, .. }
            | Node::TailCall(nodes)
            | Node::Tuple(nodes)
            | Node::Array { elements: nodes, .. } => nodes.iter().collect(),
            Node::Call { function, args, span: _ } => {
                std::iter::once(&**function).chain(args).collect()
            }
            Node::Mapped(mapped) => {
                let args = mapped.args.iter().map(|(arg, _)| arg);
                std::iter::once(&mapped.function).chain(args).collect()
            }
            Node::Let { target: _, value, body } => vec![value, body],
            Node::Loop(node) => {
                let driver = match &node.control {
                    Control::Count(_, driver)
                    | Control::Each(_, driver)
                    | Control::While(driver) => driver,
                };
                vec![&node.init, driver, &node.body]
            }
            Node::RecordUpdate { record, width: _, fields } => {
                std::iter::once(&**record).chain(fields.iter().map(|(_, field)| field)).collect()
            }
            Node::Field { record: node, .. }
            | Node::WindowRead { window: node, .. }
            | Node::CheckSizes { checks: _, body: node } => vec![node],
            Node::Slice(slice) => {
                let mut children = vec![&slice.array];
                for axis in &slice.axes {
                    match axis {
                        Axis::Index(node) | Axis::Gather(node) => children.push(node),
                        Axis::Range { start, stop, step, span: _ } => {
                            children.extend([start, stop, step].into_iter().flatten());
                        }
                    }
                }
                children
            }
            Node::Comprehension(node) => {
                let generators = node.generators.iter().map(|(_, generator)| generator);
                generators.chain(&node.filter).chain([&node.body]).collect()
            }
        }
    }
}

/// `(array with [indices] = value)`.
#[derive(Debug)]
pub(crate) struct Update {
    pub(crate) indices: Vec<Node>,
    pub(crate) value: Node,
    /// Evaluated last, so that at its last use an array is updated in place.
    pub(crate) array: Node,
    /// The array's type.
    pub(crate) ty: Type,
    pub(crate) span: Span,
}

/// An application over outer axes.
#[derive(Debug)]
pub(crate) struct Mapped {
    pub(crate) function: Node,
    /// The arguments, and whether each carries the axes.
    pub(crate) args: Vec<(Node, bool)>,
    pub(crate) depth: usize,
    /// The type of one application's result.
    pub(crate) ty: Type,
    /// What the program calls the function.
    pub(crate) name: Name,
    pub(crate) span: Span,
}

/// A loop.
#[derive(Debug)]
pub(crate) struct Loop {
    /// The state; it ignores nothing, since the state is also the loop's value.
    pub(crate) state: Target,
    pub(crate) init: Node,
    pub(crate) control: Control,
    pub(crate) body: Node,
    pub(crate) span: Span,
}

/// What drives a loop.
#[derive(Debug)]
pub(crate) enum Control {
    Count(Target, Node),
    Each(Target, Node),
    While(Node),
}

/// A slice expression.
#[derive(Debug)]
pub(crate) struct Slice {
    pub(crate) array: Node,
    pub(crate) axes: Vec<Axis>,
    /// The array's type.
    pub(crate) ty: Type,
    pub(crate) span: Span,
}

/// One axis of a slice expression.
#[derive(Debug)]
pub(crate) enum Axis {
    Index(Node),
    Gather(Node),
    Range { start: Option<Node>, stop: Option<Node>, step: Option<Node>, span: Span },
}

/// An apply-to-each.
#[derive(Debug)]
pub(crate) struct Comprehension {
    /// The field that each generator goes over, for messages; empty for other expressions.
    pub(crate) names: Vec<String>,
    pub(crate) generators: Vec<(Target, Node)>,
    pub(crate) filter: Option<Node>,
    pub(crate) body: Node,
    /// The type of an element.
    pub(crate) ty: Type,
    pub(crate) span: Span,
}

/// A check of a size.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) slot: Slot,
    pub(crate) path: Vec<SizeStep>,
    pub(crate) size: Size,
    pub(crate) span: Span,
}
