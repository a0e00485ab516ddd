"""The notebook stands alone and its runs print what the package prints."""

import ast
import json
import sys

import nbclient
import nbformat
import pytest
from _lesson.site import derive

import attention

RUNS = {
    f"print({name}())": getattr(attention, name)
    for name in ("run_one", "run_select", "run_scale", "run_mask", "run_params")
}
BLOCK = "import sys\nsys.modules['attention'] = None"
TRY = "try:\n    import attention\nexcept ImportError:\n    print('not to be had')"


@pytest.fixture(scope="module")
def cells():
    return json.loads(derive.notebook())["cells"]


def text(cell):
    return "".join(cell["source"])


def test_every_run_prints_what_the_package_prints(tmp_path, monkeypatch):
    for name in ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.reads(derive.notebook(), as_version=4)
    # Even where the package is installed, the notebook must not be able to use it.
    notebook.cells.insert(0, nbformat.v4.new_code_cell(BLOCK))
    notebook.cells.append(nbformat.v4.new_code_cell(TRY))
    nbclient.execute(notebook, cwd=str(tmp_path), timeout=120)
    printed = {}
    for cell in notebook.cells:
        if cell.cell_type == "code" and not cell.source.startswith("%pip"):
            assert {output.name for output in cell.outputs} <= {"stdout"}
            printed[cell.source] = "".join(output.text for output in cell.outputs)
    assert printed.pop(TRY) == "not to be had\n"
    assert {k: v for k, v in printed.items() if v} == {
        source: run() + "\n" for source, run in RUNS.items()
    }


def test_it_is_a_valid_notebook_without_outputs():
    notebook = nbformat.reads(derive.notebook(), as_version=4)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert notebook.metadata.kernelspec.name == "python3"
    for cell in notebook.cells:
        assert cell.source
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


def test_it_is_the_same_each_time():
    assert derive.notebook() == derive.notebook()


def test_it_tells_a_newcomer_what_to_do(cells):
    introduction = text(cells[0])
    assert introduction.startswith("# ")
    for words in ("Colab", "Runtime > Run all", "Save a copy\nin Drive", "numpy"):
        assert words in introduction
    assert text(cells[1]) == "%pip install --quiet numpy"


def test_its_source_is_the_script_s(cells):
    script = derive.script()
    for name in derive.MODULES[:-1]:
        (source,) = (text(cell) for cell in cells if cell["id"] == name)
        assert source in script
        assert len(source) > 500
    assert "argparse" not in "".join(map(text, cells))


def test_each_run_has_its_heading_and_one_sentence(cells):
    sources = [text(cell) for cell in cells]
    assert [source for source in sources if source in RUNS] == list(RUNS)
    for source in RUNS:
        heading, sentence = sources[sources.index(source) - 1].split("\n\n")
        assert heading.startswith("### ")
        assert sentence.endswith(".")
        assert sentence.count(".") == 1


def test_it_imports_nothing_but_numpy_and_the_standard_library(cells):
    for cell in cells:
        if cell["cell_type"] == "code" and cell["id"] != "install":
            for node in ast.walk(ast.parse(text(cell))):
                if isinstance(node, ast.ImportFrom):
                    assert node.level == 0
                    assert node.module.partition(".")[0] in sys.stdlib_module_names
                elif isinstance(node, ast.Import):
                    for alias in node.names:
                        assert alias.name in sys.stdlib_module_names | {"numpy"}
