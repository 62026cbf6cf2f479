//! The recipes of the manual, for `:search`: what is written in a few lines and has no name of its own.

/// The page; its sections are the recipes.
const PAGE: &str = include_str!("../../docs/manual/recipes.md");

/// Other words for what a recipe does; a recipe is called by the beginning of its title.
const WORDS: &[(&str, &str)] = &[
    ("A table as rows", "filter rows where select query condition dataframe"),
    ("Add a column", "new column append insert drop remove assign"),
    ("One column by another", "mask filter condition boolean"),
    ("Equal texts", "compare strings equality"),
    ("Texts to numbers", "parse convert float int"),
    ("Numbers to texts", "format print string pad"),
    ("Group by text", "groupby aggregate value counts"),
    ("A value of the group", "transform groupby broadcast per group zscore demean within"),
    ("Group by two keys", "pivot crosstab table"),
    ("Join two tables", "merge lookup left inner"),
    ("Every pair", "cross join cartesian product combinations meshgrid"),
    ("Count distinct", "value counts frequency unique"),
    ("Drop duplicates", "deduplicate dedupe dedup distinct unique first occurrence keep order"),
    ("A column for each", "one hot onehot encoding get_dummies dummies categorical indicator"),
    ("A bar chart", "barplot bar plot histogram categories counts"),
    ("Mean, spread", "describe summary statistics sample variance missing values nan dropna"),
    ("A line through points", "linear regression least squares fit slope intercept polyfit"),
    ("Least squares of several", "multiple regression polynomial polyfit lstsq fit multivariate"),
    ("Random order", "train test split sample shuffle"),
    ("Random numbers of other", "normal gaussian randn exponential weighted choice distribution"),
    ("Moving average", "rolling window cumulative moving sum mean"),
    ("Fill gaps", "missing values nan fillna ffill interpolate"),
    ("Smooth a series", "exponential moving average ewm"),
    ("Frequencies of", "fft rfft fourier transform spectrum filter low pass high pass frequency"),
    ("Spectrogram", "stft short time fourier transform hann window"),
    (
        "Keep all states",
        "scan scanl accumulate carry mapAccumL lax state machine recurrence left right",
    ),
    ("Runs of equal", "run length encoding rle consecutive"),
    (
        "Lines, words",
        "split text tokenize whitespace strip separator delimiter character comma csv",
    ),
    ("Search in texts", "find contains substring grep"),
    ("Dates as days", "date time calendar weekday compare dates datetime"),
];

/// A section of the page.
pub(crate) struct Recipe {
    /// Its title.
    pub(crate) title: &'static str,
    /// The first sentence of its prose.
    pub(crate) doc: &'static str,
    /// Its first program.
    pub(crate) program: &'static str,
}

/// The words of a query that say something, in small letters.
pub(crate) fn words(query: &str) -> Vec<String> {
    const IDLE: [&str; 16] = [
        "a", "an", "the", "of", "to", "in", "by", "how", "with", "into", "do", "i", "from", "for",
        "and", "on",
    ];
    let parts = query.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    let all = parts.map(str::to_lowercase);
    all.filter(|word| !IDLE.contains(&&**word)).collect()
}

/// The recipes in which each of the words occurs; those with a word in the title first.
pub(crate) fn found(words: &[String]) -> Vec<Recipe> {
    recipes(words, words.len())
}

/// The recipes whose title, or what it is called elsewhere, has any of the words.
pub(crate) fn found_by_any(words: &[String]) -> Vec<Recipe> {
    recipes(words, 1)
}

/// The recipes that have so many of the words, one of them in the title or what it is called elsewhere.
fn recipes(words: &[String], least: usize) -> Vec<Recipe> {
    if words.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<(usize, Recipe)> = Vec::new();
    for section in PAGE.split("\n## ").skip(1) {
        let (title, body) = section.split_once('\n').unwrap_or((section, ""));
        let more = WORDS.iter().find(|(start, _)| title.starts_with(start));
        let more = more.map_or("", |(_, words)| words);
        let names = format!("{title} {more}").to_lowercase();
        let named = words.iter().filter(|word| has_word(&names, word)).count();
        let prose = body.split("```").step_by(2).collect::<String>().to_lowercase();
        let has = |word: &&String| has_word(&names, word) || has_word(&prose, word);
        if words.iter().filter(has).count() < least || named == 0 {
            continue;
        }
        let program = body.split("```weft\n").nth(1).and_then(|rest| rest.split("```").next());
        let doc = body.split("```").next().unwrap_or("").trim();
        let doc = doc.split("\n\n").next().unwrap_or("");
        let doc = doc.split_once(". ").map_or(doc, |(first, _)| first).trim_end_matches('.');
        let recipe = Recipe { title, doc, program: program.unwrap_or("").trim_end() };
        let own = title.to_lowercase();
        let in_title = words.iter().filter(|word| has_word(&own, word)).count();
        found.push((2 * words.len() - named - in_title, recipe));
    }
    found.sort_by_key(|(missing, _)| *missing);
    found.into_iter().map(|(_, recipe)| recipe).collect()
}

/// Whether a word of a text begins with a word, be that one of several things or not.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    let stem = if word.len() > 3 { word.trim_end_matches('s') } else { word };
    text.split(|c: char| !c.is_alphanumeric()).any(|other| match stem.len() {
        0..=3 => other == word || other.strip_suffix('s') == Some(word),
        _ => other.starts_with(stem),
    })
}

#[cfg(test)]
mod tests {
    use super::{PAGE, WORDS, found, words};

    fn titles(query: &str) -> Vec<&'static str> {
        found(&words(query)).into_iter().map(|recipe| recipe.title).collect()
    }

    #[test]
    fn recipes_are_found_by_what_they_do() {
        let check = |query: &str, title: &str| {
            let found = titles(query);
            assert!(
                found.first().is_some_and(|first| first.starts_with(title)),
                "{query}: {found:?}"
            );
        };
        check("split text", "Split at a text");
        check("words", "Lines, words");
        check("missing values", "Fill gaps");
        check("date", "Dates as days");
        check("normal", "Random numbers of other distributions");
        check("weighted choice", "Random numbers of other distributions");
        check("linear regression", "A line through points");
        check("multiple regression", "Least squares of several");
        check("add a column", "Add a column");
        check("group by two keys", "Group by two keys");
        check("one hot", "A column for each name");
        check("one-hot encoding", "A column for each name");
        check("get_dummies", "A column for each name");
        check("cross join", "Every pair");
        check("cartesian product", "Every pair");
        check("groupby transform", "A value of the group");
        check("drop duplicates", "Drop duplicates");
        check("dedupe", "Drop duplicates");
        check("moving sum", "Moving average");
        check("rolling sum", "Moving average");
        check("bar chart", "A bar chart");
        assert!(titles("quaternion").is_empty() && titles("of the").is_empty());
    }

    #[test]
    fn every_recipe_with_other_words_is_there() {
        for (start, _) in WORDS {
            assert!(PAGE.contains(&format!("\n## {start}")), "{start}");
        }
        for section in PAGE.split("\n## ").skip(1) {
            assert!(section.contains("```weft\n"), "{section}");
        }
    }
}
