//! Which parameters of a definition have a rank that nothing in the program says: see [`Guess`].

use std::collections::BTreeMap;
use std::mem;

use super::Checker;
use crate::ast;
use crate::environment::Global;
use crate::typed::{Arg, Expr, ExprKind, FunctionRef, Guess, LocalId, Pattern};

impl Checker<'_> {
    /// The parameters of a function whose rank was chosen, here or in definitions to which they only go on. `params` are
    /// they as they are written.
    pub(super) fn take_guesses(&mut self, function: &Expr, params: &[ast::Pattern]) -> Vec<Guess> {
        let mut found = mem::take(&mut self.guesses);
        found.sort_unstable();
        found.dedup_by_key(|(parameter, ..)| *parameter);
        // Nobody annotates what is there from the start.
        let ExprKind::Lambda { params: typed, body } = &function.kind else { return Vec::new() };
        if self.environment.is_prelude() {
            return Vec::new();
        }
        let mut guesses: BTreeMap<usize, Guess> = BTreeMap::new();
        for (parameter, rank, elements) in found {
            let is_annotated = params
                .get(parameter)
                .is_some_and(|param| !matches!(param.kind, ast::PatternKind::Name(_)));
            if elements && is_annotated {
                continue;
            }
            if let Some(Pattern::Local { name, .. }) = typed.get(parameter) {
                let guess = Guess { parameter, name: name.clone(), rank, elements, of: None };
                guesses.insert(parameter, guess);
            }
        }
        let mut uses = Uses { checker: self, found: BTreeMap::new() };
        uses.expr(body);
        for (parameter, (pattern, written)) in typed.iter().zip(params).enumerate() {
            let Pattern::Local { local, name, .. } = pattern else { continue };
            // An annotation says what it is.
            let ast::PatternKind::Name(_) = written.kind else { continue };
            let Some(Use { all, passed, guess: Some(guess) }) = uses.found.get(local) else {
                continue;
            };
            if all == passed {
                let guess = Guess { parameter, name: name.clone(), ..guess.clone() };
                guesses.entry(parameter).or_insert(guess);
            }
        }
        guesses.into_values().collect()
    }
}

/// Where a variable stands.
#[derive(Default)]
struct Use {
    /// In how many places.
    all: usize,
    /// How many of them are arguments for parameters that were guessed to be one element.
    passed: usize,
    /// One of these.
    guess: Option<Guess>,
}

struct Uses<'c, 'e> {
    checker: &'c Checker<'e>,
    found: BTreeMap<LocalId, Use>,
}

impl Uses<'_, '_> {
    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Local(local, _) => self.found.entry(*local).or_default().all += 1,
            ExprKind::Apply { function, args, .. } => self.passed(function, args),
            _ => {}
        }
        expr.for_each_child(&mut |child| self.expr(child));
    }

    /// Notes the arguments of a definition that are variables, where it was guessed what the parameter is.
    fn passed(&mut self, function: &Expr, args: &[Arg]) {
        let ExprKind::Function(FunctionRef::Generic(global, _)) = &function.kind else { return };
        let Some(Global::Function(callee)) = self.checker.environment.global(*global) else {
            return;
        };
        let elements = callee.guesses.iter().filter(|guess| guess.rank == 0);
        for guess in elements {
            let Some(Arg { expr, mapped: false }) = args.get(guess.parameter) else { continue };
            let ExprKind::Local(local, _) = &expr.kind else { continue };
            let found = self.found.entry(*local).or_default();
            found.passed += 1;
            let of = guess.of.clone().or_else(|| Some((callee.name.clone(), guess.name.clone())));
            found.guess = Some(Guess { of, ..guess.clone() });
        }
    }
}
