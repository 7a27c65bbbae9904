"""What the YAML scanner finds wrong, in plain words."""

from __future__ import annotations

from typing import Final

import yaml

from ibplan.errors import Problem

# (part of the scanner's words, message, remedy). The first that matches counts.
_WORDS: Final = (
    (
        "mapping values are not allowed",
        "a ': ' does not belong here",
        "check the indentation, or put the text in quotes",
    ),
    ("find expected ':'", "a ':' is missing after this key", "write `key: value`"),
    ("did not find expected key", "this line does not fit the lines above", "check the indentation and the quotes"),
    ("expected <block end>", "this line does not fit the lines above", "check the indentation and the quotes"),
    ("exceeded maximum nesting depth", "nested too deep", ""),
    ("did not find expected '-'", "this line does not fit the list above", "check the indentation"),
    ("block sequence entries are not allowed", "a list item ('- ') does not belong here", "check the indentation"),
    ("expected ',' or ']'", "a list opened with '[' is not closed, or a ',' is missing", ""),
    ("expected ',' or '}'", "a mapping opened with '{' is not closed, or a ',' is missing", ""),
    ("found unexpected end of stream", "a quote is opened and never closed", ""),
    ("found unexpected document indicator", "a quote is opened and never closed", ""),
    ("found unknown escape character", "unknown escape after '\\'", "write \\\\, or use single quotes"),
    ("did not find expected hexdecimal number", "an escape lacks hexadecimal digits", "use single quotes"),
    ("invalid Unicode character escape", "an escape that is not a character", "remove it"),
    (
        "did not find expected alphabetic or numeric character",
        "text that starts with '*' or '&' needs quotes",
        "",
    ),
    ("tag", "tags ('!name') are not allowed", "write the value without '!'"),
    ("found a tab character", "a tab is used for indentation", "indent with spaces"),
    ("did not find expected <document start>", "this does not belong to what stands above", "check the indentation"),
    ("expected the node content", "a value is missing here", ""),
    ("did not find expected node content", "a value is missing here", ""),
)
# Where the end of the text is reported, the opening quote or bracket is the better place.
_AT_CONTEXT: Final = ("end of stream", "document indicator", "or ']'", "or '}'")


def syntax_problem(error: yaml.YAMLError, source: str, text: str) -> Problem:
    """The scanner's error as a problem with a position."""
    words = getattr(error, "problem", None) or "it is not YAML"
    mark = getattr(error, "problem_mark", None)
    context_mark = getattr(error, "context_mark", None)
    if context_mark is not None and any(end in words for end in _AT_CONTEXT):
        mark = context_mark
    if mark is None:
        return Problem(source, 1, 1, f"not valid YAML: {words}")
    message, remedy = _plain_words(words, _character(text, mark.line, mark.column))
    return Problem(source, mark.line + 1, mark.column + 1, message, remedy)


def _character(text: str, line: int, column: int) -> str:
    lines = text.splitlines()
    return lines[line][column : column + 1] if line < len(lines) else ""


def _plain_words(words: str, character: str) -> tuple[str, str]:
    if "cannot start any token" in words:
        if character == "\t":
            return "a tab is used for indentation", "indent with spaces"
        return f"a value cannot start with {character!r}", "put it in quotes"
    for part, message, remedy in _WORDS:
        if part in words:
            return message, remedy
    return f"not valid YAML: {words}", ""
