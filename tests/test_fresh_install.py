"""What a newcomer installs and downloads works where nothing else is installed."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from helpers import ROOT, serving, wait_for

pytestmark = pytest.mark.ci


def test_the_serve_command_of_the_readme_serves_the_site(tmp_path):
    """In a fresh clone; the page answers, and the package is installed beside it."""
    readme = (ROOT / "README.md").read_text("utf-8")
    command = re.search(r"^## Serve the site.*?^```console\n(.*?)\n```", readme, re.M | re.S)[1]
    assert command.endswith(".venv/bin/mkdocs serve")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    with serving(clone, command, PYTHONPATH="") as home:
        wait_for(home, "<h1", seconds=600)
    told = subprocess.run([clone / ".venv/bin/attention", "--one"], capture_output=True, text=True)
    assert "0.3369" in told.stdout


@pytest.fixture(scope="module")
def kernel(tmp_path_factory) -> str:
    """The name of a Jupyter kernel whose Python has numpy and the kernel, nothing else."""
    folder = tmp_path_factory.mktemp("kernel")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv/bin/python"
    pins = folder / "pins.txt"
    pins.write_text("".join(f"{d.name}=={d.version}\n" for d in metadata.distributions()))
    install = [python, "-m", "pip", "install", "-q", "--only-binary", ":all:", "-c", pins]
    subprocess.run([*install, "ipykernel", "numpy"], check=True)
    spec = folder / "jupyter/kernels/fresh"
    spec.mkdir(parents=True)
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(
        json.dumps({"argv": argv, "display_name": "fresh", "language": "python"})
    )
    before = os.environ.get("JUPYTER_PATH")
    os.environ["JUPYTER_PATH"] = str(folder / "jupyter")
    yield "fresh"
    os.environ.pop("JUPYTER_PATH")
    if before is not None:
        os.environ["JUPYTER_PATH"] = before


@pytest.mark.filterwarnings("default")  # the kernel's own, about its transport
def test_the_downloaded_notebook_runs_from_top_to_bottom(site, kernel, tmp_path):
    """Alone, and it prints what the downloaded script prints."""
    import nbclient
    import nbformat

    notebook = nbformat.read(site / "code/attention.ipynb", as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(code) >= 6
    assert not any(cell.outputs for cell in code), "it comes with outputs of another machine"
    options = {"kernel_name": kernel, "timeout": 300, "resources": {"metadata": {"path": tmp_path}}}
    nbclient.NotebookClient(notebook, **options).execute()
    told = "".join(
        output.get("text", "") for cell in code for output in cell.outputs if "text" in output
    )
    shutil.copy(site / "code/attention.py", tmp_path)
    script = subprocess.run(
        [sys.executable, "attention.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    missing = [line for line in script.splitlines() if line.strip() and line not in told]
    assert len(script.splitlines()) > 50
    assert missing == []


def test_the_notebook_needs_nothing_of_the_site(site):
    notebook = json.loads(Path(site, "code/attention.ipynb").read_text("utf-8"))
    source = "".join("".join(cell["source"]) for cell in notebook["cells"])
    assert not re.search(r"^\s*(from|import) (attention|_lesson)\b", source, re.M)
