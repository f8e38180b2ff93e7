"""Names of variables, as people have them: `Age`, `Größe`, `価格`, `"Customer segment"`.

A bare name starts with a letter of any alphabet or `_` and goes on with letters, digits, `_` and `.`. Any other name
is written in double quotes, where `\\"` stands for a double quote and `\\\\` for a backslash. Names compare in the
normal form NFC of Unicode, so that it makes no difference whether `ö` is one character or an `o` with a mark.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from dobandit.errors import GraphError

QUOTED = r'"(?:[^"\\\n]|\\[^\n])*"'
RULE = "a name starts with a letter or '_' and goes on with letters, digits, '_' and '.'; write any other one in quotes"
LONGEST = 255
# Line ends and other controls, half characters, and signs that one cannot see. Joiners (U+200C, U+200D) can stay:
# words of Persian, Hindi and other languages are spelt with them.
_INVISIBLE = (
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)

_FIRST = 0xB0  # no character before it is of the categories that matter to names


@cache
def bare_pattern() -> str:
    """A regular expression for names that need no quotes; to make it takes a while, and few names need it.

    Vowel signs and accents are part of a word in many alphabets, but not of Python's \\w; signs such as ½ are.
    """
    categories = "".join(map(unicodedata.category, map(chr, range(_FIRST, 0x3400))))  # each has two letters, as Mn

    def signs(wanted: str) -> str:
        """The signs of these categories as ranges inside of [...], which are compiled faster than one by one."""
        ends = ((run.start() // 2, run.end() // 2 - 1) for run in re.finditer(f"(?:{wanted})+", categories))
        return "".join(f"{chr(_FIRST + first)}-{chr(_FIRST + last)}" for first, last in ends)

    return rf"[^\W\d{signs('No|Nl')}][\w.{signs('Mn|Mc')}]*"


def name_pattern() -> str:
    """A regular expression for names, bare or in quotes."""
    return rf"(?:{bare_pattern()}|{QUOTED})"


def normal(name: str) -> str:
    """The form in which names compare: Unicode's NFC.

    >>> normal("Gro\\u0308ße") == "Größe"
    True
    """
    return unicodedata.normalize("NFC", name)


def check_name(name: str) -> str:
    """The normal form of a name, if a variable can have it: any text that people can see and tell from others.

    >>> check_name("Customer segment")
    'Customer segment'
    """
    if not isinstance(name, str):
        raise GraphError(f"{name!r} cannot be the name of a variable: a name must be a text")
    name = normal(name)
    shown = repr(name if len(name) <= 40 else name[:37] + "...") + " cannot be the name of a variable: "
    if not name:
        raise GraphError(shown + "it is empty")
    if not (name.isascii() and name.isprintable()) and (found := re.search(_INVISIBLE, name)):
        raise GraphError(f"{shown}it contains a line end or an invisible character (U+{ord(found[0]):04X})")
    if name.strip() != name:
        raise GraphError(shown + "it starts or ends with a blank")
    if len(name) > LONGEST:
        raise GraphError(f"{shown}it has {len(name)} characters, and at most {LONGEST} are possible")
    return name


def quoted(name: str) -> str:
    """A name as it is written in texts: bare if it can be, else in quotes.

    >>> quoted("Größe"), quoted("Customer segment")
    ('Größe', '"Customer segment"')
    """
    is_simple = name.isascii() and name.isidentifier()
    return name if is_simple or re.fullmatch(bare_pattern(), name) else in_quotes(name)


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
    if not re.fullmatch(r'"(?:[^"\\]|\\.)*"', text, re.DOTALL):
        raise GraphError(f'the quotes of {text} are not closed, or there is a quote inside; write it as \\"')
    return normal(re.sub(r"\\(.?)", _escaped, text[1:-1], flags=re.DOTALL))


def _escaped(found: re.Match[str]) -> str:
    if found[1] not in ('"', "\\"):
        raise GraphError(f'{found[0]} means nothing in quotes; write \\\\ for a backslash and \\" for a double quote')
    return found[1]
