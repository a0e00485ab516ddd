"""Judge a program by the cases of an exercise."""

from __future__ import annotations

import math

from .exercise import Exercise
from .recognition import recognised
from .results import differing, fits, parts, short, size, written
from .sandbox import SECONDS, Run


def judge(source: str, exercise: Exercise, seconds: float = SECONDS, reached=None) -> dict:
    """Run a learner's code on every case: -> the verdict as plain data.

    {passed, total, summary, problem, printed, cases: [...], recognised: [...], next}, where
    `next` says where to go on, once all checks pass. The code may take `seconds` over all
    cases together. `reached` is called with the number of the check and the line, before a
    line is first run.
    """
    total = len(exercise.cases)
    number = 0
    heard = reached and (lambda line: reached(number, line))
    run = Run(source, exercise.names, seconds, heard, **exercise.how)
    cases, results = [], []
    for number, case in enumerate(exercise.cases, 1):
        if run.problem or run.stopped:
            result, verdict = None, {"state": "not run", "message": "not run"}
        else:
            result = run.call(case)
            verdict = compare(result, case["output"])
        results.append(result)
        cases.append(
            {
                "number": number,
                "why": case["why"],
                "hidden": case["hidden"],
                "call": {name: short(case[name]) for name in exercise.names},
            }
            | verdict
        )
    passed = sum(case["state"] == "passed" for case in cases)
    left = sum(case["state"] == "not run" for case in cases)
    if passed == total:
        summary = f"All {total} checks passed"
    elif left == total:
        summary = "No check was run"
    else:
        summary = f"{passed} of {total} checks passed" + (f", {left} not run" if left else "")
    return {
        "passed": passed,
        "total": total,
        "summary": summary,
        "problem": run.problem,
        "printed": run.printed,
        "outputs": exercise.outputs,
        "cases": cases,
        "recognised": recognised(results, exercise),
        "next": exercise.data.get("next") if passed == total else None,
    }


def compare(result: dict, output: list) -> dict:
    """One result beside the right output: -> {state, message, expected, got, wrong, ...}."""
    value = result["value"]
    wrong = []
    if result["error"]:
        message = result["error"]["message"]
    elif result["problem"]:
        message = result["problem"]
    elif not fits(value, output):
        several = [] in output
        wanted, got = (
            ", ".join(map(size, parts(rows))) if several else size(rows) for rows in (output, value)
        )
        message = f"{wanted} expected, {got} returned"
    else:
        wrong = differing(output, value)
        message = ""
        if wrong:
            cells = "number differs" if len(wrong) == 1 else "numbers differ"
            message = f"{len(wrong)} {cells}"
            if any(not math.isfinite(value[i][j]) for i, j in wrong):
                message += ", and some are not finite"
        elif result["changed"]:
            message = "the output is right, but your code changed the lists it was given"
    return {
        "state": "failed" if message else "passed",
        "message": message or "passed",
        "note": result["note"],
        "expected": written(output, value or []),
        "got": written(value or [], output),
        "returned": "" if value else result["returned"],
        "wrong": wrong,
        "trace": result["error"]["trace"] if result["error"] else [],
        "printed": result["printed"],
    }
