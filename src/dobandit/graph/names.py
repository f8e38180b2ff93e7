"""Names of variables, as people have them: `Age`, `Größe`, `価格`, `"Customer segment"`.

A bare name starts with a letter of any alphabet or `_` and goes on with letters, digits, `_` and `.`. Any other name
is written in double quotes, where `\\"` stands for a double quote and `\\\\` for a backslash. Names compare in the
normal form NFC of Unicode, so that it makes no difference whether `ö` is one character or an `o` with a mark.
"""

from __future__ import annotations

import re
import unicodedata

from dobandit.errors import GraphError

# Vowel signs and accents: part of a word in many alphabets, but no letters to Python's \w.
_MARKS = "".join(sign for sign in map(chr, range(0x300, 0x1D00)) if unicodedata.category(sign) in ("Mn", "Mc"))
BARE = rf"[^\W\d][\w.{_MARKS}]*"
QUOTED = r'"(?:[^"\\\n]|\\[^\n])*"'
NAME = rf"(?:{BARE}|{QUOTED})"
RULE = "a name starts with a letter or '_' and goes on with letters, digits, '_' and '.'; write any other one in quotes"
LONGEST = 255
JOINERS = "\u200c\u200d"  # invisible, but Persian, Hindi and other words are spelt with them

_bare = re.compile(BARE)
_escape = re.compile(r"\\(.?)", re.DOTALL)


def normal(name: str) -> str:
    """The form in which names compare: Unicode's NFC.

    >>> normal("Gro\\u0308ße") == "Größe"
    True
    """
    return unicodedata.normalize("NFC", name)


def quoted(name: str) -> str:
    """A name as it is written in texts: bare if it can be, else in quotes.

    >>> quoted("Größe"), quoted("Customer segment")
    ('Größe', '"Customer segment"')
    """
    return name if _bare.fullmatch(name) else in_quotes(name)


def in_quotes(text: str) -> str:
    """A text in double quotes.

    >>> print(in_quotes('a "b" c'))
    "a \\"b\\" c"
    """
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def unquoted(text: str) -> str:
    """The name that a text such as `Age` or `"Customer segment"` stands for, in its normal form.

    >>> unquoted("Age"), unquoted('"Customer segment"')
    ('Age', 'Customer segment')
    """
    if not text.startswith('"'):
        return normal(text)
    if not re.fullmatch(QUOTED, text):
        raise GraphError(f'the quotes of {text} are not closed, or there is a quote inside; write it as \\"')
    return normal(_escape.sub(_escaped, text[1:-1]))


def _escaped(found: re.Match[str]) -> str:
    if found[1] not in ('"', "\\"):
        raise GraphError(f'{found[0]} means nothing in quotes; write \\\\ for a backslash and \\" for a double quote')
    return found[1]
