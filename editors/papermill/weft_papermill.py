"""Parameters of papermill as Weft."""

import math
import re

from papermill.engines import NBClientEngine
from papermill.models import Parameter
from papermill.translators import Translator, papermill_translators

_ASSIGNMENT = re.compile(r"^(?P<name>[^\W\d][\w']*) *= *(?P<value>.*?)(?: *-- *(?P<help>.*))?$")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}


class WeftTranslator(Translator):
    """Writes values as expressions, and reads the cell that holds the defaults."""

    @classmethod
    def translate_escaped_str(cls, str_val):
        return '"' + "".join(_ESCAPES.get(c, c) for c in str(str_val)) + '"'

    @classmethod
    def translate_none(cls, val):
        raise ValueError("Weft has no null")

    @classmethod
    def translate_float(cls, val):
        if math.isnan(val):
            return "nan"
        if math.isinf(val):
            return "inf" if val > 0 else "-inf"
        digits, e, exponent = repr(val).partition("e")
        return (digits if "." in digits else digits + ".0") + e + exponent

    @classmethod
    def translate_list(cls, val):
        return "[" + ", ".join(cls.translate(element) for element in val) + "]"

    @classmethod
    def translate_dict(cls, val):
        fields = (f"{name} = {cls.translate(value)}" for name, value in val.items())
        return "{" + ", ".join(fields) + "}"

    @classmethod
    def comment(cls, cmt_str):
        return f"-- {cmt_str}"

    @classmethod
    def inspect(cls, parameters_cell):
        found = (_ASSIGNMENT.match(line) for line in parameters_cell["source"].splitlines())
        return [
            Parameter(m["name"], "None", m["value"], m["help"] or "") for m in found if m is not None
        ]


papermill_translators.register("weft", WeftTranslator)


class WeftEngine(NBClientEngine):
    """papermill's own engine; that it is loaded makes the language known."""
