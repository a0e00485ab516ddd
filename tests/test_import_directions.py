"""A line of code knows its room: what each may import, and that nothing imports in a circle."""

import ast
import sys
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODULES = {
    ".".join(file.relative_to(top).with_suffix("").parts).removesuffix(".__init__"): file
    for top, room in ((ROOT, "attention"), (ROOT / "docs", "_lesson"))
    for file in sorted((top / room).rglob("*.py"))
}


def imported(name: str) -> set[str]:
    """Each module that the module `name` imports, also from within its functions."""
    package = name.split(".") if MODULES[name].stem == "__init__" else name.split(".")[:-1]
    found = set()
    for node in ast.walk(ast.parse(MODULES[name].read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            home = package[: len(package) + 1 - node.level] if node.level else []
            home = ".".join([*home, *filter(None, [node.module])])
            names = {f"{home}.{alias.name}" for alias in node.names}
            found |= (names & MODULES.keys()) or {home}
    return found


GRAPH = {name: imported(name) - {name} for name in MODULES}


def inside(name: str, room: str) -> bool:
    return name == room or name.startswith(room + ".")


def test_the_package_imports_nothing_of_the_site():
    assert len(MODULES) > 30
    for name, imports in GRAPH.items():
        if inside(name, "attention"):
            assert not [other for other in imports if inside(other, "_lesson")], name


def test_the_checker_imports_nothing_but_itself_and_the_standard_library():
    for name, imports in GRAPH.items():
        if inside(name, "_lesson.checked"):
            others = {other for other in imports if not inside(other, "_lesson.checked")}
            assert {other.partition(".")[0] for other in others} <= sys.stdlib_module_names, name


def test_nothing_imports_in_a_circle():
    ours = {name: imports & MODULES.keys() for name, imports in GRAPH.items()}
    assert list(TopologicalSorter(ours).static_order())
