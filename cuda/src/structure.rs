//! Writes the structure of a piece: arguments, element type, and functions of scalar code.

mod indices;
mod turns;
mod vectors;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use weft_codegen::{Dialect, Functions, Surroundings, Turns, Writer};
use weft_ir::code::{Operand, Operator, Register};
use weft_ir::flat::{Size, Type, Var};
use weft_ir::{Fault, FaultKind, ScalarType, Span};

use crate::fields::Field;
use crate::policy::Policy;
pub(crate) use indices::{Indices, Point, same_strides};
use turns::most_turns_in_all;
pub(crate) use vectors::{Stand, Vectors, is_light};

/// A loop of so many turns at most, those of the loops in it counted, does not look whether the run is over.
const SHORT_LOOP: i64 = 4096;

/// Others do when these bits of the number of the turn are 0.
const LOOK_EVERY: u32 = 1023;

/// What all structures of a kernel share.
pub(crate) struct Shared<'a> {
    pub(crate) types: &'a [Type],
    pub(crate) functions: &'a mut Functions,
    pub(crate) sites: Vec<Fault>,
    /// How many sites the kernels before it have.
    pub(crate) sites_before: usize,
    /// The scalars that kernels compute, which stay on the device.
    pub(crate) computed: &'a BTreeSet<Var>,
    pub(crate) temporaries: Vec<ScalarType>,
    pub(crate) policy: &'a Policy,
    /// What expressions of the program comments tell.
    pub(crate) remarks: Option<&'a Remarks<'a>>,
}

/// What is told of an expression of the program, in one line.
pub type Remarks<'a> = dyn Fn(Span) -> Option<String> + 'a;

/// A structure that is being written.
pub(crate) struct Structure<'s, 'a> {
    name: String,
    shared: &'s mut Shared<'a>,
    fields: Vec<Field>,
    members: String,
    /// Whether numbers of points are divided, or stored.
    divides: bool,
    /// How many points of a thread go together.
    width: u64,
}

/// A structure that is complete.
pub(crate) struct Finished {
    /// The text.
    pub(crate) text: String,
    /// The fields of its arguments.
    pub(crate) fields: Vec<Field>,
    /// Whether it is a template over the type of the numbers that it divides or stores.
    pub(crate) divides: bool,
    /// How many points of a thread go together.
    pub(crate) width: u64,
}

/// What scalar code sees of the structure around it.
struct Around<'x> {
    types: &'x [Type],
    fields: &'x mut Vec<Field>,
    sites: &'x mut Vec<Fault>,
    sites_before: usize,
    computed: &'x BTreeSet<Var>,
    place: Place<'x>,
    remarks: Option<&'x Remarks<'x>>,
    /// What was told last.
    told: Option<Span>,
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
    /// Whether another function has made all checks for the same point: what fails here is not reached.
    pub(crate) is_checked: bool,
}

impl<'x> Place<'x> {
    /// A function of points that loads nothing ahead.
    pub(crate) fn new(leave: &'x str, points: &'x [&'x Indices]) -> Place<'x> {
        Place { leave, points, loaded: &[], is_checked: false }
    }
}

impl Surroundings for Around<'_> {
    fn read(&mut self, array: Var, indices: &[String]) -> String {
        let extents = &self.types[array.0 as usize].extents;
        if extents.is_empty() {
            let computed = self.computed.contains(&array);
            let wanted = if computed { Field::Computed(array) } else { Field::Scalar(array) };
            return field(self.fields, wanted);
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
        if self.place.is_checked {
            return String::new();
        }
        let failure = field(self.fields, Field::Failure);
        let site = self.sites_before + site(self.sites, kind, span);
        format!("fail({failure}, {site}); {}", self.place.leave)
    }

    fn turn(&mut self, state: &Register, turns: Turns<'_>) -> Option<[String; 2]> {
        if most_turns_in_all(turns).is_some_and(|most| most <= SHORT_LOOP) {
            return None;
        }
        let (failure, leave) = (field(self.fields, Field::Failure), self.place.leave);
        let look = format!("(++turn_{state} & {LOOK_EVERY}) == 0 && is_over({failure})");
        Some([format!("u32 turn_{state} = 0;"), format!("if ({look}) {{ {leave} }}")])
    }

    fn remark(&mut self, span: Span) -> Option<String> {
        if self.told == Some(span) {
            return None;
        }
        self.told = Some(span);
        let text = self.remarks?(span)?;
        // A comment ends where its line does.
        let line = text.lines().next()?.trim_end_matches(['\\', ' ']);
        (!line.is_empty()).then(|| line.to_owned())
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
        // Whether it does anything at all, every kernel asks first.
        let fields = vec![Field::Failure];
        Structure { name, shared, fields, members: String::new(), divides: false, width: 1 }
    }

    /// The name of a field, which the arguments have from now on.
    pub(crate) fn field(&mut self, wanted: Field) -> String {
        field(&mut self.fields, wanted)
    }

    /// A scalar as an expression.
    pub(crate) fn scalar(&mut self, var: Var) -> String {
        let computed = self.shared.computed.contains(&var);
        self.field(if computed { Field::Computed(var) } else { Field::Scalar(var) })
    }

    /// Makes it a template over the type of the numbers of points, though it need not divide them.
    pub(crate) fn has_numbers(&mut self) {
        self.divides = true;
    }

    /// How kernels are cut.
    pub(crate) fn policy(&self) -> &'a Policy {
        self.shared.policy
    }

    /// A new temporary of that type.
    pub(crate) fn temporary(&mut self, ty: ScalarType) -> usize {
        self.shared.temporaries.push(ty);
        self.shared.temporaries.len() - 1
    }

    /// The statement for a failing check.
    pub(crate) fn fail(&mut self, kind: FaultKind, span: Span) -> String {
        let failure = self.field(Field::Failure);
        let site = self.shared.sites_before + site(&mut self.shared.sites, kind, span);
        format!("fail({failure}, {site});")
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
            sites_before: self.shared.sites_before,
            computed: self.shared.computed,
            place,
            remarks: self.shared.remarks,
            told: None,
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
        self.tuple("Element", "Array", components);
        let (get, put) = access("Element", components.len());
        let scratch = declared(components, &|at, ty| format!("{ty}* c{at};"));
        let own = "__device__ __forceinline__";
        self.member(&format!(
            "static {own} Element zero() {{ return Element{{}}; }}\n\
             struct Scratch {{\n  {scratch}\n  \
             {own} Element get(i64 at) const {{ {get} }}\n  \
             {own} void put(i64 at, const Element& value) const {{ {put} }}\n}};"
        ));
    }

    /// A type of tuples, and arrays of them with an array per component.
    pub(crate) fn tuple(&mut self, name: &str, array: &str, components: &[ScalarType]) {
        let (get, put) = access(name, components.len());
        let one = declared(components, &|at, ty| format!("{ty} c{at};"));
        let all = declared(components, &|at, ty| format!("{ty} c{at}[N];"));
        let own = "__device__ __forceinline__";
        self.member(&format!(
            "struct {name} {{ {one} }};\n\
             template <int N> struct {array} {{\n  {all}\n  \
             {own} {name} get(int at) const {{ {get} }}\n  \
             {own} void put(int at, const {name}& value) {{ {put} }}\n}};"
        ));
    }

    /// A type for tuples that no array holds.
    pub(crate) fn members(&mut self, name: &str, components: &[ScalarType]) {
        let one = declared(components, &|at, ty| format!("{ty} c{at};"));
        self.member(&format!("struct {name} {{ {one} }};"));
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

    /// The whole structure.
    pub(crate) fn finish(self) -> Finished {
        let (template, index) = match self.divides {
            true => ("template <class I> ", "I"),
            false => ("", "i64"),
        };
        let mut text = format!("{template}struct {} {{\n  typedef {index} Index;\n", self.name);
        writeln!(text, "  static constexpr int THREADS = {};", self.shared.policy.threads)
            .expect("a string takes all");
        text.push_str("  struct Arguments {\n");
        for field in &self.fields {
            let declaration = field.declaration(self.shared.types, &self.shared.temporaries);
            writeln!(text, "    {declaration}").expect("a string takes all");
        }
        text.push_str("  };\n");
        text.push_str(&self.members);
        text.push_str("};\n");
        Finished { text, fields: self.fields, divides: self.divides, width: self.width }
    }
}

/// Declarations, one per component.
fn declared(components: &[ScalarType], each: &dyn Fn(usize, &str) -> String) -> String {
    let name = |ty: &ScalarType| Dialect::Cuda.type_name(*ty);
    let all = components.iter().enumerate().map(|(at, ty)| each(at, name(ty)));
    all.collect::<Vec<_>>().join(" ")
}

/// The bodies of the functions that get and put a tuple of so many components.
fn access(name: &str, components: usize) -> (String, String) {
    let get: Vec<String> = (0..components).map(|at| format!("c{at}[at]")).collect();
    let put: Vec<String> = (0..components).map(|at| format!("c{at}[at] = value.c{at};")).collect();
    (format!("return {name}{{{}}};", get.join(", ")), put.join(" "))
}

/// Text of a member function with each line as deep as its braces.
fn indented(text: &str) -> String {
    let mut depth = 2_usize;
    let mut result = String::new();
    for line in text.lines().map(str::trim_start) {
        let closing = line.chars().take_while(|each| *each == '}').count();
        let margin = "  ".repeat(depth.saturating_sub(closing));
        writeln!(result, "{margin}{line}").expect("a string takes all");
        if !line.starts_with("//") {
            depth += line.matches('{').count();
            depth = depth.saturating_sub(line.matches('}').count());
        }
    }
    result
}

/// The operands as expressions.
pub(crate) fn operands(writer: &Writer<'_>, operands: &[Operand]) -> Vec<String> {
    operands.iter().map(|operand| writer.operand(operand)).collect()
}
