"""A Pygments lexer for Weft, a small functional array language."""

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Whitespace,
)

__all__ = ["WeftLexer"]

# The words of the language; the extension for JupyterLab has the same ones.
KEYWORDS = "def type import let in if then else loop for while do with by".split()
CONSTANTS = "true false nan inf pi".split()
TYPES = (
    "i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 bool char seq window1 window2 window3"
).split()

_END = r"(?![\w'])"
_NAME = r"[^\W\d][\w']*"
_SUFFIX = r"(?:[iu](?:8|16|32|64)|f(?:32|64))?"


class WeftLexer(RegexLexer):
    """Colours Weft as the prompt and JupyterLab do."""

    name = "Weft"
    aliases = ["weft"]
    filenames = ["*.weft"]
    mimetypes = ["text/x-weft"]

    tokens = {
        "root": [
            (r"\A#![^\n]*", Comment.Hashbang),
            (r"^:[a-z]*", Keyword.Pseudo),
            (r"\s+", Whitespace),
            (r"--[^\n]*", Comment.Single),
            (r"\{-", Comment.Multiline, "comment"),
            (r'"', String.Double, "text"),
            (r"'(?:[^'\\\n]|\\(?:x[0-9a-fA-F]{2}|u\{[0-9a-fA-F]+\}|.))'", String.Char),
            (r"0x[0-9a-fA-F_]+" + _SUFFIX, Number.Hex),
            (r"0b[01_]+" + _SUFFIX, Number.Bin),
            (
                r"[0-9][0-9_]*(?:\.[0-9][0-9_]*(?:[eE][+-]?[0-9_]+)?|[eE][+-]?[0-9_]+)"
                + _SUFFIX,
                Number.Float,
            ),
            (r"[0-9][0-9_]*" + _SUFFIX, Number.Integer),
            (r"(\.)([0-9]+)", bygroups(Punctuation, Name.Attribute)),
            (r"(\.)(" + _NAME + ")", bygroups(Punctuation, Name.Attribute)),
            (
                r"(def)(\s+)(" + _NAME + ")",
                bygroups(Keyword.Declaration, Whitespace, Name.Function),
            ),
            (words(KEYWORDS, suffix=_END), Keyword),
            (words(CONSTANTS, suffix=_END), Keyword.Constant),
            (words(TYPES, suffix=_END), Keyword.Type),
            (_NAME, Name),
            (
                r"\.[|^&]\.|\|>|<\||\|\||&&|==|!=|<=|>=|<<|>>|\.\.|\+\+|\*\*|//|->|[-+*/%<>!\\]",
                Operator,
            ),
            (r"[()\[\]{},;:=|.?@]", Punctuation),
        ],
        "comment": [
            (r"[^{}-]+", Comment.Multiline),
            (r"\{-", Comment.Multiline, "#push"),
            (r"-\}", Comment.Multiline, "#pop"),
            (r"[{}-]", Comment.Multiline),
        ],
        "text": [
            (r'[^"\\\n]+', String.Double),
            (r"\\.", String.Escape),
            (r'"|\n', String.Double, "#pop"),
        ],
    }
