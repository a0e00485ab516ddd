"""The command line: verdicts as text for a terminal."""

from __future__ import annotations

import faulthandler
import sys
import textwrap
from pathlib import Path

from .challenge import challenge
from .exercise import Exercise
from .sandbox import SECONDS
from .verdicts import judge


def report(verdict: dict) -> str:
    """A verdict as text for a terminal."""
    lines = []
    if verdict["problem"]:
        lines += [verdict["problem"]["message"], *_trace(verdict["problem"]["trace"])]
    lines += _printed(verdict["printed"])
    for case in verdict["cases"]:
        if case["state"] == "not run":
            break  # as many as the last line says
        lines.append(f"check {case['number']}: {case['message']} ({case['why']})")
        if case["state"] == "passed":
            lines += [f"  note: {case['note']}"] if case["note"] else []
        if case["state"] != "failed":
            continue
        lines.append("  " + ", ".join(f"{name}={text}" for name, text in case["call"].items()))
        lines += _trace(case["trace"])
        lines.append(f"  expected {_rows(case['expected'], case['wrong'])}")
        if case["got"]:
            lines.append(f"  got      {_rows(case['got'], case['wrong'])}")
        elif case["returned"]:
            lines.append(f"  got      {case['returned']}")
        lines += _printed(case["printed"])
    for known in verdict["recognised"]:
        lines += ["", f"{known['says']}.", known["comes_from"]]
    lines += ["", verdict["summary"]]
    if verdict["next"]:
        lines += ["", verdict["next"]["says"]]
    return "\n".join(lines)


def report_challenge(result: dict) -> str:
    """What a learner's cases catch, as text for a terminal."""
    lines = [*result["problems"]]
    lines += [f"line {one['line']} catches: {one['name']}" for one in result["caught"]]
    lines += [f"got away: {one['name']}. {one['comes_from']}" for one in result["escaped"]]
    lines += [f"told apart as well: {name}" for name in result.get("beyond", [])]
    return "\n".join([*lines, "", result["summary"]])


def _trace(trace: list[dict]) -> list[str]:
    return [f"  line {step['line']}: {step['code']}" for step in trace if step["line"]]


def _printed(text: str) -> list[str]:
    return ["  printed:", textwrap.indent(text.rstrip("\n"), "    ")] if text else []


def _rows(rows: list[list[str]], wrong: list[list[int]]) -> str:
    marked = [
        [f"*{cell}*" if [i, j] in wrong else cell for j, cell in enumerate(row)]
        for i, row in enumerate(rows)
    ]
    text = "[" + ", ".join("[" + ", ".join(row) + "]" for row in marked) + "]"
    return text.replace(", [], ", "], [")  # several matrices


def main(argv: list[str], about: str, exercise: Exercise) -> int:
    """Do what the command line `argv` asks: -> 0, 1 where a check fails, 2 for a wrong command.

    `about` is the text for --help, where {name} stands for the command's own name.
    """
    usage = about.format(name=Path(sys.argv[0]).name, **exercise.about)
    if argv in (["-h"], ["--help"]):
        print(usage)
        return 0
    if argv == ["--starter"]:
        print(exercise.data["starter"], end="")
        return 0
    cases = argv[:1] == ["--cases"]
    paths = argv[1:] if cases else argv
    if len(paths) != 1 or paths[0].startswith("-"):
        given = " ".join(argv) or "nothing"
        print(f"{usage}\nOne file was expected, given was: {given}", file=sys.stderr)
        return 2
    try:
        text = Path(paths[0]).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        print(f"Cannot read {paths[0]}: {error}", file=sys.stderr)
        return 2
    if cases:
        result = challenge(text, exercise)
        print(report_challenge(result))
        return 1 if result["escaped"] or result["problems"] else 0
    # A call into C that never comes back hears no exception: this ends it, and says where.
    faulthandler.dump_traceback_later(5 * SECONDS, exit=True)
    verdict = judge(text, exercise)
    faulthandler.cancel_dump_traceback_later()
    print(report(verdict))
    return 0 if verdict["passed"] == verdict["total"] else 1
