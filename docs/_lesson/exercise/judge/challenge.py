"""The other way round: a learner's cases against the exercise's wrong programs."""

from __future__ import annotations

import ast
import math
import re

from .characters import stray
from .exercise import Exercise, results_of
from .results import short, size
from .verdicts import compare

# What a learner's cases may be: enough for every idea, and quick in any browser.
MOST_CASES, MOST_ROWS = 20, 8


def read_cases(text: str, exercise: Exercise) -> tuple[list[dict], list[str]]:
    """Read cases, one a line, each argument as NAME=VALUE: -> (cases, what is wrong)."""
    cases, problems = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            cases.append(read_case(line, exercise) | {"line": number})
        except ValueError as error:
            problems.append(f"line {number}: {error}")
    if len(cases) > MOST_CASES:
        problems.append(f"{len(cases)} cases: at most {MOST_CASES} are run")
    if not cases and not problems:
        problems.append("no case yet: write one a line")
    return cases, problems


def read_case(line: str, exercise: Exercise) -> dict:
    """One case; raises ValueError that says what is wrong with it and what would be right."""
    arguments, names = exercise.data["argument"], exercise.names
    # JSON writes true where Python writes True: both will do.
    line = re.sub(r"\b(true|false)\b", lambda word: word[0].title(), line.strip().rstrip(","))
    try:
        call = ast.parse(f"case({line})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise SyntaxError
        case = {part.arg: ast.literal_eval(part.value) for part in call.keywords}
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError) as error:
        form = ", ".join(f"{one['name']}={KINDS[one['kind']][0]}" for one in arguments)
        why = ". ".join(
            filter(None, [f"cannot read {short(line)}: write {form}", stray(str(error))])
        )
        raise ValueError(why) from None
    if sorted(case, key=str) != sorted(names):
        wanted = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
        found = ", ".join(map(str, case)) or "nothing"
        raise ValueError(f"a case has {wanted}, this one has {found}")
    for kind, (_, check) in KINDS.items():
        for name in (one["name"] for one in arguments if one["kind"] == kind):
            check(name, case[name])
    check_sizes(case, exercise)
    return case


def check_truth(name: str, value: object) -> None:
    """Raise ValueError for what is neither True nor False."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} is {short(value)}: write True or False")


def check_whole(name: str, value: object) -> None:
    """Raise ValueError for what is no small whole number from one on."""
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST_ROWS:
        raise ValueError(f"{name} is {short(value)}: write a whole number from 1 to {MOST_ROWS}")


def check_rows(name: str, rows: object) -> None:
    """Raise ValueError for what is not a small list of equally long rows of finite numbers."""
    good = isinstance(rows, list) and rows and all(isinstance(r, list) and r for r in rows)
    if not good:
        raise ValueError(f"{name} is {short(rows)}: write a list of rows, as [[1, 0], [0, 1]]")
    if len({len(row) for row in rows}) > 1:
        raise ValueError(f"the rows of {name} have different lengths: {short(rows)}")
    if len(rows) > MOST_ROWS or len(rows[0]) > MOST_ROWS:
        raise ValueError(f"{name} has {size(rows)}: at most {MOST_ROWS} of {MOST_ROWS} are run")
    for cell in (cell for row in rows for cell in row):
        try:
            number = not isinstance(cell, bool) and math.isfinite(cell)
        except (TypeError, OverflowError):
            number = False
        if not number:
            raise ValueError(f"{name} holds {short(cell)}: a finite number was expected")


def check_sizes(case: dict, exercise: Exercise) -> None:
    """Raise ValueError where arguments do not fit each other, as the exercise says they must."""
    for rule in exercise.data.get("same_width", []):
        (one, width), (other, others) = ((name, len(case[name][0])) for name in rule["of"])
        if width != others:
            raise ValueError(
                f"a row of {one} has {width} numbers, one of {other} {others}: {rule['because']}"
            )
    for rule in exercise.data.get("same_length", []):
        one, other = rule["of"]
        if len(case[one]) != len(case[other]):
            raise ValueError(
                f"{one} has {size(case[one])}, {other} {size(case[other])}: {rule['because']}"
            )
    for rule in exercise.data.get("product", []):
        one, other = rule["of"]
        if len(case[one][0]) != len(case[other]):
            raise ValueError(
                f"a row of {one} has {len(case[one][0])} numbers, and {other} "
                f"{size(case[other])}: {rule['because']}"
            )
    for rule in exercise.data.get("divides", []):
        parts, rows = rule["of"]
        if len(case[rows][0]) % case[parts]:
            raise ValueError(
                f"a row of {rows} has {len(case[rows][0])} numbers, and {parts} is "
                f"{case[parts]}: {rule['because']}"
            )
    for rule in exercise.data.get("pairs", []):
        width = len(case[rule["of"]][0])
        if width % 2:
            raise ValueError(f"a row of {rule['of']} has {width} numbers: {rule['because']}")


# What an argument may be: how it is written, and what checks it.
KINDS = {
    "truth": ("False", check_truth),
    "whole": ("2", check_whole),
    "rows": ("[[…]]", check_rows),
}


def challenge(text: str, exercise: Exercise) -> dict:
    """Run every wrong answer on a learner's cases: which of them are caught?

    -> {summary, problems, caught: [{name, line}], escaped: [{name, comes_from}],
        beyond: names of those equal on ordinary numbers that were told apart all the same}
    """
    cases, problems = read_cases(text, exercise)
    if not problems:
        outputs = results_of(exercise.data["solution"], cases, exercise.names, **exercise.how)
        for case, right in zip(cases, outputs, strict=True):
            value = right["value"] or []
            if not value or not all(math.isfinite(x) for row in value for x in row):
                problems.append(
                    f"line {case['line']}: the right answer is beyond what a float can hold: "
                    "use smaller numbers"
                )
            case["output"] = value
    if problems:
        summary = "Not run: the cases cannot be read"
        return {"summary": summary, "problems": problems, "caught": [], "escaped": []}
    caught, escaped, beyond = [], [], []
    for wrong in exercise.wrong:
        results = results_of(wrong["program"], cases, exercise.names, **exercise.how)
        line = next(
            (
                case["line"]
                for case, result in zip(cases, results, strict=True)
                if compare(result, case["output"])["state"] == "failed"
            ),
            None,
        )
        about = {"name": wrong["name"], "comes_from": wrong["comes_from"]}
        if wrong["equal"]:
            beyond += [wrong["name"]] if line else []
        elif line:
            caught.append({"name": wrong["name"], "line": line})
        else:
            escaped.append(about)
    total = len(caught) + len(escaped)
    return {
        "summary": f"Your cases catch {len(caught)} of {total}",
        "problems": [],
        "caught": caught,
        "escaped": escaped,
        "beyond": beyond,
    }
