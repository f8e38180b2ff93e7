"""Cutting text into tokens that know their place; the floor under the readers of all formats."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, NoReturn

from dobandit.errors import GraphError
from dobandit.graph.names import check_name, normal, unquoted


class Token(NamedTuple):
    kind: str
    text: str
    line: int
    column: int

    def __str__(self) -> str:
        shown = self.text if len(self.text) <= 40 else self.text[:37] + "..."
        return {"end": "the end of the text", "newline": "the end of the line"}.get(self.kind, repr(shown))

    def named(self) -> Token:
        """The token with the name that it stands for, without quotes; an error if no variable can have that name."""
        try:
            return self._replace(text=check_name(unquoted(self.text)))
        except GraphError as error:
            self.fail(error.message)

    def fail(self, message: str) -> NoReturn:
        raise GraphError(message, self.line, self.column)


class Tokens:
    """A text as a row of tokens, read from left to right.

    `patterns` maps the kinds of tokens to regular expressions, tried in this order; text of the kind
    "skip" is passed over, and what fits no pattern is an error at its place.
    """

    def __init__(self, text: str, patterns: Mapping[str, str]) -> None:
        if not isinstance(text, str):
            raise GraphError(f"a graph is read from a text, not from {type(text).__name__}")
        text = normal(text)  # names compare so, and what is read has to find what is read elsewhere
        regex = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in patterns.items()), re.DOTALL)
        self._tokens: list[Token] = []
        self._next = 0
        at, line, line_start = 0, 1, 0
        while at < len(text):
            match = regex.match(text, at)
            if match is None:
                raise GraphError(f"unexpected character {text[at]!r}", line, at - line_start + 1)
            kind, found = str(match.lastgroup), match.group()
            if kind != "skip":
                self._tokens.append(Token(kind, found, line, at - line_start + 1))
            at = match.end()
            if "\n" in found:
                line += found.count("\n")
                line_start = at - len(found) + found.rindex("\n") + 1
        self._tokens.append(Token("end", "", line, at - line_start + 1))

    @property
    def next(self) -> Token:
        return self._tokens[self._next]

    def take(self) -> Token:
        token = self.next
        self._next += token.kind != "end"
        return token

    def take_if(self, *wanted: str) -> Token | None:
        """The next token if it is of one of these kinds, or a sign that reads like one of these texts."""
        token = self.next
        is_sign = token.kind not in ("name", "word", "quoted")  # a variable may well be called "newline"
        return self.take() if token.kind in wanted or (is_sign and token.text in wanted) else None

    def expect(self, wanted: str, message: str) -> Token:
        return self.take_if(wanted) or self.next.fail(f"{message}, found {self.next}")
