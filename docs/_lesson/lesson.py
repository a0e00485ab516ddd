"""This lesson, as the checker and the site must know it."""

import tomllib

from mkdocs.utils.yaml import yaml_load

from _lesson import DOCS, ROOT
from _lesson.checked import Config
from _lesson.checked.config import read
from _lesson.site.chapters import numbers

WORDS = DOCS / "words.toml"  # which idioms are no numbers, and what is still unbound


def config() -> Config:
    """What is on disk now: a chapter's number comes from the navigation."""
    with open(ROOT / "mkdocs.yml", encoding="utf-8") as file:
        nav = yaml_load(file)["nav"]
    return Config(
        root=ROOT,
        pages=("docs/**/*.md", "README.md"),
        leave_out=("docs/_lesson/",),
        path=("docs", "."),
        modules=("numpy", "attention"),
        preload=("numpy.random", "attention.runs", "_lesson.figures.live"),
        others=(
            "mkdocs.yml",
            "docs/your-*.toml",
            "docs/_lesson/figures/templates/*.html",
            "docs/_lesson/site/overrides/**/*.html",
        ),
        idioms=tuple(tomllib.loads(read(WORDS))["idioms"]),
        chapters={f"docs/{page}": number for page, number in numbers(nav).items()},
    )
