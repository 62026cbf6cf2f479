//! Arrays of pairs whose parts have something in common, read where there may be no element of them.

use super::Writer;
use super::types::Type;

impl Writer<'_> {
    /// Numbers that are computed of such pairs, behind a condition that says where there are some.
    pub(super) fn parts(&mut self) -> String {
        let [all, item, common, at] = ["z", "x", "h", "i"].map(|letter| self.fresh(letter));
        let items = self.expression(&Type::Int.array());
        let value = self.element(&[(&item, &Type::Int)], |it| it.expression(&Type::Int));
        let value = match self.choices.below(3) {
            0 => value,
            1 => format!("gcd {value} 12 * {item}"),
            _ => format!("(loop {at} = {value} % 7 while {at} % 5 != 3 do {at} + 1)"),
        };
        let pairs = format!(
            "{{ (let {common} = {value} in ({common}, {common} * 2 + {item})) : {item} in {items} }}"
        );
        let count = self.choices.of(&["9", "3", "0", "40"]);
        match self.choices.below(4) {
            0 => format!(
                "{{ {common} - {item} : ({common}, {item}) in {pairs} ++ replicate {count} (0, 1) }}"
            ),
            1 => {
                let other = self.expression(&Type::Int);
                format!(
                    "(let {all} = {pairs} in {{ if {at} < length {all} then {all}[{at}].0 - \
                     {all}[{at}].1 else {other} : {at} in iota {count} }})"
                )
            }
            2 => format!(
                "(let {all} = {pairs} in {{ i64 ({at} < length {all} && {all}[{at}].0 + {all}[{at}].1 > \
                 3) : {at} in iota {count} }})"
            ),
            _ => format!(
                "(let {all} = {pairs} in {{ (loop {common} = 0 for {item} < (if {at} < length {all} \
                 then 2 else 0) do {common} * 2 + {all}[{at}].0 + {all}[{at}].1 * {item}) : {at} in \
                 iota {count} }})"
            ),
        }
    }
}
