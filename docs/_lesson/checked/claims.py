"""Hold a sentence against the expression that says when it is true, and that could be false."""

from __future__ import annotations

import ast
from types import ModuleType

from .document import Document, Prose
from .phrases import reach
from .prose import Token
from .records import Problem, Record
from .runner import Failed

LONGEST = 60  # characters of a value that a message shows


def judge(document: Document, prose: Prose, token: Token, runner) -> Record | Problem:
    """The record of a claim that holds, or what is wrong with it. Raises Failed where it fails."""
    line, expression = document.line_of(token.start), token.text
    about = reach(document.text, prose.start, prose.end, prose.tokens, token)
    if about is None:
        return Problem(line, f"no words stand directly before this claim: {expression}")
    value = runner.run(expression, line, "claim")
    if type(value).__name__ not in ("bool", "bool_"):  # that of Python, and those of numpy
        return Problem(line, f"a claim is true or false, and {expression} is {short(value)}")
    if not rests_on(expression, runner.namespace):
        return Problem(line, f"a claim that rests on no computed name cannot fail: {expression}")
    if not value:
        said, why = words(document, about), found(expression, runner, line)
        return Problem(line, f"the page says “{said}”, but {why}")
    said = document.text[slice(*about)]
    record = ("claim", line, *about, said, said, expression, [True], (token.start, token.end))
    return Record(*record)


def rests_on(expression: str, namespace: dict) -> list[str]:
    """The names in an expression that a page has computed, functions of its own among them."""
    tree = ast.parse(expression, mode="eval")
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and _stored(node)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - bound
    return sorted(name for name in used if name in namespace and computed(namespace[name]))


def computed(value: object) -> bool:
    """Is this something that a page computes or is given, and no tool to compute with?"""
    if isinstance(value, ModuleType):
        return False
    return not callable(value) or getattr(value, "__module__", None) == "__main__"


def _stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def found(expression: str, runner, line: int) -> str:
    """What came of a claim that is false: what its first comparison that fails compares."""
    for node in ast.walk(ast.parse(expression, mode="eval")):
        if not isinstance(node, ast.Compare):
            continue
        sides = [ast.unparse(x) for x in (node.left, *node.comparators)]
        try:
            if runner.run(ast.unparse(node), line, "claim"):
                continue
            values = [f"{side} is {short(runner.run(side, line, 'claim'))}" for side in sides]
        except (Failed, ValueError):  # of a name that only a loop inside the expression has
            continue
        return f"{expression} is false: {', '.join(values)}"
    return f"{expression} is false"


def short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def words(document: Document, about: tuple[int, int]) -> str:
    """The last words of what a claim is about."""
    said = " ".join(document.text[slice(*about)].split())
    return said if len(said) <= LONGEST else "…" + said[1 - LONGEST :]
