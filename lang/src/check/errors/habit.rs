//! Ways out of what newcomers write by habit: folds with a state of another type, fields in
//! another order, names of types elsewhere, `with` behind a lambda.

use weft_ir::{Name, ScalarOp, ScalarType, Span};

use crate::ast;
use crate::builtins::Builtin;
use crate::check::Checker;
use crate::check::rank::Site;
use crate::diagnostic::Diagnostic;
use crate::suggest;
use crate::typed::{Expr, ExprKind};
use crate::types::Type;

impl Checker<'_> {
    /// Adds to a report about the array of a fold or scan how to go from left to right, if its
    /// elements are no values that the operator could yield.
    pub(super) fn with_sequential(
        &self,
        diagnostic: Diagnostic,
        site: &Site,
        index: usize,
    ) -> Diagnostic {
        let help = match &*site.function {
            "fold" => {
                "`fold op z xs` takes an associative operator on values of one type, as it \
                 combines in any order; from left to right goes `loop s = z for x in xs do op s x`"
            }
            "scan" | "scanl" | "scanr" => {
                "a scan takes an associative operator on values of one type, as it combines in any \
                 order; from left to right goes `states op z xs`"
            }
            _ => return diagnostic,
        };
        let name: Name = (&*site.function).into();
        let is_builtin =
            !self.scope.contains_key(&name) && self.environment.lookup(&name).is_none();
        let ([state, array], 1, true) = (&site.args[..], index, is_builtin) else {
            return diagnostic;
        };
        let (state_rank, state_head) = self.table.peel(&state.ty);
        let (array_rank, array_head) = self.table.peel(&array.ty);
        if array_rank == 0 {
            return diagnostic;
        }
        // Two numbers: a conversion is missing, and nothing else.
        let is_number = |head: &Type| match head {
            Type::Scalar(scalar) => scalar.is_int() || scalar.is_float(),
            Type::Var(_) => true,
            _ => false,
        };
        if state_rank + 1 == array_rank && is_number(&state_head) && is_number(&array_head) {
            return diagnostic;
        }
        diagnostic.help(help)
    }

    /// What to say of two records that differ in the order of their fields only.
    pub(super) fn other_order(&self, found: &Type, wanted: &Type) -> Option<String> {
        /// Fields that are named.
        const MOST: usize = 6;
        let (Type::Record(found), Type::Record(wanted)) = (found, wanted) else { return None };
        let has = |name: &Name| found.iter().any(|(other, _)| other == name);
        let is_permuted = found.len() == wanted.len() && wanted.iter().all(|(name, _)| has(name));
        let is_same = found.iter().zip(wanted.iter()).all(|((a, _), (b, _))| a == b);
        if !is_permuted || is_same {
            return None;
        }
        let fields: Vec<String> =
            wanted.iter().take(MOST).map(|(name, _)| format!("{name} = …")).collect();
        let more = if wanted.len() > MOST { ", …" } else { "" };
        Some(format!(
            "the order of the fields is part of a record's type: write `{{{}{more}}}`",
            fields.join(", ")
        ))
    }

    /// What to say of a record that has the wanted fields and others, under so many axes.
    pub(super) fn more_fields(&self, found: &Type, wanted: &Type, rank: usize) -> Option<String> {
        /// Fields that are named.
        const MOST: usize = 6;
        let (Type::Record(found), Type::Record(wanted)) = (found, wanted) else { return None };
        let has = |name: &Name| found.iter().any(|(other, _)| other == name);
        if found.len() <= wanted.len() || !wanted.iter().all(|(name, _)| has(name)) {
            return None;
        }
        let fields: Vec<String> =
            wanted.iter().take(MOST).map(|(name, _)| format!("{name} = r.{name}")).collect();
        let more = if wanted.len() > MOST { ", …" } else { "" };
        let record = format!("{{{}{more}}}", fields.join(", "));
        Some(match rank {
            0 => format!(
                "a record has exactly the fields of its type; of `r`, which has more, write `{record}`"
            ),
            _ => format!(
                "a record has exactly the fields of its type; of `rs`, which have more, write \
                 `{{ {record} : r in rs }}`"
            ),
        })
    }

    /// What to say where a table lacks a column that is named as those of a table without a header.
    pub(super) fn numbered_column(&self, field: &Name, record: &Type) -> Option<&'static str> {
        let number = field.strip_prefix('c')?;
        let Type::Record(columns) = record else { return None };
        let is_numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let is_table = columns.iter().all(|(_, ty)| self.table.peel(ty).0 > 0);
        (is_numbered && is_table).then_some(
            "the first line of a file names the columns, unless it is a row of numbers; a list of texts is \
             read whole by `loadLines`",
        )
    }

    /// What to write for a comparison of two arrays where one bool is needed.
    pub(super) fn array_comparison(&self, condition: &Expr) -> Option<&'static str> {
        let ExprKind::Apply { function, args, .. } = &condition.kind else { return None };
        let ExprKind::Builtin(Builtin::Op(operator), _) = &function.kind else { return None };
        // Of a parameter nothing may be known yet, but that it is held against an array.
        let is_array = |expr: &Expr| {
            let (rank, head) = self.table.peel(&expr.ty);
            rank > 0 || matches!((&expr.kind, head), (ExprKind::Local(..), Type::Var(_)))
        };
        let are_arrays = args.iter().all(|arg| is_array(&arg.expr));
        match operator {
            ScalarOp::Eq if are_arrays => Some(
                "`==` compares element by element; `same a b` says whether two arrays have the same elements",
            ),
            ScalarOp::Ne if are_arrays => Some(
                "`!=` compares element by element; `!(same a b)` says whether two arrays differ",
            ),
            _ => None,
        }
    }

    /// `(\d c -> d with [c] = v)`: the parentheses are those of the lambda and its `with`.
    pub(in crate::check) fn with_behind_lambda(&mut self, params: &[ast::Pattern], span: Span) {
        let names = params.iter().map(|param| match &param.kind {
            ast::PatternKind::Name(name) => Some(&**name),
            _ => None,
        });
        let names: Option<Vec<&str>> = names.collect();
        let (params, array) = match names.as_deref() {
            Some(names @ [first, ..]) => (names.join(" "), *first),
            _ => ("xs".to_owned(), "xs"),
        };
        self.report(
            Diagnostic::error(
                "E0301",
                "`with` needs an array, but this is a function",
                span,
                "`with` is applied to the whole lambda",
            )
            .help(format!(
                "parentheses around the update make it the body: `\\{params} -> ({array} with \
                 [i] = v)`"
            )),
        );
    }
}

/// The type that a name of other languages stands for.
pub(in crate::check) fn foreign_type(name: &str) -> Option<&'static str> {
    Some(match name {
        "int" | "Int" | "integer" | "long" | "Integer" => {
            "integers are `i64`, or `i8` to `i32` and `u8` to `u64`"
        }
        "uint" | "unsigned" => "integers without a sign are `u64`, or `u8` to `u32`",
        "float" | "Float" | "double" | "Double" | "real" | "number" => "floats are `f64` or `f32`",
        "boolean" | "Bool" | "Boolean" => "truth values are `bool`",
        "string" | "String" | "str" | "text" => "a text is a `[]char`",
        "byte" => "bytes are `u8`",
        _ => return None,
    })
}

/// What to write for a function of numbers that is given something else.
pub(super) fn of_flags(function: &str, found: &Type) -> Option<&'static str> {
    match (function, found) {
        ("sum", Type::Scalar(ScalarType::Bool)) => {
            Some("`count flags` says how many are true: `count (xs > 2)`")
        }
        ("mean", Type::Scalar(ScalarType::Bool)) => {
            Some("the share that is true is `f64 (count flags) / f64 (length flags)`")
        }
        ("+" | "-" | "*" | "/", Type::Scalar(ScalarType::Bool)) => {
            Some("as a number a truth value is 1 or 0: `f64 …` or `i64 …`")
        }
        _ => None,
    }
}

/// What to write for arithmetic on complex numbers, which are pairs.
pub(super) fn of_complex(function: &str, found: &Type) -> Option<String> {
    let is_pair = matches!(found, Type::Tuple(parts)
        if parts[..] == [Type::Scalar(ScalarType::F64), Type::Scalar(ScalarType::F64)]);
    let help = match function {
        "abs" => "the magnitudes of complex numbers, which are pairs, are `hypot z.0 z.1`",
        "*" => {
            "complex numbers, which are pairs, are multiplied by \
             `\\(a, b) (c, d) -> (a * c - b * d, a * d + b * c)`; by a real number is `(k * z.0, k * z.1)`"
        }
        _ => return None,
    };
    is_pair.then(|| help.to_owned())
}

/// What to write for a method that tables have in other libraries.
pub(super) fn table_method(name: &str) -> Option<&'static str> {
    Some(match name {
        "head" => "the first rows of a table `t` are `take 5 (rows t)`",
        "tail" => {
            "the last rows of a table `t` are `drop (length t.x - 5) (rows t)`, where x is one of its columns"
        }
        "groupby" | "groupBy" | "group_by" | "value_counts" => {
            "a column goes by another one with `groupBy keys values`; texts as keys are `(codes t.name).0`"
        }
        "shape" | "size" => {
            "`length t.x` are the rows of a table, where x is one of its columns; `:type t` shows all"
        }
        "columns" | "dtypes" | "info" | "keys" => "`:type t` shows the columns of a table `t`",
        "loc" | "iloc" | "query" | "filter" | "dropna" => {
            "the rows for which something holds are `{ r : r in rows t | r.x > 0.0 }`"
        }
        "sort_values" | "sort" | "sort_index" => {
            "rows in the order of a column: `(rows t)[argsort t.x]`"
        }
        "to_csv" | "to_numpy" | "to_excel" | "to_json" | "save" => {
            "a table is written by `:save t \"file.csv\"`"
        }
        "assign" | "insert" | "apply" => {
            "a table with one more column, or another of that name, is `{..t, y = 2.0 * t.x}`"
        }
        "drop" | "rename" => {
            "a table with other columns is written out: `{x = t.x, z = t.y}`; `:search drop a column` has more"
        }
        "merge" | "join" | "pivot" | "pivot_table" | "melt" => {
            "`:search join` shows how tables are joined"
        }
        "plot" => "columns are drawn by `linePlot t.x t.y`",
        _ => return suggest::foreign_word(name),
    })
}

/// What to write for a method of another language, of a value of so many axes.
pub(super) fn method(
    checker: &Checker<'_>,
    name: &str,
    rank: usize,
    head: &Type,
) -> Option<String> {
    if matches!(head, Type::Record(_) | Type::Var(_)) || rank == 0 && matches!(head, Type::Tuple(_))
    {
        return None;
    }
    let is_text = rank > 0 && *head == Type::Scalar(ScalarType::Char);
    let of_text = match name {
        "split" => "write `splitOn ',' text`, or `words text`",
        "find" | "index" => "`contains part text` says whether a part stands in a text",
        "startswith" | "startsWith" | "starts_with" => "write `startsWith part text`",
        "endswith" | "endsWith" | "ends_with" => "write `endsWith part text`",
        "strip" | "trim" => "write `trim text`",
        "join" => "write `join \", \" texts`",
        "replace" => "write `replace \"old\" \"new\" text`",
        "format" => {
            "texts are joined with `++`, numbers are written by `showInt n` and `showFixed 2 x`"
        }
        _ => "",
    };
    if is_text && !of_text.is_empty() {
        return Some(of_text.to_owned());
    }
    let of_any = match name {
        "astype" => "conversions are named after the type: `f64 xs`, `i64 xs`",
        "dtype" => "`:type xs` shows the type",
        "ndim" => "`:type xs` shows the type, which has a `[]` for each axis",
        "values" | "to_numpy" | "tolist" | "copy" => {
            "it is an array as it is, which nothing changes"
        }
        "describe" => {
            "an array is shown with its extremes and its mean; `quantile [0.25, 0.5, 0.75] xs` are the quartiles"
        }
        _ => "",
    };
    if !of_any.is_empty() {
        return Some(of_any.to_owned());
    }
    // What has this very name is a function; other words have other names here.
    match checker.is_function_name(name) {
        true => None,
        false => suggest::foreign_word(name).map(str::to_owned),
    }
}

/// A form of the language where a function is needed: its type follows from its argument alone.
pub(super) fn no_value(form: &str, span: Span) -> Diagnostic {
    let (argument, one, many) = match form {
        "rows" => ("a record of columns", "rows t", "{ rows t : t in tables }"),
        _ => ("an array of records", "columns rs", "{ columns rs : rs in groups }"),
    };
    let message = format!("`{form}` is no function by itself");
    Diagnostic::error("E0201", message, span, format!("it stands before {argument}"))
        .help(format!("write `{one}`, and for each of several `{many}`"))
}

/// What to write for a comparison of two texts where one bool is needed.
pub(super) fn text_comparison(condition: &Expr) -> Option<String> {
    let ExprKind::Apply { function, args, .. } = &condition.kind else { return None };
    let ExprKind::Builtin(Builtin::Op(operator), _) = &function.kind else { return None };
    let text = args.iter().find_map(|arg| match &arg.expr.kind {
        ExprKind::Text(text) => Some(text),
        _ => None,
    })?;
    let whole = match operator {
        ScalarOp::Eq => "`same a b` says whether two texts are equal",
        ScalarOp::Ne => "`!(same a b)` says whether two texts differ",
        _ => return None,
    };
    let sign = if *operator == ScalarOp::Eq { "==" } else { "!=" };
    Some(match text[..] {
        [letter] if !matches!(letter, b'\'' | b'\\' | b'\n' | b'\t') => {
            format!("one letter stands in single quotes, `'{}'`; {whole}", char::from(letter))
        }
        _ => format!("`{sign}` compares letter by letter; {whole}"),
    })
}
