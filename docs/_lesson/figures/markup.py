"""How a live figure is written: its template, and the form of its numbers."""

from __future__ import annotations

import json
import math
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from math_core import LatexToMathML

from .svg import legend


def render(name: str, title: str, given: dict, **shown) -> str:
    """The template of this name; its script is `given` what it computes from."""
    given = json.dumps(given, ensure_ascii=False)
    text = TEMPLATES.get_template(f"{name}.html").render(
        name=name, title=title, given=given, **shown
    )
    return "".join(line.strip() for line in text.splitlines())


# How numbers are written


def fixed(value: float, places: int = 4) -> str:
    """A number as the scripts' `fixed` writes it."""
    return f"{float(value):z.{places}f}"


def plain(value: float | None) -> str:
    """A number as one would type it; nothing for None."""
    if value is None:
        return ""
    value = float(value)
    return str(int(value)) if value == int(value) else repr(value)


def formula(latex: str) -> Markup:
    """A formula of a heading, as MathML."""
    return Markup(FORMULAS.convert_with_local_state(latex, displaystyle=False))


def share(value: float) -> Markup:
    """The style of a cell that shows this share of one as a bar."""
    return Markup(f' style="--share:{fixed(value)}"')


FORMULAS = LatexToMathML(fancy_error=False)
TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    undefined=StrictUndefined,
)
TEMPLATES.filters |= {
    "brief": lambda value: f"{value:.2g}",
    "fixed": fixed,
    "formula": formula,
    "legend": lambda names: Markup(legend(names)),
    "log2": math.log2,
    "plain": plain,
    "share": share,
    "whole": lambda count: f"{count:,}",
}
