"""What a reader is told to install is this package, and never a stranger's of a like name."""

import re
import tomllib

from helpers import ROOT

NAME = "attention-by-the-numbers"  # in no public index; `attention` is another package there


def test_no_line_installs_a_package_called_attention():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["name"] == NAME
    assert project["tool"]["flit"]["module"]["name"] == "attention"
    texts = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/_lesson/**/*.py")]
    lines = []
    for file in (*texts, *ROOT.glob("attention/*.py")):
        lines += re.findall(r"pip install .*", file.read_text("utf-8"))
    assert any('".[distributed]"' in line for line in lines)
    hooks = (ROOT / "docs/_lesson/site/hooks.py").read_text("utf-8")
    assert f"{NAME}[distributed] @ git+" in hooks
    for line in lines:
        assert not re.search(r"(?<![\w./-])attention(?![\w.-])", line), line
