//! `:search`: by words, or by type.

mod shape;

use std::cmp::Reverse;

use weft_lang::{Diagnostic, Global, builtins, suggest};

use super::documentation::{type_of_name, wrap};
use super::{COMMANDS, Call, unquoted};
use crate::plan::{Planner, Step};
use crate::prelude;
use crate::recipes::{self, Recipe};
use crate::state::State;
use crate::topics;

/// Lines that `:search` shows.
const MOST_FOUND: usize = 30;
/// What it shows of what has only some of the words.
const MOST_OF_SOME_WORDS: usize = 6;
/// Recipes that it shows.
const MOST_RECIPES: usize = 3;

/// `:search words`, `:search "type"`.
pub(super) fn search(planner: &mut Planner<'_>, call: &Call) -> Result<(), Box<Diagnostic>> {
    let query = unquoted(call.needed("`:search` takes words, or a type in quotes")?).trim();
    let is_type = query.contains("->") || query.contains('[') || query.starts_with("seq ");
    let mut found = match is_type {
        true => by_type(&planner.state, query),
        false => by_words(&planner.state, query),
    };
    let hidden = found.len().saturating_sub(MOST_FOUND);
    found.truncate(MOST_FOUND);
    if !is_type {
        found.splice(0..0, advice(query));
        found.extend(recipes_for(recipes::found(&recipes::words(query))));
    }
    if found.is_empty() && !is_type {
        found = by_any_word(&planner.state, query);
    }
    let mut text = match found.is_empty() {
        true => format!("nothing found for `{query}`"),
        false => found.join("\n"),
    };
    if hidden > 0 {
        text.push_str(&format!("\n… and {hidden} more"));
    }
    planner.steps.push(Step::Text(text));
    Ok(())
}

/// What a word of another language is called here.
fn advice(query: &str) -> Option<String> {
    let help = suggest::foreign_word(query).or_else(|| suggest::foreign_operator(query))?;
    (!help.contains(":search")).then(|| format!("`{query}` of other languages: {help}"))
}

/// The recipes that a query is about, with the program of the first.
fn recipes_for(recipes: Vec<Recipe>) -> Vec<String> {
    let found = recipes.into_iter().take(MOST_RECIPES).enumerate();
    let text = found.map(|(position, recipe)| {
        let mut text = format!("recipe “{}”", recipe.title);
        let indented =
            |text: &str| text.lines().map(|line| format!("\n    {line}")).collect::<String>();
        text.push_str(&indented(&wrap(recipe.doc, 74)));
        if position == 0 {
            text.push_str(&indented(recipe.program));
        }
        text
    });
    text.collect()
}

fn line(name: &str, ty: &str, doc: &str) -> String {
    let doc = doc.split(". ").next().unwrap_or_default().trim_end_matches('.');
    let doc: String = wrap(doc, 74).lines().map(|line| format!("\n    {line}")).collect();
    match name.starts_with(':') {
        true => format!("{name} {ty}{doc}"),
        false => format!("{name} : {ty}{doc}"),
    }
}

/// Definitions and builtins in which each of the words occurs, or that the words may mean; those of
/// that name first.
fn by_words(state: &State, query: &str) -> Vec<String> {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let meant = topics::meant(query);
    let mut found: Vec<(usize, String)> = Vec::new();
    for (name, ty, doc, subject) in everything(state) {
        let (lower, text) = (name.to_lowercase(), format!("{doc} {subject}").to_lowercase());
        if let Some(position) = meant.iter().position(|other| *other == name) {
            found.push((position + 1, line(&name, &ty, &doc)));
        } else if words.iter().all(|word| lower.contains(word) || text.contains(word)) {
            let rank = match () {
                () if words.contains(&lower) => 0,
                () if lower.starts_with(':') => meant.len() + 3,
                () if words.iter().any(|word| lower.contains(word)) => meant.len() + 1,
                () => meant.len() + 2,
            };
            found.push((rank, line(&name, &ty, &doc)));
        }
    }
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, line)| line).collect()
}

/// Where nothing has all of several words: what has most of them, the best first.
fn by_any_word(state: &State, query: &str) -> Vec<String> {
    let words = recipes::words(query);
    if words.len() < 2 {
        return Vec::new();
    }
    let mut found: Vec<(usize, String)> = Vec::new();
    for (name, ty, doc, subject) in everything(state) {
        let (lower, text) = (name.to_lowercase(), format!("{doc} {subject}").to_lowercase());
        let of_word = |word: &String| {
            let is_meant = topics::meant(word).contains(&&*name);
            match () {
                () if lower == *word || is_meant => 4,
                () if word.len() > 2 && lower.contains(word.as_str()) => 3,
                () if recipes::has_word(&text, word) => 2,
                () => 0,
            }
        };
        let score: usize = words.iter().map(of_word).sum();
        if score > 2 {
            found.push((score, line(&name, &ty, &doc)));
        }
    }
    found.sort_by_key(|(score, _)| Reverse(*score));
    let mut lines: Vec<String> =
        found.into_iter().take(MOST_OF_SOME_WORDS).map(|(_, line)| line).collect();
    lines.extend(recipes_for(recipes::found_by_any(&words)));
    if !lines.is_empty() {
        lines.insert(0, "nothing has all of these words; some of them have:".to_owned());
    }
    lines
}

/// Definitions and builtins of a type, whatever their variables are called: first those of exactly
/// that type, then those that can be used at it, then those in whose type it occurs.
fn by_type(state: &State, query: &str) -> Vec<String> {
    let wanted = canonical(query);
    let asked = shape::parse(query);
    let mut found: Vec<(u8, String)> = Vec::new();
    let of_sequences = of_sequences(state).map(|(name, ty, doc)| (name, ty, doc, String::new()));
    for (name, ty, doc, _) in everything(state).into_iter().chain(of_sequences) {
        let plain = ty.split_once("=>").map_or(&*ty, |(_, plain)| plain);
        let rank = if canonical(plain) == wanted {
            0
        } else if asked.as_ref().is_some_and(|asked| shape::admits(&ty, asked)) {
            1
        } else if occurs(&wanted, plain) {
            2
        } else {
            continue;
        };
        found.push((rank, line(&name, &ty, &doc)));
    }
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, line)| line).collect()
}

/// Every name with its type, documentation and subject; commands with what they take.
fn everything(state: &State) -> Vec<(String, String, String, String)> {
    let own = state.environment.names().filter_map(|(name, _)| {
        let ty = type_of_name(state, name)?;
        let is_numbered = name.starts_with('_') || &**name == "it";
        let doc = prelude::entry(&state.environment, name).map_or("", |entry| &entry.doc);
        (!is_numbered).then(|| (name.to_string(), ty, doc.to_owned(), String::new()))
    });
    let builtins = builtins::all().map(|entry| {
        (
            entry.name.to_owned(),
            entry.signature.to_owned(),
            entry.doc.to_owned(),
            entry.subject.to_owned(),
        )
    });
    let forms = topics::TOPICS.iter().map(|topic| {
        (topic.names[0].to_owned(), topic.heading.to_owned(), topic.doc.to_owned(), String::new())
    });
    let commands = COMMANDS.iter().map(|command| {
        let name = format!(":{}", command.name);
        (name, command.arguments.to_owned(), command.doc.to_owned(), String::new())
    });
    own.chain(builtins).chain(forms).chain(commands).collect()
}

/// The operations on arrays that take sequences too, with their types then.
fn of_sequences(state: &State) -> impl Iterator<Item = (String, String, String)> {
    let environment = &state.environment;
    builtins::all().filter_map(move |entry| {
        let name = weft_lang::sequence_counterpart(entry.builtin)?;
        let Some(Global::Function(function)) = environment.global(environment.helper(name)?) else {
            return None;
        };
        let doc = format!("The same of sequences. {}", entry.doc);
        Some((entry.name.to_owned(), function.scheme.to_string(), doc))
    })
}

/// The tokens of a type, with variables numbered in order of appearance.
fn canonical(ty: &str) -> Vec<String> {
    let mut variables: Vec<String> = Vec::new();
    type_tokens(ty)
        .into_iter()
        .map(|token| {
            let is_variable = token.len() == 1 && token.starts_with(|c: char| c.is_lowercase());
            if !is_variable {
                return token;
            }
            let position =
                variables.iter().position(|known| *known == token).unwrap_or_else(|| {
                    variables.push(token.clone());
                    variables.len() - 1
                });
            format!("?{position}")
        })
        .collect()
}

/// Whether a run of tokens of `ty`, taken by itself, is the wanted type.
fn occurs(wanted: &[String], ty: &str) -> bool {
    let tokens = type_tokens(ty);
    if tokens.len() < wanted.len() {
        return false;
    }
    tokens.windows(wanted.len()).any(|window| canonical(&window.join(" ")) == wanted)
}

fn type_tokens(ty: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut characters = ty.chars().peekable();
    while let Some(c) = characters.next() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            tokens.push(std::mem::take(&mut word));
        }
        if c == '-' && characters.peek() == Some(&'>') {
            characters.next();
            tokens.push("->".to_owned());
        } else if !c.is_whitespace() {
            tokens.push(c.to_string());
        }
    }
    if !word.is_empty() {
        tokens.push(word);
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::{canonical, occurs};

    #[test]
    fn types_are_compared_without_the_names_of_variables() {
        assert_eq!(canonical("[]b -> (b -> c)"), canonical("[]a->(a->b)"));
        assert_ne!(canonical("a -> a"), canonical("a -> b"));
        assert!(occurs(&canonical("[]x -> i64"), "(a -> bool) -> []a -> i64"));
        assert!(!occurs(&canonical("[]x -> f64"), "(a -> bool) -> []a -> i64"));
    }
}
