"""The script that a reader downloads runs with numpy alone, and does what the package does."""

import shutil
import sys

from helpers import ROOT, run


def test_the_downloaded_script_runs_with_numpy_alone(site, numpy_only, tmp_path):
    shutil.copy(site / "code/attention.py", tmp_path)
    whole = run(numpy_only, "attention.py", cwd=tmp_path)
    assert (whole.returncode, whole.stderr) == (0, "")
    flags = "--one", "--select", "--scale", "--mask", "--params"
    parts = [run(numpy_only, "attention.py", flag, cwd=tmp_path).stdout for flag in flags]
    assert all(part and part.strip() in whole.stdout for part in parts)
    assert run(numpy_only, "attention.py", *flags, cwd=tmp_path).stdout == whole.stdout


def test_the_downloaded_script_prints_what_the_package_prints(site, numpy_only, tmp_path):
    shutil.copy(site / "code/attention.py", tmp_path)
    whole = run(numpy_only, "attention.py", cwd=tmp_path).stdout
    assert run(sys.executable, "-m", "attention", cwd=ROOT).stdout == whole


def test_without_numpy_the_script_says_what_to_install(site, bare, tmp_path):
    shutil.copy(site / "code/attention.py", tmp_path)
    tried = run(bare, "attention.py", cwd=tmp_path)
    assert tried.returncode != 0
    assert "pip install numpy" in tried.stdout + tried.stderr
    assert "Traceback" not in tried.stderr


def test_the_page_shows_the_very_script_that_is_downloaded(site, parsed):
    script = (site / "code/attention.py").read_text("utf-8")
    blocks = parsed("run-it/").select("article .highlight pre > code")
    assert script.strip() in [block.get_text().strip() for block in blocks]
