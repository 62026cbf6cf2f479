//! "Did you mean": the known name nearest to an unknown one, and words of other languages.

use weft_ir::ScalarType;

/// The candidate that a user who typed `name` most probably meant, if one is near enough: about
/// one mistake in three letters. Of equally near ones the first wins.
///
/// ```
/// let known = ["map", "filter", "fold", "transpose"];
/// assert_eq!(weft_lang::suggest::closest("tranpose", known), Some("transpose"));
/// assert_eq!(weft_lang::suggest::closest("flod", known), Some("fold"));
/// assert_eq!(weft_lang::suggest::closest("x", known), None);
/// ```
pub fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted: Vec<char> = name.chars().collect();
    let most = match wanted.len() {
        0 | 1 => return None,
        2..=5 => 1,
        6..=8 => 2,
        _ => 3,
    };
    candidates
        .into_iter()
        .filter(|candidate| *candidate != name)
        .filter_map(|candidate| {
            let letters: Vec<char> = candidate.chars().collect();
            // So a name of a million letters costs nothing.
            if letters.len().abs_diff(wanted.len()) > most {
                return None;
            }
            let is_other_case = candidate.to_lowercase() == name.to_lowercase();
            let far = if is_other_case { 0 } else { distance(&wanted, &letters) };
            // Of two or three letters, another one makes another word: `is` is not `i8`.
            if far > 0
                && wanted.len() < 4
                && letters.len() == wanted.len()
                && !is_swapped(&wanted, &letters)
            {
                return None;
            }
            (far <= most && far < letters.len().max(2)).then_some((far, candidate))
        })
        .min_by_key(|(far, _)| *far)
        .map(|(_, candidate)| candidate)
}

/// What to write instead of a word that other languages put between two operands.
pub fn foreign_operator(word: &str) -> Option<&'static str> {
    Some(match word {
        "and" => "write `a && b`",
        "or" => "write `a || b`",
        "mod" => "write `a % b`",
        "div" => "write `a // b`",
        "is" => "write `a == b`",
        _ => return None,
    })
}

/// Whether a word is a type, here or in other languages.
pub(crate) fn is_type(word: &str) -> bool {
    const FOREIGN: [&str; 26] = [
        "int", "Int", "integer", "Integer", "long", "short", "uint", "unsigned", "signed",
        "size_t", "usize", "isize", "float", "Float", "double", "Double", "real", "boolean",
        "Bool", "Boolean", "string", "String", "str", "byte", "void", "number",
    ];
    FOREIGN.contains(&word) || ScalarType::from_name(word).is_some()
}

/// What to write instead of a word that other languages use, for words that are unknown here.
pub fn foreign_word(word: &str) -> Option<&'static str> {
    Some(match word {
        "and" => "`and` of two conditions is `&&`; of an array it is `all`",
        "or" => "`or` of two conditions is `||`; of an array it is `any`",
        "xor" => "on integers it is `.^.`, on bools `!=`",
        "lambda" | "fn" | "fun" | "func" | "function" => {
            "a function is `\\x -> e`, with a name `def f x = e`"
        }
        "input" | "getLine" | "readline" => {
            "nothing is asked for while a program runs: `loadLines \"file.txt\"` reads a file"
        }
        "end" => "nothing ends an item but a line that is not indented",
        "return" | "yield" => "the value of a function is its body: no `return` is needed",
        "where" => "local names come first: `let x = … in …`; a choice by element is `select`",
        "mod" | "modulo" => "the remainder is `%`, truncating `rem`",
        "div" => "integer division is `//`, truncating `quot`",
        "len" | "count_elements" => "write `length xs`",
        "arange" => "write `iota n`, or `range start stop step`",
        "True" | "TRUE" => "write `true`",
        "False" | "FALSE" => "write `false`",
        "None" | "null" | "nil" | "undefined" => "there is no null; an empty array is `[]`",
        "NaN" | "NAN" => "write `nan`",
        "Inf" | "Infinity" | "infinity" => "write `inf`",
        "reduce" | "foldl" | "foldr" => "write `fold op z xs`; op is associative",
        "var" => "write `variance xs`",
        "stddev" | "sd" | "stdev" => "write `std xs`",
        "percentile" | "quantiles" => "write `quantile 0.9 xs`",
        "avg" | "average" => "write `mean xs`",
        "hist" => "`histogramPlot xs` draws one; `histogram bins indices` counts",
        "bar" | "barPlot" | "barplot" => {
            "`histogramPlot xs` and `histogramBins n xs` draw bars; `plot ys` a line"
        }
        "scatterplot" => "write `scatterPlot xs ys`",
        "cumprod" => "write `scan (*) 1 xs`",
        "cummax" => "write `scanl1 max xs`",
        "cummin" => "write `scanl1 min xs`",
        "topk" | "topK" | "nlargest" => "write `take k (sortDesc xs)`",
        "concatenate" | "hstack" => "write `xs ++ ys`; `flatten` joins the rows of an array",
        "vstack" | "stack" => "rows stand in brackets: `[xs, ys]`; more rows: `m ++ [xs]`",
        "distinct" | "nub" | "uniq" => "write `unique xs`; of texts `codes`",
        "groupby" => "write `groupBy keys values`; texts as keys are `codes` first",
        "bincount" => "write `histogram bins xs`",
        "strcmp" | "equals" => "write `same a b`",
        "cumsum" => "write `scan (+) 0 xs`",
        "zeros" => "write `fill shape 0.0`",
        "ones" => "write `fill shape 1.0`",
        "full" => "write `fill shape value`",
        "print" | "println" | "printf" | "echo" => {
            "a bare expression is shown: no `print` is needed"
        }
        "np" | "numpy" | "jnp" | "pd" | "pandas" | "scipy" | "plt" | "math" => {
            "no module stands before a function: `sum xs`, `sqrt x`, `plot ys`"
        }
        "read_csv" | "readCsv" | "readcsv" | "read_table" => "write `loadCsv \"file.csv\"`",
        "isnull" | "isna" | "isnan" | "isNaN" => {
            "`isNan x` says whether a float is nan; there is no null"
        }
        "notnull" | "notna" => "`!(isNan x)` says whether a float is a number; there is no null",
        "fillna" | "nan_to_num" => "`select (isNan xs) 0.0 xs` puts 0.0 in place of each nan",
        "dropna" => "`{ x in xs | !(isNan x) }` leaves each nan out",
        "list" | "array" | "asarray" | "vector" => "an array is written `[a, b, c]`",
        "tuple" => "a tuple is written `(a, b)`",
        "dict" => "a record is written `{x = 1, y = 2}`",
        "quit" | "exit" | "bye" => "`:quit` ends the session",
        "save" | "savetxt" | "to_csv" => "a file is written by `:save xs \"file.npy\"`",
        "is" => "equality is `==`",
        "eye" => "write `identity n`",
        "isin" | "elem" | "member" | "includes" => {
            "`any (xs == x)` says whether x is in xs; of texts `any (same xs x)`"
        }
        "rolling" => "`windows n xs` are all runs of n elements: `mean (windows 3 xs)`",
        "value_counts" => {
            "`{ (v, length g) : (v, g) in groupBy xs xs }` counts each value; texts have numbers by `codes`"
        }
        "repeat" => {
            "`replicate n x` is n times x; of each element `flatten { replicate n x : x in xs }`"
        }
        "concatMap" | "flatMap" | "flatmap" | "mapcat" => "write `flatten { f x : x in xs }`",
        "map2" | "zipWith3" | "map3" => {
            "write `zipWith f xs ys`, or `{ f x y : x in xs ; y in ys }`"
        }
        "maximumBy" | "maxBy" | "minimumBy" | "minBy" | "sortOn" | "sortBy" => {
            "by a key: `xs[argmax { key x : x in xs }]`, and in order `xs[argsort { key x : x in xs }]`"
        }
        "splitlines" | "readlines" => "the lines of a text are `lines text`",
        "strsplit" | "splitText" | "tokenize" => "write `words text`, or `splitOn ',' text`",
        "takeWhile" | "takewhile" => {
            "up to the first that fails: `{ x : x in xs ; go in scan (&&) true { p x : x in xs } | go }`"
        }
        "dropWhile" | "dropwhile" => {
            "from the first that fails: `{ x : x in xs ; go in scan (&&) true { p x : x in xs } | !go }`"
        }
        "tile" => "write `flatten (replicate n xs)`",
        "ravel" => "write `flatten m`",
        "nonzero" | "argwhere" | "flatnonzero" | "findall" | "findIndices" | "elemIndices" => {
            "the positions where a condition holds are `positions (xs != 0)`"
        }
        "shift" | "roll" => "`rotate k xs` moves the elements k places to the left, around the end",
        "rand" | "runif" => "`random seed n` are n numbers from 0 to 1",
        "randint" => "write `randomInt seed low high n`",
        "normal" | "randn" | "rnorm" | "gauss" => {
            "`sqrt (-2.0 * log (1.0 - random 1 n)) * cos (2.0 * pi * random 2 n)` are n normal numbers"
        }
        "replaceAll" | "gsub" | "substitute" => {
            "write `replace \"old\" \"new\" text`; letters and numbers: `select (xs == old) new xs`"
        }
        "strip" => "write `trim text`",
        "intercalate" => "write `join \", \" texts`",
        "isPrefixOf" | "hasPrefix" => "write `startsWith \"part\" text`",
        "isSuffixOf" | "hasSuffix" => "write `endsWith \"part\" text`",
        "inv" => "write `inverse m`, or `solve a b` for one system of equations",
        "linsolve" => "write `solve a b`",
        "lstsq" | "polyfit" | "ols" => {
            "least squares: `solve (matmul (transpose a) a) (dot (transpose a) b)`"
        }
        "rle" => "write `runs xs`",
        "ln" => "the natural logarithm is `log x`",
        "e" => "Euler's number is `exp 1.0`",
        "upper" | "uppercase" => "write `toUpper text`",
        "lower" | "lowercase" => "write `toLower text`",
        "elif" | "elsif" | "elseif" => "write `else if`",
        "case" | "match" | "switch" => "a choice is `if c then a else b`",
        "for" | "foreach" | "forEach" => "for each element: `{ e : x in xs }`",
        "enumerate" => "the positions are `indices xs`; with the elements goes `mapWithIndex f xs`",
        "head" => "write `first xs`",
        "append" | "cat" | "extend" | "push" => {
            "write `xs ++ ys`; one element joins as an array: `xs ++ [x]`"
        }
        "pow" => "write `x ** y`",
        "float" | "double" => "the types are `f32` and `f64`",
        "int" | "long" => "the types are `i8` to `i64` and `u8` to `u64`",
        "string" | "String" => "a text is a `[]char`",
        "parse" | "read" | "atoi" | "atof" | "strtod" | "parseNumber" | "parseDouble" => {
            "write `parseFloat text`, or `parseInt 0 text` with what stands for no integer"
        }
        "show" | "str" | "toString" | "format" | "toFixed" | "string_of_int" | "itoa" => {
            "write `showInt n`, or `showFixed 2 x` with two digits after the point"
        }
        _ => return None,
    })
}

/// Whether two words have the same letters in another order.
fn is_swapped(one: &[char], other: &[char]) -> bool {
    let sorted = |letters: &[char]| {
        let mut letters = letters.to_vec();
        letters.sort_unstable();
        letters
    };
    sorted(one) == sorted(other)
}

/// The least number of letters to insert, drop, replace, or swap with their neighbour (optimal
/// string alignment).
fn distance(from: &[char], to: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (row, &letter) in from.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, &other) in to.iter().enumerate() {
            let replace = last[column] + usize::from(letter != other);
            let mut least = replace.min(last[column + 1] + 1).min(current[column] + 1);
            let is_swap =
                row > 0 && column > 0 && letter == to[column - 1] && from[row - 1] == other;
            if is_swap {
                least = least.min(before_last[column - 1] + 1);
            }
            current.push(least);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::{closest, distance, foreign_word};

    #[test]
    fn distances() {
        let letters = |text: &str| text.chars().collect::<Vec<_>>();
        for (from, to, expect) in
            [("", "ab", 2), ("abc", "abc", 0), ("abc", "acb", 1), ("kitten", "sitting", 3)]
        {
            assert_eq!(distance(&letters(from), &letters(to)), expect, "{from} {to}");
        }
    }

    #[test]
    fn finds_what_was_meant() {
        let known = ["sum", "sqrt", "scanl", "scanl'", "length", "größe"];
        assert_eq!(closest("lenght", known), Some("length"));
        assert_eq!(closest("SUM", known), Some("sum"));
        assert_eq!(closest("grösse", known), Some("größe"));
        assert_eq!(closest("frobnicate", known), None);
        assert_eq!(closest("scanl", known), Some("scanl'"));
        assert_eq!(closest("", known), None);
    }

    #[test]
    fn short_words_with_another_letter_are_other_words() {
        assert_eq!(closest("is", ["i8"]), None);
        assert_eq!(closest("foo", ["for"]), None);
        assert_eq!(closest("mxa", ["max"]), Some("max"));
        assert_eq!(closest("su", ["sum"]), Some("sum"));
    }

    #[test]
    fn knows_other_languages() {
        assert!(foreign_word("lambda").is_some_and(|help| help.contains("\\x")));
        assert_eq!(foreign_word("velocity"), None);
    }
}
