//! Expressions that are arrays of arrays.

use super::Writer;
use super::types::Type;

impl Writer<'_> {
    /// Rows whose elements have that type.
    pub(super) fn rows(&mut self, element: &Type) -> String {
        let (row, ty) = (element.array(), element.array().array());
        let name = self.fresh("z");
        match self.choices.below(15) {
            9 => self.tabulated(element),
            0 | 1 => {
                let array = self.expression(&row);
                format!(
                    "(let {name} = {array} in segments [length {name} // 2, 0, length {name} - length \
                     {name} // 2] {name})"
                )
            }
            2 => format!("(chunks {} {})", self.choices.of(&["2", "3"]), self.expression(&row)),
            3 => {
                let array = self.expression(&row);
                format!(
                    "(let {name} = take 9 {array} in windows {} {name})",
                    self.choices.of(&["2", "1", "3"])
                )
            }
            4 => {
                let array = self.expression(&ty);
                format!(
                    "(let {name} = {array} in {name} ++ {{ reverse r{name} : r{name} in {name} }})"
                )
            }
            5 => format!("(sortBy (\\{name} -> length {name}) {})", self.expression(&ty)),
            6 => format!(
                "{{ [last {name}] ++ {name} : {name} in {} | not (null {name}) }}",
                self.expression(&ty)
            ),
            7 => {
                // Two extents that are the same by construction.
                let array = self.expression(&row);
                format!("(let {name} = take 7 {array} in transpose [{name}, reverse {name}])")
            }
            8 if matches!(element, Type::Int | Type::Float | Type::Bool) => {
                let array = self.expression(&row);
                format!("(let {name} = {array} in reshape (1, length {name}) {name})")
            }
            _ => match element {
                Type::Int => self.rows_of_ints(),
                Type::Float => {
                    let function = self.choices.of(&["sort", "scan (+) 0.5", "sqrt", "scanl1 max"]);
                    format!("({function} {})", self.expression(&ty))
                }
                Type::Bool => format!(
                    "({} > {})",
                    self.expression(&Type::Int.array().array()),
                    self.expression(&Type::Int)
                ),
                Type::Pair(..) | Type::Array(_) => self.comprehension(&row),
            },
        }
    }

    fn rows_of_ints(&mut self) -> String {
        let ints = Type::Int.array();
        let name = self.fresh("z");
        match self.choices.below(10) {
            0 => {
                let function =
                    self.choices.of(&["sort", "scan (+) 1", "argsort", "scanr max 0", "unique"]);
                format!("({function} {})", self.expression(&ints.array()))
            }
            1 => {
                let operator = self.choices.of(&["+", "*", "-"]);
                format!(
                    "({} {operator} {})",
                    self.expression(&ints.array()),
                    self.expression(&Type::Int)
                )
            }
            2 => {
                let operator = self.choices.of(&["(+)", "(*)", "max", "(-)"]);
                let array = self.expression(&ints);
                format!("(let {name} = take 7 {array} in outer {operator} {name} (reverse {name}))")
            }
            3 => {
                let array = self.expression(&ints);
                format!(
                    "(let {name} = take 7 {array} in let m{name} = outer (-) {name} {name} in matmul m{name} (transpose m{name}))"
                )
            }
            4 => {
                let boundary = self.choices.of(&["clamp", "wrap", "mirror", "(constant 3)"]);
                let array = self.expression(&ints);
                format!(
                    "(let {name} = take 7 {array} in stencil {boundary} (\\w -> w[-1,0] + 2 * w[0,1]) (outer (-) {name} {name}))"
                )
            }
            5 => {
                let array = self.expression(&ints.array());
                format!("(let {name} = {array} in {{ r{name} - sum r{name} : r{name} in {name} }})")
            }
            6 => {
                let array = self.expression(&ints);
                format!("{{ iota ({name} % 5) : {name} in {array} }}")
            }
            _ => self.combined_rows(),
        }
    }

    /// Rows of one length by operations that combine rows: one element after the other, and whole.
    fn combined_rows(&mut self) -> String {
        let name = self.fresh("z");
        let array = self.expression(&Type::Int.array());
        let start =
            self.choices.of(&[&*name, "{name} * 2", "reverse {name}"]).replace("{name}", &name);
        let operator = self.choices.of(&[
            "(zipWith (+))",
            "(\\a b -> a + b)",
            "(\\a b -> map (\\(x, y) -> max x y) (zip a b))",
            "(\\a b -> select (a > b) a b)",
        ]);
        let length = self.choices.of(&["7", "3", if self.inside == 0 { "70" } else { "4" }]);
        let rows = format!("(outer (-) {name} (take 4 {name}))");
        let start = format!("(take 4 ({start}))");
        let text = match self.choices.below(6) {
            0 => {
                let scan = self.choices.of(&["scan", "scanl", "exscan", "scanr", "postscanr"]);
                format!("{scan} {operator} {start} {rows}")
            }
            1 => {
                let scan = self.choices.of(&["scanl1", "scanr1"]);
                format!("{scan} {operator} {rows}")
            }
            2 => format!(
                "scatterWith {operator} (replicate 3 {start}) {{ i{name} % 3 : i{name} in {name} }} {rows}"
            ),
            3 => {
                let of_rows = "\\(s, n) (t, k) -> (zipWith (+) s t, n + k)";
                format!(
                    "{{ map (+ n{name}) r{name} : (r{name}, n{name}) in scanl1 ({of_rows}) (zip {rows} {name}) }}"
                )
            }
            4 => {
                // The two components have rows of different lengths.
                let operator = "(\\(s, t) (u, v) -> (zipWith (+) s u, zipWith max t v))";
                let combine = self.choices.of(&["scanl1", "scanr1", "fold"]);
                let pairs = format!("(zip {rows} (outer (*) {name} (take 2 {name})))");
                let pairs = match combine {
                    "fold" => format!("[fold {operator} ({start}, take 2 {name}) {pairs}]"),
                    scan => format!("{scan} {operator} {pairs}"),
                };
                format!("{{ s{name} ++ t{name} : (s{name}, t{name}) in {pairs} }}")
            }
            _ => {
                let square = format!("(outer (-) (take 2 {name}) (take 2 (reverse {name})))");
                format!(
                    "last (scanl1 matmul {{ m{name} + i{name} : i{name} in 0..{length} ; m{name} in replicate {length} {square} }})"
                )
            }
        };
        format!("(let {name} = take {length} {array} in {text})")
    }
}
