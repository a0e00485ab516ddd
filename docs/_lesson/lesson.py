"""This lesson, as the checker and the site must know it."""

from mkdocs.utils.yaml import yaml_load

from _lesson import ROOT
from _lesson.checked import Config
from _lesson.site.chapters import numbers


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
        chapters={f"docs/{page}": number for page, number in numbers(nav).items()},
    )
