"""How much longer does a build take because its pages are checked?

    .venv/bin/python tests/benchmark_build.py [ROUNDS]

Each round builds the site twice, cold, one after the other: as it is but for the notebook's
page, and plain Markdown that shows the same code, outputs, numbers, tables and figures, none
of them run, compared or drawn. Prints the seconds on the clock
and on the processors: on a machine that does other work as well, trust the latter.
"""

import ast
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs"))

from _lesson import lesson  # noqa: E402
from _lesson.checked import check  # noqa: E402
from _lesson.checked.document import parse  # noqa: E402
from _lesson.checked.render import for_site  # noqa: E402

CHECKED = """
INHERIT: mkdocs.yml
plugins: [search, {markdown-exec: {languages: [python], ansi: "off"}}]
"""
PLAIN = """
INHERIT: mkdocs.yml
plugins: [search, {markdown-exec: {languages: [python], ansi: "off"}}]
hooks: []
"""


MADE = re.compile(r"( *)```python exec.*\n *print\((.*), end=''\)\n *```\n")


def as_html(made: re.Match) -> str:
    """What a block has made, as the HTML that an author would have pasted."""
    return textwrap.indent(f"\n{ast.literal_eval(made[2]).strip()}\n\n", made[1])


def build(folder: Path, config: str) -> tuple[float, float]:
    """Seconds on the clock, and on the processors."""
    before, began = os.times(), time.perf_counter()
    made = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--clean", "--config-file", config],
        cwd=folder,
        env={**os.environ, "NOTEBOOK": "false"},
        capture_output=True,
        text=True,
    )
    if made.returncode:
        sys.exit(made.stdout + made.stderr)
    after = os.times()
    busy = after.children_user + after.children_system
    return time.perf_counter() - began, busy - before.children_user - before.children_system


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "lesson"
        leave_out = shutil.ignore_patterns(".*", "__pycache__")
        shutil.copytree(ROOT / "docs", copy / "docs", ignore=leave_out)
        for name in ("attention", "mkdocs.yml"):
            source = ROOT / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, copy / name)
        (copy / "checked.yml").write_text(CHECKED)
        plain = Path(folder) / "plain"
        shutil.copytree(copy, plain)
        (plain / "plain.yml").write_text(PLAIN)
        config = lesson.config()
        texts = config.sources()
        for name, page in check(texts, config).items():
            shown = for_site(parse(texts[name], name), page)
            (plain / name).write_text(MADE.sub(as_html, shown))
        build(plain, "plain.yml")  # so that the disk is warm for both
        ratios = []
        for _ in range(rounds):
            marked, bare = build(copy, "checked.yml"), build(plain, "plain.yml")
            ratios.append([c / p for c, p in zip(marked, bare, strict=True)])
            for name, (clock, busy) in {"checked": marked, "plain": bare}.items():
                print(f"{name:7} {clock:6.2f} s, {busy:6.2f} s busy")
    clock, busy = map(statistics.median, zip(*ratios, strict=True))
    print(f"median ratio {clock:.2f} (busy {busy:.2f})")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
