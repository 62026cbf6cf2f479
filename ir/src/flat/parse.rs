//! Reads the text of flat programs that `print` writes, and of spaces and leaves, which `plan` has
//! too.

use std::collections::BTreeMap;

use crate::code::{parse_code, parse_fault_kind, parse_indices, parse_operator};
use crate::flat::{
    Block, Dimension, Leaf, Operation, Program, ScanForm, Size, Space, Start, Statement, Thunk,
    Type, Var, storage,
};
use crate::rows::parse_rows;
use crate::text::{Reader, TextError, Token, parse_column};
use crate::{ScalarType, Span};

/// The greatest number of a variable in a text.
const GREATEST: u32 = (1 << 22) - 1;

/// Reads a program. Spans are the default. Whether it makes sense, `check` says.
///
/// # Errors
/// The first place that is no program.
pub fn parse(text: &str) -> Result<Program, TextError> {
    let mut reader = Reader::new(text)?;
    let program = parse_program(&mut reader)?;
    if !reader.at_end() {
        return Err(reader.expected("`output` or the end"));
    }
    Ok(program)
}

/// Reads a program as far as it goes.
fn parse_program(reader: &mut Reader) -> Result<Program, TextError> {
    let mut types = Types::default();
    let inputs = parse_inputs(reader, &mut types)?;
    let mut body = Block::default();
    while !(reader.at_end() || ["yield", "output", "end"].iter().any(|word| reader.at_word(word))) {
        body.statements.push(parse_statement(reader, &mut types)?);
    }
    if reader.take_word("yield") {
        body.results = parse_vars(reader)?;
    }
    let outputs = parse_outputs(reader, &types)?;
    Ok(Program { inputs, body, outputs, types: types.finish() })
}

/// The types of the variables that a text binds.
#[derive(Debug, Default)]
pub struct Types(BTreeMap<Var, Type>);

impl Types {
    /// Gives a variable its type; the last one counts, and `check` finds what is bound twice.
    pub fn insert(&mut self, var: Var, ty: Type) {
        self.0.insert(var, ty);
    }

    /// The types by variable. A number that no variable has gets the type of a scalar `bool`.
    pub fn finish(self) -> Vec<Type> {
        let count = self.0.last_key_value().map_or(0, |(var, _)| var.0 as usize + 1);
        let mut types = vec![Type { element: ScalarType::Bool, extents: Vec::new() }; count];
        for (var, ty) in self.0 {
            types[var.0 as usize] = ty;
        }
        types
    }
}

/// Reads the lines of inputs.
///
/// # Errors
/// The first place that differs from [`crate::flat::write_inputs`].
pub(crate) fn parse_inputs(reader: &mut Reader, types: &mut Types) -> Result<Vec<Leaf>, TextError> {
    let mut inputs = Vec::new();
    let size = Type { element: ScalarType::I64, extents: Vec::new() };
    while reader.take_word("input") {
        let (leaf, element) = parse_leaf(reader)?;
        for axis in &leaf.axes {
            let (Dimension::Dense(extent) | Dimension::Ragged { total: extent, .. }) = axis;
            if let Size::Var(var) = extent {
                types.insert(*var, size.clone());
            }
        }
        types.insert(leaf.data, Type { element, extents: storage(&leaf.axes) });
        inputs.push(leaf);
        if reader.take_word("where") {
            for offsets in parse_bindings(reader, types)? {
                for extent in types.0[&offsets].extents.clone() {
                    if let Size::Var(var) = extent {
                        types.insert(var, size.clone());
                    }
                }
            }
        }
    }
    Ok(inputs)
}

/// Reads the lines of outputs, whose variables have these types.
///
/// # Errors
/// The first place that differs from [`crate::flat::write_outputs`].
pub(crate) fn parse_outputs(reader: &mut Reader, types: &Types) -> Result<Vec<Leaf>, TextError> {
    let mut outputs = Vec::new();
    while reader.take_word("output") {
        let (leaf, element) = parse_leaf(reader)?;
        if types.0.get(&leaf.data).is_none_or(|ty| ty.element != element) {
            return Err(reader.error(format!("{} is no variable of {element}", leaf.data)));
        }
        outputs.push(leaf);
    }
    Ok(outputs)
}

/// `a3: [a0][~a1 a2]f32`.
fn parse_leaf(reader: &mut Reader) -> Result<(Leaf, ScalarType), TextError> {
    let data = parse_var(reader)?;
    reader.expect_symbol(":")?;
    let axes = parse_space(reader)?;
    Ok((Leaf { axes, data }, reader.scalar_type()?))
}

/// Reads dimensions one after the other, as many as there are.
///
/// # Errors
/// Something in brackets that is no dimension.
pub(crate) fn parse_space(reader: &mut Reader) -> Result<Space, TextError> {
    let mut space = Vec::new();
    while reader.at_symbol("[") {
        space.push(parse_dimension(reader)?);
    }
    Ok(space)
}

/// Reads a dimension in brackets.
///
/// # Errors
/// Something else is next.
pub(crate) fn parse_dimension(reader: &mut Reader) -> Result<Dimension, TextError> {
    reader.expect_symbol("[")?;
    let dimension = if reader.take_symbol("~") {
        Dimension::Ragged { offsets: parse_var(reader)?, total: parse_size(reader)? }
    } else {
        Dimension::Dense(parse_size(reader)?)
    };
    reader.expect_symbol("]")?;
    Ok(dimension)
}

/// Reads a variable.
///
/// # Errors
/// Something else is next.
pub(crate) fn parse_var(reader: &mut Reader) -> Result<Var, TextError> {
    let too_large = reader.error(format!("the greatest variable is a{GREATEST}"));
    match reader.numbered('a')? {
        number @ 0..=GREATEST => Ok(Var(number)),
        _ => Err(too_large),
    }
}

/// Reads variables up to the end of the line or to what is none.
///
/// # Errors
/// A variable that is too large.
pub(crate) fn parse_vars(reader: &mut Reader) -> Result<Vec<Var>, TextError> {
    let mut vars = Vec::new();
    while !reader.at_line_end() && reader.at_numbered('a') {
        vars.push(parse_var(reader)?);
    }
    Ok(vars)
}

/// Reads `a1: [a0]f32, a2: i64`, at least one.
///
/// # Errors
/// The first place that differs from it.
pub(crate) fn parse_bindings(
    reader: &mut Reader,
    types: &mut Types,
) -> Result<Vec<Var>, TextError> {
    let mut vars = Vec::new();
    loop {
        vars.push(parse_binding(reader, types)?);
        if !reader.take_symbol(",") {
            return Ok(vars);
        }
    }
}

/// Reads `a1: [a0]f32`.
///
/// # Errors
/// The first place that differs from it.
pub(crate) fn parse_binding(reader: &mut Reader, types: &mut Types) -> Result<Var, TextError> {
    let var = parse_var(reader)?;
    reader.expect_symbol(":")?;
    let mut extents = Vec::new();
    while reader.take_symbol("[") {
        extents.push(parse_size(reader)?);
        reader.expect_symbol("]")?;
    }
    types.insert(var, Type { element: reader.scalar_type()?, extents });
    Ok(var)
}

/// Reads an extent.
///
/// # Errors
/// Something else is next.
pub(crate) fn parse_size(reader: &mut Reader) -> Result<Size, TextError> {
    if reader.at_numbered('a') {
        return Ok(Size::Var(parse_var(reader)?));
    }
    let too_large = reader.error("an extent is below 2^63");
    let size = reader.number("a size")?;
    Ok(Size::Constant(i64::try_from(size).map_err(|_| too_large)?))
}

/// Reads what `write_thunk` writes.
///
/// # Errors
/// The first place that differs from it.
fn parse_thunk(reader: &mut Reader) -> Result<Thunk, TextError> {
    Ok(Thunk { indices: parse_indices(reader)?, code: parse_code(reader)? })
}

/// Reads what [`crate::flat::write_start`] writes.
///
/// # Errors
/// The first place that differs from it.
pub(crate) fn parse_start(reader: &mut Reader) -> Result<Start<Thunk>, TextError> {
    if reader.take_word("from") {
        return parse_thunk(reader).map(Start::Combined);
    }
    if reader.take_word("if_empty") {
        return parse_thunk(reader).map(Start::IfEmpty);
    }
    Ok(Start::None)
}

fn parse_block(reader: &mut Reader, types: &mut Types) -> Result<Block, TextError> {
    let mut statements = Vec::new();
    while !reader.take_word("yield") {
        statements.push(parse_statement(reader, types)?);
    }
    Ok(Block { statements, results: parse_vars(reader)? })
}

fn parse_statement(reader: &mut Reader, types: &mut Types) -> Result<Statement, TextError> {
    parse_line(reader, types, |reader, types, results| {
        let operation = parse_operation(reader, types)?;
        Ok(Statement { results, operation, span: Span::default() })
    })
}

/// Reads `a1: [a0]f32 = ` if there are results, what `parse` reads, and the end of the line.
///
/// # Errors
/// The first place that differs from it.
pub(crate) fn parse_line<T>(
    reader: &mut Reader,
    types: &mut Types,
    parse: impl FnOnce(&mut Reader, &mut Types, Vec<Var>) -> Result<T, TextError>,
) -> Result<T, TextError> {
    let mut results = Vec::new();
    if reader.at_numbered('a') {
        results = parse_bindings(reader, types)?;
        reader.expect_symbol("=")?;
    }
    let parsed = parse(reader, types, results)?;
    if !reader.at_line_end() {
        return Err(reader.expected("the end of the line"));
    }
    Ok(parsed)
}

fn parse_operation(reader: &mut Reader, types: &mut Types) -> Result<Operation, TextError> {
    let keyword = match reader.peek() {
        Some(Token::Word(word)) => word.clone(),
        _ => return Err(reader.expected("an operation")),
    };
    let unknown = reader.expected("an operation");
    reader.next_token();
    Ok(match keyword.as_str() {
        "map" => Operation::Map { space: parse_space(reader)?, thunk: parse_thunk(reader)? },
        "reduce" => Operation::Reduce {
            space: parse_space(reader)?,
            thunk: parse_thunk(reader)?,
            operator: parse_operator(reader)?,
            start: parse_start(reader)?,
        },
        "scan" => {
            let form = parse_scan_form(reader)?;
            let from_right = reader.take_word("right");
            let full = reader.take_word("to").then(|| parse_dimension(reader)).transpose()?;
            let (space, thunk) = (parse_space(reader)?, parse_thunk(reader)?);
            let (operator, start) = (parse_operator(reader)?, parse_start(reader)?);
            Operation::Scan { space, thunk, form, from_right, operator, start, full }
        }
        "filter" => Operation::Filter { space: parse_space(reader)?, thunk: parse_thunk(reader)? },
        "scatter" => {
            reader.expect_word("into")?;
            let destinations = parse_vars(reader)?;
            let (space, thunk) = (parse_space(reader)?, parse_thunk(reader)?);
            let operator = reader.at_word("by").then(|| parse_operator(reader)).transpose()?;
            Operation::Scatter { space, thunk, destinations, operator }
        }
        "sort" => {
            let descending = reader.take_word("descending");
            let (space, thunk) = (parse_space(reader)?, parse_thunk(reader)?);
            Operation::Sort { space, thunk, descending }
        }
        "reshape" => Operation::Reshape(parse_var(reader)?),
        "constant" => Operation::Constant(parse_column(reader)?),
        "check" => Operation::Check(parse_var(reader)?, parse_fault_kind(reader)?),
        "if" => {
            let (condition, [then, otherwise]) = parse_if(reader, types, parse_block)?;
            Operation::If { condition, then, otherwise }
        }
        "while" => {
            let ([state, initial], [condition, body]) = parse_while(reader, types, parse_block)?;
            let rows = match reader.take_word("rows") {
                true => Some(Box::new(parse_rows(reader, parse_program)?)),
                false => None,
            };
            Operation::While { state, initial, condition, body, rows }
        }
        _ => return Err(unknown),
    })
}

/// Reads the name of a form of scan.
///
/// # Errors
/// Something else is next.
pub(crate) fn parse_scan_form(reader: &mut Reader) -> Result<ScanForm, TextError> {
    let found = match reader.peek() {
        Some(Token::Word(word)) => ScanForm::from_name(word),
        _ => None,
    };
    match found {
        Some(form) => {
            reader.next_token();
            Ok(form)
        }
        None => Err(reader.expected("a form of scan")),
    }
}

/// How the blocks of a language are read.
type ParseBlock<B> = fn(&mut Reader, &mut Types) -> Result<B, TextError>;

/// Reads what stands behind `if`: the condition and the two blocks.
///
/// # Errors
/// The first place that differs from [`crate::flat::write_if`].
pub(crate) fn parse_if<B>(
    reader: &mut Reader,
    types: &mut Types,
    block: ParseBlock<B>,
) -> Result<(Var, [B; 2]), TextError> {
    let condition = parse_var(reader)?;
    let then = block(reader, types)?;
    reader.expect_word("else")?;
    Ok((condition, [then, block(reader, types)?]))
}

/// Reads what stands behind `while`: the state and its first values, and condition and body.
///
/// # Errors
/// The first place that differs from [`crate::flat::write_while`].
pub(crate) fn parse_while<B>(
    reader: &mut Reader,
    types: &mut Types,
    block: ParseBlock<B>,
) -> Result<([Vec<Var>; 2], [B; 2]), TextError> {
    reader.expect_symbol("(")?;
    let (mut state, mut initial) = (Vec::new(), Vec::new());
    while !reader.take_symbol(")") {
        if !state.is_empty() {
            reader.expect_symbol(",")?;
        }
        state.push(parse_binding(reader, types)?);
        reader.expect_symbol("=")?;
        initial.push(parse_var(reader)?);
    }
    let condition = block(reader, types)?;
    reader.expect_word("do")?;
    Ok(([state, initial], [condition, block(reader, types)?]))
}
