"""What the pages of exercises need beside their own files."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable
from pathlib import Path

from _lesson import DOCS
from _lesson.exercise import editor, judge, runtime
from _lesson.exercise.judge.exercise import Exercise
from _lesson.exercise.single_file import join, quoted

JUDGE = Path(judge.__file__).parent
ASSETS = "assets"  # where the page's script finds what it runs
DOWNLOADS = "code"
START = """

EXERCISE = {data}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], __doc__, Exercise(EXERCISE)))
"""


@functools.cache  # for as long as the module is loaded, which is a build of `mkdocs serve`
def judge_text() -> str:
    """The judge as one module without an exercise: the browser's worker brings that."""
    return join(JUDGE)


def published(exercises: Iterable[Path]) -> dict[str, Path | str]:
    """Each file that these exercises need: its place in the site, and the file or its text."""
    files: dict[str, Path | str] = {f"{ASSETS}/judge.py": judge_text()}
    files |= {f"{DOWNLOADS}/{download_name(data)}": download(data) for data in exercises}
    if runtime.available():
        files |= {f"{ASSETS}/{runtime.NAME}/{file.name}": file for file in runtime.files()}
    if editor.available():
        files[f"{ASSETS}/{editor.FILE}"] = editor.CACHE / editor.FILE
    return files


def download_name(data: Path) -> str:
    """What a reader calls the file that `download` makes."""
    return f"{data.stem}.py"


def download(data: Path) -> str:
    """The judge with one exercise inside: a single file that judges where Python is."""
    text = data.read_text("utf-8")
    about = judge.__doc__.format(name="{name}", **Exercise(text).about)  # the name is known later
    return join(JUDGE, about) + START.format(data=quoted(text))


def version(data: Path) -> str:
    """What changes with the judge, the exercise or the worker: then they are fetched anew."""
    worker = DOCS / "assets/your-turn-worker.js"
    parts = [judge_text().encode(), data.read_bytes(), worker.read_bytes()]
    return hashlib.sha256(b"".join(parts)).hexdigest()[:12]
