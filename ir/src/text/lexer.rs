//! The lexer: words, numbers, strings and symbols, with their places.

use crate::text::TextError;
use crate::{Scalar, ScalarType};

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// A name or keyword: letters, digits and `_`, not beginning with a digit.
    Word(String),
    /// A constant with its type: `1i64`, `-2.5f32`, `inff64`, `true`, `'c'`.
    Scalar(Scalar),
    /// An integer without a type: `3`.
    Number(u64),
    /// Text in double quotes.
    Text(String),
    /// `->`, `..` or a single character.
    Symbol(&'static str),
}

/// What the lexer takes for symbols; the longest first.
const SYMBOLS: [&str; 25] = [
    "->", "..", "(", ")", "[", "]", "{", "}", "<", ">", ",", ":", ";", "=", "\\", "+", "-", "*",
    "/", "|", "~", "@", "?", ".", "!",
];

/// A token and where it begins and ends.
#[derive(Clone, Debug)]
struct Placed {
    token: Token,
    line: usize,
    column: usize,
}

/// Reads a text token by token. A parser asks [`Reader::at_line_end`] where a list ends.
#[derive(Debug)]
pub struct Reader {
    tokens: Vec<Placed>,
    position: usize,
    /// Where the text ends.
    end: (usize, usize),
}

impl Reader {
    /// A reader at the beginning of `text`.
    ///
    /// # Errors
    /// The first place that is no token.
    pub fn new(text: &str) -> Result<Reader, TextError> {
        let mut lexer = Lexer { rest: text, line: 1, column: 1 };
        let mut tokens = Vec::new();
        loop {
            lexer.skip_blanks();
            let (line, column) = (lexer.line, lexer.column);
            match lexer.token()? {
                Some(token) => tokens.push(Placed { token, line, column }),
                None => return Ok(Reader { tokens, position: 0, end: (line, column) }),
            }
        }
    }

    /// The next token, which stays.
    pub fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.position).map(|placed| &placed.token)
    }

    /// Takes the next token.
    pub(crate) fn next_token(&mut self) -> Option<Token> {
        let placed = self.tokens.get(self.position)?;
        self.position += 1;
        Some(placed.token.clone())
    }

    /// Whether all tokens are taken.
    pub fn at_end(&self) -> bool {
        self.position == self.tokens.len()
    }

    /// Whether the next token, if there is one, stands on another line than the one taken last.
    pub(crate) fn at_line_end(&self) -> bool {
        match (self.position.checked_sub(1), self.tokens.get(self.position)) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(last), Some(next)) => self.tokens[last].line != next.line,
        }
    }

    /// Whether the next token is that word.
    pub(crate) fn at_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(next)) if next == word)
    }

    /// Whether the next token is that symbol.
    pub(crate) fn at_symbol(&self, symbol: &str) -> bool {
        matches!(self.peek(), Some(Token::Symbol(next)) if *next == symbol)
    }

    /// Whether the next token is a letter with a number, as [`Reader::numbered`] takes it.
    pub(crate) fn at_numbered(&self, letter: char) -> bool {
        matches!(self.peek(), Some(Token::Word(word)) if number_after(word, letter).is_some())
    }

    /// Takes the word, if it is next on any line.
    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        self.position += usize::from(found);
        found
    }

    /// Takes the symbol, if it is next on any line.
    pub(crate) fn take_symbol(&mut self, symbol: &str) -> bool {
        let found = self.at_symbol(symbol);
        self.position += usize::from(found);
        found
    }

    /// Takes that word.
    ///
    /// # Errors
    /// Something else is next.
    pub(crate) fn expect_word(&mut self, word: &str) -> Result<(), TextError> {
        if self.take_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    /// Takes that symbol.
    ///
    /// # Errors
    /// Something else is next.
    pub(crate) fn expect_symbol(&mut self, symbol: &str) -> Result<(), TextError> {
        if self.take_symbol(symbol) { Ok(()) } else { Err(self.expected(&format!("`{symbol}`"))) }
    }

    /// Takes any word; `what` says in the message what it would have been.
    ///
    /// # Errors
    /// Something else is next.
    pub fn word(&mut self, what: &str) -> Result<String, TextError> {
        match self.peek() {
            Some(Token::Word(word)) => {
                let word = word.clone();
                self.position += 1;
                Ok(word)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Takes a number without a type.
    ///
    /// # Errors
    /// Something else is next.
    pub fn number(&mut self, what: &str) -> Result<u64, TextError> {
        match self.peek() {
            Some(&Token::Number(number)) => {
                self.position += 1;
                Ok(number)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Takes a letter with a number: `x7` for the letter `x` yields 7.
    ///
    /// # Errors
    /// Something else is next.
    pub fn numbered(&mut self, letter: char) -> Result<u32, TextError> {
        let number = match self.peek() {
            Some(Token::Word(word)) => number_after(word, letter),
            _ => None,
        };
        match number {
            Some(number) => {
                self.position += 1;
                Ok(number)
            }
            None => Err(self.expected(&format!("`{letter}` with a number"))),
        }
    }

    /// Takes a constant with its type.
    ///
    /// # Errors
    /// Something else is next.
    pub fn scalar(&mut self) -> Result<Scalar, TextError> {
        match self.peek() {
            Some(&Token::Scalar(scalar)) => {
                self.position += 1;
                Ok(scalar)
            }
            _ => Err(self.expected("a constant with its type")),
        }
    }

    /// Takes the name of a scalar type.
    ///
    /// # Errors
    /// Something else is next.
    pub fn scalar_type(&mut self) -> Result<ScalarType, TextError> {
        let found = match self.peek() {
            Some(Token::Word(word)) => ScalarType::from_name(word),
            _ => None,
        };
        match found {
            Some(ty) => {
                self.position += 1;
                Ok(ty)
            }
            None => Err(self.expected("a scalar type")),
        }
    }

    /// An error at the next token.
    pub fn error(&self, message: impl Into<String>) -> TextError {
        let (line, column) = match self.tokens.get(self.position) {
            Some(placed) => (placed.line, placed.column),
            None => self.end,
        };
        TextError { line, column, message: message.into() }
    }

    /// The error that something else is next.
    pub fn expected(&self, what: &str) -> TextError {
        self.error(match self.peek() {
            None => format!("expected {what}, but the text ends"),
            Some(Token::Word(word)) => format!("expected {what}, not `{word}`"),
            Some(Token::Scalar(scalar)) => format!("expected {what}, not `{scalar}`"),
            Some(Token::Number(number)) => format!("expected {what}, not `{number}`"),
            Some(Token::Text(text)) => format!("expected {what}, not {text:?}"),
            Some(Token::Symbol(symbol)) => format!("expected {what}, not `{symbol}`"),
        })
    }
}

fn number_after(word: &str, letter: char) -> Option<u32> {
    let digits = word.strip_prefix(letter)?;
    let plain = digits == "0" || !digits.starts_with('0');
    if plain && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        digits.parse().ok()
    } else {
        None
    }
}

/// What is left of a text.
struct Lexer<'a> {
    rest: &'a str,
    line: usize,
    column: usize,
}

impl<'a> Lexer<'a> {
    fn skip_blanks(&mut self) {
        loop {
            let blanks = self.rest.len() - self.rest.trim_start().len();
            self.advance(blanks);
            if !self.rest.starts_with("--") {
                return;
            }
            self.advance(self.rest.find('\n').unwrap_or(self.rest.len()));
        }
    }

    /// Takes that many bytes.
    fn advance(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        for char in taken.chars() {
            if char == '\n' {
                (self.line, self.column) = (self.line + 1, 1);
            } else {
                self.column += 1;
            }
        }
        self.rest = rest;
        taken
    }

    fn error(&self, message: String) -> TextError {
        TextError { line: self.line, column: self.column, message }
    }

    fn token(&mut self) -> Result<Option<Token>, TextError> {
        let Some(first) = self.rest.chars().next() else { return Ok(None) };
        if first == '"' {
            return self.quoted().map(Some);
        }
        if first == '\'' {
            let length = character_length(self.rest);
            return self.scalar_token(length).map(Some);
        }
        let unsigned = self.rest.strip_prefix('-').unwrap_or(self.rest);
        if unsigned.starts_with(|char: char| char.is_ascii_digit()) {
            let length = self.rest.len() - unsigned.len() + number_length(unsigned);
            if let Ok(number) = self.rest[..length].parse() {
                self.advance(length);
                return Ok(Some(Token::Number(number)));
            }
            return self.scalar_token(length).map(Some);
        }
        let length = word_length(unsigned);
        let length_signed = self.rest.len() - unsigned.len() + length;
        if length > 0 && Scalar::from_text(&self.rest[..length_signed]).is_some() {
            return self.scalar_token(length_signed).map(Some);
        }
        if length > 0 && unsigned.len() == self.rest.len() {
            return Ok(Some(Token::Word(self.advance(length).to_owned())));
        }
        match SYMBOLS.into_iter().find(|symbol| self.rest.starts_with(symbol)) {
            Some(symbol) => {
                self.advance(symbol.len());
                Ok(Some(Token::Symbol(symbol)))
            }
            None => Err(self.error(format!("no token begins with {first:?}"))),
        }
    }

    fn scalar_token(&mut self, length: usize) -> Result<Token, TextError> {
        let text = &self.rest[..length];
        match Scalar::from_text(text) {
            Some(scalar) => {
                self.advance(length);
                Ok(Token::Scalar(scalar))
            }
            None => Err(self.error(format!("`{text}` is no constant of a scalar type"))),
        }
    }

    /// Text in double quotes, with `\"`, `\\` and `\n`.
    fn quoted(&mut self) -> Result<Token, TextError> {
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((index, char)) = chars.next() {
            match char {
                '"' => {
                    self.advance(index + 1);
                    return Ok(Token::Text(text));
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, other)) => text.push(other),
                    None => break,
                },
                other => text.push(other),
            }
        }
        Err(self.error("the text has no closing `\"`".to_owned()))
    }
}

fn word_length(text: &str) -> usize {
    let in_word = |char: char| char.is_ascii_alphanumeric() || char == '_';
    match text.chars().next() {
        Some(first) if in_word(first) && !first.is_ascii_digit() => {
            text.find(|char| !in_word(char)).unwrap_or(text.len())
        }
        _ => 0,
    }
}

/// The length of `12`, `1.5f32`, `1e-7f64`, …: digits, a fraction, an exponent, a suffix.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') && is_digit(end + 1) {
        end = digits(end + 1);
    }
    if bytes.get(end) == Some(&b'e') {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
        if is_digit(end + 1 + sign) {
            end = digits(end + 1 + sign);
        }
    }
    while bytes.get(end).is_some_and(|&byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        end += 1;
    }
    end
}

/// The length of `'c'` or `'\x0a'`; of what looks most like it, if there is none.
fn character_length(text: &str) -> usize {
    let inner = text[1..].chars().next().map_or(0, char::len_utf8);
    match text[1 + inner..].find('\'') {
        Some(end) => 1 + inner + end + 1,
        None => text.find('\n').unwrap_or(text.len()),
    }
}
