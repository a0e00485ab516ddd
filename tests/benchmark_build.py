"""How much longer does a build take because its pages are checked?

    .venv/bin/python tests/benchmark_build.py [ROUNDS]

Each round builds the site twice, cold, one after the other: as it is, without the notebook's
page, and the same pages as plain Markdown, with no code run. Prints the times and the ratio.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

PLAIN = """
INHERIT: mkdocs.yml
hooks: []
plugins: [search]
markdown_extensions: [abbr, admonition, attr_list, def_list, footnotes, md_in_html, tables, toc,
  pymdownx.details, pymdownx.highlight, pymdownx.superfences]
"""


def seconds(folder: Path, config: str) -> float:
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--clean", "--config-file", config],
        cwd=folder,
        env={**os.environ, "NOTEBOOK": "false"},
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - began


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "lesson"
        skip = shutil.ignore_patterns(".*", "site", "__pycache__")
        shutil.copytree(ROOT, copy, ignore=skip)
        (copy / "plain.yml").write_text(PLAIN)
        seconds(copy, "plain.yml")  # so that the disk is warm for both
        pairs = [(seconds(copy, "mkdocs.yml"), seconds(copy, "plain.yml")) for _ in range(rounds)]
    for checked, plain in pairs:
        print(f"checked {checked:.2f} s, plain {plain:.2f} s, ratio {checked / plain:.2f}")
    print(f"median ratio {statistics.median(c / p for c, p in pairs):.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
