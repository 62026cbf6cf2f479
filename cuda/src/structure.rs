//! Writes the structure of a piece: arguments, element type, and functions of scalar code.

mod indices;
mod vectors;

use std::fmt::Write as _;

use weft_codegen::{Dialect, Functions, Surroundings, Writer};
use weft_ir::code::{Operand, Operator};
use weft_ir::flat::{Size, Type, Var};
use weft_ir::{Fault, FaultKind, ScalarType, Span};

use crate::fields::Field;
pub(crate) use indices::{Indices, Point, same_strides};
pub(crate) use vectors::Vectors;

/// What all structures of a kernel share.
pub(crate) struct Shared<'a> {
    pub(crate) types: &'a [Type],
    pub(crate) functions: &'a mut Functions,
    pub(crate) sites: Vec<Fault>,
    pub(crate) temporaries: Vec<ScalarType>,
    pub(crate) threads: u32,
}

/// A structure that is being written.
pub(crate) struct Structure<'s, 'a> {
    name: String,
    shared: &'s mut Shared<'a>,
    fields: Vec<Field>,
    members: String,
}

/// What scalar code sees of the structure around it.
struct Around<'x> {
    types: &'x [Type],
    fields: &'x mut Vec<Field>,
    sites: &'x mut Vec<Fault>,
    place: Place<'x>,
}

/// What is known in a function.
#[derive(Clone, Copy, Default)]
pub(crate) struct Place<'x> {
    /// What leaves it.
    pub(crate) leave: &'x str,
    /// The indices of its points, of which `at` is the number.
    pub(crate) points: &'x [&'x Indices],
    /// What is loaded ahead.
    pub(crate) loaded: &'x [Var],
}

impl<'x> Place<'x> {
    /// A function of points that loads nothing ahead.
    pub(crate) fn new(leave: &'x str, points: &'x [&'x Indices]) -> Place<'x> {
        Place { leave, points, loaded: &[] }
    }
}

impl Surroundings for Around<'_> {
    fn read(&mut self, array: Var, indices: &[String]) -> String {
        let extents = &self.types[array.0 as usize].extents;
        if extents.is_empty() {
            return field(self.fields, Field::Scalar(array));
        }
        let at_point = self.place.points.iter().any(|points| points.address(indices, extents));
        if at_point && self.place.loaded.contains(&array) {
            return format!("from.a{}[lane]", array.0);
        }
        let name = field(self.fields, Field::Array(array));
        if at_point {
            return format!("{name}[at]");
        }
        let at = storage_index(self.fields, indices, extents);
        format!("{name}[{at}]")
    }

    fn fail(&mut self, kind: FaultKind, span: Span) -> String {
        let failure = field(self.fields, Field::Failure);
        let site = site(self.sites, kind, span);
        format!("fail({failure}, {site}); {}", self.place.leave)
    }
}

fn site(sites: &mut Vec<Fault>, kind: FaultKind, span: Span) -> usize {
    let fault = Fault { kind, span };
    match sites.iter().position(|known| *known == fault) {
        Some(at) => at + 1,
        None => {
            sites.push(fault);
            sites.len()
        }
    }
}

/// The name of a field, which the arguments have from now on.
fn field(fields: &mut Vec<Field>, field: Field) -> String {
    if !fields.contains(&field) {
        fields.push(field);
    }
    field.name()
}

fn size(fields: &mut Vec<Field>, size: Size) -> String {
    match size {
        Size::Constant(value) => format!("{value}LL"),
        Size::Var(var) => field(fields, Field::Scalar(var)),
    }
}

/// Indices in row-major order as one.
fn storage_index(fields: &mut Vec<Field>, indices: &[String], extents: &[Size]) -> String {
    let mut at = String::new();
    for (position, index) in indices.iter().enumerate() {
        at = match position {
            0 => index.clone(),
            1 => format!("{at} * {} + {index}", size(fields, extents[position])),
            _ => format!("({at}) * {} + {index}", size(fields, extents[position])),
        };
    }
    at
}

impl<'s, 'a> Structure<'s, 'a> {
    pub(crate) fn new(name: String, shared: &'s mut Shared<'a>) -> Structure<'s, 'a> {
        Structure { name, shared, fields: Vec::new(), members: String::new() }
    }

    /// The name of a field, which the arguments have from now on.
    pub(crate) fn field(&mut self, wanted: Field) -> String {
        field(&mut self.fields, wanted)
    }

    /// A new temporary of that type.
    pub(crate) fn temporary(&mut self, ty: ScalarType) -> usize {
        self.shared.temporaries.push(ty);
        self.shared.temporaries.len() - 1
    }

    /// The statement for a failing check.
    pub(crate) fn fail(&mut self, kind: FaultKind, span: Span) -> String {
        let failure = self.field(Field::Failure);
        format!("fail({failure}, {});", site(&mut self.shared.sites, kind, span))
    }

    /// An extent as an expression.
    pub(crate) fn size(&mut self, wanted: Size) -> String {
        size(&mut self.fields, wanted)
    }

    /// Storage indices as one.
    pub(crate) fn storage_index(&mut self, indices: &[String], extents: &[Size]) -> String {
        storage_index(&mut self.fields, indices, extents)
    }

    /// The type of the elements of a variable.
    pub(crate) fn type_of(&self, var: Var) -> ScalarType {
        self.shared.types[var.0 as usize].element
    }

    /// The extents of a variable.
    pub(crate) fn extents_of(&self, var: Var) -> Vec<Size> {
        self.shared.types[var.0 as usize].extents.clone()
    }

    /// Adds a member as it is.
    pub(crate) fn member(&mut self, text: &str) {
        for line in text.lines() {
            match line.is_empty() {
                true => self.members.push('\n'),
                false => writeln!(self.members, "  {line}").expect("a string takes all"),
            }
        }
    }

    /// Adds a function.
    pub(crate) fn function(
        &mut self,
        signature: &str,
        place: Place<'_>,
        write: impl FnOnce(&mut Writer<'_>),
    ) {
        let mut around = Around {
            types: self.shared.types,
            fields: &mut self.fields,
            sites: &mut self.shared.sites,
            place,
        };
        let mut writer = Writer::new(&mut around, self.shared.functions, 2);
        write(&mut writer);
        let text = indented(&writer.finish());
        let (template, signature) = match signature.split_once("> ") {
            Some((head, rest)) if head.starts_with("template") => (format!("{head}> "), rest),
            Some(_) | None => (String::new(), signature),
        };
        let written = write!(
            self.members,
            "  {template}static __device__ __forceinline__ {signature} {{\n{text}  }}\n"
        );
        written.expect("a string takes all");
    }

    /// The element type, its zero, and arrays of it in shared and global memory.
    pub(crate) fn element(&mut self, components: &[ScalarType]) {
        let name = |ty: &ScalarType| Dialect::Cuda.type_name(*ty);
        let of = |each: &dyn Fn(usize, &str) -> String| -> String {
            let components = components.iter().enumerate();
            components.map(|(at, ty)| each(at, name(ty))).collect::<Vec<_>>().join(" ")
        };
        let list = |each: &dyn Fn(usize) -> String| -> String {
            (0..components.len()).map(each).collect::<Vec<_>>().join(", ")
        };
        let element = of(&|at, ty| format!("{ty} c{at};"));
        let array = of(&|at, ty| format!("{ty} c{at}[N];"));
        let scratch = of(&|at, ty| format!("{ty}* c{at};"));
        let get = list(&|at| format!("c{at}[at]"));
        let put: Vec<String> =
            (0..components.len()).map(|at| format!("c{at}[at] = value.c{at};")).collect();
        let put = put.join(" ");
        let own = "__device__ __forceinline__";
        self.member(&format!(
            "struct Element {{ {element} }};\n\
             static {own} Element zero() {{ return Element{{}}; }}\n\
             template <int N> struct Array {{\n  {array}\n  \
             {own} Element get(int at) const {{ return Element{{{get}}}; }}\n  \
             {own} void put(int at, const Element& value) {{ {put} }}\n}};\n\
             struct Scratch {{\n  {scratch}\n  \
             {own} Element get(i64 at) const {{ return Element{{{get}}}; }}\n  \
             {own} void put(i64 at, const Element& value) const {{ {put} }}\n}};"
        ));
    }

    /// `combine`, by operators that each take some of the components.
    pub(crate) fn combine(&mut self, operators: &[&Operator]) {
        let signature = "Element combine(const Arguments& in, const Element& left, \
                         const Element& right)";
        self.function(signature, Place::new("return left;", &[]), |writer| {
            let mut results = Vec::new();
            let mut first = 0;
            for operator in operators {
                for (side, registers) in [("left", &operator.left), ("right", &operator.right)] {
                    for (at, (register, ty)) in registers.iter().enumerate() {
                        writer.bind(*register, *ty, format!("{side}.c{}", first + at));
                    }
                }
                results.extend(writer.code(&operator.code));
                first += operator.left.len();
            }
            writer.statement(&format!("return Element{{{}}};", results.join(", ")));
        });
    }

    /// The whole structure, and its fields.
    pub(crate) fn finish(self) -> (String, Vec<Field>) {
        let mut text = format!("struct {} {{\n", self.name);
        writeln!(text, "  static constexpr int THREADS = {};", self.shared.threads)
            .expect("a string takes all");
        text.push_str("  struct Arguments {\n");
        for field in &self.fields {
            let declaration = field.declaration(self.shared.types, &self.shared.temporaries);
            writeln!(text, "    {declaration}").expect("a string takes all");
        }
        text.push_str("  };\n");
        text.push_str(&self.members);
        text.push_str("};\n");
        (text, self.fields)
    }
}

/// Text of a member function with each line as deep as its braces.
fn indented(text: &str) -> String {
    let mut depth = 2_usize;
    let mut result = String::new();
    for line in text.lines().map(str::trim_start) {
        let closing = line.chars().take_while(|each| *each == '}').count();
        let margin = "  ".repeat(depth.saturating_sub(closing));
        writeln!(result, "{margin}{line}").expect("a string takes all");
        depth += line.matches('{').count();
        depth = depth.saturating_sub(line.matches('}').count());
    }
    result
}

/// The operands as expressions.
pub(crate) fn operands(writer: &Writer<'_>, operands: &[Operand]) -> Vec<String> {
    operands.iter().map(|operand| writer.operand(operand)).collect()
}
