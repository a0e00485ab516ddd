"""The judge is one file for a reader, made of its modules: it does the same, and loses nothing."""

import ast
import io
import re
import shutil
import subprocess
import sys
import tokenize

import pytest
from _lesson import ROOT
from _lesson.exercise import YOUR_TURN, single_file
from _lesson.exercise.judge.challenge import challenge
from _lesson.exercise.judge.command_line import report
from _lesson.exercise.judge.exercise import Exercise
from _lesson.exercise.judge.verdicts import judge
from _lesson.exercise.publish import JUDGE, download, judge_text

EXERCISE = Exercise(YOUR_TURN.read_text("utf-8"))
SOLUTION = EXERCISE.data["solution"]
ONE = "Q=[[1, 0]], K=[[1, 0], [0, 1]], V=[[1], [2]], causal=False"


def command(folder, *words: str, code: str = "") -> subprocess.CompletedProcess:
    """Run the file as it is downloaded, with Python alone."""
    (folder / "your-turn.py").write_text(code or download(YOUR_TURN), "utf-8")
    return subprocess.run(
        [sys.executable, "-I", "-S", "your-turn.py", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={"PYTHONIOENCODING": "utf-8"},
    )


def test_the_downloaded_file_prints_the_same_verdicts(tmp_path):
    for code in (SOLUTION, EXERCISE.data["starter"], EXERCISE.wrong[0]["program"]):
        (tmp_path / "mine.py").write_text(code, "utf-8")
        result = command(tmp_path, "mine.py")
        verdict = judge(code, EXERCISE)
        assert result.stdout == report(verdict) + "\n"
        assert result.returncode == (verdict["passed"] < verdict["total"])


def test_a_checkout_runs_the_same_command_on_any_data_file(tmp_path):
    (tmp_path / "mine.py").write_text(EXERCISE.wrong[0]["program"], "utf-8")
    (tmp_path / "other.toml").write_text(
        'subject = "sums"\nsolution = "def solve(x): return x"\nwrong = []\n'
        '[[argument]]\nname = "x"\nkind = "rows"\n'
        '[[case]]\nwhy = "One."\nhidden = false\nx = [[1]]\noutput = [[1]]\n',
        "utf-8",
    )
    (tmp_path / "same.py").write_text("def solve(x): return x\n", "utf-8")
    ours = [sys.executable, "-m", "_lesson.exercise.judge"]
    options = {"cwd": ROOT / "docs", "capture_output": True, "text": True, "encoding": "utf-8"}
    result = subprocess.run([*ours, YOUR_TURN, tmp_path / "mine.py"], **options)
    assert result.stdout == command(tmp_path, "mine.py").stdout
    result = subprocess.run([*ours, tmp_path / "other.toml", tmp_path / "same.py"], **options)
    assert result.stdout == "check 1: passed (One.)\n\nAll 1 checks passed\n"
    result = subprocess.run([*ours, tmp_path / "other.toml", tmp_path / "mine.py"], **options)
    assert "TypeError" in result.stdout
    assert "The checks call solve(x)" in result.stdout


def test_the_downloaded_file_gives_the_starter_and_runs_cases(tmp_path):
    assert command(tmp_path, "--starter").stdout == EXERCISE.data["starter"]
    (tmp_path / "cases.txt").write_text(ONE, "utf-8")
    result = command(tmp_path, "--cases", "cases.txt")
    assert result.stdout.endswith(challenge(ONE, EXERCISE)["summary"] + "\n")
    assert "got away: causal ignored" in result.stdout


def test_a_file_that_begins_with_a_byte_order_mark_is_read(tmp_path):
    """As some editors write it, and some terminals."""
    (tmp_path / "mine.py").write_text(SOLUTION, "utf-8-sig")
    assert "checks passed\n" in command(tmp_path, "mine.py").stdout
    assert command(tmp_path, "mine.py").returncode == 0
    (tmp_path / "cases.txt").write_text(ONE, "utf-8-sig")
    assert "got away: causal ignored" in command(tmp_path, "--cases", "cases.txt").stdout


def test_the_help_names_the_file_and_the_call_whatever_the_file_is_called(tmp_path):
    (tmp_path / "renamed.py").write_text(download(YOUR_TURN), "utf-8")
    options = {"cwd": tmp_path, "capture_output": True, "text": True, "encoding": "utf-8"}
    said = subprocess.run([sys.executable, "-I", "renamed.py", "--help"], **options).stdout
    assert "python3 renamed.py my_solution.py  " in said
    assert "run the checks on solve(Q, K, V, causal)" in said
    assert "{" not in said


@pytest.mark.parametrize("words", [[], ["--wrong"], ["a.py", "b.py"], ["missing.py"]])
def test_a_wrong_command_is_answered_with_what_was_given(words, tmp_path):
    result = command(tmp_path, *words)
    assert result.returncode == 2
    assert (" ".join(words) or "nothing") in result.stderr


def test_a_loop_inside_c_ends_the_command_and_names_the_line(tmp_path):
    (tmp_path / "mine.py").write_text(
        "def solve(Q, K, V, causal):\n    return sum(range(10**12))\n", "utf-8"
    )
    quick = download(YOUR_TURN).replace("SECONDS = 2 ", "SECONDS = 0.1 ")
    result = command(tmp_path, "mine.py", code=quick)
    assert result.returncode != 0
    assert 'File "<your code>", line 2 in solve' in result.stderr


# --- How it is made


def statements(text: str) -> list[str]:
    """Each statement of a module, in order, but for its docstring and its imports."""
    below = [node for node in ast.parse(text).body[1:] if not single_file.is_import(node)]
    return [ast.dump(node) for node in below]


def test_every_statement_and_comment_of_every_module_is_in_the_file():
    text = judge_text()
    modules = [file.read_text("utf-8") for file in JUDGE.glob("[!_]*.py")]
    assert len(modules) == 9
    every = [statement for module in modules for statement in statements(module)]
    assert sorted(statements(text)) == sorted(every)
    for token in tokenize.generate_tokens(io.StringIO("".join(modules)).readline):
        if token.type == tokenize.COMMENT:
            assert token.string in text
    assert statements(download(YOUR_TURN))[:-2] == statements(text)


def test_it_needs_the_standard_library_alone_and_knows_nothing_of_attention():
    text = judge_text()
    imports = filter(single_file.is_import, ast.walk(ast.parse(text)))
    sources = {getattr(node, "module", None) or node.names[0].name for node in imports}
    assert sources <= sys.stdlib_module_names
    assert re.findall(r"\b(?:Q|K|V|causal|attention|query|queries|softmax)\b", text) == []


def test_its_modules_and_functions_are_small():
    for file in [*JUDGE.glob("*.py"), *JUDGE.parent.glob("*.py")]:
        text = file.read_text("utf-8")
        assert text.count("\n") < 300, file.name
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno - node.lineno < 60, node.name


@pytest.fixture
def package(tmp_path):
    """A package of two modules, the first of which needs the second."""
    (tmp_path / "__init__.py").write_text('"""About both."""\n')
    (tmp_path / "above.py").write_text(
        '"""Above."""\n\nimport math\n\nfrom .below import half\n\n\ndef f():\n'
        "    return half(math.pi)\n"
    )
    (tmp_path / "below.py").write_text(
        '"""Below."""\n\nimport math\nimport sys\n\n# Kept.\nBITS = 53\n\n\ndef half(x):\n'
        "    return x / 2\n"
    )
    return tmp_path


def test_what_a_module_needs_comes_before_it(package):
    text = single_file.join(package)
    given = {}
    exec(text, given)
    assert given["f"]() * 2 == given["math"].pi
    assert text.startswith('"""About both."""\n')
    assert text.count("import math\n") == 1
    assert text.index("# Kept.\nBITS = 53") < text.index("def half") < text.index("def f")
    assert single_file.join(package, "Another.").startswith('"""Another."""\n')


HEAD = '"""Above."""\n\n'
REFUSED = {
    "import numpy": r"above\.py:3: cannot be merged: import numpy",
    "import math as m": r"above\.py:3: cannot be merged",
    "import os.path": r"above\.py:3: cannot be merged",
    "from math import *": r"above\.py:3: cannot be merged",
    "from math import pi as tau": r"above\.py:3: cannot be merged",
    "from . import below": r"above\.py:3: cannot be merged",
    "from .. import other": r"above\.py:3: cannot be merged",
    "from .below import half as h": r"above\.py:3: cannot be merged",
    "from .below import third": r"above\.py: below\.py defines no third",
    "from .beside import half": r"above\.py: beside\.py defines no half",
    "import math  # for pi": r"above\.py:3: a comment among imports would be lost",
    "# For pi.\nimport math": r"above\.py:3: a comment among imports would be lost",
    "import math; x = 1": r"above\.py:3: a statement on an import's line",
    "x = 1\nimport math": r"above\.py:4: an import below other code",
    "def f():\n    import math": r"above\.py:4: an import below other code",
    "print()": r"above\.py:3: a statement of another kind",
    "if True:\n    x = 1": r"above\.py:3: a statement of another kind",
    "half = 1": r"half is .*above\.py.*below\.py",
    "math = 1": r"math is what above\.py defines, and in below\.py import math",
    "from cmath import sys": r"sys is from cmath import sys, and in below\.py import sys",
    "def print():\n    pass": r"above\.py defines print, which others have from Python",
    "x, (y, BITS) = 1, (2, 3)": r"BITS is .*above\.py.*below\.py",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_joined_is_refused_with_its_place(text, package):
    (package / "above.py").write_text(f"{HEAD}{text}\n")
    with pytest.raises(ValueError, match=REFUSED[text]):
        single_file.join(package)


def test_a_circle_of_imports_is_refused(package):
    (package / "below.py").write_text('"""Below."""\n\nfrom .above import f\n\nhalf = f\n')
    with pytest.raises(ValueError, match="cycle"):
        single_file.join(package)


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("__init__", '"""About."""\nx = 1\n', "only a docstring can be joined"),
        ("__init__", "", "only a docstring can be joined"),
        ("above", "x = 1\n", r"above\.py: a docstring comes first"),
        ("above", '"""A \\"quote\\"."""\n\nx = 1\n', None),
    ],
)
def test_each_file_begins_with_what_it_is_about(name, text, complaint, package):
    (package / f"{name}.py").write_text(text)
    if complaint:
        with pytest.raises(ValueError, match=complaint):
            single_file.join(package)
    else:
        assert '# A "quote".' in single_file.join(package)


@pytest.mark.parametrize("text", ['a """ b', "a \\ b", 'a "'])
def test_data_that_quotes_would_change_is_refused(text, tmp_path):
    data = tmp_path / "other.toml"
    data.write_text(YOUR_TURN.read_text("utf-8") + f"# {text}", "utf-8")
    with pytest.raises(ValueError, match="cannot stand between triple quotes"):
        download(data)


def test_a_server_makes_it_anew_of_what_is_saved(tmp_path, monkeypatch):
    """The hook lets go of the whole package, whose attributes would hold on to its modules."""
    from _lesson.site import exercise as hook

    shutil.copytree(JUDGE, tmp_path / "again")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    from again import sandbox

    assert sandbox.SECONDS == 2
    file = tmp_path / "again/sandbox.py"
    file.write_text(file.read_text("utf-8").replace("SECONDS = 2 ", "SECONDS = 3 "), "utf-8")
    hook.forget("again")
    from again import sandbox, verdicts

    assert sandbox.SECONDS == verdicts.SECONDS == 3
