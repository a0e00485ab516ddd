"""Publish what the exercise page needs beside itself: the judge, and Python to run it."""

import sys

from mkdocs.structure.files import File


def on_pre_build(config) -> None:
    # What is on disk now counts, in each build of `mkdocs serve`.
    for name in ("_lesson.exercise.page", "_lesson.exercise.judge"):
        sys.modules.pop(name, None)
    from _lesson.exercise import page as exercise

    exercise.fetch()


def on_files(files, config) -> None:
    from _lesson.exercise import page as exercise

    for name, made in exercise.published().items():
        if isinstance(made, str):
            files.append(File.generated(config, name, content=made))
        else:
            files.append(File.generated(config, name, abs_src_path=str(made)))
