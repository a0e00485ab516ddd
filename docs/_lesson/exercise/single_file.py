"""Join a package of a few modules into one file that needs Python alone."""

from __future__ import annotations

import ast
import builtins
import io
import itertools
import sys
import tokenize
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

ENDS = {"__init__", "__main__"}  # the one gives its docstring, the other has no part in it


class Module(NamedTuple):
    """One module, taken apart."""

    name: str
    about: str  # its docstring
    imports: dict[str, str]  # the names bound by its imports, each with the line that does it
    uses: dict[str, set[str]]  # the modules beside it, each with what is taken from it
    defines: set[str]
    code: str  # the text below its imports


def join(package: Path, about: str | None = None) -> str:
    """The text of one module that holds all that the modules of `package` hold.

    Its docstring is `about`, or else the package's. Raises ValueError, with the place, where
    an import cannot be merged, the modules cannot share one namespace, or text would be lost.
    """
    top = ast.parse((package / "__init__.py").read_text("utf-8"))
    if len(top.body) != 1 or ast.get_docstring(top) is None:
        raise ValueError("__init__.py: only a docstring can be joined")
    files = [file for file in sorted(package.glob("*.py")) if file.stem not in ENDS]
    modules = {file.stem: module(file) for file in files}
    for one in modules.values():
        for other, names in one.uses.items():
            if other not in modules or names - modules[other].defines:
                raise ValueError(f"{one.name}.py: {other}.py defines no {', '.join(names)}")
    order = TopologicalSorter({one.name: sorted(one.uses) for one in modules.values()})
    parts = [modules[name] for name in order.static_order()]  # a circle is a ValueError too
    share_a_namespace(parts)
    lines = {line for part in parts for line in part.imports.values()}
    future = {line for line in lines if "__future__" in line}
    blocks = [
        quoted(about or ast.get_docstring(top, clean=False)),
        "\n".join(sorted(future)),
        "\n".join(sorted(lines - future, key=lambda line: ("from " in line, line))),
        *(f"\n{heading(part)}\n\n{part.code}" for part in parts),
    ]
    return "\n\n".join(filter(None, blocks)) + "\n"


def module(file: Path) -> Module:
    """Take one module apart. Raises ValueError, with the place, for what cannot be joined."""
    text = file.read_text("utf-8")
    tree = ast.parse(text)
    about = ast.get_docstring(tree)
    if about is None:
        raise ValueError(f"{file.name}: a docstring comes first")
    above = list(itertools.takewhile(is_import, tree.body[1:]))
    below = tree.body[1 + len(above) :]
    end = tree.body[len(above)].end_lineno
    lines = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and token.start[0] <= end:
            raise ValueError(f"{file.name}:{token.start[0]}: a comment among imports would be lost")
    for node in below:
        if node.lineno <= end:
            raise ValueError(f"{file.name}:{node.lineno}: a statement on an import's line")
        for inner in filter(is_import, ast.walk(node)):
            raise ValueError(f"{file.name}:{inner.lineno}: an import below other code")
    imports, uses = {}, {}
    for node in above:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            uses.setdefault(node.module, set()).update(imported(node, file))
        else:
            imports |= standard(node, file)
    defines = set().union(*(defined(node, file) for node in below))
    code = "".join(lines[end:]).strip("\n")
    return Module(file.stem, about, imports, uses, defines, code)


def quoted(text: str) -> str:
    """A text as Python's source has it. Raises ValueError for one that needs more than quotes."""
    if '"""' in text or "\\" in text or text.endswith('"'):
        raise ValueError(f"this cannot stand between triple quotes: {text[:60]!r}")
    return f'"""{text}"""'


def is_import(node: ast.AST) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def imported(node: ast.Import | ast.ImportFrom, file: Path) -> set[str]:
    """The names that an import binds: as they are, for another name would need a line."""
    names = {alias.name for alias in node.names}
    if any(alias.asname or alias.name == "*" or "." in alias.name for alias in node.names):
        raise ValueError(f"{file.name}:{node.lineno}: cannot be merged: {ast.unparse(node)}")
    return names


def standard(node: ast.Import | ast.ImportFrom, file: Path) -> dict[str, str]:
    """What is imported from the standard library: each name with a line of its own."""
    names = imported(node, file)
    absolute = isinstance(node, ast.Import) or node.level == 0
    sources = names if isinstance(node, ast.Import) else {node.module or ""}
    known = {source.partition(".")[0] for source in sources} <= sys.stdlib_module_names
    if not absolute or not known:
        raise ValueError(f"{file.name}:{node.lineno}: cannot be merged: {ast.unparse(node)}")
    origin = "" if isinstance(node, ast.Import) else f"from {node.module} "
    return {name: f"{origin}import {name}" for name in names}


def defined(node: ast.stmt, file: Path) -> set[str]:
    """The names that a statement gives to its module."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [part for target in targets for part in ast.walk(target)]
        return {part.id for part in names if isinstance(part, ast.Name)}
    raise ValueError(f"{file.name}:{node.lineno}: a statement of another kind")


def share_a_namespace(modules: list[Module]) -> None:
    """Raise ValueError where one name would mean two things."""
    meaning = {}
    for one in modules:
        for name in one.defines & vars(builtins).keys():
            raise ValueError(f"{one.name}.py defines {name}, which others have from Python")
        for name, what in [
            *one.imports.items(),
            *((name, f"what {one.name}.py defines") for name in one.defines),
        ]:
            if meaning.setdefault(name, what) != what:
                raise ValueError(f"{name} is {meaning[name]}, and in {one.name}.py {what}")


def heading(part: Module) -> str:
    """A module's name and docstring, as a comment."""
    rule = "# " + "-" * 76
    about = [f"# {line}".rstrip() for line in part.about.splitlines()]
    return "\n".join([rule, f"# {part.name}", "#", *about, rule])
