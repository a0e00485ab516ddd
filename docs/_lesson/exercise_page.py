"""Publish what the exercise page needs beside itself: the judge, and Python to run it."""

import sys
from pathlib import Path

from mkdocs.structure.files import File

PLACE = str(Path(__file__).resolve().parents[1])


def on_pre_build(config) -> None:
    if PLACE not in sys.path:
        sys.path.insert(0, PLACE)
    # What is on disk now counts, in each build of `mkdocs serve`.
    for name in ("_lesson.exercise", "_lesson.judge"):
        sys.modules.pop(name, None)
    from _lesson import exercise

    exercise.fetch()


def on_files(files, config) -> None:
    from _lesson import exercise

    for name, made in exercise.published().items():
        if isinstance(made, str):
            files.append(File.generated(config, name, content=made))
        else:
            files.append(File.generated(config, name, abs_src_path=str(made)))
