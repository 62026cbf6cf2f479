//! The types of builtins, as their table writes them.
//!
//! `Num a => []a -> a`; besides the types of the language there are `array s a` (an array with
//! elements `a` that an index of type `s` addresses: `i64` for rank 1, a tuple for more),
//! `window s a` and `boundary s a`, and the classes `Elem` (scalars and tuples of them), `Scalar`,
//! `Bits32`, `Bits64`. Every one-letter name is a variable.

use weft_ir::ScalarType;

use crate::types::Class;

/// The type of a builtin.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    /// The classes of its variables, in order of appearance after the `=>`.
    pub(crate) vars: Vec<Option<Class>>,
    /// The type.
    pub(crate) ty: SignatureType,
}

/// A type in a signature; variables are positions in [`Signature::vars`].
#[derive(Clone, Debug)]
pub(crate) enum SignatureType {
    Var(usize),
    Scalar(ScalarType),
    Tuple(Vec<SignatureType>),
    Record(Vec<(String, SignatureType)>),
    Array(Box<SignatureType>),
    Seq(Box<SignatureType>),
    Function(Box<SignatureType>, Box<SignatureType>),
    /// `array s a`.
    Ranked(usize, Box<SignatureType>),
    /// `window s a`.
    Window(usize, Box<SignatureType>),
    /// `boundary s a`.
    Boundary(usize, Box<SignatureType>),
}

/// Reads a signature of the table.
///
/// # Panics
/// If it is malformed; a test reads all of them.
pub(crate) fn parse(text: &str) -> Signature {
    let (context, body) = match text.split_once("=>") {
        Some((context, body)) => (context, body),
        None => ("", text),
    };
    let mut parser = Parser { tokens: tokens(body), position: 0, names: Vec::new() };
    let ty = parser.function();
    assert_eq!(parser.position, parser.tokens.len(), "trailing text in signature {text}");
    let mut vars = vec![None; parser.names.len()];
    let context = context.trim().trim_start_matches('(').trim_end_matches(')');
    for constraint in context.split(',').filter(|part| !part.trim().is_empty()) {
        let (class, var) = constraint.trim().split_once(' ').expect("`Class variable`");
        let position = parser.names.iter().position(|name| name == var.trim());
        vars[position.expect("a variable of the type")] = Some(class_named(class));
    }
    Signature { vars, ty }
}

fn class_named(name: &str) -> Class {
    match name {
        "Num" => Class::NUM,
        "Int" => Class::INT,
        "Float" => Class::FLOAT,
        "Eq" | "Ord" | "Elem" => Class::EQ,
        "Scalar" => Class::SCALAR,
        "Bits32" => Class::of(&[ScalarType::I32, ScalarType::U32, ScalarType::F32]),
        "Bits64" => Class::of(&[ScalarType::I64, ScalarType::U64, ScalarType::F64]),
        _ => panic!("unknown class {name}"),
    }
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_whitespace() {
            rest = &rest[first.len_utf8()..];
            continue;
        } else if first.is_alphanumeric() {
            rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len())
        } else if rest.starts_with("->") || rest.starts_with("[]") {
            2
        } else {
            1
        };
        tokens.push(rest[..length].to_owned());
        rest = &rest[length..];
    }
    tokens
}

struct Parser {
    tokens: Vec<String>,
    position: usize,
    names: Vec<String>,
}

impl Parser {
    fn peek(&self) -> &str {
        self.tokens.get(self.position).map_or("", String::as_str)
    }

    fn accept(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.position += usize::from(found);
        found
    }

    fn next(&mut self) -> String {
        self.position += 1;
        self.tokens[self.position - 1].clone()
    }

    fn function(&mut self) -> SignatureType {
        let parameter = self.atom();
        if self.accept("->") {
            SignatureType::Function(Box::new(parameter), Box::new(self.function()))
        } else {
            parameter
        }
    }

    fn atom(&mut self) -> SignatureType {
        let token = self.next();
        match token.as_str() {
            "[]" => SignatureType::Array(Box::new(self.atom())),
            "(" => {
                let mut parts = vec![self.function()];
                while self.accept(",") {
                    parts.push(self.function());
                }
                assert!(self.accept(")"), "unclosed parenthesis in a signature");
                if parts.len() == 1 { parts.remove(0) } else { SignatureType::Tuple(parts) }
            }
            "{" => {
                let mut fields = Vec::new();
                while !self.accept("}") {
                    let name = self.next();
                    assert!(self.accept(":"), "`name: type` in a record");
                    fields.push((name, self.function()));
                    self.accept(",");
                }
                SignatureType::Record(fields)
            }
            "seq" => SignatureType::Seq(Box::new(self.atom())),
            "array" => SignatureType::Ranked(self.variable(), Box::new(self.atom())),
            "window" => SignatureType::Window(self.variable(), Box::new(self.atom())),
            "boundary" => SignatureType::Boundary(self.variable(), Box::new(self.atom())),
            name => match ScalarType::from_name(name) {
                Some(ty) => SignatureType::Scalar(ty),
                None => SignatureType::Var(self.variable_named(name)),
            },
        }
    }

    fn variable(&mut self) -> usize {
        let name = self.next();
        self.variable_named(&name)
    }

    fn variable_named(&mut self, name: &str) -> usize {
        assert_eq!(name.len(), 1, "`{name}` in a signature is no type");
        self.names.iter().position(|other| other == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_signature_of_the_table_parses() {
        for entry in crate::builtins::all() {
            super::parse(entry.signature);
        }
        assert!(crate::builtins::all().count() > 150);
    }
}
