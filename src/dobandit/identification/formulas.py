"""Formulas as notebooks show them: LaTeX, and MathML, which browsers draw by themselves.

>>> from dobandit.graph import Graph
>>> from dobandit.identification import identify
>>> e = identify(Graph("Z -> X -> Y; Z -> Y"), do="X", on="Y")
>>> print(e._repr_latex_())
$\\displaystyle P(Y \\mid \\mathrm{do}(X)) = \\sum_{Z} P(Y \\mid X, Z)\\, P(Z)$
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from html import escape

from dobandit.graph import quoted
from dobandit.identification.expressions import Expression, Names, Ratio, Sum, Table, fresh, parts_of


class Notation(ABC):
    """How the parts of a formula are written."""

    @abstractmethod
    def probability(self, what: Sequence[str], given: Sequence[str], done: Sequence[str] = ()) -> str: ...

    @abstractmethod
    def total(self, over: Sequence[str], body: str) -> str: ...

    @abstractmethod
    def product(self, factors: Sequence[str]) -> str: ...

    @abstractmethod
    def brackets(self, body: str) -> str: ...

    @abstractmethod
    def fraction(self, above: str, below: str) -> str: ...


class Latex(Notation):
    def probability(self, what: Sequence[str], given: Sequence[str], done: Sequence[str] = ()) -> str:
        given = [*map(_latex, given), *([rf"\mathrm{{do}}({', '.join(map(_latex, done))})"] if done else [])]
        bar = r" \mid " if given else ""
        return f"P({', '.join(map(_latex, what))}{bar}{', '.join(given)})"

    def total(self, over: Sequence[str], body: str) -> str:
        return rf"\sum_{{{', '.join(map(_latex, over))}}} {body}"

    def product(self, factors: Sequence[str]) -> str:
        return r"\, ".join(factors) or "1"

    def brackets(self, body: str) -> str:
        return rf"\left[{body}\right]"

    def fraction(self, above: str, below: str) -> str:
        return rf"\frac{{{above}}}{{{below}}}"


class MathML(Notation):
    def probability(self, what: Sequence[str], given: Sequence[str], done: Sequence[str] = ()) -> str:
        bar = "<mo>|</mo>" if given or done else ""
        setting = f"<mi>do</mi><mo>(</mo>{_listed(done)}<mo>)</mo>" if done else ""
        return f"<mrow><mi>P</mi><mo>(</mo>{_listed(what)}{bar}{_listed(given)}{setting}<mo>)</mo></mrow>"

    def total(self, over: Sequence[str], body: str) -> str:
        return f"<munder><mo>∑</mo><mrow>{_listed(over)}</mrow></munder>{body}"

    def product(self, factors: Sequence[str]) -> str:
        return "".join(factors) or "<mn>1</mn>"

    def brackets(self, body: str) -> str:
        return f"<mrow><mo>[</mo>{body}<mo>]</mo></mrow>"

    def fraction(self, above: str, below: str) -> str:
        return f"<mfrac><mrow>{above}</mrow><mrow>{below}</mrow></mfrac>"


def written(expression: Expression, names: Names, notation: Notation) -> str:
    """An expression; a variable that is summed over has a name of its own, as in `Sum.write`."""
    match expression:
        case Table(variable, given):
            return notation.probability([_name(variable, names)], [_name(v, names) for v in given])
        case Ratio():
            above, below = parts_of(expression)
            top = written(above, names, notation)
            return notation.fraction(top, written(below, names, notation)) if below.factors else top
        case Sum(over, factors):
            names = {**names, **{v: fresh(_name(v, names), names) for v in over}}
            found = [written(factor, names, notation) for factor in factors]
            if len(found) > 1:
                found = [
                    text if isinstance(factor, Table | Ratio) else notation.brackets(text)
                    for factor, text in zip(factors, found, strict=True)
                ]
            body = notation.product(found)
            return notation.total(sorted(names[v] for v in over), body) if over else body


def _name(variable: str, names: Names) -> str:
    return names.get(variable) or quoted(variable)


def _latex(name: str) -> str:
    """A name of one letter as it is, a longer one upright; primes stay behind it."""
    plain = name.rstrip("'")
    signs = {"\\": r"\textbackslash{}", **{sign: f"\\{sign}" for sign in "_&%$#{}"}}
    text = "".join(signs.get(sign, sign) for sign in plain)
    return (text if len(plain) == 1 else rf"\mathrm{{{text.replace(' ', chr(92) + ' ')}}}") + name[len(plain) :]


def _listed(names: Sequence[str]) -> str:
    return "<mo>,</mo>".join(f"<mi>{escape(name)}</mi>" for name in names)
