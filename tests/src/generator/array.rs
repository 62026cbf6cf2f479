//! Expressions that are arrays of any elements, and those of scalars.

use super::Writer;
use super::types::Type;

const SCANS: [&str; 9] = [
    "scan (+) 0",
    "scanl (+) 1",
    "scanl1 max",
    "prescanl (+) 2",
    "scanr (+) 0",
    "scanr1 min",
    "exscan max 0",
    "postscanr (+) 1",
    "scan (\\a b -> b) 0",
];

impl Writer<'_> {
    /// An array whose elements have that type.
    pub(super) fn array(&mut self, element: &Type) -> String {
        let ty = element.array();
        match self.choices.below(30) {
            0..=5 => self.comprehension(element),
            6 => {
                let name = self.fresh("x");
                let array = self.expression(&ty);
                let holds = self.element(&[(&name, element)], |it| it.expression(&Type::Bool));
                format!("{{ {name} in {array} | {holds} }}")
            }
            7 => {
                let count = self.expression(&Type::Int);
                let function = self
                    .choices
                    .of(&["reverse", "rotate 1", "tail", "init", "take", "drop", "rotate"]);
                match function {
                    "take" | "drop" | "rotate" => {
                        format!("({function} {count} {})", self.expression(&ty))
                    }
                    _ => format!("({function} {})", self.expression(&ty)),
                }
            }
            8 => format!("({} ++ {})", self.expression(&ty), self.expression(&ty)),
            9 => format!("(flatten {})", self.expression(&ty.array())),
            10 => {
                let count = match self.choices.below(4) {
                    0 => "2".to_owned(),
                    1 => "0".to_owned(),
                    2 => "3".to_owned(),
                    _ => format!("({} % 5)", self.expression(&Type::Int)),
                };
                format!("(replicate {count} {})", self.expression(element))
            }
            11 => {
                let (name, at) = (self.fresh("z"), self.fresh("i"));
                let (array, indices) = (self.expression(&ty), self.expression(&Type::Int.array()));
                format!(
                    "(let {name} = {array} in gather {name} {{ {at} % length {name} : {at} in \
                     {indices} }})"
                )
            }
            12 => {
                let slice = self.choices.of(&["1:", "::2", "::-1", ":2", "1:3"]);
                format!("({})[{slice}]", self.expression(&ty))
            }
            13 => {
                let count = 1 + self.choices.below(3);
                let elements: Vec<String> = (0..count).map(|_| self.expression(element)).collect();
                format!("[{}]", elements.join(", "))
            }
            14 => {
                let (name, array) = (self.fresh("z"), self.expression(&ty));
                let value = self.expression(element);
                format!(
                    "(let {name} = {array} in if length {name} > 1 then ({name} with [1] = {value}) \
                     else {name})"
                )
            }
            15 => {
                let (index, value) = (self.fresh("i"), self.fresh("x"));
                let array = self.expression(&Type::Int.array());
                let body = self.element(&[(&index, &Type::Int), (&value, &Type::Int)], |it| {
                    it.expression(element)
                });
                format!("(mapWithIndex (\\{index} {value} -> {body}) {array})")
            }
            16 => {
                let index = self.fresh("i");
                let count = self.choices.of(&["2", "3", "0", "5"]);
                let body = self.element(&[(&index, &Type::Int)], |it| it.expression(element));
                format!("(generate {count} (\\{index} -> {body}))")
            }
            17 => self.groups(element),
            18 => {
                let (name, index) = (self.fresh("z"), self.fresh("i"));
                let array = self.expression(&ty);
                let holds = self.element(&[(&index, &Type::Int)], |it| it.expression(&Type::Bool));
                let side = self.choices.below(2);
                format!(
                    "(let {name} = {array} in split {{ {holds} : {index} in indices {name} }} \
                     {name}).{side}"
                )
            }
            19 => {
                let name = self.fresh("x");
                let array = self.expression(&ty);
                let key = self.element(&[(&name, element)], |it| it.expression(&Type::Int));
                format!("(sortBy (\\{name} -> {key}) {array})")
            }
            20 => {
                let (name, array) = (self.fresh("z"), self.expression(&ty));
                let index = self.fresh("i");
                let value = self.element(&[(&index, &Type::Int)], |it| it.expression(element));
                let targets = self.choices.of(&[
                    "(reverse (indices {name}))",
                    "(indices {name} // 2)",
                    "(replicate (length {name}) 1)",
                ]);
                let targets = targets.replace("{name}", &name);
                format!(
                    "(let {name} = {array} in scatter {name} {targets} {{ {value} : {index} in indices \
                     {name} }})"
                )
            }
            21 => {
                let (name, array) = (self.fresh("z"), self.expression(&ty));
                format!("(let {name} = {array} in interleave {name} (reverse {name}))")
            }
            22 | 23 => self.collected(element),
            _ => match element {
                Type::Int => self.array_of_ints(),
                Type::Float => self.array_of_floats(),
                Type::Bool => self.array_of_bools(),
                Type::Pair(left, right) => {
                    let (name, array) = (self.fresh("z"), self.expression(&left.array()));
                    let index = self.fresh("i");
                    let value = self.element(&[(&index, &Type::Int)], |it| it.expression(right));
                    format!(
                        "(let {name} = {array} in zip {name} {{ {value} : {index} in indices {name} \
                         }})"
                    )
                }
                Type::Array(inner) => self.rows(inner),
            },
        }
    }

    /// Apply-to-each, of one or two generators, sometimes filtered.
    pub(super) fn comprehension(&mut self, element: &Type) -> String {
        let int = Type::Int;
        let sources = [
            int.clone(),
            int.array(),
            Type::Float,
            int.array().array(),
            Type::Float.array(),
            Type::pair(&int, &Type::Float),
        ];
        let source = sources[self.choices.below(sources.len())].clone();
        let array = self.expression(&source.array());
        let (name, index) = (self.fresh("x"), self.fresh("i"));
        match self.choices.below(4) {
            0 | 1 => {
                let body = self.element(&[(&name, &source)], |it| it.expression(element));
                format!("{{ {body} : {name} in {array} }}")
            }
            2 => {
                let names = [(&name, &source)];
                let body = self.element(&names, |it| it.expression(element));
                let holds = self.element(&names, |it| it.expression(&Type::Bool));
                format!("{{ {body} : {name} in {array} | {holds} }}")
            }
            _ => {
                let all = self.fresh("z");
                let names = [(&all, &source.array()), (&name, &source), (&index, &int)];
                let body = self.element(&names, |it| it.expression(element));
                format!(
                    "(let {all} = {array} in {{ {body} : {name} in {all} ; {index} in indices {all} \
                     }})"
                )
            }
        }
    }

    /// A map over the groups of an array.
    fn groups(&mut self, element: &Type) -> String {
        let sources = [Type::Int, Type::Float, Type::Int.array()];
        let source = sources[self.choices.below(sources.len())].clone();
        let array = self.expression(&source.array());
        let (all, key, values, index) =
            (self.fresh("z"), self.fresh("k"), self.fresh("x"), self.fresh("i"));
        let names = [(&key, &Type::Int), (&values, &source.array())];
        let body = self.element(&names, |it| it.expression(element));
        format!(
            "(let {all} = {array} in {{ {body} : ({key}, {values}) in groupBy {{ {index} % 2 : \
             {index} in indices {all} }} {all} }})"
        )
    }

    fn array_of_ints(&mut self) -> String {
        let ints = Type::Int.array();
        match self.choices.below(18) {
            0 => format!("(iota ({} % 6))", self.expression(&Type::Int)),
            1 | 2 => {
                let order = self.choices.of(&["sort", "sortDesc", "argsort", "unique"]);
                format!("({order} {})", self.expression(&ints))
            }
            3 | 4 => format!("({} {})", self.choices.of(&SCANS), self.expression(&ints)),
            5 => {
                let fold = self.choices.of(&["sum", "lengths", "maximum", "product"]);
                format!("({fold} {})", self.expression(&ints.array()))
            }
            6 => {
                let operator = self.choices.of(&["+", "*", "-"]);
                format!("({} {operator} {})", self.expression(&ints), self.expression(&Type::Int))
            }
            7 => {
                let (name, array) = (self.fresh("z"), self.expression(&ints));
                let operator = self.choices.of(&["+", "*", "-"]);
                format!("(let {name} = {array} in {name} {operator} reverse {name})")
            }
            8 => {
                let name = self.fresh("x");
                format!("(histogram 4 {{ {name} % 4 : {name} in {} }})", self.expression(&ints))
            }
            9 => {
                let (name, array) = (self.fresh("z"), self.expression(&ints));
                let (at, start) = (self.fresh("i"), self.expression(&Type::Int));
                let operator = self.choices.of(&["(+)", "max", "(*)"]);
                format!(
                    "(let {name} = {array} in scatterWith {operator} (replicate 4 {start}) {{ {at} % \
                     4 : {at} in {name} }} {name})"
                )
            }
            10 => {
                let boundary = self.choices.of(&["clamp", "wrap", "mirror", "(constant 7)"]);
                let operator = self.choices.of(&["+", "-", "*"]);
                let right = self.choices.of(&["0", "1", "2"]);
                let array = self.expression(&ints);
                format!("(stencil {boundary} (\\w -> w[-1] {operator} w[{right}]) {array})")
            }
            11 => format!(
                "(merge (sort {}) (sort {}))",
                self.expression(&ints),
                self.expression(&ints)
            ),
            12 => {
                let (name, array) = (self.fresh("z"), self.expression(&ints));
                let start = self.expression(&Type::Int);
                format!(
                    "(let {name} = {array} in foldSeg (+) {start} {name} [0, length {name} // 2, \
                     length {name} - length {name} // 2])"
                )
            }
            13 => {
                let (name, array) = (self.fresh("z"), self.expression(&ints));
                let limit = self.expression(&Type::Int);
                format!("(let {name} = {array} in select ({name} > {limit}) {name} {limit})")
            }
            14 => self.letters(),
            15 | 16 => self.parts(),
            _ => {
                let ty = [Type::Float, Type::Bool][self.choices.below(2)].array();
                format!("(i64 {})", self.expression(&ty))
            }
        }
    }

    /// Texts, as the numbers of their letters.
    fn letters(&mut self) -> String {
        let text = self.choices.of(&["\"weft\"", "\"\"", "\"a b\"", "\"banana\""]);
        let name = self.fresh("t");
        match self.choices.below(5) {
            0 => format!("(i64 {text})"),
            1 => format!("(i64 (sort {text}))"),
            2 => format!(
                "(i64 ({text} ++ (if {} then \"x\" else \"\")))",
                self.expression(&Type::Bool)
            ),
            3 => {
                let texts = format!("[{text}, \"ab\", \"\", \"ab\", {text}]");
                format!("(codes {texts}).0")
            }
            _ => format!(
                "(let {name} = [{text}, \"b\", \"weft\"] in {{ i64 (same c{name} \"weft\") + length \
                 c{name} : c{name} in {name} }})"
            ),
        }
    }

    fn array_of_floats(&mut self) -> String {
        let floats = Type::Float.array();
        match self.choices.below(8) {
            6 => {
                let functions =
                    ["sort", "sortDesc", "sqrt", "abs", "scanl1 max", "scan (+) 0.5", "exp", "sin"];
                let function = self.choices.of(&functions);
                format!("(f64 ({function} (f32 {})))", self.expression(&floats))
            }
            0 => {
                let operator = self.choices.of(&["+", "*", "/", "-"]);
                format!(
                    "({} {operator} {})",
                    self.expression(&floats),
                    self.expression(&Type::Float)
                )
            }
            1 => {
                let functions = ["sort", "sortDesc", "sqrt", "abs", "scanl1 max", "scan (+) 0.5"];
                format!("({} {})", self.choices.of(&functions), self.expression(&floats))
            }
            2 => format!("(sum {})", self.expression(&floats.array())),
            3 => format!("(f64 {})", self.expression(&Type::Int.array())),
            4 => format!("(stencil clamp (\\w -> w[-1] + w[1]) {})", self.expression(&floats)),
            _ => {
                let (name, array) = (self.fresh("z"), self.expression(&floats));
                format!("(let {name} = {array} in {name} - maximum {name})")
            }
        }
    }

    fn array_of_bools(&mut self) -> String {
        let ints = Type::Int.array();
        match self.choices.below(3) {
            0 => {
                let operator = self.choices.of(&["<", ">", "=="]);
                format!("({} {operator} {})", self.expression(&ints), self.expression(&Type::Int))
            }
            1 => format!("(not {})", self.expression(&Type::Bool.array())),
            _ => {
                let floats = self.expression(&Type::Float.array());
                format!("({floats} > {})", self.expression(&Type::Float))
            }
        }
    }
}
