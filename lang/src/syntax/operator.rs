//! Operators: their precedence and associativity, and the tree of a chain of operands.
//!
//! The grammar reads a chain `- a * b + c` flat; [`resolve`] builds the tree with two stacks, so
//! that neither a chain of 20 000 operators nor a tower of prefixes recurses.

use weft_ir::{Name, Span};

use super::kind::Kind;
use super::literal::{bulk, number};
use crate::ast::{ApplyForm, Expr, ExprKind, Number};
use crate::diagnostic::Diagnostic;
use crate::suggest;

/// What an operator does with another one of its level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Associativity {
    /// `a - b - c` is `(a - b) - c`.
    Left,
    /// `a ** b ** c` is `a ** (b ** c)`.
    Right,
    /// `a < b < c` is an error.
    None,
}

/// An operand with the prefix operators before it, the outermost first.
pub(super) struct Operand {
    /// [`Kind::PrefixMinus`] and [`Kind::PrefixNot`].
    pub(super) prefixes: Vec<(Kind, Span)>,
    /// The rest.
    pub(super) expr: Expr,
}

/// The level of a binary operator, higher binding tighter, and how it associates.
pub(super) fn precedence(kind: Kind) -> (u8, Associativity) {
    match kind {
        Kind::PipeRight => (1, Associativity::Left),
        Kind::PipeLeft => (1, Associativity::Right),
        Kind::Or => (2, Associativity::Left),
        Kind::And => (3, Associativity::Left),
        Kind::Equal
        | Kind::NotEqual
        | Kind::Less
        | Kind::LessEqual
        | Kind::Greater
        | Kind::GreaterEqual => (4, Associativity::None),
        Kind::Range | Kind::By => (5, Associativity::None),
        Kind::Append => (6, Associativity::Right),
        Kind::BitOr => (7, Associativity::Left),
        Kind::BitXor => (8, Associativity::Left),
        Kind::BitAnd => (9, Associativity::Left),
        Kind::ShiftLeft | Kind::ShiftRight => (10, Associativity::Left),
        Kind::Plus | Kind::Minus => (11, Associativity::Left),
        Kind::Times | Kind::Divide | Kind::FloorDivide | Kind::Remainder => {
            (12, Associativity::Left)
        }
        Kind::PrefixMinus | Kind::PrefixNot => (13, Associativity::Right),
        _ => (14, Associativity::Right),
    }
}

/// The binary operator with that spelling.
pub(super) fn from_spelling(text: &str) -> Option<Kind> {
    const OPERATORS: [Kind; 25] = [
        Kind::PipeRight,
        Kind::PipeLeft,
        Kind::Or,
        Kind::And,
        Kind::Equal,
        Kind::NotEqual,
        Kind::Less,
        Kind::LessEqual,
        Kind::Greater,
        Kind::GreaterEqual,
        Kind::Range,
        Kind::By,
        Kind::Append,
        Kind::BitOr,
        Kind::BitXor,
        Kind::BitAnd,
        Kind::ShiftLeft,
        Kind::ShiftRight,
        Kind::Plus,
        Kind::Minus,
        Kind::Times,
        Kind::Divide,
        Kind::FloorDivide,
        Kind::Remainder,
        Kind::Power,
    ];
    OPERATORS.into_iter().find(|kind| kind.spelling() == Some(text))
}

/// Builds the tree of `first (operator operand)…`.
pub(super) fn resolve(
    first: Operand,
    rest: Vec<(Kind, Span, Operand)>,
    text: &str,
    findings: &mut Vec<Diagnostic>,
) -> Expr {
    if rest.is_empty() && first.prefixes.is_empty() {
        return first.expr;
    }
    let mut resolver = Resolver { operands: Vec::new(), operators: Vec::new(), text, findings };
    resolver.operand(first);
    for (kind, span, operand) in rest {
        resolver.binary(kind, span);
        resolver.operand(operand);
    }
    resolver.reduce_while(|_| true);
    resolver.pop()
}

/// The application of a binary operator.
pub(super) fn apply(kind: Kind, operator: Span, left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    let kind = match kind {
        Kind::PipeRight => pipe(right, left),
        Kind::PipeLeft => pipe(left, right),
        Kind::Range => ExprKind::Range { start: Box::new(left), stop: Box::new(right), step: None },
        _ => ExprKind::Apply {
            function: Box::new(function(kind, operator)),
            args: vec![left, right],
            form: ApplyForm::Operator,
        },
    };
    Expr { kind, span }
}

/// The name of a binary operator as a function.
pub(super) fn function(kind: Kind, span: Span) -> Expr {
    Expr { kind: ExprKind::Name(Name::from(kind.spelling().unwrap_or_default())), span }
}

/// The application of a prefix operator; a minus before a literal makes a negative literal.
pub(super) fn apply_prefix(kind: Kind, operator: Span, operand: Expr) -> Expr {
    let span = operator.to(operand.span);
    let is_minus = matches!(kind, Kind::PrefixMinus | Kind::ArgumentMinus);
    let kind = match operand.kind {
        ExprKind::Number(number, ty) if is_minus => ExprKind::Number(bulk::negate(number), ty),
        kind => {
            let name = if is_minus { "negate" } else { "not" };
            ExprKind::Apply {
                function: Box::new(Expr { kind: ExprKind::Name(Name::from(name)), span: operator }),
                args: vec![Expr { kind, span: operand.span }],
                form: ApplyForm::Operator,
            }
        }
    };
    Expr { kind, span }
}

fn pipe(function: Expr, argument: Expr) -> ExprKind {
    ExprKind::Apply { function: Box::new(function), args: vec![argument], form: ApplyForm::Pipe }
}

struct Resolver<'a> {
    operands: Vec<Expr>,
    operators: Vec<(Kind, Span)>,
    text: &'a str,
    findings: &'a mut Vec<Diagnostic>,
}

impl Resolver<'_> {
    fn operand(&mut self, operand: Operand) {
        self.operators.extend(operand.prefixes);
        self.operands.push(operand.expr);
    }

    fn binary(&mut self, kind: Kind, span: Span) {
        let (level, associativity) = precedence(kind);
        self.reduce_while(|top| {
            let (top_level, top_associativity) = precedence(top);
            top_level > level
                || (top_level == level
                    && associativity != Associativity::Right
                    && top_associativity == Associativity::Left)
        });
        if let Some(&(top, top_span)) = self.operators.last()
            && precedence(top).0 == level
            && (associativity, precedence(top).1) != (Associativity::Right, Associativity::Right)
        {
            if !(top == Kind::Range && kind == Kind::By) {
                self.does_not_chain(top, top_span, kind, span);
            }
            self.reduce();
        }
        self.operators.push((kind, span));
    }

    fn reduce_while(&mut self, condition: impl Fn(Kind) -> bool) {
        while self.operators.last().is_some_and(|(kind, _)| condition(*kind)) {
            self.reduce();
        }
    }

    fn reduce(&mut self) {
        let Some((kind, span)) = self.operators.pop() else { return };
        let right = self.pop();
        if matches!(kind, Kind::PrefixMinus | Kind::PrefixNot) {
            return self.operands.push(apply_prefix(kind, span, right));
        }
        let left = self.pop();
        let expr = match kind {
            Kind::By => self.step(left, span, right),
            Kind::Power => {
                self.check_base(&left);
                apply(kind, span, left, right)
            }
            _ => apply(kind, span, left, right),
        };
        self.operands.push(expr);
    }

    /// The top operand; there is one for every operator, and one more.
    fn pop(&mut self) -> Expr {
        self.operands.pop().unwrap_or(Expr { kind: ExprKind::Error, span: Span::default() })
    }

    /// `a..b by s`.
    fn step(&mut self, range: Expr, by: Span, step: Expr) -> Expr {
        let span = range.span.to(step.span);
        match range.kind {
            ExprKind::Range { start, stop, step: None } => {
                let kind = ExprKind::Range { start, stop, step: Some(Box::new(step)) };
                Expr { kind, span }
            }
            _ => {
                self.findings.push(
                    Diagnostic::error(
                        "E0101",
                        "`by` without a range",
                        by,
                        "this is a range's step",
                    )
                    .label(range.span, "this is no range")
                    .help("a range with a step is `a..b by s`"),
                );
                Expr { kind: ExprKind::Error, span }
            }
        }
    }

    /// `128i8` is allowed for the minus before it only; in `-128i8 ** 2` that comes too late.
    fn check_base(&mut self, base: &Expr) {
        if let ExprKind::Number(Number::Int(value), Some(ty)) = base.kind
            && !number::fits(value, ty)
        {
            let problem = number::out_of_range(&self.text[base.span.range()], ty);
            self.findings.push(Diagnostic::error(
                problem.code,
                problem.message,
                base.span,
                problem.remark,
            ));
        }
    }

    fn does_not_chain(&mut self, first: Kind, first_span: Span, second: Kind, second_span: Span) {
        const SHORT: usize = 30;
        let spell = |kind: Kind| kind.spelling().unwrap_or_default();
        let (first, second) = (spell(first), spell(second));
        let message = format!("`{first}` and `{second}` do not chain");
        let diagnostic = Diagnostic::error("E0117", message, second_span, "the second operator")
            .label(first_span, "the first");
        let middle = self.operands.last().map_or("", |expr| &self.text[expr.span.range()]);
        // In `x > 1 and x < 3` the word between them is meant as an operator.
        let word = match self.operands.last().map(|expr| &expr.kind) {
            Some(ExprKind::Apply { args, .. }) => args.iter().find_map(|arg| match &arg.kind {
                ExprKind::Name(word) => suggest::foreign_operator(word),
                _ => None,
            }),
            _ => None,
        };
        let joins = matches!(
            self.operands.last().map(|expr| &expr.kind),
            Some(ExprKind::Apply { function, form: ApplyForm::Operator, .. })
                if matches!(&function.kind, ExprKind::Name(name) if &**name == "++")
        );
        let hint = match (word, first, second) {
            (Some(hint), ..) => hint.to_owned(),
            (None, "..", "..") if joins => {
                "ranges that are joined stand in parentheses: `(a..b) ++ (c..d)`".to_owned()
            }
            (None, "..", "..") => "a range with a step is `a..b by s`".to_owned(),
            (None, ".." | "by", _) => "put one of the ranges in parentheses".to_owned(),
            (None, "|>" | "<|", _) => "put one of the applications in parentheses".to_owned(),
            _ if middle.len() <= SHORT => format!(
                "both hold: `… {first} {middle} && {middle} {second} …`; \
                 or put one comparison in parentheses"
            ),
            _ => "name the middle, and join two comparisons with `&&`".to_owned(),
        };
        self.findings.push(diagnostic.help(hint));
    }
}
