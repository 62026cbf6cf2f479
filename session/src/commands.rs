//! The `:commands`: one table for dispatch, `:help`, completion and the manual.

mod compiler;
mod documentation;
mod drawing;
mod held;
mod save;
mod search;
mod shown;
mod table;
pub(crate) mod typed_text;

use std::path::PathBuf;

use weft_ir::Span;
use weft_lang::ast::Ident;
use weft_lang::{CheckedKind, Diagnostic, suggest};

use crate::complete::Detail;
use crate::plan::{Change, Planner, Step};
use crate::plot;

pub(crate) use compiler::devices_text;
#[cfg(test)]
pub(crate) use documentation::is_documented;
pub(crate) use documentation::{describe, describe_name, type_of_name};
pub(crate) use held::memory;
pub(crate) use shown::variables;
pub use table::COMMANDS;

/// A command.
#[derive(Clone, Copy)]
pub struct Command {
    /// Its name, without the colon; a unique beginning of it will do.
    pub name: &'static str,
    /// What it takes, for people.
    pub arguments: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// An example that runs in a fresh session; each line is a cell.
    pub example: &'static str,
    /// What it prints, where that is not found out by running it whenever somebody asks: because
    /// it takes files, or its time.
    pub printed: Option<&'static str>,
    action: Action,
}

/// What a command does when its cell is planned.
#[derive(Clone, Copy)]
enum Action {
    /// Adds to the plan.
    Plan(fn(&mut Planner<'_>, &Call) -> Result<(), Box<Diagnostic>>),
    /// Moves the session as a whole.
    Alone(Alone),
}

/// The commands that move the session to another state. Each needs a cell for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alone {
    /// `:undo`.
    Undo,
    /// `:redo`.
    Redo,
    /// `:goto n`.
    Goto,
    /// `:reset`.
    Reset,
}

/// A command as it was given.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The name, perhaps shortened.
    pub(crate) name: Ident,
    /// The rest of the item, trimmed.
    pub(crate) argument: String,
    /// Where that stands.
    pub(crate) argument_span: Span,
    /// What paths of source files are relative to.
    pub(crate) directory: PathBuf,
    /// Whether the cell has no other item.
    pub(crate) is_only_item: bool,
}

impl Call {
    /// The report that the arguments are wrong.
    pub(crate) fn misuse(&self, message: &str) -> Diagnostic {
        let (span, remark) = match self.argument.is_empty() {
            true => (self.name.span, "something is missing after this"),
            false => (self.argument_span, "not this"),
        };
        let diagnostic = Diagnostic::error("E0502", message, span, remark);
        match resolve(&self.name.name) {
            Ok(command) => diagnostic.help(format!("`:help {}` has an example", command.name)),
            Err(_) => diagnostic,
        }
    }

    /// The argument without a comment behind it.
    pub(crate) fn words(&self) -> &str {
        self.argument.split("--").next().unwrap_or_default().trim_end()
    }

    /// The argument, which must not be missing.
    fn needed(&self, what: &str) -> Result<&str, Box<Diagnostic>> {
        match &*self.argument {
            "" => Err(Box::new(self.misuse(what))),
            argument => Ok(argument),
        }
    }
}

/// Plans a command.
pub(crate) fn plan(planner: &mut Planner<'_>, call: Call) -> Result<(), Box<Diagnostic>> {
    let command = resolve(&call.name.name).map_err(|unknown| Box::new(unknown.at(&call)))?;
    if command.arguments.is_empty() && !call.words().is_empty() {
        let message = format!("`:{}` takes nothing after its name", command.name);
        return Err(Box::new(call.misuse(&message)));
    }
    match command.action {
        Action::Plan(action) => action(planner, &call),
        Action::Alone(alone) if call.is_only_item => {
            planner.alone = Some((alone, call));
            Ok(())
        }
        Action::Alone(_) => {
            let message = format!("`:{}` must be the only item of its cell", command.name);
            Err(Box::new(Diagnostic::error(
                "E0503",
                message,
                call.name.span,
                "other items are in this cell",
            )))
        }
    }
}

/// The command that a name or a unique beginning of one means, if there is one.
pub(crate) fn named(name: &str) -> Option<&'static Command> {
    resolve(name).ok()
}

/// The command that somebody may mean who types a word without a colon, or the name that it has
/// elsewhere.
pub(crate) fn meant(word: &str) -> Option<&'static str> {
    let elsewhere = match word {
        "exit" | "q" | "bye" | "logout" => "quit",
        "ls" | "who" | "whos" | "env" => "vars",
        "man" | "info" | "describe" => "doc",
        "apropos" => "search",
        "run" | "source" | "use" | "include" => "load",
        "timeit" | "benchmark" => "bench",
        "browse" => "search",
        _ => word,
    };
    COMMANDS.iter().map(|command| command.name).find(|name| *name == elsewhere)
}

/// The command that a name or a unique beginning of one means.
fn resolve(name: &str) -> Result<&'static Command, Unknown> {
    if let Some(command) = COMMANDS.iter().find(|command| command.name == name) {
        return Ok(command);
    }
    let found: Vec<&Command> =
        COMMANDS.iter().filter(|command| command.name.starts_with(name)).collect();
    match &found[..] {
        [command] => Ok(command),
        [] => {
            let closest = || suggest::closest(name, COMMANDS.iter().map(|command| command.name));
            Err(Unknown::Nothing(meant(name).or_else(closest)))
        }
        several => Err(Unknown::Ambiguous(several.iter().map(|command| command.name).collect())),
    }
}

enum Unknown {
    Nothing(Option<&'static str>),
    Ambiguous(Vec<&'static str>),
}

impl Unknown {
    fn at(self, call: &Call) -> Diagnostic {
        let (name, span) = (&call.name.name, call.name.span);
        match self {
            Unknown::Nothing(closest) => {
                if &**name == "clear" {
                    let message =
                        "`:clear` is a command of notebooks, only on the first line of a cell";
                    let diagnostic = Diagnostic::error("E0501", message, span, "not here");
                    return diagnostic
                        .help("it clears the output of the cell; `:reset` forgets definitions");
                }
                let message = format!("there is no command `:{name}`");
                let diagnostic = Diagnostic::error("E0501", message, span, "not a command");
                match closest {
                    Some(closest) => diagnostic.help(format!("did you mean `:{closest}`?")),
                    None => diagnostic.help("`:help` lists them"),
                }
            }
            Unknown::Ambiguous(names) => {
                let names: Vec<String> = names.iter().map(|name| format!("`:{name}`")).collect();
                let message = format!("`:{name}` may mean {}", names.join(", "));
                Diagnostic::error("E0501", message, span, "one more letter decides")
            }
        }
    }
}

fn help(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    let name = call.argument.trim_start_matches(':');
    let text = if name.is_empty() {
        overview()
    } else {
        match resolve(name) {
            Ok(command) => documentation::demonstrated(command),
            // `:help sum` is not wrong, only unusual.
            Err(unknown) => match describe(planner, name, Detail::Brief) {
                Some(text) => text,
                None => {
                    let diagnostic = unknown.at(&Call {
                        name: Ident { name: name.into(), span: call.argument_span },
                        ..call.clone()
                    });
                    return Err(Box::new(diagnostic));
                }
            },
        }
    };
    planner.steps.push(Step::Text(text));
    Ok(())
}

/// All commands in brief, for lines of 79 columns.
fn overview() -> String {
    const HEADS: usize = 26;
    const DOCS: usize = 79 - HEADS - 4;
    let mut lines = Vec::new();
    for command in COMMANDS {
        let head = format!(":{} {}", command.name, command.arguments);
        // The first clause is enough for the list.
        let ends = ["; ", " (", ": "].map(|end| command.doc.find(end));
        let end = ends.into_iter().flatten().min().unwrap_or(command.doc.len());
        let doc = documentation::wrap(&command.doc[..end], DOCS);
        let mut rows = doc.lines();
        // A long head has a line of its own.
        let beside =
            if head.chars().count() <= HEADS { rows.next().unwrap_or_default() } else { "" };
        lines.push(format!("  {head:<HEADS$}  {beside}").trim_end().to_owned());
        lines.extend(rows.map(|row| format!("  {:HEADS$}  {row}", "")));
    }
    format!(
        "An expression is evaluated and shown; `x = …` binds a value, `def f x = …` a\n\
         function. The last value is `it`; that of cell 7 is `_7`. Ctrl-C\n\
         interrupts, as does the stop button of a notebook.\n\n{}\n\n\
         `:help command` shows an example, `:doc name` what a function does, and\n\
         `:search word` finds one.",
        lines.join("\n")
    )
}

fn type_of(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    let argument = call.needed("`:type` takes an expression")?;
    let text = argument.to_owned();
    if let Some(expression) = planner.expression(call.argument_span) {
        let ty = match expression.item.kind {
            CheckedKind::Show { ty, .. } | CheckedKind::Bind { ty, .. } => ty.to_string(),
            CheckedKind::ShowFunction { scheme, .. } | CheckedKind::Define { scheme, .. } => {
                scheme.to_string()
            }
            CheckedKind::Alias { .. } => return Ok(()),
        };
        planner.steps.push(Step::Text(format!("{text} : {}", plot::shortened(ty))));
    }
    Ok(())
}

fn vars(planner: &mut Planner<'_>, _call: &Call) -> Result<(), Box<Diagnostic>> {
    planner.steps.push(Step::Variables(planner.state.environment.clone()));
    Ok(())
}

fn time(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    call.needed("`:time` takes an expression or a binding")?;
    if let Some(expression) = planner.expression_or_binding(call.argument_span) {
        planner.adopt(&expression.item, expression.environment);
        let (parse, check) = (expression.parse, expression.check);
        planner.steps.push(Step::Timed { item: expression.item, parse, check });
    }
    Ok(())
}

fn load(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    let argument = call.needed("`:load` takes the name of a source file")?;
    let name = match argument.starts_with('"') {
        true => match planner.path(call.argument_span) {
            Some(name) => name,
            None => return Ok(()),
        },
        false => PathBuf::from(argument),
    };
    let path = call.directory.join(name);
    planner.file(&path, call.argument_span)?;
    planner.state.files.retain(|known| *known != path);
    planner.state.files.push(path);
    planner.change = Change::Something;
    Ok(())
}

fn reload(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    let files = planner.state.files.clone();
    if files.is_empty() {
        let message = "no file has been loaded yet with `:load`";
        let remark = "there is nothing to run again";
        return Err(Box::new(Diagnostic::error("E0502", message, call.name.span, remark)));
    }
    files.iter().try_for_each(|path| planner.file(path, call.name.span))
}

fn history(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    let most = match &*call.argument {
        "" => usize::MAX,
        count => count
            .parse()
            .map_err(|_| Box::new(call.misuse("`:history` takes a number of cells")))?,
    };
    // The last entry is the cell that asks.
    let cells = planner.log.split_last().map_or(&[][..], |(_, cells)| cells);
    let cells = &cells[cells.len().saturating_sub(most)..];
    let lines: Vec<String> = cells
        .iter()
        .map(|cell| {
            let mark = if cell.succeeded { ' ' } else { '!' };
            let text = cell.text.trim_end().replace('\n', "\n      ");
            format!("{:>4}{mark} {text}", cell.number)
        })
        .collect();
    planner.steps.push(Step::Text(lines.join("\n")));
    Ok(())
}

fn set(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    if call.argument.is_empty() {
        planner.steps.push(Step::Text(planner.state.modes.table()));
        return Ok(());
    }
    let (name, value) = match call.argument.split_once(|c: char| c.is_whitespace() || c == '=') {
        Some((name, value)) => (name, value.trim_start_matches('=').trim()),
        None => (&*call.argument, ""),
    };
    match planner.state.modes.set(name, value) {
        Ok(line) => {
            match value.is_empty() {
                true => planner.steps.push(Step::Text(line)),
                false => planner.change_modes(),
            }
            planner.loader.limit = planner.state.modes.memory;
            Ok(())
        }
        Err(problem) => Err(Box::new(call.misuse(&problem))),
    }
}

fn quit(planner: &mut Planner<'_>, _call: &Call) -> Result<(), Box<Diagnostic>> {
    planner.steps.push(Step::Quit);
    Ok(())
}

/// A name of a file, with or without quotes.
pub(crate) fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::{COMMANDS, Unknown, overview, resolve};

    #[test]
    fn unique_beginnings_are_enough() {
        let name = |text| resolve(text).ok().map(|command| command.name);
        assert_eq!(name("t"), None);
        assert_eq!(name("ty"), Some("type"));
        assert_eq!(name("q"), Some("quit"));
        assert_eq!(name("help"), Some("help"));
        assert!(matches!(resolve("re"), Err(Unknown::Ambiguous(names)) if names.len() == 3));
        assert!(matches!(resolve("hepl"), Err(Unknown::Nothing(Some("help")))));
        assert!(matches!(resolve("exit"), Err(Unknown::Nothing(Some("quit")))));
    }

    #[test]
    fn the_list_fits_a_narrow_terminal() {
        let overview = overview();
        let wide: Vec<&str> = overview.lines().filter(|line| line.chars().count() > 79).collect();
        assert_eq!(wide, [""; 0]);
        for command in COMMANDS {
            assert!(overview.contains(&format!("  :{}", command.name)), "{}", command.name);
        }
        let quotes = overview.lines().filter(|line| line.matches('`').count() % 2 == 1);
        assert_eq!(quotes.collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn every_command_is_documented() {
        for command in COMMANDS {
            let shown = command.example.contains(&format!(":{}", command.name));
            assert!(!command.doc.is_empty() && shown, "{}", command.name);
        }
    }
}
