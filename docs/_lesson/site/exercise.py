"""Publish what an exercise needs beside its page: the judge, Python to run it, and an editor."""

import sys

from mkdocs.structure.files import File


def forget(package: str) -> None:
    """Let the next import of a package, and of each module in it, read what is on disk."""
    for name in list(sys.modules):
        # The package too: it holds its modules as attributes, which `from` would find.
        if name == package or name.startswith(f"{package}."):
            del sys.modules[name]


def on_pre_build(config) -> None:
    # What is on disk now counts, in each build of `mkdocs serve`.
    forget("_lesson.exercise")
    from _lesson.exercise import editor, runtime

    runtime.fetch()
    editor.fetch()


def on_files(files, config) -> None:
    from _lesson.exercise import EXERCISES, publish

    for name, made in publish.published(EXERCISES).items():
        if isinstance(made, str):
            files.append(File.generated(config, name, content=made))
        else:
            files.append(File.generated(config, name, abs_src_path=str(made)))
