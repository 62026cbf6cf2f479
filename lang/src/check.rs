//! The checker: surface syntax → typed program.
//!
//! Inference is Hindley–Milner with closed classes, and with implicit map as described in
//! `Note [Implicit map]` (file `check/rank.rs`).

mod advice;
mod again;
mod apply;
mod columns;
mod errors;
mod expr;
mod finish;
mod guess;
mod index;
mod item;
mod late;
mod local;
mod open;
mod part;
mod path;
mod pattern;
mod rank;
mod record;
mod sequence;
mod settle;
mod stencil;
mod unify;

use std::collections::{BTreeMap, HashMap};

use weft_ir::{Name, ScalarType, Span, Value};

pub use again::annotated;
pub use columns::is_table_form;
pub use path::is_loader;

use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::environment::Environment;
use crate::typed::{GlobalId, LocalId, Program};
use crate::types::{Class, Scheme, Type, TypeVar};
pub(crate) use expr::instantiate_at;
pub(crate) use finish::number_does_not_fit;
use rank::{Site, SiteError};
pub use sequence::counterpart as sequence_counterpart;
pub(crate) use sequence::unfit_items;
use unify::Table;

/// Modes that change what a program means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The type of a literal with a point where nothing else fixes it: `F64` or `F32`.
    pub float: ScalarType,
}

/// A file that a cell wants to load: `load "a.npz" "name"`.
#[derive(Clone, Debug)]
pub struct LoadRequest<'a> {
    /// Which loader: `load`, `loadCsv`, `loadMtx`, `loadImage`, `loadWav`, `loadText`, `loadLines`,
    /// `loadBytes`, `streamNpy`, `streamLines`, `streamWav`.
    pub loader: &'a str,
    /// The path as written.
    pub path: &'a str,
    /// The second text, of a member of an archive.
    pub member: Option<&'a str>,
    /// The whole application.
    pub span: Span,
}

/// Where loads get their values from, while a cell is checked: their types follow from the files.
pub trait Files {
    /// Reads a file.
    ///
    /// # Errors
    /// A diagnostic (E04xx) at the request's span.
    fn load(&mut self, request: &LoadRequest<'_>) -> Result<(weft_ir::Type, Value), Diagnostic>;

    /// A value that is there before the cell runs: nothing if it is only known when the program has run. Paths may be
    /// made of such values.
    fn value(&self, _value: GlobalId) -> Option<Value> {
        None
    }
}

/// There are no files: for programs that load nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

impl Files for NoFiles {
    fn load(&mut self, request: &LoadRequest<'_>) -> Result<(weft_ir::Type, Value), Diagnostic> {
        Err(Diagnostic::error("E0401", "no files here", request.span, "here"))
    }
}

/// A checked cell. It may run only if `diagnostics` has no error.
#[derive(Debug)]
pub struct Checked {
    /// The items that checked, in order.
    pub items: Vec<CheckedItem>,
    /// What the next cell sees.
    pub environment: Environment,
    /// The values that were loaded, by the ids under which programs refer to them.
    pub loaded: Vec<(GlobalId, Value)>,
    /// Errors and warnings, in source order.
    pub diagnostics: Vec<Diagnostic>,
}

/// A checked item.
#[derive(Debug)]
pub struct CheckedItem {
    /// All of its text.
    pub span: Span,
    /// What it asks for.
    pub kind: CheckedKind,
}

/// What a checked item asks for.
#[derive(Debug)]
pub enum CheckedKind {
    /// A function or constant was defined; nothing runs.
    Define {
        /// Its name.
        name: Name,
        /// Its id.
        global: GlobalId,
        /// Its type.
        scheme: Scheme,
    },
    /// A type alias was defined.
    Alias {
        /// Its name.
        name: Name,
    },
    /// A value to evaluate, take apart and keep.
    Bind {
        /// The value.
        program: Box<Program>,
        /// Its type.
        ty: weft_ir::Type,
        /// What to keep of it.
        names: Vec<BoundName>,
    },
    /// A value to evaluate and show; it is `it` from then on.
    Show {
        /// The value.
        program: Box<Program>,
        /// Its type.
        ty: weft_ir::Type,
        /// The id under which `it` keeps it.
        global: GlobalId,
        /// Whether a trailing `;` asks not to show it.
        quiet: bool,
    },
    /// A bare expression that is a function: only its type can be shown.
    ShowFunction {
        /// Its type.
        scheme: Scheme,
        /// For the application of a function by name to fewer arguments than it takes: how many it
        /// is given, and how many it takes.
        given: Option<(usize, usize)>,
        /// For a sequence: how to look at its items.
        sequence: Option<Box<ShownSequence>>,
        /// What to write if that is a call with commas, `f(x, y)`.
        commas: Option<String>,
    },
}

/// How to look at the items of a sequence, a few at a time.
#[derive(Debug)]
pub struct ShownSequence {
    /// How many items its sources have.
    pub length: Program,
    /// The array of the items between two positions, which it reads as values of these ids.
    pub part: Program,
    /// The ids.
    pub bounds: [GlobalId; 2],
    /// The type of an item.
    pub item: weft_ir::Type,
    /// Whether a filter may have left items out.
    pub filtered: Program,
    /// Whether all items are to be shown: `streamOut s`.
    pub all: bool,
}

/// A name bound to a part of a value.
#[derive(Clone, Debug)]
pub struct BoundName {
    /// The name.
    pub name: Name,
    /// Its id.
    pub global: GlobalId,
    /// Its type.
    pub ty: weft_ir::Type,
    /// The components to take, from the outermost: empty for the whole value.
    pub path: Vec<usize>,
}

/// Checks the items of a cell, one after the other; each sees the ones before. Commands and imports
/// are not its business: the session has taken them out.
pub fn check(
    items: &[ast::Item],
    environment: &Environment,
    config: &Config,
    files: &mut dyn Files,
) -> Checked {
    let mut checked = Checked {
        items: Vec::new(),
        environment: environment.clone(),
        loaded: Vec::new(),
        diagnostics: Vec::new(),
    };
    let mut last_definitions = HashMap::new();
    for (index, item) in items.iter().enumerate() {
        last_definitions.extend(item::item_names(&item.kind).into_iter().map(|name| (name, index)));
    }
    for index in 0..items.len() {
        let cell = Cell { items, index, last_definitions: &last_definitions, is_trial: false };
        item::check_item(cell, config, files, &mut checked);
    }
    checked
}

/// The items of a cell, and which of them is checked.
#[derive(Clone, Copy)]
struct Cell<'a> {
    items: &'a [ast::Item],
    index: usize,
    /// The last item that defines a name.
    last_definitions: &'a HashMap<Name, usize>,
    /// Whether it is only tried out ([`mod@again`]), so that nobody reads what is wrong with it.
    is_trial: bool,
}

impl<'a> Cell<'a> {
    /// The item that is checked.
    fn item(self) -> &'a ast::Item {
        &self.items[self.index]
    }

    /// The items behind that, whose names are not known yet.
    fn later(self) -> &'a [ast::Item] {
        &self.items[self.index + 1..]
    }

    /// Whether an item behind it defines a name.
    fn defines_later(self, name: &Name) -> bool {
        self.last_definitions.get(name).is_some_and(|last| *last > self.index)
    }
}

/// The state of checking one item.
struct Checker<'a> {
    environment: &'a mut Environment,
    config: &'a Config,
    files: &'a mut dyn Files,
    loaded: &'a mut Vec<(GlobalId, Value)>,
    diagnostics: &'a mut Vec<Diagnostic>,
    table: Table,
    /// The applications of the item; a typed `Apply` holds its position here as depth.
    sites: Vec<Site>,
    /// For each site, which arguments of its `Apply` it is about.
    positions: HashMap<usize, Vec<usize>>,
    /// The sites that are not settled.
    waiting: Vec<usize>,
    /// The field accesses of the item; a typed `Field` holds its position here as index.
    fields: Vec<FieldSite>,
    /// Arrays whose rank follows from an index type.
    ranked: Vec<Ranked>,
    /// What each visible local name stands for, innermost last.
    scope: Scope,
    /// The names in `scope` in the order in which they were bound.
    bound: Vec<Name>,
    next_local: u32,
    /// The number that the next variable of a local function's scheme gets.
    next_quantified: u32,
    /// The definition being checked, for recursion.
    own: Option<Own>,
    /// The parameters of that definition whose rank was chosen.
    guesses: Vec<rank::Chosen>,
    /// The cell, and which of its items is checked.
    cell: Cell<'a>,
    /// Whether so much was reported of the cell that nobody reads more of it.
    has_said_enough: bool,
    /// The local functions whose bodies surround the current point; they do not recurse.
    defining: Vec<Name>,
    annotation_vars: BTreeMap<Name, Type>,
    /// Whether the current point is evaluated exactly once, when the cell runs.
    top_level: bool,
    /// The expression that is checked next, if a sequence is wanted there.
    wants_sequence: Option<Span>,
    /// Whether an error was met that is not to be reported again.
    poisoned: bool,
    errors: usize,
    /// Records of which something would have to be known, with what to report.
    unknown_records: Vec<(Diagnostic, Type)>,
    /// The open definitions that are used.
    uses: open::Uses,
    /// The names that mean nothing: where each stands first, and in how many places. They are reported once.
    unknown: BTreeMap<Name, (Span, usize)>,
}

/// The definition that is being checked.
struct Own {
    name: Name,
    global: GlobalId,
    ty: Type,
}

/// What a local name stands for.
#[derive(Clone)]
struct LocalBinding {
    local: LocalId,
    ty: Type,
    /// The variables of its scheme, if it is a generalised function.
    vars: Vec<(TypeVar, Option<Class>)>,
    /// What is written, if it is a function that is checked at each use.
    open: Option<open::Open>,
}

/// The visible local names.
type Scope = HashMap<Name, Vec<LocalBinding>>;

/// A field access whose record may not be known yet.
struct FieldSite {
    record: Type,
    record_span: Span,
    field: ast::Ident,
    result: Type,
    /// The position of the field and the number of axes over which the access is mapped.
    found: Option<(usize, usize)>,
    /// Whether an error was reported.
    failed: bool,
}

/// `array` is an array that an index of type `index` addresses, with elements `element`.
#[derive(Clone)]
struct Ranked {
    index: Type,
    array: Type,
    element: Type,
    span: Span,
    settled: bool,
}

/// The type of an index into an array of that rank.
fn index_type(rank: usize) -> Type {
    if rank == 1 { Type::I64 } else { Type::Tuple(vec![Type::I64; rank].into()) }
}

impl Checker<'_> {
    fn fresh_local(&mut self) -> LocalId {
        self.next_local += 1;
        LocalId(self.next_local - 1)
    }

    /// Opens a scope.
    fn enter(&mut self) -> usize {
        self.bound.len()
    }

    /// Closes the scope that `enter` opened.
    fn leave(&mut self, mark: usize) {
        for name in self.bound.drain(mark..) {
            if let Some(stack) = self.scope.get_mut(&name) {
                stack.pop();
                if stack.is_empty() {
                    self.scope.remove(&name);
                }
            }
        }
    }

    /// The type as far as it can be known now: what still waits is tried again if it is open.
    fn known(&mut self, ty: &Type) -> Type {
        let now = self.table.shallow(ty);
        if matches!(now, Type::Var(_)) {
            self.propagate();
            return self.table.shallow(ty);
        }
        now
    }

    fn wait_for(&mut self, site: usize) {
        if !self.sites[site].settled {
            self.waiting.push(site);
        }
    }

    /// Learns what can be learnt of one site.
    fn advance_site(&mut self, site: usize) -> bool {
        match rank::advance(&mut self.table, &mut self.sites[site]) {
            Ok(progress) => progress,
            Err(error) => {
                self.site_failed(site, &error);
                true
            }
        }
    }

    fn site_failed(&mut self, site: usize, error: &SiteError) {
        self.sites[site].settled = true;
        self.report_site(site, error);
    }

    /// Learns what can be learnt of a field access; true if it is settled now.
    fn advance_field(&mut self, position: usize) -> bool {
        let site = &self.fields[position];
        if site.failed || site.found.is_some() {
            return true;
        }
        let (depth, head) = self.table.peel(&site.record);
        let name = site.field.name.clone();
        let component = match &head {
            Type::Record(fields) => fields
                .iter()
                .position(|(field, _)| *field == name)
                .map(|index| (index, fields[index].1.clone())),
            Type::Tuple(parts) => name
                .parse::<usize>()
                .ok()
                .and_then(|index| parts.get(index).map(|ty| (index, ty.clone()))),
            // Elements of a stencil may still turn out to be tuples.
            Type::Var(var)
                if self
                    .table
                    .state(*var)
                    .is_some_and(|open| open.class.is_none_or(Class::has_tuples)) =>
            {
                return false;
            }
            _ => None,
        };
        let (field, span, result) = (site.field.clone(), site.record_span, site.result.clone());
        match component {
            Some((index, ty)) => {
                self.fields[position].found = Some((index, depth));
                if let Err(clash) = self.table.unify(&result, &Type::arrays(depth, ty)) {
                    self.fields[position].failed = true;
                    self.clash_report(&clash, field.span);
                }
            }
            None => {
                self.fields[position].failed = true;
                self.no_such_field(&field, &Type::arrays(depth, head), span);
            }
        }
        true
    }

    /// Completes a local function, as far as its types do not depend on its surroundings, and
    /// yields the variables that its scheme quantifies over.
    fn generalise_local(&mut self, first_site: usize, ty: &Type) -> Vec<(TypeVar, Option<Class>)> {
        self.propagate();
        let outer = self.table.level - 1;
        // Whatever touches the surroundings waits for the surrounding definition; and so does what
        // depends on it.
        let mut inner: Vec<usize> =
            self.waiting.iter().copied().filter(|site| *site >= first_site).collect();
        loop {
            let mut changed = false;
            for ranked in &self.ranked {
                for ty in [&ranked.index, &ranked.array, &ranked.element] {
                    changed |= self.table.lower_levels(ty, outer);
                }
            }
            for field in &self.fields {
                if field.found.is_none() && !field.failed {
                    changed |= self.table.lower_levels(&field.record, outer);
                    changed |= self.table.lower_levels(&field.result, outer);
                }
            }
            inner.retain(|site| {
                let site = &self.sites[*site];
                let types = || {
                    site.params
                        .iter()
                        .chain(site.args.iter().map(|arg| &arg.ty))
                        .chain([&site.returns, &site.result])
                };
                let depends =
                    types().filter_map(|ty| self.table.least_level(ty)).any(|level| level <= outer);
                if depends {
                    for ty in types() {
                        changed |= self.table.lower_levels(ty, outer);
                    }
                }
                !depends
            });
            if !changed {
                break;
            }
        }
        self.settle_sites(inner);
        let mut vars = Vec::new();
        self.table.variables(ty, &mut vars);
        vars.into_iter()
            .filter_map(|var| self.table.state(var).map(|open| (var, open)))
            .filter(|(_, open)| open.level > outer)
            .map(|(var, open)| (var, open.class))
            .collect()
    }
}
