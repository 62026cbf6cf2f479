//! A definition that is checked once more as it is written, but with annotations for parameters that have none.
//!
//! Whoever leaves a type out leaves it to the body, and where that fits arrays of several ranks, the least one is taken
//! (`Note [Implicit map]` in `check/rank.rs`). What the definition would have been with the type of an argument says
//! whether that was meant: for errors ([`super::advice`]) and for remarks.

use std::collections::HashMap;
use std::sync::Arc;

use weft_ir::{Name, Span};

use super::{Cell, Checked, CheckedItem, CheckedKind, Config, NoFiles, item};
use crate::ast::{Def, Ident, Item, ItemKind, Pattern, PatternKind, TypeExpr, TypeExprKind};
use crate::environment::Environment;
use crate::typed::Function;
use crate::types::{Scheme, Type};

/// The type that a definition has with these types for its first parameters, as far as they are given, and if it is right
/// so. Nothing else is said of those that have an annotation or are neither names nor tuples of names.
pub fn annotated(
    function: &Function,
    types: &[Option<Type>],
    environment: &Environment,
    config: &Config,
) -> Option<Scheme> {
    annotated_definition(function.written.as_deref()?, types, function.span, environment, config)
}

/// The same of a definition that need not be right as it stands.
pub(super) fn annotated_definition(
    written: &Def,
    types: &[Option<Type>],
    span: Span,
    environment: &Environment,
    config: &Config,
) -> Option<Scheme> {
    let items = [with_types(written, types, span)?];
    match tried(&items, environment, config).pop()?.kind {
        CheckedKind::Define { scheme, .. } => Some(scheme),
        _ => None,
    }
}

/// Whether an item would be right behind a definition with these types for its parameters.
pub(super) fn is_right_behind(
    function: &Function,
    types: &[Option<Type>],
    item: &Item,
    environment: &Environment,
    config: &Config,
) -> bool {
    let definition =
        function.written.as_deref().and_then(|written| with_types(written, types, function.span));
    definition.is_some_and(|definition| {
        tried(&[definition, item.clone()], environment, config).len() == 2
    })
}

/// The items that are right, of some that see each other.
fn tried(items: &[Item], environment: &Environment, config: &Config) -> Vec<CheckedItem> {
    let mut checked = Checked {
        items: Vec::new(),
        environment: environment.clone(),
        loaded: Vec::new(),
        diagnostics: Vec::new(),
    };
    for index in 0..items.len() {
        let cell = Cell { items, index, last_definitions: &HashMap::new(), is_trial: true };
        item::check_item(cell, config, &mut NoFiles, &mut checked);
        if checked.items.len() <= index {
            break;
        }
    }
    checked.items
}

/// A definition with annotations for those of its parameters that are names, or tuples of names, and for which there is a type.
fn with_types(written: &Def, types: &[Option<Type>], span: Span) -> Option<Item> {
    let mut def = written.clone();
    for (param, ty) in def.params.iter_mut().zip(types) {
        if let Some(ty) = ty {
            annotate(param, ty)?;
        }
    }
    Some(Item { kind: ItemKind::Def(def), span, levels: 0 })
}

fn annotate(pattern: &mut Pattern, ty: &Type) -> Option<()> {
    match (&mut pattern.kind, ty) {
        (PatternKind::Name(_), _) => {
            let (ty, span) = (written_type(ty, pattern.span)?, pattern.span);
            let name = std::mem::replace(pattern, Pattern { kind: PatternKind::Wildcard, span });
            pattern.kind = PatternKind::Typed(Box::new(name), ty);
            Some(())
        }
        (PatternKind::Tuple(parts), Type::Tuple(types)) if parts.len() == types.len() => {
            parts.iter_mut().zip(types.iter()).try_for_each(|(part, ty)| annotate(part, ty))
        }
        _ => Some(()),
    }
}

/// A type as it is written; nothing for what cannot be.
fn written_type(ty: &Type, span: Span) -> Option<TypeExpr> {
    let of = |ty: &Arc<Type>| written_type(ty, span).map(Box::new);
    let kind = match ty {
        Type::Scalar(scalar) => TypeExprKind::Name(scalar.name().into()),
        Type::Array(element) => TypeExprKind::Array(None, of(element)?),
        Type::Seq(item) => TypeExprKind::Seq(of(item)?),
        Type::Function(from, to) => TypeExprKind::Function(of(from)?, of(to)?),
        Type::Tuple(parts) => TypeExprKind::Tuple(
            parts.iter().map(|part| written_type(part, span)).collect::<Option<_>>()?,
        ),
        Type::Record(fields) => {
            let field = |(name, ty): &(Name, Type)| {
                Some((Ident { name: name.clone(), span }, written_type(ty, span)?))
            };
            TypeExprKind::Record(fields.iter().map(field).collect::<Option<_>>()?)
        }
        Type::Var(_) | Type::Window(..) | Type::Boundary(..) => return None,
    };
    Some(TypeExpr { kind, span })
}
