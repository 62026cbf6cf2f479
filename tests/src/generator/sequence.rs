//! Expressions that consume sequences, and the sequences that they consume.

use super::Writer;
use super::types::Type;

impl Writer<'_> {
    /// A value of any type that a sequence comes to, item by item.
    pub(super) fn consumed(&mut self, ty: &Type) -> String {
        let item = self.item();
        let (state, name) = (self.fresh("v"), self.fresh("x"));
        let start = self.expression(ty);
        let sequence = self.sequence(&item);
        let body = self.element(&[(&state, ty), (&name, &item)], |it| it.expression(ty));
        // Arrays stay short.
        let body = match ty {
            Type::Array(_) => format!("take 6 ({body})"),
            _ => body,
        };
        match self.choices.below(2) {
            0 => format!("(foldSeq (\\{state} {name} -> {body}) {start} {sequence})"),
            _ => format!("(loop {state} = {start} for {name} in {sequence} do {body})"),
        }
    }

    /// An array of what a sequence comes to.
    pub(super) fn collected(&mut self, element: &Type) -> String {
        match self.choices.below(3) {
            0 => format!("(elements {})", self.sequence(&element.array())),
            _ => format!("(collect {})", self.sequence(element)),
        }
    }

    /// Rows of what a sequence comes to.
    pub(super) fn tabulated(&mut self, element: &Type) -> String {
        format!("(tabulate {})", self.sequence(&element.array()))
    }

    /// The type of an item.
    fn item(&mut self) -> Type {
        let int = Type::Int;
        let items = [
            int.clone(),
            int.array(),
            Type::Float,
            Type::pair(&int, &Type::Float),
            Type::pair(&int.array(), &int),
            int.array().array(),
        ];
        items[self.choices.below(items.len())].clone()
    }

    /// A sequence of items of that type, in parentheses.
    fn sequence(&mut self, item: &Type) -> String {
        if self.depth == 0 || self.left == 0 {
            return format!("(stream {})", self.leaf(&item.array()));
        }
        self.depth -= 1;
        self.left -= 1;
        let text = match self.choices.below(9) {
            0 => format!("(stream {})", self.expression(&item.array())),
            1 | 2 => self.produced(item),
            3 => {
                let (from, name) = (self.item(), self.fresh("x"));
                let source = self.sequence(&from);
                let body = self.element(&[(&name, &from)], |it| it.expression(item));
                format!("(map (\\{name} -> {body}) {source})")
            }
            4 => {
                let name = self.fresh("x");
                let source = self.sequence(item);
                let holds = self.element(&[(&name, item)], |it| it.expression(&Type::Bool));
                format!("(filter (\\{name} -> {holds}) {source})")
            }
            5 => {
                let (from, name) = (self.item(), self.fresh("x"));
                let source = self.sequence(&from);
                let names = [(&name, &from)];
                let body = self.element(&names, |it| it.expression(item));
                let holds = self.element(&names, |it| it.expression(&Type::Bool));
                format!("{{ {body} : {name} in {source} | {holds} }}")
            }
            6 => {
                // Two of one length, unless one of them is filtered.
                let (from, all) = (self.item(), self.fresh("s"));
                let (name, other) = (self.fresh("x"), self.fresh("i"));
                let source = self.sequence(&from);
                let names = [(&name, &from), (&other, &Type::Int)];
                let body = self.element(&names, |it| it.expression(item));
                let index = self.choices.of(&["\\i x -> i", "\\i x -> 2 * i + 1"]);
                format!(
                    "(let {all} = {source} in {{ {body} : {name} in {all} ; {other} in mapWithIndex \
                     ({index}) {all} }})"
                )
            }
            7 => {
                let (from, name) = (self.item(), self.fresh("x"));
                let (source, array) = (self.sequence(&from), self.expression(&Type::Int.array()));
                let other = self.fresh("y");
                let names = [(&name, &from), (&other, &Type::Int)];
                let body = self.element(&names, |it| it.expression(item));
                // The lengths may differ.
                format!("(zipWith (\\{name} {other} -> {body}) {source} (stream {array}))")
            }
            _ => match item {
                Type::Pair(left, right) => {
                    let (all, name) = (self.fresh("s"), self.fresh("x"));
                    let source = self.sequence(left);
                    let body = self.element(&[(&name, left)], |it| it.expression(right));
                    format!("(let {all} = {source} in zip {all} (map (\\{name} -> {body}) {all}))")
                }
                _ => self.produced(item),
            },
        };
        self.depth += 1;
        text
    }

    fn produced(&mut self, item: &Type) -> String {
        let index = self.fresh("i");
        let count = match self.choices.below(6) {
            0 => "0".to_owned(),
            1 => "1".to_owned(),
            2 => "3".to_owned(),
            3 if self.inside == 0 => "70".to_owned(),
            4 => self.expression(&Type::Int),
            _ => format!("({} % 7)", self.expression(&Type::Int)),
        };
        let body = self.element(&[(&index, &Type::Int)], |it| it.expression(item));
        format!("(produce {count} (\\{index} -> {body}))")
    }
}
