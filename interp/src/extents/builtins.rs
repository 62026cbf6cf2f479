//! What is known of the results of builtins (Note [Extents of nothing]).

use weft_ir::{ScalarOp, Span, Type};
use weft_lang::builtins::Builtin;

use super::known::is_without_rows;
use super::{Known, MOST_ROUNDS, Search};
use crate::code::BuiltinCode;
use crate::machine::Unwind;
use crate::value::Val;

impl Search<'_, '_> {
    /// What is known of a builtin applied to all its arguments.
    pub(super) fn builtin(
        &mut self,
        code: &BuiltinCode,
        args: Vec<Known>,
        span: Span,
    ) -> Result<Known, Unwind> {
        let applied = self.applied(code, &args, span)?;
        if let Some(val) = applied {
            let has_rows = args.iter().any(|arg| matches!(arg, Known::Rows(..)));
            return match has_rows && !is_without_rows(&val) {
                true => Ok(self.by_parts(code, &args)?.computed(&val)),
                false => Ok(Known::of(&val)),
            };
        }
        self.by_parts(code, &args)
    }

    /// What is known of the result by what is known of the arguments.
    fn by_parts(&mut self, code: &BuiltinCode, args: &[Known]) -> Result<Known, Unwind> {
        let length = |at: usize| args[at].elements().0;
        let element = |at: usize| args[at].elements().1;
        let some = |length: Option<usize>, element: Known| Known::array(length, element);
        Ok(match code.builtin {
            Builtin::Generate => {
                let element = self.call(&args[1], vec![Known::Nothing])?;
                shaped(&extents(code, &args[0]), element.shape())
            }
            Builtin::Stencil | Builtin::Stencil2 => {
                let rank = param(code, 2).map_or(0, Type::rank);
                let element = self.call(&args[1], vec![Known::Nothing; args.len() - 2])?;
                shaped(&lengths(&args[2], rank), element.shape())
            }
            Builtin::Index(axes) => {
                let indices: Vec<Known> = args[1..=usize::from(axes)].to_vec();
                self.index(args[0].clone(), &indices)
            }
            Builtin::Map | Builtin::ZipWith | Builtin::ZipWith3 | Builtin::ZipWith4 => {
                let length = (1..args.len()).find_map(length);
                let result = self.call(&args[0], (1..args.len()).map(element).collect())?;
                some(length, result.shape())
            }
            Builtin::MapWithIndex => {
                let result = self.call(&args[0], vec![Known::Nothing, element(1)])?;
                some(length(1), result.shape())
            }
            Builtin::Fold => {
                let combined = self.call(&args[0], vec![args[1].shape(), element(2)])?;
                args[1].join(&combined)
            }
            Builtin::Fold1 => {
                let combined = self.call(&args[0], vec![element(1), element(1)])?;
                element(1).join(&combined)
            }
            Builtin::FoldSeg => {
                let combined = self.call(&args[0], vec![args[1].shape(), element(2)])?;
                some(length(3), args[1].join(&combined))
            }
            Builtin::Scanl1 | Builtin::Scanr1 => {
                let combined = self.call(&args[0], vec![element(1), element(1)])?;
                some(length(1), element(1).join(&combined))
            }
            Builtin::Scanl | Builtin::Scanr => {
                let (_, element) = self.scanned(args)?;
                some(sum(length(2), Some(1)), element)
            }
            Builtin::ScanlPrime | Builtin::ScanrPrime => {
                let (combined, element) = self.scanned(args)?;
                Known::tuple(vec![some(length(2), element), combined])
            }
            Builtin::Prescanl | Builtin::Prescanr => some(length(2), self.scanned(args)?.1),
            Builtin::Postscanl | Builtin::Postscanr => some(length(2), self.scanned(args)?.0),
            Builtin::Outer => {
                let result = self.call(&args[0], vec![element(1), element(2)])?;
                some(length(1), some(length(2), result.shape()))
            }
            Builtin::Iterate => self.iterated(args)?,
            _ => made_or_measured(code, args).unwrap_or_else(|| moved(code, args)),
        })
    }

    /// The result, if all arguments are known, the builtin calls no function, and the extents of what it
    /// yields are no matter of measuring.
    fn applied(
        &mut self,
        code: &BuiltinCode,
        args: &[Known],
        span: Span,
    ) -> Result<Option<Val>, Unwind> {
        let measures = matches!(
            code.builtin,
            Builtin::Segments | Builtin::Chunks | Builtin::GroupBy | Builtin::Split | Builtin::Pack
        );
        let mut vals = Vec::with_capacity(args.len());
        for arg in args {
            match arg {
                Known::Val(Val::Function(_) | Val::Boundary(_) | Val::Window(_)) => {
                    return Ok(None);
                }
                known => match known.val() {
                    Some(val) if !measures => vals.push(val.clone()),
                    _ => return Ok(None),
                },
            }
        }
        self.machine.attempt(&mut self.looks, |machine| machine.call_builtin(code, vals, span))
    }

    /// The start of a scan combined with an element, and what that and the start have in common.
    fn scanned(&mut self, args: &[Known]) -> Result<(Known, Known), Unwind> {
        let combined = self.call(&args[0], vec![args[1].shape(), args[2].elements().1])?.shape();
        let both = args[1].join(&combined);
        Ok((combined, both))
    }

    fn iterated(&mut self, args: &[Known]) -> Result<Known, Unwind> {
        let mut state = args[2].clone();
        if let Some(count) = args[0].integer()
            && count <= MOST_ROUNDS
        {
            for _ in 0..count {
                state = self.call(&args[1], vec![state])?;
            }
            return Ok(state);
        }
        state = state.shape();
        loop {
            let next = state.join(&self.call(&args[1], vec![state.clone()])?);
            if next.same(&state) || self.nodes == 0 {
                return Ok(next);
            }
            state = next;
        }
    }
}

/// What is known of the result of a builtin that makes an array of given extents, or measures one; nothing if it is another
/// one.
fn made_or_measured(code: &BuiltinCode, args: &[Known]) -> Option<Known> {
    let length = |at: usize| args[at].elements().0;
    let element = |at: usize| args[at].elements().1;
    let integer = |at: usize| args[at].integer().and_then(|value| usize::try_from(value).ok());
    let some = |length: Option<usize>, element: Known| Known::array(length, element);
    Some(match code.builtin {
        Builtin::Op(ScalarOp::Select) => args[1].join(&args[2]),
        Builtin::Assert => args[1].clone(),
        Builtin::Iota => some(integer(0), Known::Nothing),
        Builtin::Random => some(integer(1), Known::Nothing),
        Builtin::Linspace => some(integer(2), Known::Nothing),
        Builtin::RandomInt => some(integer(3), Known::Nothing),
        Builtin::Histogram => some(integer(0), Known::Nothing),
        Builtin::Identity => some(integer(0), some(integer(0), Known::Nothing)),
        Builtin::Range => some(None, Known::Nothing),
        Builtin::Replicate => some(integer(0), args[1].shape()),
        Builtin::Fill => shaped(&extents(code, &args[0]), args[1].shape()),
        Builtin::Reshape => {
            let rank = param(code, 1).map_or(0, Type::rank);
            shaped(&extents(code, &args[0]), args[1].under(rank))
        }
        Builtin::Backpermute => {
            let extents = extents(code, &args[0]);
            // An index into the array has as many components as one into the result.
            let axes = code.result.as_ref().map_or(0, Type::rank) - extents.len();
            let rank = param(code, 2).map_or(0, Type::rank);
            shaped(&extents, args[2].under(rank - axes))
        }
        Builtin::Length => integer_or_nothing(length(0)),
        Builtin::Size => {
            let rank = param(code, 0).map_or(0, Type::rank);
            let lengths = lengths(&args[0], rank);
            integer_or_nothing(lengths.into_iter().try_fold(1, |size: usize, length| {
                length.and_then(|length| size.checked_mul(length))
            }))
        }
        Builtin::Shape => {
            let rank = param(code, 0).map_or(0, Type::rank);
            let lengths = lengths(&args[0], rank);
            let mut parts: Vec<Known> = lengths.into_iter().map(integer_or_nothing).collect();
            if rank == 1 { parts.remove(0) } else { Known::tuple(parts) }
        }
        Builtin::Null => match length(0) {
            Some(length) => Known::Val(Val::bool(length == 0)),
            None => Known::Nothing,
        },
        Builtin::Indices | Builtin::Argsort => some(length(0), Known::Nothing),
        Builtin::Lengths => some(length(0), integer_or_nothing(element(0).elements().0)),
        Builtin::First | Builtin::Last => element(0),
        _ => return None,
    })
}

/// What is known of the result of a builtin that puts the elements of arrays to other places. Scalars are not known.
fn moved(code: &BuiltinCode, args: &[Known]) -> Known {
    let length = |at: usize| args[at].elements().0;
    let element = |at: usize| args[at].elements().1;
    let integer = |at: usize| args[at].integer().and_then(|value| usize::try_from(value).ok());
    let some = |length: Option<usize>, element: Known| Known::array(length, element);
    match code.builtin {
        Builtin::Flatten => {
            let (inner, element) = element(0).elements();
            let both = length(0).zip(inner).and_then(|(a, b)| a.checked_mul(b));
            some(both, element)
        }
        Builtin::Transpose => {
            let (inner, element) = element(0).elements();
            some(inner, some(length(0), element))
        }
        Builtin::Reverse | Builtin::Sort | Builtin::SortDesc => args[0].shape(),
        Builtin::Rotate | Builtin::SortBy => args[1].shape(),
        Builtin::Take => {
            let kept = length(1).zip(integer(0)).map(|(length, count)| length.min(count));
            some(kept, element(1))
        }
        Builtin::Drop => {
            let kept = length(1).zip(integer(0)).map(|(length, n)| length.saturating_sub(n));
            some(kept, element(1))
        }
        Builtin::Init | Builtin::Tail => {
            some(length(0).and_then(|length| length.checked_sub(1)), element(0))
        }
        Builtin::Gather => some(length(1), element(0)),
        Builtin::Concat => some(sum(length(0), length(1)), element(0).join(&element(1))),
        Builtin::Merge => some(sum(length(0), length(1)), Known::Nothing),
        Builtin::Interleave => {
            let length = length(0).or(length(1));
            some(sum(length, length), element(0).join(&element(1)))
        }
        Builtin::Zip | Builtin::Zip3 => {
            let length = (0..args.len()).find_map(length);
            some(length, Known::tuple((0..args.len()).map(element).collect()))
        }
        Builtin::Unzip | Builtin::Unzip3 => {
            let count = if code.builtin == Builtin::Unzip { 2 } else { 3 };
            let part = |at| some(length(0), element(0).component(at));
            Known::tuple((0..count).map(part).collect())
        }
        Builtin::Update(axes) => {
            args[0].with_element(usize::from(axes), &args[usize::from(axes) + 1])
        }
        Builtin::Places(_) => some(length(0), element(0)),
        Builtin::Replace(axes, kept) => {
            let value = (0..kept).fold(args[2].clone(), |known, _| known.elements().1);
            args[0].with_element(usize::from(axes), &value)
        }
        Builtin::Segments => some(length(0), some(None, element(1))),
        Builtin::Chunks => {
            let count = match (length(1), integer(0)) {
                (Some(length), Some(k)) if k > 0 => Some(length.div_ceil(k)),
                _ => None,
            };
            some(count, some(None, element(1)))
        }
        Builtin::Windows | Builtin::WindowsBy => {
            let last = args.len() - 1;
            let step = if last == 2 { integer(1) } else { Some(1) };
            let count = match (length(last), integer(0), step) {
                (Some(length), Some(k), Some(step)) if k > 0 && step > 0 => {
                    Some(length.checked_sub(k).map_or(0, |starts| starts / step + 1))
                }
                _ => None,
            };
            some(count, some(integer(0).filter(|k| *k > 0), element(last)))
        }
        Builtin::GroupBy => {
            let group = vec![element(0), some(None, element(1))];
            some(None, Known::tuple(group))
        }
        Builtin::Split => Known::tuple(vec![some(None, element(1)), some(None, element(1))]),
        Builtin::Partition => Known::tuple(vec![some(None, element(1)), some(None, element(1))]),
        Builtin::Filter => some(None, element(1)),
        Builtin::Pack => some(None, element(0)),
        Builtin::Unique => some(None, Known::Nothing),
        Builtin::Scatter => some(length(0), element(0).join(&element(2))),
        Builtin::ScatterWith => some(length(1), element(1).join(&element(3))),
        Builtin::Permute => some(length(1), element(1).join(&element(3))),
        Builtin::Convolve => args[2].shape(),
        Builtin::Matmul => some(length(0), some(element(1).elements().0, Known::Nothing)),
        _ => Known::Nothing,
    }
}

fn param(code: &BuiltinCode, index: usize) -> Option<&Type> {
    code.params[index].as_ref()
}

fn integer_or_nothing(value: Option<usize>) -> Known {
    match value {
        Some(value) => Known::Val(Val::I64(value as i64)),
        None => Known::Nothing,
    }
}

fn sum(a: Option<usize>, b: Option<usize>) -> Option<usize> {
    a.zip(b).and_then(|(a, b)| a.checked_add(b))
}

/// An array of these extents.
fn shaped(extents: &[Option<usize>], element: Known) -> Known {
    extents.iter().rev().fold(element, |element, extent| Known::array(*extent, element))
}

/// The extents of the `rank` outermost axes.
fn lengths(array: &Known, rank: usize) -> Vec<Option<usize>> {
    (0..rank).map(|axis| array.under(axis).elements().0).collect()
}

/// The extents that the first argument, an `i64` or a tuple of them, asks for.
fn extents(code: &BuiltinCode, shape: &Known) -> Vec<Option<usize>> {
    let mut extents = Vec::new();
    if let Some(ty) = param(code, 0) {
        collect_extents(shape, ty, &mut extents);
    }
    // Whether they can be the extents of an array is a question about all of them.
    match extents.iter().all(Option::is_some) {
        true => extents,
        false => vec![None; extents.len()],
    }
}

fn collect_extents(shape: &Known, ty: &Type, extents: &mut Vec<Option<usize>>) {
    match ty {
        Type::Tuple(types) => {
            for (at, ty) in types.iter().enumerate() {
                collect_extents(&shape.component(at), ty, extents);
            }
        }
        Type::Scalar(_) | Type::Record(_) | Type::Array(_) => {
            extents.push(shape.integer().and_then(|extent| usize::try_from(extent).ok()));
        }
    }
}
