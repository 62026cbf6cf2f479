//! Random programs of the language, well typed by construction, each from a string of bytes.
//!
//! A program is a few cells: functions, bindings that later cells use, and an expression of each. What
//! they compute makes no sense, but it means the same on every engine. Sizes stay small but for arrays
//! whose lengths lie around those of blocks; floats are small multiples of powers of two, for which
//! any bracketing of a sum is exact. Now and then a program fails: an index or a divisor may be anything.
//!
//! Choices come from bytes (as in QuickCheck's successors Hypothesis and `arbitrary`), so that a program
//! is made smaller by making its bytes fewer and smaller ([`shrink()`]).

mod array;
mod choices;
mod nested;
mod parts;
mod scalar;
mod sequence;
mod shrink;
mod types;

pub use choices::Choices;
pub use shrink::shrink;

use types::Type;

/// What is defined before every program: arrays of all kinds, empty and ragged ones among them.
pub const PRELUDE: &str = "\
xs = [3, 1, 4, 2, 5]
one = [2]
none = iota 0
fs = [0.5, -1.25, 3.0, 2.0]
bs = [true, false, true, true]
ps = [(1, 2.5), (0, -1.0), (1, 0.25), (2, 3.0)]
ragged = [[1, 2, 3], [], [4, 5], [2]]
matrix = [[1, 2, 3], [4, 5, 2], [3, 1, 2]]
noRows = take 0 matrix
noTables = take 0 [matrix]
floats = [[0.5, 2.0], [], [-1.0, 4.0, 1.5]]
deep = [[[1, 2], []], [], [[3], [1, 4, 2], []]]
yes = true
three = 3
large16 = { (i * 7) % 11 : i in iota 16 }
large63 = { (i * 29) % 41 : i in iota 63 }
large65 = { (i * 5) % 23 : i in iota 65 }
large257 = { (i * 131) % 97 : i in iota 257 }
large1025 = { (i * 37) % 101 : i in iota 1025 }
largeRows = { iota (i % 5) : i in iota 130 }
largeFloats = { f64 (i % 13) * 0.25 : i in iota 129 }
";

/// The names of the prelude with their types.
fn prelude() -> Vec<(String, Type)> {
    let (int, float) = (Type::Int, Type::Float);
    let names = [
        ("xs", int.array()),
        ("one", int.array()),
        ("none", int.array()),
        ("fs", float.array()),
        ("bs", Type::Bool.array()),
        ("ps", Type::pair(&int, &float).array()),
        ("ragged", int.array().array()),
        ("matrix", int.array().array()),
        ("noRows", int.array().array()),
        ("noTables", int.array().array().array()),
        ("floats", float.array().array()),
        ("deep", int.array().array().array()),
        ("yes", Type::Bool),
        ("three", int.clone()),
        ("large16", int.array()),
        ("large63", int.array()),
        ("large65", int.array()),
        ("large257", int.array()),
        ("large1025", int.array()),
        ("largeRows", int.array().array()),
        ("largeFloats", float.array()),
    ];
    names.into_iter().map(|(name, ty)| (name.to_owned(), ty)).collect()
}

/// The cells of a program, in order; the prelude goes before.
pub fn program(choices: &mut Choices) -> Vec<String> {
    let mut writer = Writer {
        choices,
        scope: prelude(),
        functions: Vec::new(),
        names: 0,
        left: 0,
        depth: 0,
        inside: 0,
    };
    let mut cells = Vec::new();
    for _ in 0..writer.choices.below(2) {
        cells.push(writer.function());
    }
    for _ in 0..writer.choices.below(3) {
        let ty = writer.ty();
        let name = writer.fresh("v");
        let value = writer.whole(&ty);
        cells.push(format!("{name} = {value}"));
        writer.scope.push((name, ty));
    }
    let ty = writer.ty();
    cells.push(writer.whole(&ty));
    cells
}

/// A function that may be called.
struct Function {
    name: String,
    parameters: Vec<Type>,
    result: Type,
}

/// Writes expressions of given types.
struct Writer<'c> {
    choices: &'c mut Choices,
    /// The names that may be used.
    scope: Vec<(String, Type)>,
    functions: Vec<Function>,
    /// How many names there are.
    names: u32,
    /// How many more operations the expression may have.
    left: u32,
    /// How deep what follows may nest.
    depth: u32,
    /// How many times what is written may be evaluated for each evaluation of the program, as a power
    /// of an array's length: large arrays are not used where it is not 0.
    inside: u32,
}

impl Writer<'_> {
    /// A type for a value.
    fn ty(&mut self) -> Type {
        let int = Type::Int;
        let types = [
            int.clone(),
            int.array(),
            int.array().array(),
            Type::Float.array(),
            Type::Float,
            Type::Float.array().array(),
            Type::Bool.array(),
            int.array().array().array(),
            Type::pair(&int, &Type::Float).array(),
            Type::pair(&int.array(), &int),
            Type::pair(&int.array().array(), &int.array()),
        ];
        types[self.choices.below(types.len())].clone()
    }

    fn fresh(&mut self, letter: &str) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    /// An expression that stands alone.
    fn whole(&mut self, ty: &Type) -> String {
        (self.depth, self.inside) = (2 + self.choices.below(4) as u32, 0);
        self.left = 5 + 5 * self.choices.below(4) as u32;
        self.expression(ty)
    }

    /// A definition of a function that calls itself: a number down to 0, or an array down to one element.
    fn recursive(&mut self) -> String {
        let (name, parameter, below) = (self.fresh("r"), self.fresh("a"), self.fresh("b"));
        let outer = std::mem::take(&mut self.scope);
        let ints = Type::Int.array();
        let (parameters, result, text) = match self.choices.below(3) {
            0 => {
                let result = self.ty();
                self.scope.push((parameter.clone(), Type::Int));
                let last = self.whole(&result);
                self.scope.push((below.clone(), result.clone()));
                let body = self.whole(&result);
                let body = match result {
                    Type::Array(_) => format!("take 6 {body}"),
                    _ => body,
                };
                let text = format!(
                    "if {parameter} < 1 then {last} else let {below} = {name} ({parameter} - 1) in {body}"
                );
                (Type::Int, result, format!("({parameter} : i64) = {text}"))
            }
            side => {
                let result = if side == 1 { ints.clone() } else { Type::Int };
                self.scope.push((parameter.clone(), ints.clone()));
                let last = self.whole(&result);
                self.scope.push((below.clone(), result.array()));
                let body = self.whole(&result);
                let body = if side == 1 { format!("take 9 {body}") } else { body };
                let text = format!(
                    "if length {parameter} < 2 then {last} else let {below} = {{ {name} v : v in \
                     [take 1 {parameter}, drop 1 {parameter}] }} in {body}"
                );
                (ints.clone(), result, format!("({parameter} : []i64) = {text}"))
            }
        };
        self.scope = outer;
        let text = format!("def {name} {text}");
        self.functions.push(Function { name, parameters: vec![parameters], result });
        text
    }

    /// A definition of a function, whose parameters have known types.
    fn function(&mut self) -> String {
        if self.choices.below(4) == 3 {
            return self.recursive();
        }
        let name = self.fresh("f");
        let outer = std::mem::take(&mut self.scope);
        let mut text = format!("def {name}");
        let mut bindings = String::new();
        let mut parameters = Vec::new();
        for _ in 0..=self.choices.below(2) {
            let ty = self.ty();
            let (parameter, local) = (self.fresh("a"), self.fresh("a"));
            text += &format!(" {parameter}");
            bindings += &format!("let {local} = ({parameter} : {ty}) in ");
            self.scope.push((local, ty.clone()));
            parameters.push(ty);
        }
        let result = self.ty();
        let body = self.whole(&result);
        self.scope = outer;
        self.functions.push(Function { name, parameters, result });
        format!("{text} = {bindings}{body}")
    }

    /// An expression, in parentheses unless it needs none. The first choice is always the simplest.
    fn expression(&mut self, ty: &Type) -> String {
        if self.depth == 0 || self.left == 0 {
            return self.leaf(ty);
        }
        self.depth -= 1;
        self.left -= 1;
        let text = match self.choices.below(18) {
            0 => self.leaf(ty),
            1 => format!(
                "(if {} then {} else {})",
                self.expression(&Type::Bool),
                self.expression(ty),
                self.expression(ty)
            ),
            2 => {
                let bound = self.ty();
                let (name, value) = (self.fresh("v"), self.expression(&bound));
                let body = self.with(&[(&name, &bound)], |writer| writer.expression(ty));
                format!("(let {name} = {value} in {body})")
            }
            3 => self.repetition(ty),
            4 => self.call(ty),
            5 => self.chosen_element(ty),
            6 => self.consumed(ty),
            7 => self.field(ty),
            _ => match ty {
                Type::Int => self.int(),
                Type::Float => self.float(),
                Type::Bool => self.bool(),
                Type::Pair(left, right) => {
                    format!("({}, {})", self.expression(left), self.expression(right))
                }
                Type::Array(element) => self.array(element),
            },
        };
        self.depth += 1;
        text
    }

    /// Writes with more names in scope.
    fn with(
        &mut self,
        names: &[(&String, &Type)],
        write: impl FnOnce(&mut Self) -> String,
    ) -> String {
        let before = self.scope.len();
        self.scope.extend(names.iter().map(|(name, ty)| ((*name).clone(), (*ty).clone())));
        let text = write(self);
        self.scope.truncate(before);
        text
    }

    /// Writes what is evaluated for every element of an array.
    fn element(
        &mut self,
        names: &[(&String, &Type)],
        write: impl FnOnce(&mut Self) -> String,
    ) -> String {
        self.inside += 1;
        let text = self.with(names, write);
        self.inside -= 1;
        text
    }

    /// A name or a constant.
    fn leaf(&mut self, ty: &Type) -> String {
        let few = |(name, of): &&(String, Type)| {
            of == ty && (self.inside == 0 || !name.starts_with("large"))
        };
        let names: Vec<String> =
            self.scope.iter().filter(few).map(|(name, _)| name.clone()).collect();
        if !names.is_empty() && self.choices.below(6) < 5 {
            // The latest more often, so that local names are used.
            let back = self.choices.below(names.len()).min(self.choices.below(names.len()));
            let name = &names[names.len() - 1 - back];
            // The longest rarely, as what is bound to it may be used again and again.
            let rare = name == "large1025" && self.choices.below(4) > 0;
            return if rare { "large65".to_owned() } else { name.clone() };
        }
        self.constant(ty)
    }

    fn constant(&mut self, ty: &Type) -> String {
        match ty {
            Type::Int => self.choices.of(&["0", "1", "2", "3", "5", "(-1)", "(-2)"]).to_string(),
            Type::Float => {
                let floats = ["0.0", "0.5", "2.0", "1.5", "(-1.0)", "nan", "inf", "(-0.0)"];
                // What is no number seldom: it makes all that it meets the same.
                let few = if self.choices.below(4) == 3 { floats.len() } else { 5 };
                self.choices.of(&floats[..few]).to_string()
            }
            Type::Bool => self.choices.of(&["false", "true"]).to_string(),
            Type::Pair(left, right) => {
                format!("({}, {})", self.constant(left), self.constant(right))
            }
            Type::Array(element) => match self.choices.below(4) {
                0 => format!("(take 0 [{}])", self.constant(element)),
                count => {
                    let elements: Vec<String> =
                        (0..count).map(|_| self.constant(element)).collect();
                    format!("[{}]", elements.join(", "))
                }
            },
        }
    }

    /// A loop of few rounds, whose arrays stay short.
    fn repetition(&mut self, ty: &Type) -> String {
        let (state, other) = (self.fresh("v"), self.fresh("v"));
        let start = self.expression(ty);
        let short = |body: String| match ty {
            Type::Array(_) => format!("take 6 ({body})"),
            _ => body,
        };
        let names = [(&state, ty), (&other, &Type::Int)];
        match self.choices.below(4) {
            0 => {
                let count = self.expression(&Type::Int);
                let body = self.element(&names, |writer| writer.expression(ty));
                format!("(loop {state} = {start} for {other} < {count} % 4 do {})", short(body))
            }
            1 => {
                let body = self.element(&names, |writer| writer.expression(ty));
                let over = self.expression(&Type::Int.array());
                format!("(loop {state} = {start} for {other} in {over} do {})", short(body))
            }
            2 => {
                let body = self.element(&[(&state, ty)], |writer| writer.expression(ty));
                let rounds = self.choices.of(&["1", "2", "3"]);
                format!("(iterate {rounds} (\\{state} -> {}) {start})", short(body))
            }
            _ => {
                let body = self.element(&names, |writer| writer.expression(ty));
                let condition = self.element(&names, |writer| writer.expression(&Type::Bool));
                format!(
                    "(loop ({state}, {other}) = ({start}, 0) while {other} < 4 && {condition} do \
                     ({}, {other} + 1)).0",
                    short(body)
                )
            }
        }
    }

    /// A field of a record, of one or of each of several.
    fn field(&mut self, ty: &Type) -> String {
        let other = self.ty();
        let (name, value) = (self.fresh("r"), self.expression(ty));
        let beside = self.expression(&other);
        let record = format!("{{beside = {beside}, value = {value}}}");
        match (self.choices.below(3), ty) {
            (0, _) => format!("({record}).value"),
            (1, Type::Array(element)) => {
                // The fields of all are columns.
                let (item, array) = (self.fresh("x"), self.expression(&other.array()));
                let value = self.element(&[(&item, &other)], |it| it.expression(element));
                format!(
                    "{{ {name}.value : {name} in {{ {{value = {value}, beside = {item}}} : {item} in {array} }} }}"
                )
            }
            _ => {
                let next = self.expression(ty);
                format!("(let {name} = {record} in ({{{name} with value = {next}}}).value)")
            }
        }
    }

    /// A call of a function of the program, if there is one with that result.
    fn call(&mut self, ty: &Type) -> String {
        let found = self.functions.iter().find(|function| function.result == *ty);
        let Some((name, parameters)) = found.map(|it| (it.name.clone(), it.parameters.clone()))
        else {
            return self.expression(ty);
        };
        let is_recursive = name.starts_with('r');
        let arguments: Vec<String> = parameters
            .iter()
            .map(|parameter| match (is_recursive, parameter) {
                (true, Type::Int) => format!("({} % 4)", self.expression(parameter)),
                (true, Type::Array(_)) => format!("(take 9 {})", self.expression(parameter)),
                _ => self.expression(parameter),
            })
            .collect();
        format!("({name} {})", arguments.join(" "))
    }

    /// An element of an array.
    fn chosen_element(&mut self, ty: &Type) -> String {
        let (array, other) = (self.expression(&ty.array()), self.leaf(ty));
        let name = self.fresh("v");
        match self.choices.below(8) {
            0 => format!("(if null {array} then {other} else first {array})"),
            1 => format!("({array})[{}]", self.expression(&Type::Int)),
            2 => format!("(assert {} {array})[0]", self.expression(&Type::Bool)),
            3 => {
                let at = self.choices.of(&["0", "length - 1", "length // 2"]);
                let at = at.replace("length", &format!("length {name}"));
                format!(
                    "(let {name} = {array} in if length {name} > 0 then {name}[{at}] else {other})"
                )
            }
            _ => format!("(let {name} = {array} in if null {name} then {other} else last {name})"),
        }
    }
}
