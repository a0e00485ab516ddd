"""Make the single file and the notebook from the package's own text."""

import ast
import functools
import json
import re
import runpy
import sys
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parents[3] / "attention"

# In teaching order; each may import only from those before it.
MODULES = (
    "arguments", "masks", "core", "measures", "workspace", "threads", "tiles", "guard",
    "blockwise", "sdpa", "partials", "heads", "positions", "blocks", "gradient", "weights",
    "induction", "training", "counting", "decoder", "examples", "tables", "runs", "__main__",
)  # fmt: skip

# These are of use with Dask alone, and are not in the single file.
LEFT_OUT = {"chunks", "distributed"}

ABOUT = '''\
"""{summary}

    python3 attention.py             all runs
    python3 attention.py --one       one of them, or several at once
    python3 attention.py --help      what each shows

Beside a script of your own, `from attention import softmax` works as well.
Needs Python 3.11 or newer, and numpy: python3 -m pip install numpy
"""
'''

NUMPY = """\
try:
    import numpy as np
except ModuleNotFoundError as missing:
    if missing.name != "numpy":
        raise
    advice = "attention.py needs numpy. To install it: python3 -m pip install numpy"
    if __name__ == "__main__":
        sys.exit(advice)
    raise ModuleNotFoundError(advice, name="numpy") from None
"""

INTRODUCTION = """\
# {summary}

This notebook carries its whole source, then five worked runs of it. It needs only
Python 3.11 or newer and numpy.

**In Colab:** choose *Runtime > Run all*. To keep changes, choose *File > Save a copy
in Drive* first: what is changed here is lost when the tab closes.

**In Jupyter:** choose *Run > Run All Cells*.
"""


class Section(NamedTuple):
    """One module's text, taken apart."""

    name: str
    about: str
    imports: set[str]
    code: str
    names: set[str]


def script(package=PACKAGE):
    """Join the package into one file that stands alone with numpy."""
    summary, exports = front(package)
    parts = sections(package)
    imports = set().union(*(part.imports for part in parts)) | {"import sys"}
    *modules, command_line = parts
    blocks = [
        f"{ABOUT.format(summary=summary)}\n{in_order(imports)}\n\n{NUMPY}",
        *(f"{banner(part)}\n{part.code}" for part in modules),
        exports,
        f"{banner(command_line)}\n{command_line.code}",
    ]
    return "\n\n".join(blocks)


def notebook(package=PACKAGE):
    """Lay out the package and its runs as a notebook that stands alone."""
    summary, _ = front(package)
    *modules, _ = sections(package)
    imports = set().union(*(part.imports for part in modules))
    cells = [
        ("introduction", "markdown", INTRODUCTION.format(summary=summary.rstrip("."))),
        ("install", "code", "%pip install --quiet numpy"),
        ("source", "markdown", "## The source"),
        ("imports", "code", f"{in_order(imports)}\n\nimport numpy as np"),
    ]
    for part in modules:
        cells += [
            (f"about-{part.name}", "markdown", f"### {part.name}\n\n{part.about}"),
            (part.name, "code", part.code),
        ]
    cells.append(("runs-to-see", "markdown", "## The runs"))
    for function in ast.parse(modules[-1].code).body:
        if isinstance(function, ast.FunctionDef) and function.name.startswith("run_"):
            name = function.name.replace("_", "-")
            lead = ast.get_docstring(function).partition("\n")[0]
            cells += [
                (f"about-{name}", "markdown", f"### {function.name}\n\n{lead}"),
                (name, "code", f"print({function.name}())"),
            ]
    document = {
        "cells": [cell(*parts) for parts in cells],
        "metadata": {
            "kernelspec": {
                "display_name": "Python 3",
                "language": "python",
                "name": "python3",
            },
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def front(package):
    """Return the package's first sentence, and its version, runs and public names as code."""
    about = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8")))
    public = runpy.run_path(str(package / "__init__.py"))
    names = "".join(f'    "{name}",\n' for name in public["__all__"])
    runs = "".join(f'    "{name}": "{meaning}",\n' for name, meaning in public["RUNS"].items())
    version = f'__version__ = "{public["__version__"]}"'
    return (
        about.partition("\n")[0],
        f"{version}\n\nRUNS = {{\n{runs}}}\n\n__all__ = [\n{names}]\n",
    )


def sections(package):
    """Take every module apart, and make sure that they can share one namespace.

    Raises ValueError when they cannot, saying where.
    """
    found = {path.stem for path in package.glob("*.py")} - {"__init__"} - LEFT_OUT
    if found != set(MODULES):
        raise ValueError(f"not the modules in MODULES: {found ^ set(MODULES)}")
    parts, owner = [], {}
    for name in MODULES:
        path = package / f"{name}.py"
        part = section(path, path.read_text(encoding="utf-8"))
        for taken in part.names & owner.keys():
            raise ValueError(f"{taken} is defined in {owner[taken]} and in {name}")
        owner |= dict.fromkeys(part.names, name)
        parts.append(part)
    for line in set().union(*(part.imports for part in parts)):
        for alias in ast.parse(line).body[0].names:
            if (taken := alias.asname or alias.name) in owner:
                raise ValueError(f"{owner[taken]} defines what is imported: {line}")
    return parts


@functools.lru_cache(len(MODULES))  # script and notebook are made of the same text
def section(path, text):
    """Take one module apart into its imports and the rest.

    Raises ValueError when an import has a form that cannot be merged.
    """
    tree = ast.parse(text)
    lines = text.splitlines()
    imports, names, start = set(), set(), tree.body[0].end_lineno
    for node in tree.body[1:]:
        if isinstance(node, ast.Import | ast.ImportFrom):
            if set(filter(None, lines[start : node.lineno - 1])):
                raise ValueError(f"{path.name}:{node.lineno}: an import after code")
            start = node.end_lineno
            imports |= import_lines(node, path)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets}
        elif not is_main_guard(node):
            raise ValueError(f"{path.name}:{node.lineno}: a statement of another kind")
    code = "\n".join(lines[start:]) + "\n"
    # What a function imports from the package for itself is at hand in one file.
    code = re.sub(r"^ +from \.\w+ import .*\n\n", "", code, flags=re.MULTILINE)
    return Section(path.stem.strip("_"), ast.get_docstring(tree), imports, code, names)


def import_lines(node, path):
    """Return one line for each thing imported from the standard library.

    What comes from the package itself is left out, and so is numpy, whose import has
    its own place. Raises ValueError for any other import.
    """
    line = ast.unparse(node)
    if line == "import numpy as np":
        return set()
    names = [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        sources = ["." * node.level + (node.module or "")]
        prefix = f"from {sources[0]} "
    else:
        sources, prefix = names, ""
    inside = sources[0].startswith(".") and not sources[0].startswith("..")
    known = all(name.partition(".")[0] in sys.stdlib_module_names for name in sources)
    plain = not any(alias.asname or "." in alias.name for alias in node.names)
    if not plain or not (inside or known):
        raise ValueError(f"{path.name}:{node.lineno}: cannot be merged: {line}")
    return set() if inside else {f"{prefix}import {name}" for name in names}


def is_main_guard(node):
    """Tell whether a statement is the one that starts the program."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == ("__name__ == '__main__'")


def in_order(imports):
    """Sort import lines: whole modules first, then names from modules."""
    return "\n".join(sorted(imports, key=lambda line: (line.startswith("from"), line)))


def banner(part):
    """Write a section's heading and what it is about as a comment."""
    rule = "# " + "-" * 76
    about = [f"# {line}".rstrip() for line in part.about.splitlines()]
    return "\n".join([rule, f"# {part.name}", "#", *about, rule])


def cell(identity, kind, source):
    """Build one cell, without outputs."""
    outputs = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {
        "cell_type": kind,
        "id": identity,
        "metadata": {},
        "source": source.strip("\n").splitlines(keepends=True),
        **outputs,
    }
