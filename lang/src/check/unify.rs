//! Unification variables and the equality of types.

use weft_ir::ScalarType;

use crate::types::{Class, Type, TypeVar};

/// How many constructors a type may have, counted as a tree. `let` towers that double a type stop
/// here with an error instead of using up memory.
pub(super) const MAX_TYPE_SIZE: usize = 10_000;

/// The state of all unification variables of one item.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    slots: Vec<Slot>,
    /// How many generalising definitions surround the current point.
    pub(super) level: u32,
}

#[derive(Clone, Debug)]
enum Slot {
    /// Equal to another type.
    Link(Type),
    /// Not known.
    Open(Open),
    /// A variable of a scheme, with its number there.
    Quantified(u32),
}

/// What is known of an open variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    /// What it may stand for; a variable with a class has rank 0.
    pub(super) class: Option<Class>,
    /// The level of the outermost definition that it belongs to.
    pub(super) level: u32,
    /// The array type of a stencil, whose rank follows from its window alone: an argument is not
    /// unified with it as it is.
    pub(super) deferred: bool,
}

/// Why two types are not equal.
#[derive(Clone, Debug)]
pub(super) enum Clash {
    /// They differ.
    Different,
    /// A type is not in the class that a variable needs.
    Class(Class, Type),
    /// A type would contain itself.
    Infinite,
    /// A type would be larger than [`MAX_TYPE_SIZE`].
    TooLarge,
}

impl Table {
    /// A new variable without a class.
    pub(super) fn fresh(&mut self) -> Type {
        self.open(None, false)
    }

    /// A new variable of a class.
    pub(super) fn fresh_of(&mut self, class: Option<Class>) -> Type {
        self.open(class, false)
    }

    /// A new variable for the array type of a stencil.
    pub(super) fn fresh_deferred(&mut self) -> Type {
        self.open(None, true)
    }

    fn open(&mut self, class: Option<Class>, deferred: bool) -> Type {
        let var = TypeVar(self.slots.len() as u32);
        self.slots.push(Slot::Open(Open { class, level: self.level, deferred }));
        Type::Var(var)
    }

    /// The type with its outermost links followed.
    pub(super) fn shallow(&self, ty: &Type) -> Type {
        let mut ty = ty;
        while let Type::Var(var) = ty {
            match &self.slots[var.0 as usize] {
                Slot::Link(next) => ty = next,
                Slot::Open(_) | Slot::Quantified(_) => break,
            }
        }
        ty.clone()
    }

    /// What is known of a variable that is open.
    pub(super) fn state(&self, var: TypeVar) -> Option<Open> {
        match &self.slots[var.0 as usize] {
            Slot::Open(open) => Some(*open),
            Slot::Link(_) | Slot::Quantified(_) => None,
        }
    }

    /// The array axes of a type and what is under them, as far as they are known.
    pub(super) fn peel(&self, ty: &Type) -> (usize, Type) {
        let mut rank = 0;
        let mut ty = self.shallow(ty);
        while let Type::Array(element) = &ty {
            rank += 1;
            ty = self.shallow(element);
        }
        (rank, ty)
    }

    /// The element type `depth` axes down; the type must have them.
    pub(super) fn strip(&self, ty: &Type, depth: usize) -> Type {
        let mut ty = self.shallow(ty);
        for _ in 0..depth {
            if let Type::Array(element) = &ty {
                ty = self.shallow(element);
            }
        }
        ty
    }

    /// Whether a type under its axes is a variable that may still become an array.
    pub(super) fn is_rank_open(&self, head: &Type) -> bool {
        match head {
            Type::Var(var) => self.state(*var).is_some_and(|open| open.class.is_none()),
            _ => false,
        }
    }

    /// As [`Table::shallow`], and shortens the chain of links that led there: a long expression
    /// would otherwise be walked again and again.
    fn find(&mut self, ty: &Type) -> Type {
        let root = self.shallow(ty);
        let mut link = ty.clone();
        while let Type::Var(var) = link {
            match &mut self.slots[var.0 as usize] {
                Slot::Link(next) => link = std::mem::replace(next, root.clone()),
                Slot::Open(_) | Slot::Quantified(_) => break,
            }
        }
        root
    }

    /// Makes two types equal.
    pub(super) fn unify(&mut self, a: &Type, b: &Type) -> Result<(), Clash> {
        let a = self.find(a);
        let b = self.find(b);
        match (&a, &b) {
            (Type::Var(x), Type::Var(y)) if x == y => Ok(()),
            // The younger becomes a link to the older, so that the elements of a long array all
            // link to one variable and not each to the next.
            (Type::Var(x), Type::Var(y)) if x < y && self.are_alike(*x, *y) => self.bind(*y, &a),
            (Type::Var(x), _) if self.state(*x).is_some() => self.bind(*x, &b),
            (_, Type::Var(y)) if self.state(*y).is_some() => self.bind(*y, &a),
            (Type::Scalar(x), Type::Scalar(y)) if x == y => Ok(()),
            (Type::Tuple(x), Type::Tuple(y)) if x.len() == y.len() => {
                if std::sync::Arc::ptr_eq(x, y) {
                    return Ok(());
                }
                x.iter().zip(y.iter()).try_for_each(|(x, y)| self.unify(x, y))
            }
            (Type::Record(x), Type::Record(y))
                if x.len() == y.len() && x.iter().zip(y.iter()).all(|(x, y)| x.0 == y.0) =>
            {
                x.iter().zip(y.iter()).try_for_each(|(x, y)| self.unify(&x.1, &y.1))
            }
            (Type::Array(x), Type::Array(y)) | (Type::Seq(x), Type::Seq(y)) => self.unify(x, y),
            (Type::Function(p, r), Type::Function(q, s))
            | (Type::Window(p, r), Type::Window(q, s))
            | (Type::Boundary(p, r), Type::Boundary(q, s)) => {
                self.unify(p, q)?;
                self.unify(r, s)
            }
            _ => Err(Clash::Different),
        }
    }

    /// Whether two variables are open, and differ in class and level at most.
    fn are_alike(&self, x: TypeVar, y: TypeVar) -> bool {
        match (self.state(x), self.state(y)) {
            (Some(x), Some(y)) => x.deferred == y.deferred,
            _ => false,
        }
    }

    fn bind(&mut self, var: TypeVar, ty: &Type) -> Result<(), Clash> {
        let Some(open) = self.state(var) else { return Err(Clash::Different) };
        let mut budget = MAX_TYPE_SIZE;
        self.adjust(var, open.level, ty, &mut budget)?;
        if let Some(class) = open.class {
            self.constrain(ty, class)?;
        }
        self.slots[var.0 as usize] = Slot::Link(ty.clone());
        Ok(())
    }

    /// Lowers the levels in `ty` to that of `var`, which must not occur in it.
    fn adjust(
        &mut self,
        var: TypeVar,
        level: u32,
        ty: &Type,
        budget: &mut usize,
    ) -> Result<(), Clash> {
        *budget = budget.checked_sub(1).ok_or(Clash::TooLarge)?;
        match self.shallow(ty) {
            Type::Var(other) if other == var => Err(Clash::Infinite),
            Type::Var(other) => {
                if let Slot::Open(open) = &mut self.slots[other.0 as usize] {
                    open.level = open.level.min(level);
                }
                Ok(())
            }
            Type::Scalar(_) => Ok(()),
            Type::Tuple(parts) => {
                parts.iter().try_for_each(|part| self.adjust(var, level, part, budget))
            }
            Type::Record(fields) => {
                fields.iter().try_for_each(|(_, ty)| self.adjust(var, level, ty, budget))
            }
            Type::Array(element) | Type::Seq(element) => self.adjust(var, level, &element, budget),
            Type::Function(a, b) | Type::Window(a, b) | Type::Boundary(a, b) => {
                self.adjust(var, level, &a, budget)?;
                self.adjust(var, level, &b, budget)
            }
        }
    }

    /// Requires that a type belongs to a class.
    pub(super) fn constrain(&mut self, ty: &Type, class: Class) -> Result<(), Clash> {
        match self.shallow(ty) {
            Type::Var(var) => {
                let refused = || Clash::Class(class, Type::Var(var));
                match &mut self.slots[var.0 as usize] {
                    Slot::Open(open) => {
                        let both = match open.class {
                            None => class,
                            Some(own) => own.intersect(class).ok_or_else(refused)?,
                        };
                        open.class = Some(both);
                        Ok(())
                    }
                    Slot::Link(_) | Slot::Quantified(_) => Err(refused()),
                }
            }
            Type::Scalar(scalar) if class.contains(scalar) => Ok(()),
            Type::Tuple(parts) if class.has_tuples() => {
                parts.iter().try_for_each(|part| self.constrain(part, class))
            }
            Type::Record(fields) if class.has_tuples() => {
                fields.iter().try_for_each(|(_, ty)| self.constrain(ty, class))
            }
            other => Err(Clash::Class(class, other)),
        }
    }

    /// Whether the type, as a tree, has more constructors than allowed.
    pub(super) fn is_too_large(&self, ty: &Type) -> bool {
        fn walk(table: &Table, ty: &Type, budget: &mut usize) {
            if *budget == 0 {
                return;
            }
            *budget -= 1;
            match table.shallow(ty) {
                Type::Var(_) | Type::Scalar(_) => {}
                Type::Tuple(parts) => parts.iter().for_each(|part| walk(table, part, budget)),
                Type::Record(fields) => fields.iter().for_each(|(_, ty)| walk(table, ty, budget)),
                Type::Array(element) | Type::Seq(element) => walk(table, &element, budget),
                Type::Function(a, b) | Type::Window(a, b) | Type::Boundary(a, b) => {
                    walk(table, &a, budget);
                    walk(table, &b, budget);
                }
            }
        }
        let mut budget = MAX_TYPE_SIZE;
        walk(self, ty, &mut budget);
        budget == 0
    }

    /// The open variables of a type, in order of appearance.
    pub(super) fn variables(&self, ty: &Type, found: &mut Vec<TypeVar>) {
        match self.shallow(ty) {
            Type::Var(var) => {
                if self.state(var).is_some() && !found.contains(&var) {
                    found.push(var);
                }
            }
            Type::Scalar(_) => {}
            Type::Tuple(parts) => parts.iter().for_each(|part| self.variables(part, found)),
            Type::Record(fields) => fields.iter().for_each(|(_, ty)| self.variables(ty, found)),
            Type::Array(element) | Type::Seq(element) => self.variables(&element, found),
            Type::Function(a, b) | Type::Window(a, b) | Type::Boundary(a, b) => {
                self.variables(&a, found);
                self.variables(&b, found);
            }
        }
    }

    /// Keeps the variables of a type from being generalised by definitions deeper than `level`.
    pub(super) fn lower_levels(&mut self, ty: &Type, level: u32) -> bool {
        let mut vars = Vec::new();
        self.variables(ty, &mut vars);
        let mut changed = false;
        for var in vars {
            if let Slot::Open(open) = &mut self.slots[var.0 as usize] {
                changed |= open.level > level;
                open.level = open.level.min(level);
            }
        }
        changed
    }

    /// The least level of the variables of a type: `None` if it has none.
    pub(super) fn least_level(&self, ty: &Type) -> Option<u32> {
        let mut vars = Vec::new();
        self.variables(ty, &mut vars);
        vars.into_iter().filter_map(|var| self.state(var)).map(|open| open.level).min()
    }

    /// Makes an open variable the scheme variable of that number.
    pub(super) fn quantify(&mut self, var: TypeVar, number: u32) {
        self.slots[var.0 as usize] = Slot::Quantified(number);
    }

    /// Gives every open variable of a type its default.
    pub(super) fn default_open(&mut self, ty: &Type, float: ScalarType) {
        let ty = &self.find(ty);
        let mut vars = Vec::new();
        self.variables(ty, &mut vars);
        for var in vars {
            if let Some(open) = self.state(var) {
                let scalar = open.class.map_or(ScalarType::I64, |class| class.default_type(float));
                self.slots[var.0 as usize] = Slot::Link(Type::Scalar(scalar));
            }
        }
    }

    /// The type with every link followed; scheme variables have their numbers in the scheme, open
    /// variables keep their own.
    pub(super) fn resolve(&self, ty: &Type) -> Type {
        match self.shallow(ty) {
            Type::Var(var) => match &self.slots[var.0 as usize] {
                Slot::Quantified(number) => Type::Var(TypeVar(*number)),
                Slot::Link(_) | Slot::Open(_) => Type::Var(var),
            },
            Type::Scalar(scalar) => Type::Scalar(scalar),
            Type::Tuple(parts) => {
                Type::Tuple(parts.iter().map(|part| self.resolve(part)).collect())
            }
            Type::Record(fields) => Type::Record(
                fields.iter().map(|(name, ty)| (name.clone(), self.resolve(ty))).collect(),
            ),
            Type::Array(element) => Type::array(self.resolve(&element)),
            Type::Seq(item) => Type::seq(self.resolve(&item)),
            Type::Function(a, b) => Type::function(self.resolve(&a), self.resolve(&b)),
            Type::Window(a, b) => Type::Window(self.resolve(&a).into(), self.resolve(&b).into()),
            Type::Boundary(a, b) => {
                Type::Boundary(self.resolve(&a).into(), self.resolve(&b).into())
            }
        }
    }

    /// A copy of the type with the given variables replaced. Those of the scheme of a local
    /// function are quantified slots of this table.
    pub(super) fn substitute(&self, ty: &Type, replacements: &[(TypeVar, Type)]) -> Type {
        match self.shallow(ty) {
            Type::Var(var) => replacements
                .iter()
                .find(|(from, _)| *from == var)
                .map_or(Type::Var(var), |(_, to)| to.clone()),
            Type::Scalar(scalar) => Type::Scalar(scalar),
            Type::Tuple(parts) => {
                Type::Tuple(parts.iter().map(|part| self.substitute(part, replacements)).collect())
            }
            Type::Record(fields) => Type::Record(
                fields
                    .iter()
                    .map(|(name, ty)| (name.clone(), self.substitute(ty, replacements)))
                    .collect(),
            ),
            Type::Array(element) => Type::array(self.substitute(&element, replacements)),
            Type::Seq(item) => Type::seq(self.substitute(&item, replacements)),
            Type::Function(a, b) => {
                Type::function(self.substitute(&a, replacements), self.substitute(&b, replacements))
            }
            Type::Window(a, b) => Type::Window(
                self.substitute(&a, replacements).into(),
                self.substitute(&b, replacements).into(),
            ),
            Type::Boundary(a, b) => Type::Boundary(
                self.substitute(&a, replacements).into(),
                self.substitute(&b, replacements).into(),
            ),
        }
    }
}
