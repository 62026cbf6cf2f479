//! The parser of nested programs. All spans are the default.

use crate::nested::{
    Atom, Body, Function, FunctionId, Lambda, Operation, Program, RandomKind, ScanForm, Start,
    Statement, Type, Var,
};
use crate::text::{Reader, TextError, Token, parse_column};
use crate::{FaultKind, ScalarOp, Span};

/// Reads what `Display` of [`Program`] writes.
///
/// # Errors
/// The first place that is not of the grammar. Types and scopes are the matter of `check`.
pub fn parse(text: &str) -> Result<Program, TextError> {
    let mut parser = Parser { reader: Reader::new(text)?, variables: 0 };
    let mut params = Vec::new();
    if parser.reader.take_word("params") {
        params = parser.params()?;
    }
    let mut functions = Vec::new();
    while parser.reader.at_word("function") {
        functions.push(parser.function(functions.len())?);
    }
    let body = parser.body()?;
    if !parser.reader.at_end() {
        return Err(parser.reader.expected("the end of the program"));
    }
    Ok(Program { params, functions, body, variables: parser.variables })
}

/// The variables of a loop's state, and their first values.
type State = (Vec<(Var, Type)>, Vec<Atom>);

struct Parser {
    reader: Reader,
    /// One more than the greatest variable so far.
    variables: u32,
}

impl Parser {
    fn function(&mut self, index: usize) -> Result<Function, TextError> {
        self.reader.expect_word("function")?;
        if self.reader.numbered('f')? as usize != index {
            return Err(self.reader.error(format!("functions are numbered in order: f{index}")));
        }
        let Some(Token::Text(name)) = self.reader.peek().cloned() else {
            return Err(self.reader.expected("the function's name in quotes"));
        };
        self.reader.next_token();
        let params = if self.reader.at_symbol("->") { Vec::new() } else { self.params()? };
        self.reader.expect_symbol("->")?;
        let mut results = Vec::new();
        while !self.reader.at_line_end() {
            results.push(self.ty()?);
        }
        Ok(Function { name: name.into(), params, results, body: self.body()? })
    }

    /// At least one `x1: t`, separated by commas.
    fn params(&mut self) -> Result<Vec<(Var, Type)>, TextError> {
        let mut params = vec![self.param()?];
        while self.reader.take_symbol(",") {
            params.push(self.param()?);
        }
        Ok(params)
    }

    fn param(&mut self) -> Result<(Var, Type), TextError> {
        let var = self.var()?;
        self.reader.expect_symbol(":")?;
        Ok((var, self.ty()?))
    }

    fn ty(&mut self) -> Result<Type, TextError> {
        let mut rank = 0;
        while self.reader.take_symbol("[") {
            self.reader.expect_symbol("]")?;
            rank += 1;
        }
        Ok(Type { rank, element: self.reader.scalar_type()? })
    }

    fn var(&mut self) -> Result<Var, TextError> {
        let error = self.reader.error("this number of a variable is too large");
        let number = self.reader.numbered('x')?;
        self.variables = self.variables.max(number.checked_add(1).ok_or(error)?);
        Ok(Var(number))
    }

    fn atom(&mut self) -> Result<Atom, TextError> {
        if self.reader.at_numbered('x') {
            return self.var().map(Atom::Var);
        }
        match self.reader.peek() {
            Some(Token::Scalar(_)) => self.reader.scalar().map(Atom::Scalar),
            _ => Err(self.reader.expected("a variable or a constant")),
        }
    }

    /// The atoms that follow on this line.
    fn atoms(&mut self) -> Result<Vec<Atom>, TextError> {
        let mut atoms = Vec::new();
        while !self.reader.at_line_end() && self.at_atom() {
            atoms.push(self.atom()?);
        }
        Ok(atoms)
    }

    fn at_atom(&self) -> bool {
        self.reader.at_numbered('x') || matches!(self.reader.peek(), Some(Token::Scalar(_)))
    }

    fn body(&mut self) -> Result<Body, TextError> {
        let mut statements = Vec::new();
        while !self.reader.at_word("yield") {
            statements.push(self.statement()?);
        }
        self.reader.expect_word("yield")?;
        let results = self.atoms()?;
        self.line_end()?;
        Ok(Body { statements, results })
    }

    fn line_end(&mut self) -> Result<(), TextError> {
        if self.reader.at_line_end() { Ok(()) } else { Err(self.reader.expected("the line's end")) }
    }

    fn statement(&mut self) -> Result<Statement, TextError> {
        if !self.reader.at_numbered('x') {
            return Err(self.reader.expected("a statement or `yield`"));
        }
        let results = self.params()?;
        self.reader.expect_symbol("=")?;
        let operation = self.operation()?;
        self.line_end()?;
        Ok(Statement { results, operation, span: Span::default() })
    }

    fn operation(&mut self) -> Result<Operation, TextError> {
        let error = self.reader.expected("an operation");
        let name = self.reader.word("an operation")?;
        Ok(match name.as_str() {
            "assert" => self.assert()?,
            "if" => {
                let condition = self.atom()?;
                let then = self.body()?;
                self.reader.expect_word("else")?;
                Operation::If { condition, then, otherwise: self.body()? }
            }
            "while" => {
                let (state, initial) = self.state()?;
                let condition = self.body()?;
                self.reader.expect_word("do")?;
                Operation::While { state, initial, condition, body: self.body()? }
            }
            "for" => {
                let index = self.var()?;
                self.reader.expect_symbol("<")?;
                let count = self.atom()?;
                let (state, initial) = self.state()?;
                Operation::For { index, count, state, initial, body: self.body()? }
            }
            "call" => Operation::Call(FunctionId(self.reader.numbered('f')?), self.atoms()?),
            "length" => Operation::Length(self.atom()?),
            "index" => Operation::Index(self.atom()?, self.atoms()?),
            "update" => {
                let array = self.atom()?;
                self.reader.expect_word("at")?;
                let indices = self.atoms()?;
                self.reader.expect_word("value")?;
                Operation::Update { array, indices, value: self.atom()? }
            }
            "literal" => Operation::Literal(self.atoms()?),
            "constant" => Operation::Constant(parse_column(&mut self.reader)?),
            "iota" => Operation::Iota(self.atom()?),
            "replicate" => Operation::Replicate(self.atom()?, self.atom()?),
            "map" => {
                let arrays = self.atoms()?;
                Operation::Map(self.lambda()?, arrays)
            }
            "fold" => {
                let (start, arrays) = self.start()?;
                Operation::Fold { operator: self.lambda()?, start, arrays }
            }
            "scan" => self.scan()?,
            "pack" => {
                let flags = self.atom()?;
                self.reader.expect_word("over")?;
                Operation::Pack { flags, arrays: self.atoms()? }
            }
            "scatter" => self.scatter()?,
            "sort_order" => {
                let descending = self.reader.take_word("descending");
                Operation::SortOrder { keys: self.atoms()?, descending }
            }
            "transpose" => Operation::Transpose(self.atom()?),
            "reshape" => {
                let array = self.atom()?;
                let from = self.axis()?;
                self.reader.expect_word("to")?;
                Operation::Reshape { array, from, extents: self.atoms()? }
            }
            "extent" => Operation::Extent(self.atom()?, self.axis()?),
            "flatten" => Operation::Flatten(self.atom()?),
            "segments" => Operation::Segments(self.atom()?, self.atom()?),
            "concat" => Operation::Concat(self.atom()?, self.atom()?),
            other => match (ScalarOp::from_name(other), RandomKind::from_name(other)) {
                (Some(op), _) => Operation::Scalar(op, self.atoms()?),
                (None, Some(kind)) => Operation::Random(kind, self.atoms()?),
                (None, None) => return Err(error),
            },
        })
    }

    fn assert(&mut self) -> Result<Operation, TextError> {
        let error = self.reader.expected("the kind of a fault");
        let name = self.reader.word("the kind of a fault")?;
        let kind = FaultKind::from_name(&name).ok_or(error)?;
        let condition = self.atom()?;
        self.reader.expect_word("values")?;
        Ok(Operation::Assert { condition, kind, values: self.atoms()? })
    }

    fn scan(&mut self) -> Result<Operation, TextError> {
        let error = self.reader.expected("`inclusive`, `exclusive` or `full`");
        let name = self.reader.word("the form of a scan")?;
        let form = ScanForm::from_name(&name).ok_or(error)?;
        let from_right = self.reader.take_word("right");
        let (start, arrays) = self.start()?;
        Ok(Operation::Scan { form, from_right, operator: self.lambda()?, start, arrays })
    }

    fn scatter(&mut self) -> Result<Operation, TextError> {
        let destinations = self.atoms()?;
        self.reader.expect_word("at")?;
        let indices = self.atom()?;
        self.reader.expect_word("values")?;
        let values = self.atoms()?;
        let drops = self.reader.take_word("drops");
        let operator = if self.reader.at_symbol("\\") { Some(self.lambda()?) } else { None };
        Ok(Operation::Scatter { destinations, indices, values, operator, drops })
    }

    /// ` x1: t = a, …`: the state of a loop, which may be empty.
    fn state(&mut self) -> Result<State, TextError> {
        let (mut state, mut initial) = State::default();
        while !self.reader.at_line_end() {
            if !state.is_empty() {
                self.reader.expect_symbol(",")?;
            }
            state.push(self.param()?);
            self.reader.expect_symbol("=")?;
            initial.push(self.atom()?);
        }
        Ok((state, initial))
    }

    /// The start of a fold or scan, and its arrays.
    fn start(&mut self) -> Result<(Start<Vec<Atom>>, Vec<Atom>), TextError> {
        let start = if self.reader.take_word("from") {
            Start::Combined(self.atoms()?)
        } else if self.reader.take_word("if_empty") {
            Start::IfEmpty(self.atoms()?)
        } else {
            Start::None
        };
        self.reader.expect_word("over")?;
        Ok((start, self.atoms()?))
    }

    fn lambda(&mut self) -> Result<Lambda, TextError> {
        self.reader.expect_symbol("\\")?;
        let params = self.params()?;
        Ok(Lambda { params, body: self.body()? })
    }

    fn axis(&mut self) -> Result<usize, TextError> {
        let number = self.reader.number("a number of axes")?;
        usize::try_from(number).map_err(|_| self.reader.error(format!("{number} is too large")))
    }
}
