//! Names that mean nothing where they stand: what is near, what other languages call something else, and what
//! stands before other things only.

use weft_ir::{Name, Span};

use super::habit::no_value;
use super::many::MOST_ERRORS;
use crate::ast;
use crate::builtins;
use crate::check::Checker;
use crate::check::columns::TABLES;
use crate::check::path::{LOADERS, is_loader};
use crate::diagnostic::Diagnostic;
use crate::suggest;

/// Why a path is written out.
pub(in crate::check) const OF_THE_FILE: &str =
    "the type of the value follows from the file, before the program runs";

impl Checker<'_> {
    /// A name that means nothing here.
    pub(in crate::check) fn unknown_name(&mut self, name: &Name, span: Span) {
        if TABLES.contains(&&**name) {
            self.report(no_value(name, span));
            return;
        }
        if is_loader(name) {
            let before = if &**name == "streamWav" { " window hop" } else { "" };
            return self.report(
                Diagnostic::error(
                    "E0206",
                    format!("`{name}` stands before the path of a file"),
                    span,
                    "there is no path behind it",
                )
                .help(format!("write the path out: `{name}{before} \"…\"`"))
                .note(OF_THE_FILE),
            );
        }
        if let Some((_, uses)) = self.unknown.get_mut(name) {
            *uses += 1;
            self.poisoned = true;
            return;
        }
        self.unknown.insert(name.clone(), (span, 1));
        // To look for what is near takes its time.
        if self.errors >= MOST_ERRORS {
            self.errors += 1;
            return;
        }
        let message = format!("there is no `{name}`");
        if self.has_said_enough {
            return self.report(Diagnostic::error("E0201", message, span, "unknown name"));
        }
        let locals = self.scope.keys().map(|name| &**name);
        let globals = self.environment.names().map(|(name, _)| &**name);
        let table = builtins::all().map(|entry| entry.name);
        let loaders = LOADERS;
        let forms = loaders.into_iter().chain(TABLES);
        let mut candidates: Vec<&str> = locals.chain(globals).chain(table).chain(forms).collect();
        candidates.sort_unstable();
        let mut diagnostic = Diagnostic::error("E0201", message, span, "unknown name");
        if self.calls_back(name) {
            return self.report(diagnostic.help(
                "definitions that call each other are not possible: make them one, with a further parameter that \
                 says which",
            ));
        }
        if self.cell.defines_later(name) {
            return self.report(diagnostic.help(format!(
                "a definition sees only earlier ones: move that of `{name}` before this line"
            )));
        }
        let foreign = match &**name {
            "len" => Some("the length of an array is `length`"),
            "arange" => Some("`iota n` counts from 0; `a..b` and `range` do the rest"),
            "reduce" | "foldl" | "foldr" => Some(
                "`fold op z xs` takes an associative operator, as it combines in any order; \
                 from left to right goes `loop s = z for x in xs do op s x`",
            ),
            "cumsum" => Some("running sums are `scan (+) 0 xs`"),
            "zeros" => Some("write `replicate n 0` or `fill (h, w) 0.0`"),
            "ones" => Some("write `replicate n 1`"),
            "where" => Some("write `select condition a b`, or `filter` to keep elements"),
            "print" => Some("a bare expression is shown"),
            "float" => Some("conversions are named after the type: `f64 x`, `f32 x`"),
            "int" => Some("conversions are named after the type: `i64 x`"),
            "fst" => Some("write `p.0`"),
            "snd" => Some("write `p.1`"),
            "foreach" | "vmap" => Some("use `map f xs` or `{ f x : x in xs }`"),
            _ if self.defining.contains(name) => {
                Some("a local function does not call itself; make it a `def` of its own")
            }
            word => suggest::foreign_operator(word).or_else(|| suggest::foreign_word(word)),
        };
        diagnostic = match (foreign, suggest::closest(name, candidates)) {
            (Some(hint), _) => diagnostic.help(hint),
            (None, Some(close)) => diagnostic.help(format!("did you mean `{close}`?")),
            (None, None) => diagnostic,
        };
        self.report(diagnostic);
    }

    /// Of `function(x) x + 1` the first word is reported, and not that its parameters have no meaning.
    pub(in crate::check) fn leave_out_parts_of_function(&mut self, first: usize) {
        const BEGIN: [&str; 5] = ["lambda", "fn", "fun", "func", "function"];
        let is_begin = |found: &Diagnostic| {
            let word = |word| found.message == format!("there is no `{word}`");
            found.code == "E0201" && BEGIN.into_iter().any(word)
        };
        let Some(begin) = self.diagnostics[first..].iter().find(|found| is_begin(found)) else {
            return;
        };
        let begin = begin.span();
        let mut position = 0;
        self.diagnostics.retain(|found| {
            position += 1;
            position <= first || found.code != "E0201" || found.span().start <= begin.start
        });
    }

    /// Whether a later definition of this name mentions the one at hand.
    fn calls_back(&self, name: &Name) -> bool {
        let Some(own) = &self.own else { return false };
        if !self.cell.defines_later(name) {
            return false;
        }
        self.cell.later().iter().any(|item| match &item.kind {
            ast::ItemKind::Def(def) => def.name.name == *name && def.body.mentions(&own.name),
            _ => false,
        })
    }
}
