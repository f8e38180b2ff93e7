"""What is changed: operators, numbers, `not`, min and max, any and all, what is returned, and statements that go."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from textwrap import shorten
from typing import Any, NamedTuple

OTHER_OPERATOR: dict[type[ast.AST], Any] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq},
    **{ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult},
    **{ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd},
}
_OPPOSITES = [("min", "max"), ("any", "all"), ("minimum", "maximum"), ("argmin", "argmax")]
OTHER_NAME = {a: b for pair in _OPPOSITES for a, b in (pair, pair[::-1])}
EXACT = ("strict", "stacklevel", "maxsize")  # arguments that change no result of a right program


class Mutant(NamedTuple):
    """One change: the bytes of a file from `start` to `end` become `after`."""

    file: str
    line: int
    start: int
    end: int
    before: str
    after: str
    text: str  # of the line
    function: int | None  # the first line of the function that it is in

    def __str__(self) -> str:
        before, after = (shorten(text, 100) for text in (self.before, self.after))
        return f"{self.file}:{self.line}: {before} -> {after}" + (f"   in   {self.text}" if len(before) < 20 else "")

    def applied(self, source: bytes) -> bytes:
        return source[: self.start] + self.after.encode() + source[self.end :]


def mutants_of(file: str, source: str) -> Iterator[Mutant]:
    """All mutants of a file."""
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node, other, function in _changes(ast.parse(source), None):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        after = f"({ast.unparse(other)})" if isinstance(other, ast.expr) else ast.unparse(other)
        text = source.splitlines()[node.lineno - 1].strip()
        yield Mutant(file, node.lineno, start, end, ast.unparse(node), after, text, function)


def _changes(tree: ast.AST, function: int | None) -> Iterator[tuple[ast.expr | ast.stmt, ast.AST, int | None]]:
    """Nodes, what may stand there instead, and the function they are in. What people read is left alone: annotations,
    messages, __repr__; and so is what cannot change a result: decorators, unions of types, and `raise AssertionError`,
    which says that no input leads there."""
    for node in _children(tree):
        if isinstance(node, ast.FunctionDef) and function is None:
            yield from _changes(node, min([node.lineno, *(d.lineno for d in node.decorator_list)]))
            continue
        if isinstance(node, ast.expr | ast.stmt):
            yield from ((node, other, function) for other in _others(node))
        yield from _changes(node, function)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_left_alone(child, node):
                yield child


def _is_left_alone(node: ast.AST, parent: ast.AST) -> bool:
    is_union = isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)
    is_index = isinstance(node, ast.Constant) and isinstance(parent, ast.Subscript)
    return (
        is_index  # see `_others`
        or (isinstance(node, ast.Constant) and node.value == 1 and isinstance(parent, ast.UnaryOp))  # reshape(-1)
        or isinstance(node, ast.JoinedStr)
        or isinstance(parent, ast.Raise)
        or (isinstance(node, ast.Raise) and "AssertionError" in ast.unparse(node))
        or (isinstance(node, ast.keyword) and node.arg in EXACT)
        or (isinstance(node, ast.FunctionDef) and node.name == "__repr__")
        or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        or (is_union and (isinstance(parent, ast.Assign) or _calls(parent, "isinstance")))
    )


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _is_text_or_list(operand: ast.expr) -> bool:
    """Whether an operator joins or repeats texts or lists: `-` or `/` would fail wherever the line is run, which says
    nothing about the tests."""
    if isinstance(operand, ast.BinOp):
        return _is_text_or_list(operand.left) or _is_text_or_list(operand.right)
    is_text = isinstance(operand, ast.Constant) and isinstance(operand.value, str)
    return is_text or isinstance(operand, ast.JoinedStr | ast.List | ast.ListComp | ast.Tuple)


def _others(node: ast.expr | ast.stmt) -> Iterator[ast.AST]:
    """What may stand in place of a node."""
    match node:
        case ast.Compare(left, ops, comparators):
            for i, op in enumerate(ops):
                changed = [OTHER_OPERATOR[type(op)]() if i == k else o for k, o in enumerate(ops)]
                yield ast.Compare(left, changed, comparators)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(OTHER_OPERATOR[type(op)](), values)
        case ast.BinOp(left, op, right) if type(op) in OTHER_OPERATOR and not _is_text_or_list(node):
            yield ast.BinOp(left, OTHER_OPERATOR[type(op)](), right)
        case ast.UnaryOp(ast.Not() | ast.USub() | ast.Invert(), operand):
            yield operand
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            yield from (ast.Constant(other) for other in (value + 1, value - 1) if other != value)  # 1e100 + 1 is equal
        case ast.Subscript(value, ast.Constant(int() as place)) if not isinstance(place, bool):
            yield ast.Subscript(value, ast.Constant(place + 1))  # before the first is the last: often the same one
        case ast.Name(name) if name in OTHER_NAME:
            yield ast.Name(OTHER_NAME[name])
        case ast.Attribute(value, name) if name in OTHER_NAME:
            yield ast.Attribute(value, OTHER_NAME[name])
        case ast.Return(ast.expr() as value) if not isinstance(value, ast.Constant):
            yield ast.Return(ast.Constant(None))
        case ast.AugAssign(target, op, value) if type(op) in OTHER_OPERATOR and not _is_text_or_list(value):
            yield ast.AugAssign(target, OTHER_OPERATOR[type(op)](), value)
        case ast.Expr(ast.Call()) | ast.Raise() | ast.Continue() | ast.Break():
            yield ast.Pass()
