"""A sentence of a live figure is told once: by the build, or by a script, never by both."""

import ast
import re

from helpers import ROOT

SCRIPTS = ROOT / "docs/assets/live"
FIGURES = ROOT / "docs/_lesson/figures"
LEAST = 3  # words: fewer are a name


def phrases(text: str) -> set[str]:
    """Each run of at least three words between two quotes or holes, bare of what surrounds it."""
    pieces = (re.sub(r"^\W+|\W+$", "", piece) for piece in re.split(r"""["'`{}\n]|\$\{""", text))
    return {" ".join(p.split()) for p in pieces if len(p.split()) >= LEAST}


def by_scripts() -> set[str]:
    """What scripts say. Code is among it, which does no harm: the build says nothing like it."""
    texts = [file.read_text("utf-8") for file in SCRIPTS.glob("*.js")]
    return phrases("\n".join(re.sub(r"^\s*//.*| // .*", "", text, flags=re.M) for text in texts))


def by_the_build() -> set[str]:
    """What templates say, and the modules beside them: all strings that are no docstring."""
    said = set()
    for template in (FIGURES / "templates").glob("*.html"):
        text = re.sub(r"\{#.*?#\}", "", template.read_text("utf-8"), flags=re.S)
        said |= phrases(re.sub(r"[<>]", '"', text))
    for module in FIGURES.glob("*.py"):
        tree = ast.parse(module.read_text("utf-8"))
        bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                said |= set() if id(node) in bare else phrases(node.value)
    return said


def test_no_sentence_is_told_twice():
    scripts, build = by_scripts(), by_the_build()
    assert "Choose, then show the columns" in " ".join(scripts)
    assert "no weight moved, not by one bit" in build
    assert "Step by step, and predict first" in build
    whole = "\n".join(f" {said} " for said in build)
    assert sorted(said for said in scripts if f" {said} " in whole) == []
