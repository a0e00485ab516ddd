"""Change a program a little, in each way that its syntax has: every change is a program.

A change is of an operator, a bound, a constant, a name, an argument, a condition, or the order
of things; each is made alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
FUNCTIONS = ("max", "min", "sum", "len", "abs", "exp", "sqrt", "list", "sorted")


def variants(source: str) -> dict[str, str]:
    """Each program that differs from `source` by one change: its source -> what changed."""
    tree = ast.parse(source)
    before = ast.unparse(tree)
    found = {}
    for node, field, at in list(places(tree)):
        owner, key = (vars(node), field) if at is None else (getattr(node, field), at)
        old = owner[key]
        for owner[key] in changes(old, names(tree)):
            found[ast.unparse(ast.fix_missing_locations(tree))] = None
        owner[key] = old
    found.pop(before, None)
    return {after: difference(before, after) for after in found}


def places(tree: ast.Module) -> Iterator[tuple]:
    """Where a node or a list of nodes stands: the node that has it, the field, the index if any."""
    # A module's own statements have no order that matters: imports, then one function.
    for top in tree.body:
        for node in () if is_import(top) else ast.walk(top):
            for field, value in ast.iter_fields(node):
                yield node, field, None
                if isinstance(value, list):
                    yield from ((node, field, i) for i in range(len(value)))


def is_import(node: ast.AST) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def names(tree: ast.AST) -> list[str]:
    """The program's own names: arguments, and what it assigns."""
    own = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    own |= {
        n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    return sorted(own)


def changes(value: object, own: list[str]) -> Iterator[object]:
    """What could stand in place of a node, or of a list of statements or arguments."""
    if isinstance(value, list) and len(value) > 0 and isinstance(value[0], ast.stmt):
        yield from orders(value)
    elif isinstance(value, list) and len(value) > 1 and isinstance(value[0], ast.expr):
        for i in range(len(value) - 1):
            yield [*value[:i], value[i + 1], value[i], *value[i + 2 :]]
    elif isinstance(value, list) and value and isinstance(value[0], ast.keyword):
        yield value[1:]
    elif isinstance(value, ast.operator):
        yield from (kind() for kind in OPERATORS)
    elif isinstance(value, ast.Constant) and isinstance(value.value, int | float):
        yield from (ast.Constant(value.value + step) for step in (1, -1, 2))
    elif isinstance(value, ast.Slice):
        yield ast.Slice()
        yield ast.Slice(value.upper, value.lower)
    elif isinstance(value, ast.Name) and isinstance(value.ctx, ast.Load):
        others = FUNCTIONS if value.id in FUNCTIONS else own
        yield from (ast.Name(name, ast.Load()) for name in others)
    if isinstance(value, ast.BinOp):
        yield from (value.left, value.right, ast.BinOp(value.right, value.op, value.left))
    if isinstance(value, ast.IfExp):
        yield from (value.body, value.orelse, ast.IfExp(value.test, value.orelse, value.body))
    if isinstance(value, ast.Call) and len(value.args) == 1:
        yield value.args[0]
    if isinstance(value, ast.comprehension):
        rows = f"list({ast.unparse(value.iter)})"
        for part in ("[::-1]", "[1:]", "[:-1]"):
            yield ast.comprehension(value.target, ast.parse(rows + part, mode="eval").body, [], 0)


def orders(body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """The statements of a block: one left out or done twice, two exchanged, one in a loop."""
    for i, one in enumerate(body):
        yield [*body[:i], *body[i + 1 :]] or [ast.Pass()]
        if isinstance(one, ast.Expr):  # to assign twice is to assign
            yield [*body[:i], one, *body[i:]]
        if i + 1 < len(body):
            yield [*body[:i], body[i + 1], one, *body[i + 2 :]]
        if i + 1 < len(body) and isinstance(one, ast.For):
            inside = ast.For(one.target, one.iter, [*one.body, body[i + 1]], [])
            yield [*body[:i], inside, *body[i + 2 :]]


def difference(before: str, after: str) -> str:
    """The lines that differ, as `old -> new`."""
    old, new = before.splitlines(), after.splitlines()
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return " -> ".join("; ".join(line.strip() for line in part) for part in (old, new))
