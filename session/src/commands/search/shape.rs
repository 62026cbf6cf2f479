//! Types as trees, so that a type that was asked for can be held against one with variables.
//!
//! ```text
//! asked            []f64 -> []f64 -> f64
//! dot : Num a =>   []a   -> []a   -> a       admits it: a is f64, a number
//! ```

use std::collections::BTreeMap;

use weft_ir::ScalarType;

use super::type_tokens;

/// A type as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// `a`: any type in what is searched, a type of its own in what is asked for.
    Variable(String),
    /// `f64`, `figure`.
    Name(String),
    /// `[]t`, `[n]t`.
    Array(Box<Shape>),
    /// `seq t`.
    Seq(Box<Shape>),
    /// `(t, u)`.
    Tuple(Vec<Shape>),
    /// `{x: t}`.
    Record(Vec<(String, Shape)>),
    /// `t -> u`.
    Function(Box<Shape>, Box<Shape>),
    /// `array s a`, `window s a`, `boundary s a`: its word, the type of its index, and of its elements.
    Ranked(String, Box<Shape>, Box<Shape>),
}

/// How many tokens a type may have that is searched for; none that people write has more.
const MOST_TOKENS: usize = 1_000;

/// Reads a type; classes of variables before `=>` are left out. Nothing if it is none.
pub(super) fn parse(text: &str) -> Option<Shape> {
    let body = text.split_once("=>").map_or(text, |(_, body)| body);
    let mut reader = Reader { tokens: type_tokens(body), position: 0 };
    if reader.tokens.len() > MOST_TOKENS {
        return None;
    }
    let shape = reader.function()?;
    (reader.position == reader.tokens.len()).then_some(shape)
}

/// Whether something of the type `ty` can be used at the type `asked`: some choice of its variables,
/// of their classes, makes them equal.
pub(super) fn admits(ty: &str, asked: &Shape) -> bool {
    // What is of any type answers no question.
    let Some(shape) = parse(ty).filter(|shape| !matches!(shape, Shape::Variable(_))) else {
        return false;
    };
    let mut chosen = BTreeMap::new();
    matches(&shape, asked, &mut chosen)
        && classes(ty).iter().all(|(class, variable)| match chosen.get(variable) {
            Some(shape) => belongs(shape, class),
            None => true,
        })
}

fn matches(shape: &Shape, asked: &Shape, chosen: &mut BTreeMap<String, Shape>) -> bool {
    match (shape, asked) {
        (Shape::Variable(name), _) => match chosen.get(name) {
            Some(earlier) => earlier == asked,
            None => chosen.insert(name.clone(), asked.clone()).is_none(),
        },
        (Shape::Name(a), Shape::Name(b)) => a == b,
        (Shape::Array(a), Shape::Array(b)) | (Shape::Seq(a), Shape::Seq(b)) => {
            matches(a, b, chosen)
        }
        (Shape::Tuple(a), Shape::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| matches(a, b, chosen))
        }
        (Shape::Record(a), Shape::Record(b)) => {
            let same = |(a, b): (&(String, Shape), &(String, Shape))| a.0 == b.0;
            a.len() == b.len()
                && a.iter().zip(b).all(same)
                && a.iter().zip(b).all(|(a, b)| matches(&a.1, &b.1, chosen))
        }
        (Shape::Function(p, r), Shape::Function(q, s)) => {
            matches(p, q, chosen) && matches(r, s, chosen)
        }
        (Shape::Ranked(a, i, e), Shape::Ranked(b, j, f)) => {
            a == b && matches(i, j, chosen) && matches(e, f, chosen)
        }
        // Arrays of rank 1 to 3 have indices of one to three parts.
        (Shape::Ranked(word, index, element), Shape::Array(_)) if word == "array" => {
            let mut inner = asked;
            (1..=3).any(|rank| {
                let Shape::Array(next) = inner else { return false };
                inner = next;
                let part = Shape::Name("i64".to_owned());
                let place = match rank {
                    1 => part,
                    _ => Shape::Tuple(vec![part; rank]),
                };
                let mut tried = chosen.clone();
                let fits =
                    matches(index, &place, &mut tried) && matches(element, inner, &mut tried);
                if fits {
                    *chosen = tried;
                }
                fits
            })
        }
        _ => false,
    }
}

/// The classes before `=>`, each with its variable.
fn classes(ty: &str) -> Vec<(String, String)> {
    let Some((context, _)) = ty.split_once("=>") else { return Vec::new() };
    let context = context.trim().trim_start_matches('(').trim_end_matches(')');
    let pairs = context.split(',').filter_map(|constraint| constraint.trim().split_once(' '));
    pairs.map(|(class, variable)| (class.to_owned(), variable.trim().to_owned())).collect()
}

/// Whether a type belongs to a class; a variable that was asked for may be of any.
fn belongs(shape: &Shape, class: &str) -> bool {
    let is_of = |admitted: &dyn Fn(ScalarType) -> bool| match shape {
        Shape::Name(name) => ScalarType::from_name(name).is_some_and(admitted),
        _ => false,
    };
    match (shape, class) {
        (Shape::Variable(_), _) => true,
        (Shape::Tuple(parts), "Eq" | "Ord" | "Elem") => {
            parts.iter().all(|part| belongs(part, class))
        }
        (Shape::Record(fields), "Eq" | "Ord" | "Elem") => {
            fields.iter().all(|(_, part)| belongs(part, class))
        }
        (_, "Num") => is_of(&|scalar| scalar.is_int() || scalar.is_float()),
        (_, "Int") => is_of(&ScalarType::is_int),
        (_, "Float") => is_of(&ScalarType::is_float),
        (Shape::Name(name), "Bits32") => ["i32", "u32", "f32"].contains(&&**name),
        (Shape::Name(name), "Bits64") => ["i64", "u64", "f64"].contains(&&**name),
        _ => is_of(&|_| true),
    }
}

struct Reader {
    tokens: Vec<String>,
    position: usize,
}

impl Reader {
    fn peek(&self) -> &str {
        self.tokens.get(self.position).map_or("", String::as_str)
    }

    fn accept(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.position += usize::from(found);
        found
    }

    fn word(&mut self) -> Option<String> {
        let word = self.tokens.get(self.position)?.clone();
        let is_word = word.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        self.position += usize::from(is_word);
        is_word.then_some(word)
    }

    fn function(&mut self) -> Option<Shape> {
        let parameter = self.atom()?;
        if !self.accept("->") {
            return Some(parameter);
        }
        Some(Shape::Function(parameter.into(), self.function()?.into()))
    }

    fn atom(&mut self) -> Option<Shape> {
        if self.accept("[") {
            // The size of an axis says nothing about where an array can be used.
            while !self.accept("]") {
                self.position += 1;
                self.tokens.get(self.position)?;
            }
            return Some(Shape::Array(self.atom()?.into()));
        }
        if self.accept("(") {
            let mut parts = Vec::new();
            while !self.accept(")") {
                parts.push(self.function()?);
                if !self.accept(",") && self.peek() != ")" {
                    return None;
                }
            }
            return match parts.len() {
                1 => parts.pop(),
                _ => Some(Shape::Tuple(parts)),
            };
        }
        if self.accept("{") {
            let mut fields = Vec::new();
            while !self.accept("}") {
                let name = self.word()?;
                if !self.accept(":") {
                    return None;
                }
                fields.push((name, self.function()?));
                if !self.accept(",") && self.peek() != "}" {
                    return None;
                }
            }
            return Some(Shape::Record(fields));
        }
        let word = self.word()?;
        match &*word {
            "seq" => Some(Shape::Seq(self.atom()?.into())),
            "array" | "window" | "boundary" => {
                Some(Shape::Ranked(word, self.atom()?.into(), self.atom()?.into()))
            }
            _ if word.len() == 1 && word.starts_with(|c: char| c.is_lowercase()) => {
                Some(Shape::Variable(word))
            }
            _ => Some(Shape::Name(word)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{admits, parse};

    fn check(ty: &str, asked: &str, expected: bool) {
        let asked = parse(asked).expect("a type");
        assert_eq!(admits(ty, &asked), expected, "{ty} at {asked:?}");
    }

    #[test]
    fn variables_stand_for_what_is_asked() {
        check("Num a => []a -> []a -> a", "[]f64 -> []f64 -> f64", true);
        check("Num a => []a -> []a -> a", "[]f64 -> []f64 -> f32", false);
        check("(a -> b) -> []a -> []b", "(f64 -> bool) -> []f64 -> []bool", true);
        check("[]a -> (a, i64)", "[]{x: f64} -> ({x: f64}, i64)", true);
        check("[]a -> a", "i64 -> i64", false);
    }

    #[test]
    fn classes_are_respected() {
        check("Num a => []a -> a", "[]bool -> bool", false);
        check("Int a => a -> a -> a", "f64 -> f64 -> f64", false);
        check("Float a => []a -> a", "[]f32 -> f32", true);
        check("(Ord k, Num b) => []k -> []b", "[](i64, char) -> []f64", true);
        check("(Ord k, Num b) => []k -> []b", "[][]i64 -> []f64", false);
        check("Num a => []a -> a", "[]t -> t", true);
    }

    #[test]
    fn sizes_and_ranks_of_arrays() {
        check("[]a -> i64", "[3]f64 -> i64", true);
        check("array s a -> i64", "[][]f64 -> i64", true);
        check("s -> a -> array s a", "(i64, i64) -> f64 -> [][]f64", true);
        check("s -> a -> array s a", "i64 -> []f64 -> [][]f64", true);
        check("s -> a -> array s a", "i64 -> f64 -> [][]f64", false);
        check("s -> a -> array s a", "(i64, i64) -> f64 -> []f64", false);
    }

    #[test]
    fn sequences_are_sequences_only() {
        check("seq a -> []a", "seq f64 -> []f64", true);
        check("seq []a -> []a", "seq []f64 -> []f64", true);
        check("seq []a -> []a", "seq f64 -> []f64", false);
        check("[]a -> []a", "seq f64 -> []f64", false);
        check(
            "(a -> b -> a) -> a -> seq b -> a",
            "(f64 -> i64 -> f64) -> f64 -> seq i64 -> f64",
            true,
        );
    }

    #[test]
    fn what_is_no_type_is_nothing() {
        for text in ["", "[", "[]", "->", "a ->", "(a", "{x}", "a b", "window"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
