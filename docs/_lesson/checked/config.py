"""What the checker must be told of a lesson."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Config:
    """Where a lesson lies, which of its files are pages, and what their code may use."""

    root: Path = Path()
    pages: tuple[str, ...] = ("docs/**/*.md",)  # patterns below the root
    leave_out: tuple[str, ...] = ()  # folders below the root that hold no page
    path: tuple[str, ...] = (".",)  # folders below the root from which pages import
    modules: tuple[str, ...] = ()  # whose names may hold a digit, in code within a sentence
    preload: tuple[str, ...] = ()  # what most pages import: loaded once for all of them
    others: tuple[str, ...] = ()  # patterns below the root: what a reader sees and is no page
    idioms: tuple[str, ...] = ()  # patterns of words of number or comparison that say no such thing
    chapters: Mapping[str, int] = field(default_factory=dict)  # a page's name: its number

    def sources(self) -> dict[str, str]:
        """The text of each page by its name: the first page first, the README last."""
        found = {path for pattern in self.pages for path in self.root.glob(pattern)}
        found = {path for path in found if path.is_file() and not path.name.startswith(".")}
        names = {path.relative_to(self.root).as_posix(): path for path in found}
        outside = {n: p for n, p in names.items() if not n.startswith(self.leave_out or "\0")}
        order = sorted(
            outside, key=lambda name: (name == "README.md", name != "docs/index.md", name)
        )
        return {name: read(outside[name]) for name in order}

    def beyond(self) -> dict[str, str]:
        """The texts that a reader sees and that are no page, by their names."""
        found = sorted(path for pattern in self.others for path in self.root.glob(pattern))
        return {path.relative_to(self.root).as_posix(): read(path) for path in found}

    def places(self) -> list[str]:
        """The folders from which pages import, for sys.path."""
        return [str(self.root / place) for place in self.path]

    def beside(self, name: str) -> dict:
        """What was measured for a page: `measured`, from the .json file beside it, if any.

        It serves prose and figures. A checked block does without, for a reader has no such
        file. Raises ValueError for one that is no JSON.
        """
        file = (self.root / name).with_suffix(".json")
        if not file.is_file():
            return {}
        try:
            return {"measured": json.loads(read(file))}
        except ValueError as error:
            raise ValueError(f"{file.name} beside the page is no JSON: {error}") from None

    def as_json(self) -> dict:
        """All of it as JSON can hold it, for another process."""
        return {**vars(self), "root": str(self.root.resolve()), "chapters": dict(self.chapters)}

    @classmethod
    def from_json(cls, given: dict) -> Config:
        lists = {key: tuple(value) for key, value in given.items() if isinstance(value, list)}
        return cls(**{**given, **lists, "root": Path(given["root"])})


def read(path: Path) -> str:
    """A file's text, its line ends as they are; a byte that is not UTF-8 as a surrogate."""
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        return file.read()
