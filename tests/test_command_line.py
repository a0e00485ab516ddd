"""The command prints the runs that are asked for, and behaves as a command should."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import attention
from attention.__main__ import main

ROOT = Path(attention.__file__).parents[1]
RUNS = {
    "--one": attention.run_one,
    "--select": attention.run_select,
    "--scale": attention.run_scale,
    "--mask": attention.run_mask,
    "--params": attention.run_params,
}


def text_of(*flags):
    return "\n\n\n".join(RUNS[flag]() for flag in flags) + "\n"


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "attention", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONUTF8": "1", **environment},
        capture_output=True,
    )


def test_without_a_flag_it_prints_all_five_and_nothing_else():
    result = run()
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.decode().replace(os.linesep, "\n") == text_of(*RUNS)


@pytest.mark.parametrize("flag", RUNS)
def test_one_flag_one_run(flag, capsys):
    assert main([flag]) == 0
    assert capsys.readouterr().out == text_of(flag)


def test_flags_combine_in_the_lesson_s_order(capsys):
    assert main(["--mask", "--one"]) == 0
    assert capsys.readouterr().out == text_of("--one", "--mask")


def test_help_explains_each_flag():
    result = run("--help")
    assert result.returncode == 0
    usage = result.stdout.decode()
    assert usage.startswith("usage: python -m attention ")
    for flag in RUNS:
        line = next(line for line in usage.splitlines() if line.strip().startswith(flag))
        assert len(line.split()) > 4


@pytest.mark.parametrize("argument", ["--nothing", "--on", "one"])
def test_an_unknown_argument_is_a_usage_error(argument, capsys):
    with pytest.raises(SystemExit) as stop:
        main([argument])
    assert stop.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("usage: ")
    assert argument in printed.err


def test_the_version(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"attention {attention.__version__}\n"


@pytest.mark.parametrize(
    ("started_as", "name"),
    [
        ("/x/attention/__main__.py", "python -m attention"),
        ("attention.py", "python3 attention.py"),
        ("/usr/bin/attention", "attention"),
    ],
)
def test_it_calls_itself_as_it_was_started(started_as, name, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [started_as])
    with pytest.raises(SystemExit):
        main(["--help"])
    assert capsys.readouterr().out.startswith(f"usage: {name} ")


@pytest.mark.parametrize("flags", [[], ["--one"]], ids=["all", "one"])
def test_a_reader_that_stops_early_is_no_error(flags):
    process = subprocess.Popen(
        [sys.executable, "-m", "attention", *flags],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    complaint = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), complaint) == (0, b"")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_without_our_letters_shows_the_rest(encoding):
    result = run("--one", "--params", PYTHONUTF8="0", PYTHONIOENCODING=encoding)
    assert (result.returncode, result.stderr) == (0, b"")
    shown = result.stdout.replace(os.linesep.encode(), b"\n")
    assert shown == text_of("--one", "--params").encode(encoding, "replace")


def test_it_is_quiet_when_warnings_are_errors():
    result = run(PYTHONWARNINGS="error")
    assert (result.returncode, result.stderr) == (0, b"")


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_help_and_version_do_not_wait_for_numpy(flag):
    program = f"import sys; sys.modules['numpy'] = None; sys.argv = ['attention', '{flag}']\n"
    program += "from attention.__main__ import main; main()"
    result = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True)
    assert (result.returncode, result.stderr) == (0, b"")
    assert b"attention" in result.stdout


def test_the_package_has_its_names_and_says_which_it_has_not():
    assert {*attention.__all__, "core", "runs"} <= set(dir(attention))
    assert attention.core.softmax is attention.softmax
    with pytest.raises(AttributeError, match=r"'attention' has no attribute 'nothing'"):
        _ = attention.nothing
