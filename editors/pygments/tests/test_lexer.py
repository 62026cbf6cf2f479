"""The lexer on lines of every kind, and on all programs of the tree."""

import pathlib
import re
import unittest

from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, String

from weft_pygments import CONSTANTS, KEYWORDS, TYPES

TREE = pathlib.Path(__file__).resolve().parents[3]


def tokens(text):
    """The tokens without blanks and punctuation."""
    found = get_lexer_by_name("weft").get_tokens(text)
    return [(kind, word) for kind, word in found if word.strip() and "Punctuation" not in str(kind)]


class Lexer(unittest.TestCase):
    def test_a_definition(self):
        expect = [
            (Keyword.Declaration, "def"),
            (Name.Function, "f'"),
            (Name, "x"),
            (Name, "x"),
            (Operator, "*"),
            (Number.Float, "1.5f32"),
            (Comment.Single, "-- twice"),
        ]
        self.assertEqual(tokens("def f' x = x * 1.5f32 -- twice"), expect)

    def test_commands_fields_and_texts(self):
        self.assertEqual(tokens(":time p.x")[0], (Keyword.Pseudo, ":time"))
        self.assertEqual(tokens("p.x.0")[1:], [(Name.Attribute, "x"), (Name.Attribute, "0")])
        self.assertEqual(tokens("'a'"), [(String.Char, "'a'")])
        self.assertIn((String.Escape, "\\n"), tokens('"a\\n"'))
        self.assertEqual(tokens("0xffu8 1e-3"), [(Number.Hex, "0xffu8"), (Number.Float, "1e-3")])
        self.assertEqual(tokens("größe + größe")[0], (Name, "größe"))

    def test_a_line_for_the_system(self):
        self.assertEqual(tokens("#!/usr/bin/env weft\nx")[0][0], Comment.Hashbang)

    def test_comments_nest(self):
        kinds = {kind for kind, _ in tokens("{- a {- b -} c -}")}
        self.assertEqual(kinds, {Comment.Multiline})
        self.assertEqual(tokens("{- a -} if")[-1], (Keyword, "if"))

    def test_it_is_found_by_the_name_of_a_file(self):
        self.assertEqual(get_lexer_for_filename("tour.weft").name, "Weft")

    def test_programs_have_no_errors(self):
        programs = sorted((TREE / "examples").glob("*.weft"))
        self.assertGreater(len(programs), 10)
        for program in programs:
            text = program.read_text()
            found = list(get_lexer_by_name("weft", stripnl=False).get_tokens(text))
            self.assertEqual([word for kind, word in found if kind is Error], [], program.name)

    def test_the_words_are_those_of_the_extension_for_jupyterlab(self):
        text = (TREE / "editors/jupyterlab/static/remoteEntry.js").read_text()
        for name, words in [("KEYWORDS", KEYWORDS), ("CONSTANTS", CONSTANTS), ("TYPES", TYPES)]:
            found = re.search(rf"const {name} = new Set\(\s*\(?'([^']*)'", text).group(1)
            self.assertEqual(found.split(), words, name)


if __name__ == "__main__":
    unittest.main()
