//! Lambdas of more or fewer parameters than the function that is given them has arguments for.

use weft_ir::Name;

use super::call::parameters;
use super::number::is_of_the_start;
use crate::ast::{ApplyForm, Expr, ExprKind, Pattern, PatternKind};
use crate::check::Checker;
use crate::diagnostic::Diagnostic;

/// The reports that such a lambda comes to: what it yields is a function or no function.
const CODES: [&str; 6] = ["E0301", "E0302", "E0303", "E0304", "E0312", "E0313"];

/// What there is to say about an application around a report.
pub(super) fn advice(checker: &mut Checker<'_>, expr: &Expr, found: &Diagnostic) -> Option<String> {
    let ExprKind::Apply { function, args, form } = &expr.kind else { return None };
    let ExprKind::Name(name) = &function.kind else { return None };
    if *form == ApplyForm::Operator || !CODES.contains(&found.code) {
        return None;
    }
    // A key is taken for a comparison, of which there is more to say.
    if name.ends_with("By") || !checker.is_builtin(name) && !is_of_the_start(checker, name) {
        return None;
    }
    let types = parameters(checker, name)?;
    let mut lambdas = types.iter().zip(args).filter_map(|(ty, arg)| match &arg.kind {
        ExprKind::Lambda { params, body } => {
            Some((checker.table.shallow(ty).arity(), &params[..], arg.span, body.span))
        }
        _ => None,
    });
    let (gives, params, span, body) = lambdas.next()?;
    let place = found.span();
    // One of more parameters yields functions, which may be found in the result.
    let is_it = match params.len() {
        takes if takes > gives => gives > 0 && (span.contains(place) || place == expr.span),
        takes => takes < gives && place == body,
    };
    is_it.then(|| help(name, gives, params, args.len()))
}

fn help(name: &Name, gives: usize, params: &[Pattern], args: usize) -> String {
    let names = names(params);
    let tuple = names.join(", ");
    match (&**name, params.len()) {
        ("generate", 2 | 3) => {
            let axes = if params.len() == 2 { "(h, w)" } else { "(d, h, w)" };
            return format!(
                "an index of several axes is a tuple: `generate {axes} (\\({tuple}) -> …)`"
            );
        }
        ("map", 2) if args == 2 => {
            return format!(
                "`map` gives its function one argument: of two arrays it is `zipWith (\\{} -> …) xs ys`, of pairs \
                 `map (\\({tuple}) -> …) ps`",
                names.join(" ")
            );
        }
        ("zipWith", 3) => {
            return format!(
                "`zipWith` gives its function two arguments; of three arrays it is `{{ … : {} in xs ; {} in ys ; {} in zs }}`",
                names[0], names[1], names[2]
            );
        }
        _ => {}
    }
    let count = match gives {
        1 => "one argument".to_owned(),
        2 => "two arguments".to_owned(),
        more => format!("{more} arguments"),
    };
    let example = match (gives, params.len()) {
        (1, _) => format!("the parts of a tuple are `\\({tuple}) -> …`"),
        (2, 1) => "`\\a b -> …`".to_owned(),
        (2, _) => format!("`\\{} {} -> …`", names[0], names[1]),
        _ => format!("this one takes {}", params.len()),
    };
    format!("`{name}` gives its function {count}: {example}")
}

/// The names of parameters, or letters.
fn names(params: &[Pattern]) -> Vec<String> {
    let letters = ('a'..='z').map(String::from);
    let of = |(param, letter): (&Pattern, String)| match &param.kind {
        PatternKind::Name(name) => name.to_string(),
        _ => letter,
    };
    params.iter().zip(letters).map(of).collect()
}
