//! Settling what waits: types are known step by step, and what is not forced in the end gets the least ranks.

use std::collections::BTreeSet;

use super::{Checker, rank};
use crate::types::{Type, TypeVar};

impl Checker<'_> {
    /// Settles all that can be settled without assuming anything.
    pub(super) fn propagate(&mut self) {
        loop {
            let mut progress = self.advance_ranked();
            // Backwards too: a result that becomes known settles the operands before it.
            let waiting = std::mem::take(&mut self.waiting);
            for &site in waiting.iter().chain(waiting.iter().rev()) {
                progress |= self.advance_site(site);
            }
            self.waiting.extend(waiting.into_iter().filter(|site| !self.sites[*site].settled));
            for field in 0..self.fields.len() {
                if self.fields[field].found.is_none() && !self.fields[field].failed {
                    progress |= self.advance_field(field);
                }
            }
            if !progress {
                return;
            }
        }
    }

    /// Completes an item: what still waits is settled by the least ranks, and what is not known then is an error.
    pub(super) fn complete(&mut self) {
        self.complete_types();
        for position in 0..self.fields.len() {
            if self.fields[position].found.is_none() && !self.fields[position].failed {
                self.fields[position].failed = true;
                self.open_record(position);
            }
        }
        let unknown = std::mem::take(&mut self.unknown_records);
        // An earlier error may be why nothing is known.
        if self.errors == 0 && !self.poisoned {
            unknown.into_iter().for_each(|(diagnostic, _)| self.report(diagnostic));
        }
    }

    /// Settles what still waits by the least ranks.
    pub(super) fn complete_types(&mut self) {
        self.propagate();
        self.settle_sites(self.waiting.clone());
        self.propagate();
        while let Some(ranked) = self.ranked.first().cloned() {
            // Nothing says what rank is meant: one axis.
            if self.table.unify(&ranked.index, &Type::I64).is_err() {
                self.ranked.remove(0);
            }
            self.propagate();
            self.settle_sites(self.waiting.clone());
        }
        self.propagate();
    }

    pub(super) fn settle_sites(&mut self, waiting: Vec<usize>) {
        loop {
            let chosen = self.sites_of_records(&waiting);
            if chosen.is_empty() {
                break;
            }
            self.settle_some(&waiting, chosen);
            self.propagate();
        }
        self.settle_some(&waiting, waiting.clone());
    }

    /// Those of some sites that say what a record is of which fields are read.
    fn sites_of_records(&self, waiting: &[usize]) -> Vec<usize> {
        let unknown = self.unknown_records.iter().map(|(_, record)| record);
        let read = self.fields.iter().filter(|field| field.found.is_none() && !field.failed);
        let records: BTreeSet<TypeVar> = read
            .map(|field| &field.record)
            .chain(unknown)
            .filter_map(|record| match self.table.peel(record).1 {
                Type::Var(var) => Some(var),
                _ => None,
            })
            .collect();
        let says = |param: &Type, arg: &rank::SiteArg| {
            let is_record = |ty: &Type| matches!(ty, Type::Record(_) | Type::Tuple(_));
            matches!(self.table.peel(&arg.ty).1, Type::Var(var) if records.contains(&var))
                && is_record(&self.table.peel(param).1)
        };
        let of_record = |site: &&usize| {
            let site = &self.sites[**site];
            !site.settled && site.params.iter().zip(&site.args).any(|(param, arg)| says(param, arg))
        };
        waiting.iter().filter(of_record).copied().collect()
    }

    /// Settles some of the sites that wait.
    fn settle_some(&mut self, waiting: &[usize], mut chosen: Vec<usize>) {
        let mut guesses = rank::Guesses { parameters: self.own_parameters(), found: Vec::new() };
        let mut waiting = waiting.to_vec();
        while let Err((site, error)) =
            rank::settle(&mut self.table, &mut self.sites, &waiting, &chosen, &mut guesses)
        {
            self.site_failed(site, &error);
            waiting.retain(|other| !self.sites[*other].settled);
            chosen.retain(|other| !self.sites[*other].settled);
        }
        self.guesses.extend(guesses.found);
        self.waiting.retain(|site| !self.sites[*site].settled);
    }

    /// The types of the parameters of the definition being checked.
    pub(super) fn own_parameters(&self) -> Vec<Type> {
        let mut parameters = Vec::new();
        let mut rest = self.own.as_ref().map(|own| self.table.shallow(&own.ty));
        while let Some(Type::Function(parameter, next)) = rest {
            parameters.push((*parameter).clone());
            rest = Some(self.table.shallow(&next));
        }
        parameters
    }
}
