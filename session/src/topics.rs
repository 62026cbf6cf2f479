//! What has documentation without being a builtin function or a definition: forms of the language,
//! the functions that read files, constants; and the words under which people look for operations that
//! are called something else here.

/// Something to look up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Topic {
    /// Its name, and other words of the same form.
    pub(crate) names: &'static [&'static str],
    /// How it is written, or its type.
    pub(crate) heading: &'static str,
    /// What it means.
    pub(crate) doc: &'static str,
    /// Something to try.
    pub(crate) example: &'static str,
    /// What that gives; empty where it depends on a file.
    pub(crate) result: &'static str,
}

/// The topic of that name.
pub(crate) fn topic(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.names.contains(&name))
}

/// Operations that words of other languages and fields stand for.
pub(crate) fn meant(query: &str) -> &'static [&'static str] {
    let query = query.to_lowercase();
    SYNONYMS.iter().find(|(words, _)| words.contains(&&*query)).map_or(&[], |(_, names)| names)
}

pub(crate) const TOPICS: &[Topic] = &[
    Topic {
        names: &["rows"],
        heading: "rows : {x: []a, y: []b, …} -> []{x: a, y: b, …}",
        doc: "A record of columns, such as a loaded table, as an array of records; also a tuple \
              of arrays as an array of tuples. Columns of different lengths are an error.",
        example: "rows {x = [1, 2], y = \"ab\"}",
        result: "[{x = 1, y = 'a'}, {x = 2, y = 'b'}]",
    },
    Topic {
        names: &["columns"],
        heading: "columns : []{x: a, y: b, …} -> {x: []a, y: []b, …}",
        doc: "An array of records as a record of columns: what `rows` does, the other way round.",
        example: "columns [{x = 1, y = 'a'}, {x = 2, y = 'b'}]",
        result: "{x = [1, 2], y = \"ab\"}",
    },
    Topic {
        names: &["load"],
        heading: "load \"a.npy\", load \"a.npz\" \"name\"",
        doc: "The array of a NumPy file, or a member of a NumPy archive. A file is read at the \
              top level of a cell; the type of the value follows from the file.",
        example: "xs = load \"xs.npy\"",
        result: "",
    },
    Topic {
        names: &["loadCsv"],
        heading: "loadCsv \"a.csv\" : {column: []t, …}",
        doc: "A table, separated by commas, semicolons, tabs, bars or spaces, as a record of columns; the first \
              line names them. Numbers are []i64 or []f64 (NaN where a cell is empty), the rest is \
              text. `rows` makes records of the columns.",
        example: "w = loadCsv \"weather.csv\"",
        result: "",
    },
    Topic {
        names: &["loadMtx"],
        heading: "loadMtx \"a.mtx\" : {rows: i64, cols: i64, rowIndex: []i64, colIndex: []i64, \
                  values: []f64}",
        doc: "A sparse matrix in the Matrix Market format, by coordinates; `csr` makes rows of it.",
        example: "m = loadMtx \"a.mtx\"",
        result: "",
    },
    Topic {
        names: &["loadImage"],
        heading: "loadImage \"a.png\" : [][]u8, or [][](u8, u8, u8)",
        doc: "A picture (PNG, JPEG, PGM, PPM) as a matrix of grey values or of colours.",
        example: "m = loadImage \"a.png\"",
        result: "",
    },
    Topic {
        names: &["loadWav"],
        heading: "loadWav \"a.wav\" : {rate: i64, samples: []t}",
        doc: "A sound. Several channels are an array of tuples.",
        example: "sound = loadWav \"a.wav\"",
        result: "",
    },
    Topic {
        names: &["loadText"],
        heading: "loadText \"a.txt\" : []char",
        doc: "A file as one text.",
        example: "t = loadText \"a.txt\"",
        result: "",
    },
    Topic {
        names: &["loadLines"],
        heading: "loadLines \"a.txt\" : [][]char",
        doc: "The lines of a file, each a text.",
        example: "ls = loadLines \"a.txt\"",
        result: "",
    },
    Topic {
        names: &["streamNpy"],
        heading: "streamNpy \"a.npy\" : seq t",
        doc: "The elements of an array in a file, or its rows, read as they are needed.",
        example: "s = streamNpy \"a.npy\"",
        result: "",
    },
    Topic {
        names: &["streamLines"],
        heading: "streamLines \"a.txt\" : seq []char",
        doc: "The lines of a file, read as they are needed.",
        example: "s = streamLines \"a.txt\"",
        result: "",
    },
    Topic {
        names: &["streamWav"],
        heading: "streamWav window hop \"a.wav\" : seq []f32",
        doc: "Windows over the samples of a sound, of that length and that far from each other, read as \
              they are needed. Several channels are rows of a matrix.",
        example: "s = streamWav 1024 512 \"a.wav\"",
        result: "",
    },
    Topic {
        names: &["loadBytes"],
        heading: "loadBytes \"a\" : []u8",
        doc: "The bytes of a file.",
        example: "bytes = loadBytes \"a\"",
        result: "",
    },
    Topic {
        names: &["pi"],
        heading: "pi : Float a => a",
        doc: "The ratio of a circle's circumference to its diameter, as a literal of either \
              float type.",
        example: "f32 (2.0 * pi)",
        result: "6.2831855",
    },
    Topic {
        names: &["inf", "nan"],
        heading: "inf, nan : Float a => a",
        doc: "Infinity, and what is no number; `isInf` and `isNan` ask for them. A nan equals \
              nothing, so `x == x` is false of it.",
        example: "[inf, -inf, nan] == [inf, inf, nan]",
        result: "[true, false, false]",
    },
    Topic {
        names: &["let", "in"],
        heading: "let p = e in body",
        doc: "Names a value, or takes it apart, for the body. Several bindings are separated by \
              `;` or stand one a line, aligned. `let f x = e in body` is a local function.",
        example: "let (a, b) = (3, 4) ; c = a * b in c + 1",
        result: "13",
    },
    Topic {
        names: &["if", "then", "else"],
        heading: "if condition then a else b",
        doc: "One of two values, by one bool. It always has an `else`. For arrays, `select` \
              chooses element by element.",
        example: "if 1 < 2 then \"yes\" else \"no\"",
        result: "\"yes\"",
    },
    Topic {
        names: &["loop", "for", "while", "do"],
        heading: "loop p = e for i < n do body, loop p = e for x in xs do body, loop p = e while \
                  condition do body",
        doc: "Repeats from left to right: p is e at first and then the value of the body each \
              time; the last p is the value. What a fold cannot do, as its operator is no \
              associative one, a loop does.",
        example: "loop s = 0 for x in [1, 2, 3] do 10 * s + x",
        result: "123",
    },
    Topic {
        names: &["def", "where"],
        heading: "def f x y = e",
        doc: "Defines a function, visible from the next item on; it may call itself. There is no \
              `where`: local names come first, in a `let`.",
        example: "def square x = x * x\nsquare 4",
        result: "16",
    },
    Topic {
        names: &["type"],
        heading: "type name = t",
        doc: "A name for a type.",
        example: "type point = {x: f64, y: f64}",
        result: "",
    },
    Topic {
        names: &["import"],
        heading: "import \"file.weft\"",
        doc: "Runs the items of a file; the path is relative to the importing one.",
        example: "import \"lib/stats.weft\"",
        result: "",
    },
    Topic {
        names: &["with"],
        heading: "(xs with [i] = v), {r with x = v}",
        doc: "A copy with one element or some fields replaced. `scatter` replaces many elements.",
        example: "([1, 2, 3] with [1] = 9)",
        result: "[1, 9, 3]",
    },
    Topic {
        names: &["by"],
        heading: "a..b, a..b by s",
        doc: "The integers from a up to, and without, b, in steps of s.",
        example: "0..10 by 3",
        result: "[0, 3, 6, 9]",
    },
    Topic {
        names: &["true", "false"],
        heading: "true, false : bool",
        doc: "The truth values. `&&`, `||`, `!`; of an array `all`, `any`, `count`.",
        example: "count ([1, 2, 3] > 1)",
        result: "2",
    },
];

/// Words, and the operations that they may mean, the best first.
const SYNONYMS: &[(&[&str], &[&str])] = &[
    (
        &["join", "inner join", "left join", "lookup"],
        &["codes", "searchSorted", "scatter", "groupBy"],
    ),
    (&["table", "dataframe", "data frame", "csv"], &["loadCsv", "rows", "columns"]),
    (
        &["median", "percentile", "percentiles", "quantile", "quantiles"],
        &["median", "quantile", "sort"],
    ),
    (
        &["std", "stddev", "standard deviation", "variance", "var", "spread"],
        &["std", "variance", "mean"],
    ),
    (&["average", "avg"], &["mean", "median"]),
    (
        &["moving average", "rolling", "rolling mean", "sliding window"],
        &["windows", "windowsBy", "mean", "stencil"],
    ),
    (
        &["cumulative", "cumulative sum", "cumsum", "running sum", "prefix sum", "cumprod"],
        &["scan", "exscan", "scanl", "scanl1"],
    ),
    (
        &["top-k", "top k", "topk", "largest", "nlargest"],
        &["sortDesc", "take", "argsort", "argmax"],
    ),
    (&["convolution", "convolve", "kernel"], &["convolve", "stencil"]),
    (
        &["group by", "groupby", "group", "aggregate"],
        &["groupBy", "codes", "scatterWith", "foldSeg"],
    ),
    (
        &["count", "frequency", "value counts", "bincount"],
        &["count", "histogram", "groupBy", "codes", "length"],
    ),
    (&["distinct", "uniq", "nub", "deduplicate"], &["unique", "codes"]),
    (&["argmax", "argmin"], &["argmax", "argmin"]),
    (&["concatenate", "append", "hstack", "cat"], &["++", "concat", "flatten", "interleave"]),
    (&["stack", "vstack"], &["chunks", "reshape", "transpose", "++"]),
    (&["difference", "differences", "derivative"], &["diff"]),
    (&["text equality", "string", "strings", "strcmp"], &["same", "codes", "loadLines"]),
    (&["reduce", "foldl", "foldr", "accumulate", "aggregate"], &["fold", "fold1", "sum", "loop"]),
    (&["where", "choose", "mask"], &["select", "filter", "pack", "indexWhere"]),
    (&["zeros", "ones", "full"], &["replicate", "fill"]),
    (&["arange", "linspace", "sequence"], &["iota", "range", "linspace"]),
    (&["map", "apply", "vmap", "foreach"], &["map", "mapWithIndex", "zipWith"]),
    (
        &["plot", "chart", "graph", "draw"],
        &["plot", "linePlot", "scatterPlot", "histogramPlot", "heatMap"],
    ),
    (
        &["read", "file", "open", "import data"],
        &[
            "loadCsv",
            "load",
            "loadText",
            "loadLines",
            "loadImage",
            "loadMtx",
            "loadWav",
            "loadBytes",
            "streamLines",
            "streamNpy",
        ],
    ),
    (
        &["stream", "generator", "lazy", "iterator", "larger than memory", "out of core"],
        &["stream", "produce", "foldSeq", "streamNpy", "streamLines"],
    ),
    (&["reverse", "flip"], &["reverse"]),
    (&["shuffle", "permutation", "permute"], &["shuffle", "permute", "argsort", "random"]),
    (
        &["train test split", "split data", "sample", "sampling"],
        &["shuffle", "random", "randomInt", "take", "drop"],
    ),
    (&["normal distribution", "gaussian", "gaussian noise"], &["randomNormal", "std", "mean"]),
    (&["correlation", "corr", "corrcoef", "pearson"], &["correlation", "covariance"]),
    (&["covariance", "cov"], &["covariance", "variance", "correlation"]),
    (&["lower case", "lowercase", "upper case", "uppercase"], &["toLower", "toUpper"]),
    (&["substring", "find text", "search text"], &["contains", "same", "indexWhere"]),
    (&["pad", "shift", "roll"], &["rotate", "take", "drop"]),
    (&["dot product", "inner product", "matrix product", "matmul"], &["dot", "matmul", "outer"]),
    (&["matrix multiply", "matrix multiplication"], &["matmul", "dot"]),
    (&["outer product"], &["outer"]),
    (&["read csv", "load csv"], &["loadCsv"]),
    (&["write csv", "write file", "save csv", "write", "export"], &[":save"]),
    (&["save plot", "save figure", "save picture"], &[":save", "plot", "image"]),
    (&["for loop", "while loop"], &["loop"]),
    (&["integer division", "floor division", "modulo", "remainder"], &["//", "%", "quot", "rem"]),
    (&["type conversion", "convert", "cast", "casting"], &["f64", "i64", "char", "parseFloat"]),
    (&["absolute value", "magnitude"], &["abs"]),
    (&["split string", "split strings"], &["splitOn", "words", "lines"]),
    (&["join strings", "join texts", "concatenate strings"], &["join", "++", "flatten"]),
    (&["sort strings", "sort texts", "sort words"], &["codes", "argsort"]),
    (
        &["word count", "count words", "most common", "most frequent"],
        &["codes", "groupBy", "words", "argmax"],
    ),
    (&["remove duplicates", "drop duplicates"], &["unique", "codes"]),
    (&["percent change", "percentage change"], &["diff", "init"]),
    (&["correlation matrix"], &["correlation", "outer"]),
    (&["running maximum", "running max", "cumulative maximum"], &["scanl1", "max"]),
    (&["moving maximum", "moving max", "rolling maximum", "rolling max"], &["windows", "maximum"]),
    (&["bar chart", "bar plot"], &["histogramPlot", "histogramBins"]),
    (&["random choice", "random sample", "random element"], &["shuffle", "randomInt", "take"]),
];

#[cfg(test)]
mod tests {
    use super::{SYNONYMS, TOPICS, meant, topic};
    use crate::commands::{is_documented, named};
    use crate::{Cancel, Cell, Collected, Config, Event, Session};

    #[test]
    fn every_topic_is_found_and_its_example_gives_its_result() {
        for topic_ in TOPICS {
            assert!(topic_.doc.ends_with('.'), "{}", topic_.heading);
            assert!(topic_.names.iter().all(|name| topic(name).is_some()));
            if topic_.result.is_empty() {
                continue;
            }
            let shown = |text: &str| {
                let mut session = Session::new(&Config { memory: 64 << 20, io: false });
                let mut sink = Collected::default();
                session.eval(Cell::typed(text), &mut sink, &Cancel::new());
                let shown = sink.events.into_iter().filter_map(|event| match event {
                    Event::Shown(shown) => shown.text(200, false, &Cancel::new()),
                    _ => None,
                });
                shown.collect::<Vec<_>>()
            };
            let found = shown(topic_.example);
            assert_eq!(found.len(), 1, "{}", topic_.example);
            assert_eq!(found, shown(topic_.result), "{}", topic_.example);
        }
    }

    #[test]
    fn what_words_mean_is_documented() {
        for (words, names) in SYNONYMS {
            let is_known = |name: &&str| match name.strip_prefix(':') {
                Some(command) => named(command).is_some(),
                None => is_documented(name),
            };
            assert!(names.iter().all(is_known), "{names:?}");
            assert!(words.iter().all(|word| !meant(word).is_empty()), "{words:?}");
        }
    }
}
