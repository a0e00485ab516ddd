"""The single file is the package: alone with numpy it does and prints the same."""

import io
import os
import shutil
import subprocess
import sys
import tokenize
import venv
from pathlib import Path

import pytest
from _lesson.site import derive

import attention

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("download")
    (folder / "attention.py").write_bytes(derive.script().encode())
    return folder


def run(*command, cwd):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    return subprocess.run(
        command,
        cwd=cwd,
        env={**environment, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
    )


@pytest.mark.parametrize("flags", [[], ["--scale", "--one"], ["--nothing"]])
def test_it_prints_byte_for_byte_what_the_package_prints(folder, flags):
    alone = run(sys.executable, "-I", "attention.py", *flags, cwd=folder)
    package = run(sys.executable, "-m", "attention", *flags, cwd=ROOT)
    assert alone.stdout == package.stdout
    assert alone.returncode == package.returncode
    names = b"python3 attention.py", b"python -m attention"
    assert alone.stderr.replace(*names).split() == package.stderr.split()


def test_a_script_beside_it_can_import_every_public_name(folder):
    names = ", ".join(attention.__all__)
    (folder / "mine.py").write_text(
        f"import attention\nfrom attention import {names}\n"
        "print(attention.__file__)\nprint(attention.__version__)\n"
        "print(*sorted(attention.__all__))\n"
        "before = set(globals())\nfrom attention import *\n"
        "print(len(set(globals()) - before))\n",
        encoding="utf-8",
    )
    result = run(sys.executable, "mine.py", cwd=folder)
    assert result.stderr == b""
    origin, version, exported, more = result.stdout.decode().splitlines()
    assert Path(origin).resolve() == (folder / "attention.py").resolve()
    assert version == attention.__version__
    assert exported.split() == sorted(attention.__all__)
    assert more == "1"  # the name `before`: the star brings nothing new


def test_without_numpy_it_says_how_to_install_it(folder, tmp_path):
    venv.create(tmp_path / "bare", with_pip=False)
    python = tmp_path / "bare" / ("Scripts" if os.name == "nt" else "bin") / "python"
    result = run(python, "attention.py", cwd=folder)
    assert (result.returncode, result.stdout) == (1, b"")
    advice = "attention.py needs numpy. To install it: python3 -m pip install numpy"
    assert result.stderr.decode().splitlines() == [advice]
    result = run(python, "-c", "import attention", cwd=folder)
    assert result.returncode == 1
    last = result.stderr.decode().splitlines()[-1]
    assert last == f"ModuleNotFoundError: {advice}"


def test_numpy_that_is_broken_is_not_called_missing(folder, tmp_path):
    shutil.copy(folder / "attention.py", tmp_path)
    (tmp_path / "numpy.py").write_text("import something_it_needs\n")
    result = run(sys.executable, "attention.py", cwd=tmp_path)
    assert result.returncode == 1
    last = result.stderr.decode().splitlines()[-1]
    assert last == "ModuleNotFoundError: No module named 'something_it_needs'"


def test_no_line_of_the_package_is_lost():
    lines = set(derive.script().splitlines())
    for name in derive.MODULES:
        path = derive.PACKAGE / f"{name}.py"
        text = path.read_text(encoding="utf-8")
        part = derive.section(path, text)
        assert part.code.count("\n") > 10
        assert set(part.code.splitlines()) <= lines
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                assert token.string in derive.script()


def test_it_is_laid_out_as_the_package_is():
    text = derive.script()
    assert text == derive.script()
    assert max(map(len, text.splitlines())) <= 88
    assert "from ." not in text
    order = [text.index(f"\n# {name.strip('_')}\n") for name in derive.MODULES]
    assert order == sorted(order)


@pytest.mark.parametrize(
    ("module", "addition", "complaint"),
    [
        ("tables", "\n\ndef softmax():\n    pass\n", "softmax is defined in core and in tables"),
        ("runs", "\nLAYER = 1\n", "LAYER is defined in examples and in runs"),
        ("core", "\nPath = 1\n", "core defines what is imported: from pathlib import Path"),
        ("core", "\nimport os\n", "core.py:.*an import after code"),
        ("core", "\nprint()\n", "core.py:.*a statement of another kind"),
    ],
)
def test_what_cannot_share_one_file_is_refused(module, addition, complaint, tmp_path):
    package = shutil.copytree(derive.PACKAGE, tmp_path / "attention")
    with (package / f"{module}.py").open("a", encoding="utf-8") as file:
        file.write(addition)
    with pytest.raises(ValueError, match=complaint):
        derive.script(package)


@pytest.mark.parametrize(
    "line",
    [
        "from .core import softmax as other",
        "from . import core as other",
        "from ..core import softmax",
        "from numpy import exp",
        "import numpy",
        "import numpy as other",
        "import os.path",
        "import pytest",
    ],
)
def test_imports_that_cannot_be_merged_are_refused(line, tmp_path):
    package = shutil.copytree(derive.PACKAGE, tmp_path / "attention")
    text = (package / "tables.py").read_text(encoding="utf-8")
    (package / "tables.py").write_text(text.replace("import re\n", f"import re\n{line}\n"))
    with pytest.raises(ValueError, match=r"tables\.py:4: cannot be merged: "):
        derive.script(package)


def test_a_module_that_has_no_place_is_refused(tmp_path):
    package = shutil.copytree(derive.PACKAGE, tmp_path / "attention")
    (package / "more.py").write_text('"""More."""\n')
    with pytest.raises(ValueError, match="more"):
        derive.script(package)
