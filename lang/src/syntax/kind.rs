//! The kinds of tokens, sets of them, and what a message calls them.

/// What a token is. The grammar sees nothing else of it; its text stays in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// An identifier.
    Name,
    /// `seq`, `window1`, `window2`, `window3`: names with a meaning in types only.
    TypeWord,
    /// `_`.
    Wildcard,
    /// A number, `nan`, `inf` and `pi` included.
    Number,
    /// A whole array literal of plain numbers.
    Numbers,
    /// `'c'`.
    Char,
    /// `"text"`.
    Text,
    /// Something unreadable, reported already; it stands for any expression.
    Invalid,
    /// `.name` or `.0`, the dot included.
    Field,
    /// `def`.
    Def,
    /// `type`.
    Type,
    /// `import`.
    Import,
    /// `let`.
    Let,
    /// `in`.
    In,
    /// `if`.
    If,
    /// `then`.
    Then,
    /// `else`.
    Else,
    /// `loop`.
    Loop,
    /// `for`.
    For,
    /// `while`.
    While,
    /// `do`.
    Do,
    /// `with`.
    With,
    /// `by`.
    By,
    /// `true`.
    True,
    /// `false`.
    False,
    /// `(`.
    OpenParen,
    /// `)`.
    CloseParen,
    /// `[` of an array literal or of a type.
    OpenBracket,
    /// `[` directly after an operand.
    OpenIndex,
    /// `]`.
    CloseBracket,
    /// `{` of a record, a record pattern or a record type.
    OpenBrace,
    /// `{` of `{r with x = 3}`.
    OpenUpdate,
    /// `{` of `{ e : p in xs }`.
    OpenComprehension,
    /// `{` of `{ p in xs | c }`.
    OpenFilter,
    /// `}`.
    CloseBrace,
    /// `\`.
    Backslash,
    /// `->`.
    Arrow,
    /// `=`.
    Equals,
    /// `:`.
    Colon,
    /// `|`.
    Bar,
    /// `,`.
    Comma,
    /// `;`.
    Semicolon,
    /// `;` at the end of an item.
    Quiet,
    /// The start of an aligned line in a `let` block; it has no text.
    NewLine,
    /// `|>`.
    PipeRight,
    /// `<|`.
    PipeLeft,
    /// `||`.
    Or,
    /// `&&`.
    And,
    /// `==`.
    Equal,
    /// `!=`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterEqual,
    /// `..`.
    Range,
    /// `++`.
    Append,
    /// `.|.`.
    BitOr,
    /// `.^.`.
    BitXor,
    /// `.&.`.
    BitAnd,
    /// `<<`.
    ShiftLeft,
    /// `>>`.
    ShiftRight,
    /// `+`.
    Plus,
    /// `-` between two operands.
    Minus,
    /// `*`.
    Times,
    /// `/`.
    Divide,
    /// `//`.
    FloorDivide,
    /// `%`.
    Remainder,
    /// `**`.
    Power,
    /// A binary operator directly before `)`: of a section `(2 *)`.
    TrailingOperator,
    /// `-` where an operand begins.
    PrefixMinus,
    /// `-` of an argument, as in `f -1`.
    ArgumentMinus,
    /// `!` where an operand begins.
    PrefixNot,
    /// `!` of an argument, as in `f !b`.
    ArgumentNot,
    /// `:name` at the start of an item.
    Command,
    /// The rest of a command.
    Argument,
}

impl Kind {
    /// The keyword with that spelling.
    pub(super) fn keyword(word: &str) -> Option<Kind> {
        Some(match word {
            "def" => Kind::Def,
            "type" => Kind::Type,
            "import" => Kind::Import,
            "let" => Kind::Let,
            "in" => Kind::In,
            "if" => Kind::If,
            "then" => Kind::Then,
            "else" => Kind::Else,
            "loop" => Kind::Loop,
            "for" => Kind::For,
            "while" => Kind::While,
            "do" => Kind::Do,
            "with" => Kind::With,
            "by" => Kind::By,
            "true" => Kind::True,
            "false" => Kind::False,
            "nan" | "inf" | "pi" => Kind::Number,
            "seq" | "window1" | "window2" | "window3" => Kind::TypeWord,
            "_" => Kind::Wildcard,
            _ => return None,
        })
    }

    /// Whether an operand may end with it, so that a following `[`, `.x` or ` -1` belongs to it.
    pub(super) fn ends_operand(self) -> bool {
        OPERAND_ENDS.contains(self)
    }

    /// The spelling of a token that has only one.
    pub(super) fn spelling(self) -> Option<&'static str> {
        Some(match self {
            Kind::Wildcard => "_",
            Kind::Def => "def",
            Kind::Type => "type",
            Kind::Import => "import",
            Kind::Let => "let",
            Kind::In => "in",
            Kind::If => "if",
            Kind::Then => "then",
            Kind::Else => "else",
            Kind::Loop => "loop",
            Kind::For => "for",
            Kind::While => "while",
            Kind::Do => "do",
            Kind::With => "with",
            Kind::By => "by",
            Kind::True => "true",
            Kind::False => "false",
            Kind::OpenParen => "(",
            Kind::CloseParen => ")",
            Kind::OpenBracket | Kind::OpenIndex => "[",
            Kind::CloseBracket => "]",
            Kind::OpenBrace | Kind::OpenUpdate | Kind::OpenComprehension | Kind::OpenFilter => "{",
            Kind::CloseBrace => "}",
            Kind::Backslash => "\\",
            Kind::Arrow => "->",
            Kind::Equals => "=",
            Kind::Colon => ":",
            Kind::Bar => "|",
            Kind::Comma => ",",
            Kind::Semicolon | Kind::Quiet => ";",
            Kind::PipeRight => "|>",
            Kind::PipeLeft => "<|",
            Kind::Or => "||",
            Kind::And => "&&",
            Kind::Equal => "==",
            Kind::NotEqual => "!=",
            Kind::Less => "<",
            Kind::LessEqual => "<=",
            Kind::Greater => ">",
            Kind::GreaterEqual => ">=",
            Kind::Range => "..",
            Kind::Append => "++",
            Kind::BitOr => ".|.",
            Kind::BitXor => ".^.",
            Kind::BitAnd => ".&.",
            Kind::ShiftLeft => "<<",
            Kind::ShiftRight => ">>",
            Kind::Plus => "+",
            Kind::Minus | Kind::PrefixMinus | Kind::ArgumentMinus => "-",
            Kind::Times => "*",
            Kind::Divide => "/",
            Kind::FloorDivide => "//",
            Kind::Remainder => "%",
            Kind::Power => "**",
            Kind::PrefixNot | Kind::ArgumentNot => "!",
            Kind::Name
            | Kind::TypeWord
            | Kind::Number
            | Kind::Numbers
            | Kind::Char
            | Kind::Text
            | Kind::Invalid
            | Kind::Field
            | Kind::NewLine
            | Kind::TrailingOperator
            | Kind::Command
            | Kind::Argument => return None,
        })
    }
}

/// A set of token kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KindSet(u128);

impl KindSet {
    /// The set of nothing.
    pub(super) const EMPTY: KindSet = KindSet(0);

    /// The set of those kinds.
    pub(super) const fn of(kinds: &[Kind]) -> KindSet {
        let mut bits = 0;
        let mut index = 0;
        while index < kinds.len() {
            bits |= 1 << kinds[index] as u32;
            index += 1;
        }
        KindSet(bits)
    }

    /// The kinds in either.
    pub(super) const fn and(self, other: KindSet) -> KindSet {
        KindSet(self.0 | other.0)
    }

    /// Whether `kind` is in it.
    pub(super) const fn contains(self, kind: Kind) -> bool {
        self.0 & (1 << kind as u32) != 0
    }

    /// Whether all of `other` is in it.
    pub(super) const fn includes(self, other: KindSet) -> bool {
        self.0 & other.0 == other.0
    }
}

/// What may be the last token of an operand.
const OPERAND_ENDS: KindSet = KindSet::of(&[
    Kind::Name,
    Kind::TypeWord,
    Kind::Wildcard,
    Kind::Number,
    Kind::Numbers,
    Kind::Char,
    Kind::Text,
    Kind::Invalid,
    Kind::Field,
    Kind::True,
    Kind::False,
    Kind::CloseParen,
    Kind::CloseBracket,
    Kind::CloseBrace,
]);

/// The operators between two operands; `by` is one, after a range.
pub(super) const BINARY: KindSet = KindSet::of(&[
    Kind::PipeRight,
    Kind::PipeLeft,
    Kind::Or,
    Kind::And,
    Kind::Equal,
    Kind::NotEqual,
    Kind::Less,
    Kind::LessEqual,
    Kind::Greater,
    Kind::GreaterEqual,
    Kind::Range,
    Kind::By,
    Kind::Append,
    Kind::BitOr,
    Kind::BitXor,
    Kind::BitAnd,
    Kind::ShiftLeft,
    Kind::ShiftRight,
    Kind::Plus,
    Kind::Minus,
    Kind::Times,
    Kind::Divide,
    Kind::FloorDivide,
    Kind::Remainder,
    Kind::Power,
]);

/// The tokens that are names outside types.
pub(super) const NAMES: KindSet = KindSet::of(&[Kind::Name, Kind::TypeWord]);

/// The tokens that are expressions by themselves.
pub(super) const LITERALS: KindSet = NAMES.and(KindSet::of(&[
    Kind::Number,
    Kind::Numbers,
    Kind::Char,
    Kind::Text,
    Kind::True,
    Kind::False,
    Kind::Invalid,
]));

/// The keywords, without the literals.
pub(super) const KEYWORDS: KindSet = KindSet::of(&[
    Kind::Def,
    Kind::Type,
    Kind::Import,
    Kind::Let,
    Kind::In,
    Kind::If,
    Kind::Then,
    Kind::Else,
    Kind::Loop,
    Kind::For,
    Kind::While,
    Kind::Do,
    Kind::With,
    Kind::By,
]);

/// The opening brackets.
pub(super) const OPENERS: KindSet = KindSet::of(&[
    Kind::OpenParen,
    Kind::OpenBracket,
    Kind::OpenIndex,
    Kind::OpenBrace,
    Kind::OpenUpdate,
    Kind::OpenComprehension,
    Kind::OpenFilter,
]);

/// The closing brackets.
pub(super) const CLOSERS: KindSet =
    KindSet::of(&[Kind::CloseParen, Kind::CloseBracket, Kind::CloseBrace]);

/// What continues an item even in column 0, because it can begin none.
pub(super) const CONTINUES: KindSet =
    CLOSERS.and(KindSet::of(&[Kind::In, Kind::Then, Kind::Else, Kind::Do]));

/// What no operand goes on over, where no bracket is around it.
pub(super) const SEPARATORS: KindSet = KEYWORDS.and(KindSet::of(&[
    Kind::Backslash,
    Kind::Arrow,
    Kind::Equals,
    Kind::Colon,
    Kind::Bar,
    Kind::Comma,
    Kind::Semicolon,
    Kind::NewLine,
]));
