//! Which variables are in scope, for the checks of `flat` and `plan`.

use crate::ScalarType;
use crate::code::same_types;
use crate::flat::{Dimension, Leaf, Size, Type, Var, storage};

/// The variables of a program under check: each is bound once and used after that.
#[derive(Debug)]
pub struct Scope<'a> {
    types: &'a [Type],
    states: Vec<State>,
    /// The variables in scope, in the order in which they were bound.
    visible: Vec<Var>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Unbound,
    Visible,
    /// The block that bound it has ended.
    Gone,
}

impl<'a> Scope<'a> {
    /// No variable is bound yet; `types` are the program's.
    pub fn new(types: &'a [Type]) -> Scope<'a> {
        Scope { types, states: vec![State::Unbound; types.len()], visible: Vec::new() }
    }

    /// The type of a variable, if it is in scope.
    pub fn get(&self, var: Var) -> Option<&'a Type> {
        let index = var.0 as usize;
        match self.states.get(index) {
            Some(State::Visible) => Some(&self.types[index]),
            _ => None,
        }
    }

    /// The type of a variable in scope.
    ///
    /// # Errors
    /// It is not in scope.
    pub fn ty(&self, var: Var) -> Result<&'a Type, String> {
        self.get(var).ok_or_else(|| format!("{var} is not bound here"))
    }

    /// The check of a reshape: an array is seen as an array with the same elements.
    ///
    /// # Errors
    /// One is a scalar, or the elements are of another type.
    pub fn reshape(&self, array: Var, result: &Type) -> Result<(), String> {
        let from = self.ty(array)?;
        if from.extents.is_empty() {
            return Err(format!("{array} is a {from} and no array"));
        }
        if result.extents.is_empty() {
            return Err(format!("the result of a reshape is no array, but a {result}"));
        }
        same_types("the elements", &[result.element], &[from.element])
    }

    /// Binds variables. Their types may be in terms of each other.
    ///
    /// # Errors
    /// One was bound before, or its type has an extent that is no size in scope.
    pub fn bind(&mut self, vars: &[Var]) -> Result<(), String> {
        for var in vars {
            match self.states.get_mut(var.0 as usize) {
                None => return Err(format!("{var} has no type")),
                Some(state @ State::Unbound) => *state = State::Visible,
                Some(_) => return Err(format!("{var} is bound twice")),
            }
            self.visible.push(*var);
        }
        for var in vars {
            for extent in &self.types[var.0 as usize].extents {
                self.size(*extent).map_err(|problem| format!("the type of {var}: {problem}"))?;
            }
        }
        Ok(())
    }

    /// A mark for [`Scope::leave`].
    pub fn enter(&self) -> usize {
        self.visible.len()
    }

    /// What was bound since the mark goes out of scope.
    pub fn leave(&mut self, mark: usize) {
        for var in self.visible.drain(mark..) {
            self.states[var.0 as usize] = State::Gone;
        }
    }

    /// That a size is not negative, or an `i64` scalar in scope.
    ///
    /// # Errors
    /// It is not.
    pub fn size(&self, size: Size) -> Result<(), String> {
        match size {
            Size::Constant(size) if size < 0 => Err(format!("the size {size} is negative")),
            Size::Constant(_) => Ok(()),
            Size::Var(var) => self.scalar(var, ScalarType::I64),
        }
    }

    /// That a variable is a scalar of that type in scope.
    ///
    /// # Errors
    /// It is not.
    pub fn scalar(&self, var: Var, element: ScalarType) -> Result<(), String> {
        let ty = self.ty(var)?;
        if ty.element == element && ty.extents.is_empty() {
            Ok(())
        } else {
            Err(format!("{var} is a {ty} and no {element}"))
        }
    }

    /// That the sizes and segment descriptors of a space are in scope.
    ///
    /// # Errors
    /// One is not.
    pub fn space(&self, space: &[Dimension]) -> Result<(), String> {
        for dimension in space {
            match *dimension {
                Dimension::Dense(extent) => self.size(extent)?,
                Dimension::Ragged { offsets, total } => {
                    self.offsets(offsets)?;
                    self.size(total)?;
                }
            }
        }
        Ok(())
    }

    /// That a variable is an array of one dimension of `i64`s.
    ///
    /// # Errors
    /// It is not.
    pub fn offsets(&self, var: Var) -> Result<(), String> {
        let ty = self.ty(var)?;
        if ty.element == ScalarType::I64 && ty.extents.len() == 1 {
            Ok(())
        } else {
            Err(format!("{var} is a {ty} and no segment descriptor"))
        }
    }

    /// Binds the variables of the inputs. Inputs may share sizes and descriptors.
    ///
    /// # Errors
    /// One is wrong.
    pub fn inputs(&mut self, inputs: &[Leaf]) -> Result<(), String> {
        for leaf in inputs {
            first_is_dense(leaf)?;
            for axis in &leaf.axes {
                match *axis {
                    Dimension::Dense(extent) => self.share(extent)?,
                    Dimension::Ragged { offsets, total } => {
                        self.share(total)?;
                        if self.get(offsets).is_none() {
                            if let Some([count]) = self.extents(offsets) {
                                self.share(*count)?;
                            }
                            self.bind(&[offsets])?;
                        }
                    }
                }
            }
            self.space(&leaf.axes)?;
            self.bind(&[leaf.data])?;
            let (found, expected) = (&self.ty(leaf.data)?.extents, storage(&leaf.axes));
            if *found != expected {
                return Err(format!("the type of input {} is not that of its axes", leaf.data));
            }
        }
        Ok(())
    }

    /// That the variables of the outputs are in scope.
    ///
    /// # Errors
    /// One is not.
    pub fn outputs(&self, outputs: &[Leaf]) -> Result<(), String> {
        for leaf in outputs {
            first_is_dense(leaf)?;
            self.space(&leaf.axes)?;
            let ty = self.ty(leaf.data)?;
            let dimensions = storage(&leaf.axes).len();
            if ty.extents.len() != dimensions {
                return Err(format!("output {}: {ty} for {dimensions} dimensions", leaf.data));
            }
        }
        Ok(())
    }

    /// Binds a size of an input, unless an input before has it.
    fn share(&mut self, size: Size) -> Result<(), String> {
        match size {
            Size::Var(var) if self.get(var).is_none() => self.bind(&[var]),
            Size::Var(_) | Size::Constant(_) => Ok(()),
        }
    }

    fn extents(&self, var: Var) -> Option<&'a [Size]> {
        self.types.get(var.0 as usize).map(|ty| ty.extents.as_slice())
    }
}

fn first_is_dense(leaf: &Leaf) -> Result<(), String> {
    match leaf.axes.first() {
        Some(Dimension::Ragged { .. }) => Err(format!("the first axis of {} is ragged", leaf.data)),
        Some(Dimension::Dense(_)) | None => Ok(()),
    }
}
