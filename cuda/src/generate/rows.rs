//! Loops row by row (Note [Loops row by row] in `weft_ir`'s `rows`): a thread takes each point to the end of its loop.
//!
//! Only those whose turns replace elements where they are. A turn of such a loop does so little that it would take as
//! long to launch it as to run it.

use weft_codegen::{RowLoop, row_loop_in_place};
use weft_ir::code::Code as ScalarCode;
use weft_ir::flat::{Dimension, Var};
use weft_ir::plan::{Kernel, Program};
use weft_ir::{Fault, RowState, Rows};

use super::{Draft, map};
use crate::fields::Field;
use crate::structure::Structure;
use crate::text::{Length, Skeleton};

/// Whether a loop with this state runs row by row on a device.
pub fn has_row_kernel(rows: &Rows<Program>, state: &[Var]) -> bool {
    row_loop_in_place(rows, state).is_some()
}

/// What stands for a loop row by row among the kernels of a plan: its space.
pub(super) fn kernel(rows: &Rows<Program>) -> Kernel {
    let nothing = ScalarCode { instructions: Vec::new(), results: Vec::new() };
    Kernel {
        name: "loop_of_each_row".into(),
        space: vec![Dimension::Dense(rows.points)],
        indices: Vec::new(),
        body: nothing,
        sinks: Vec::new(),
        epilogue: None,
        fused: Vec::new(),
        span: rows.span,
    }
}

impl Draft<'_, '_> {
    /// A loop row by row, unless it needs more memory than that of its state.
    pub(super) fn rows(&mut self, rows: &Rows<Program>, state: &[Var]) {
        let Some(row_loop) = row_loop_in_place(rows, state) else { return };
        let RowLoop { text, functions, inputs, written, sites, has_scratch: _ } = row_loop;
        self.shared.functions.merge(&functions);
        let faults = sites.into_iter().map(|(kind, span)| Fault { kind, span });
        self.shared.sites.extend(faults);
        let sites_before = self.shared.sites_before;
        let mut structure = self.structure("rows");
        let inputs: Vec<String> =
            inputs.iter().map(|&input| address(&mut structure, input)).collect();
        let (mut addresses, mut begin, mut end) = (Vec::new(), String::new(), String::new());
        let (mut replaced, mut same) = (Vec::new(), Vec::new());
        for (number, (&part, &var)) in rows.state.iter().zip(state).enumerate() {
            addresses.push(match part {
                RowState::All(_) => {
                    let ty = structure.type_of(var);
                    let temporary = structure.temporary(ty);
                    same.push((var, temporary));
                    let (first, last) =
                        (structure.field(Field::Scalar(var)), Field::Temporary(temporary));
                    let (last, ty) =
                        (structure.field(last), weft_codegen::Dialect::Cuda.type_name(ty));
                    begin += &format!("  {ty} part{number}[2] = {{{first}, {first}}};\n");
                    end += &format!("  if (at == 0) {last}[0] = part{number}[1];\n");
                    format!("{{part{number}}}")
                }
                RowState::Kept => "{nullptr}".to_owned(),
                _ if written.contains(&number) => {
                    replaced.push(var);
                    format!("{{{}}}", structure.field(Field::Output(var)))
                }
                RowState::Point(_) | RowState::Segment(..) | RowState::Done => {
                    format!("{{{}}}", structure.field(Field::Array(var)))
                }
            });
        }
        let length = |addresses: &[String]| addresses.len().max(1);
        structure.member(&format!(
            "struct serial {{\n  Address inputs[{}], state[{}];\n  Over cancel;\n  i64 first, end;\n}};",
            length(&inputs),
            length(&addresses)
        ));
        let function = text.replace(weft_codegen::LaneFunction::NAME, "row");
        structure.member(&format!("static __device__ __forceinline__ {function}"));
        structure.member(&format!(
            "static __device__ __forceinline__ {} {{\n{begin}  \
             const serial all = {{{{{}}}, {{{}}}, {{in.failure}}, at, at + 1}};\n  \
             left(in.failure, row(&all), {sites_before});\n{end}}}",
            map::POINT,
            inputs.join(", "),
            addresses.join(", "),
        ));
        let finished = structure.finish();
        let entry = ["rows", ", i64 points", "rows<K>(in, points)"].map(str::to_owned);
        self.lengths.extend(vec![Length::One; same.len()]);
        self.piece("rows", finished, Skeleton::Rows { replaced, same }, &[entry]);
    }
}

/// Where a variable around the loop is.
fn address(structure: &mut Structure<'_, '_>, var: Var) -> String {
    if structure.extents_of(var).is_empty() {
        let name = structure.scalar(var);
        return format!("{{&{name}}}");
    }
    format!("{{{}}}", structure.field(Field::Array(var)))
}
