"""Judge a program that should compute attention, and say what it seems to do instead.

    python3 {name} my_solution.py         run the checks on solve(Q, K, V, causal)
    python3 {name} --cases my_cases.txt   which wrong programs do your own cases catch?
    python3 {name} --starter              print the code to begin with

Needs Python 3.11 or newer and nothing else. The same file judges in the browser, on the
command line and in the tests. It knows nothing of attention: the task, its cases, the
solution and the wrong answers are in the exercise's data file.
"""

from __future__ import annotations

import ast
import builtins
import copy
import faulthandler
import functools
import io
import math
import numbers
import re
import sys
import textwrap
import tomllib
from math import isclose  # bound here: a learner's code may change what a module holds
from pathlib import Path
from time import monotonic

SECONDS = 2  # that a learner's code may run, over all checks together
PRINTED = 2000  # characters of its output that are kept, for each check
MOST = 12  # rows and columns of a result that are shown
FILE = "<your code>"
TOOL = 4  # of sys.monitoring: one of the two that Python leaves free

EXERCISE = ""  # the data file's text, in the copy that is made for download

# What a learner's cases may be: enough for every idea, and quick in any browser.
MOST_CASES, MOST_ROWS = 20, 8


class Stopped(BaseException):
    """Raised in a learner's code when its time is up; `except Exception` lets it pass."""


# The exercise


class Exercise:
    """What the data file says: `data` is all of it, `cases` and `wrong` its two lists."""

    def __init__(self, text: str):
        self.data = tomllib.loads(text)
        self.cases = self.data["case"]
        self.wrong = self.data["wrong"]

    @functools.cached_property
    def results(self) -> list[list[dict]]:
        """What each wrong answer gives for each case."""
        return [results_of(wrong["program"], self.cases) for wrong in self.wrong]

    def recognised(self, results: list[dict]) -> list[dict]:
        """The wrong answers whose outputs these are, each with its name and where from."""
        return [
            {"name": wrong["name"], "comes_from": wrong["comes_from"]}
            for wrong, others in zip(self.wrong, self.results, strict=True)
            if all(
                alike(mine, other, case["output"])
                for mine, other, case in zip(results, others, self.cases, strict=True)
            )
        ]


def results_of(program: str, cases: list[dict]) -> list[dict]:
    """What a program of the data file gives for each of `cases`; it is not timed."""
    run = Run(program, seconds=math.inf)
    if run.problem:
        raise ValueError(f"a program of the exercise fails: {run.problem['message']}")
    return [run.call(case) for case in cases]


def alike(result: dict, other: dict, output: list) -> bool:
    """Are two results the same answer? All that has not the output's shape is one answer."""
    usable = [fits(one["value"], output) for one in (result, other)]
    if not all(usable):
        return not any(usable)
    return result["changed"] == other["changed"] and not differing(result["value"], other["value"])


# Running code


class Run:
    """A source text, run once; `call` gives what its `solve` makes of one case."""

    def __init__(self, source: str, seconds: float = SECONDS, reached=None):
        self.source, self.reached = source, reached
        self.until = monotonic() + seconds
        self.namespace = {"__name__": "your_code", "input": _no_input}
        self.stopped = False
        done = self._guarded(lambda: exec(compile(source, FILE, "exec"), self.namespace))
        self.printed, self.problem = done["printed"], done["error"]
        if not self.problem and not callable(self.namespace.get("solve")):
            self.problem = {"message": self._no_solve(), "trace": []}

    def call(self, case: dict) -> dict:
        """Run `solve` on copies of the case's arguments.

        -> {value: rows of floats or None, returned: as text, problem, note, error,
            printed, changed: did it change its arguments}
        """
        given = [copy.deepcopy(case[name]) for name in ("Q", "K", "V")]
        kept = copy.deepcopy(given)
        done = self._guarded(lambda: self.namespace["solve"](*given, case["causal"]))
        value, problem, note = None, "", ""
        try:
            done["changed"] = bool(given != kept)
            if not done["error"]:
                value, problem, note = matrix(done["got"])
        except Exception as error:  # of a learner's own class, or an array among the lists
            done["changed"] = True
            problem = f"the result cannot be read: {type(error).__name__}"
        returned = "" if done["error"] else short(done["got"])
        return done | {"value": value, "returned": returned, "problem": problem, "note": note}

    def _no_solve(self) -> str:
        if "solve" in self.namespace:
            return f"solve is {short(self.namespace['solve'])}: it should be a function"
        made = [
            name
            for name, thing in self.namespace.items()
            if callable(thing) and getattr(thing, "__module__", "") == "your_code"
        ]
        found = f" There is {', '.join(made)}." if made else ""
        return f"No function is named solve.{found} The checks call solve(Q, K, V, causal)."

    def _guarded(self, action) -> dict:
        """Do `action`; -> {got, error, printed}. Whatever it changes is put back."""
        printed = Printed()
        # What a program may leave behind for the next one.
        kept = [(vars(module), dict(vars(module))) for module in (builtins, math)]
        streams, depth = (sys.stdout, sys.stderr, sys.stdin), sys.getrecursionlimit()
        sys.stdout = sys.stderr = printed
        sys.stdin = io.StringIO()
        got = error = None
        watch = Watch(self.until, self.reached)
        try:
            watch.start()
            got = action()
        except BaseException as raised:  # SystemExit too, and Stopped
            error = raised
        finally:
            watch.end()
            sys.stdout, sys.stderr, sys.stdin = streams
            sys.setrecursionlimit(depth)
            for namespace, names in kept:
                for added in namespace.keys() - names.keys():
                    del namespace[added]
                namespace.update(names)
        if isinstance(error, Stopped | KeyboardInterrupt):
            self.stopped = True
        described = describe(error, self.source) if error is not None else None
        return {"got": got, "error": described, "printed": printed.text()}


class Watch:
    """Stops a learner's loops in time, and tells which lines are reached.

    `reached(line)` is called as a line is first run: when a call into C never comes
    back, that was the last thing heard.
    """

    def __init__(self, until: float, reached):
        self.until, self.reached = until, reached
        self.needed = until != math.inf
        self.modern = hasattr(sys, "monitoring")  # Python 3.12 and newer

    def start(self) -> None:
        if self.needed and self.modern:
            monitor, events = sys.monitoring, sys.monitoring.events
            monitor.use_tool_id(TOOL, "judge")
            watched = (events.JUMP, events.PY_START, events.PY_RESUME)
            for event in watched:
                monitor.register_callback(TOOL, event, self._event)
            monitor.register_callback(TOOL, events.LINE, self._line)
            monitor.set_events(TOOL, sum(watched) | (events.LINE if self.reached else 0))
            monitor.restart_events()
        elif self.needed:
            sys.settrace(self._traced)

    def end(self) -> None:
        if self.needed and self.modern:
            sys.monitoring.set_events(TOOL, 0)
            sys.monitoring.free_tool_id(TOOL)
        elif self.needed:
            sys.settrace(None)

    def _event(self, code, *_):
        if code.co_filename != FILE:
            return sys.monitoring.DISABLE
        if monotonic() > self.until:
            raise Stopped
        return None

    def _line(self, code, line):
        if code.co_filename == FILE:
            self.reached(line)
        return sys.monitoring.DISABLE  # once is enough

    def _traced(self, frame, event, arg):
        if frame.f_code.co_filename != FILE:
            return None
        frame.f_trace_opcodes = True  # a loop on one line has no event of its own
        # What is raised at an exception's event, at a return's, or between two lines, as at
        # the end of an except, is told without its line.
        if monotonic() > self.until and event in ("line", "opcode") and frame.f_lineno:
            raise Stopped
        if event == "line" and self.reached:
            self.reached(frame.f_lineno)
        return self._traced


class Printed(io.TextIOBase):
    """Keeps the beginning of what is written to it, and counts the rest."""

    def __init__(self):
        self.parts, self.size = [], 0

    def write(self, text: str) -> int:
        if self.size < PRINTED:
            self.parts.append(text[: PRINTED - self.size])
        self.size += len(text)
        return len(text)

    def text(self) -> str:
        more = self.size - PRINTED
        return "".join(self.parts) + (f"\n… and {more:,} more characters" if more > 0 else "")


def _no_input(prompt=""):
    raise EOFError("nobody is there to answer input(): solve gets all it needs as arguments")


def describe(error: BaseException, source: str) -> dict:
    """An error as {message, trace}: the learner's lines, the one that failed last."""
    lines = source.splitlines()
    if isinstance(error, SyntaxError) and error.filename == FILE:
        line = error.lineno or 1
        code = lines[line - 1] if line <= len(lines) else ""
        return {
            "message": f"{type(error).__name__}: {error.msg}, at line {line}",
            "trace": [{"line": line, "inside": "", "code": code.strip()}],
        }
    trace, step = [], error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if code.co_filename == FILE:
            # What Python puts between two lines, as at the end of an except, has none.
            line = step.tb_lineno or step.tb_frame.f_lineno or code.co_firstlineno
            text = lines[line - 1].strip() if line <= len(lines) else ""
            inside = "" if code.co_name == "<module>" else code.co_name
            trace.append({"line": line, "inside": inside, "code": text})
        step = step.tb_next
    if len(trace) > 5:  # a recursion
        trace = [*trace[:2], {"line": 0, "inside": "", "code": "…"}, *trace[-2:]]
    at = f", at line {trace[-1]['line']}" if trace else ""
    if isinstance(error, Stopped):
        message = f"Stopped after {SECONDS} seconds{at}: is there a loop that never ends?"
    elif isinstance(error, KeyboardInterrupt):
        message = f"Interrupted{at}"
    elif isinstance(error, SystemExit):
        message = f"The code asked Python to exit{at}: solve should return its result"
    else:
        try:
            text = str(error)
        except Exception:
            text = ""
        text = f"{type(error).__name__}: {text[:300]}".rstrip(": ")
        message = f"{text}{at}"
        if isinstance(error, TypeError) and not trace:
            message += ". The checks call solve(Q, K, V, causal)"
        elif isinstance(error, ModuleNotFoundError) and error.name == "numpy":
            message += ". There is no numpy here: lists and math are enough"
    return {"message": message, "trace": trace}


# Results


def matrix(got: object) -> tuple[list[list[float]] | None, str, str]:
    """Read what was returned as rows of floats: -> (rows, what is wrong, a note)."""
    if got is None:
        return None, "solve returned None: does it end with a return?", ""
    rows, kind = listed(got)
    if rows is None:
        return None, f"solve returned {said(got)}: a list of rows was expected", ""
    if len(rows) > 1000:
        return None, f"solve returned {len(rows):,} rows", ""
    kinds, values = {kind}, []
    for i, row in enumerate(rows):
        cells, kind = listed(row)
        if cells is None:
            return None, f"row {i} is {said(row)}: each row is a list of numbers", ""
        if len(cells) > 1000:
            return None, f"row {i} has {len(cells):,} numbers", ""
        kinds.add(kind)
        values.append([])
        for j, cell in enumerate(cells):
            if isinstance(cell, bool) or not isinstance(cell, numbers.Real):
                where = f"row {i}, column {j}"
                return None, f"{where} is {said(cell)}: a number was expected", ""
            try:
                values[-1].append(float(cell))
            except (OverflowError, ValueError):
                return None, f"row {i}, column {j} is too large for a float", ""
    widths = [len(row) for row in values]
    if len(set(widths)) > 1:
        return None, f"the rows have different lengths: {short(widths)}", ""
    others = " and ".join(sorted(kinds - {"list"}))
    return values, "", f"{others} read as lists" if others else ""


def listed(value: object) -> tuple[list | tuple | None, str]:
    """A list, a tuple or an array as something to index, and what it was."""
    if isinstance(value, list | tuple):
        return value, type(value).__name__
    if hasattr(value, "tolist") and not isinstance(value, type):  # of numpy and array
        value, kind = value.tolist(), type(value).__name__
        return (value, kind) if isinstance(value, list) else (None, kind)
    return None, ""


def fits(rows: list | None, output: list) -> bool:
    """Has a result the shape of the right one?"""
    return rows is not None and [len(row) for row in rows] == [len(row) for row in output]


def close(x: float, y: float) -> bool:
    """Doubles differ a little between Pythons: the same to nine digits is the same."""
    return isclose(x, y, rel_tol=1e-9, abs_tol=1e-9) or (x != x and y != y)


def differing(rows: list, others: list) -> list[list[int]]:
    """Where two results of one shape differ, as [row, column]."""
    return [
        [i, j]
        for i, row in enumerate(rows)
        for j, cell in enumerate(row)
        if not close(cell, others[i][j])
    ]


def size(rows: list) -> str:
    many = "row" if len(rows) == 1 else "rows"
    return f"{len(rows)} {many} of {len(rows[0]) if rows else 0}"


def said(value: object) -> str:
    return f"{short(value)}, of type {type(value).__name__}"


def short(value: object) -> str:
    """A value as text, whatever its size and however it is written."""
    try:
        if isinstance(value, list | tuple) and len(value) > MOST:
            return f"{short(value[:3])[:-1]}, … {len(value):,} in all]"
        text = repr(value)
    except Exception as error:
        text = f"something whose repr raises {type(error).__name__}"
    return text if len(text) <= 200 else text[:200] + "…"


def written(rows: list, others: list) -> list[list[str]]:
    """Numbers to show: six digits, or all where six would hide a difference."""
    shown = []
    for i, row in enumerate(rows[:MOST]):
        shown.append([])
        for j, cell in enumerate(row[:MOST]):
            text = f"{cell:.6g}"
            if i < len(others) and j < len(others[i]):
                other = others[i][j]
                if text == f"{other:.6g}" and not close(cell, other):
                    text = repr(cell)
            shown[-1].append(text)
    return shown


# Verdicts


def judge(source: str, exercise: Exercise, reached=None) -> dict:
    """Run a learner's code on every case: -> the verdict as plain data.

    {passed, total, summary, problem, printed, cases: [...], recognised: [...]}. `reached`
    is called with the number of the check and the line, before a line is first run.
    """
    total = len(exercise.cases)
    number = 0
    run = Run(source, reached=reached and (lambda line: reached(number, line)))
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
                "call": {name: short(case[name]) for name in ("Q", "K", "V", "causal")},
            }
            | verdict
        )
    passed = sum(case["state"] == "passed" for case in cases)
    if passed == total:
        summary = f"All {total} checks passed"
    else:
        summary = f"{passed} of {total} checks passed"
    known = passed < total and None not in results
    return {
        "passed": passed,
        "total": total,
        "summary": summary,
        "problem": run.problem,
        "printed": run.printed,
        "cases": cases,
        "recognised": exercise.recognised(results) if known else [],
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
        message = f"{size(output)} expected, {size(value)} returned"
    else:
        wrong = differing(output, value)
        message = ""
        if wrong:
            cells = "number differs" if len(wrong) == 1 else "numbers differ"
            message = f"{len(wrong)} {cells}"
            if any(not math.isfinite(value[i][j]) for i, j in wrong):
                message += ", and some are not finite"
        elif result["changed"]:
            message = "the output is right, but solve changed the lists it was given"
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


# The other way round: a learner's cases against the wrong answers


def read_cases(text: str) -> tuple[list[dict], list[str]]:
    """Read cases, one a line: -> (cases, what is wrong with the text).

    Q=[[1, 0]], K=[[1, 0], [0, 1]], V=[[1], [2]], causal=False
    """
    cases, problems = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            cases.append(read_case(line) | {"line": number})
        except ValueError as error:
            problems.append(f"line {number}: {error}")
    if len(cases) > MOST_CASES:
        problems.append(f"{len(cases)} cases: at most {MOST_CASES} are run")
    if not cases and not problems:
        problems.append("no case yet: write one a line")
    return cases, problems


def read_case(line: str) -> dict:
    """One case; raises ValueError that says what is wrong with it and what would be right."""
    # JSON writes true where Python writes True: both will do.
    line = re.sub(r"\b(true|false)\b", lambda word: word[0].title(), line.strip().rstrip(","))
    try:
        call = ast.parse(f"case({line})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise SyntaxError
        case = {part.arg: ast.literal_eval(part.value) for part in call.keywords}
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        raise ValueError(
            f"cannot read {short(line)}: write Q=[[…]], K=[[…]], V=[[…]], causal=False"
        ) from None
    names = ["Q", "K", "V", "causal"]
    if sorted(case, key=str) != sorted(names):
        found = ", ".join(map(str, case)) or "nothing"
        raise ValueError(f"a case has Q, K, V and causal, this one has {found}")
    if not isinstance(case["causal"], bool):
        raise ValueError(f"causal is {short(case['causal'])}: write True or False")
    for name in names[:3]:
        check_rows(name, case[name])
    Q, K, V = (case[name] for name in names[:3])
    if len(Q[0]) != len(K[0]):
        raise ValueError(
            f"a row of Q has {len(Q[0])} numbers, one of K {len(K[0])}: "
            "a query and a key are equally wide"
        )
    if len(K) != len(V):
        raise ValueError(f"K has {size(K)}, V {size(V)}: each key has its value")
    return case


def check_rows(name: str, rows: object) -> None:
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


def challenge(text: str, exercise: Exercise) -> dict:
    """Run every wrong answer on a learner's cases: which of them are caught?

    -> {summary, problems, caught: [{name, line}], escaped: [{name, comes_from}],
        beyond: names of those equal on ordinary numbers that were told apart all the same}
    """
    cases, problems = read_cases(text)
    if not problems:
        for case, right in zip(cases, results_of(exercise.data["solution"], cases), strict=True):
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
        results = results_of(wrong["program"], cases)
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


# The command line


def report(verdict: dict) -> str:
    """A verdict as text for a terminal."""
    lines = []
    if verdict["problem"]:
        lines += [verdict["problem"]["message"], *_trace(verdict["problem"]["trace"])]
    lines += _printed(verdict["printed"])
    for case in verdict["cases"]:
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
        lines += ["", f"These are the outputs of: {known['name']}.", known["comes_from"]]
    return "\n".join([*lines, "", verdict["summary"]])


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
    return "[" + ", ".join("[" + ", ".join(row) + "]" for row in marked) + "]"


def load() -> Exercise:
    """The exercise: the copy in this file, or the data file beside the page."""
    if EXERCISE:
        return Exercise(EXERCISE)
    beside = Path(__file__).resolve().parents[2] / "your-turn.toml"
    return Exercise(beside.read_text(encoding="utf-8"))


def main(argv: list[str]) -> int:
    usage = __doc__.format(name=Path(__file__).name)
    if argv in (["-h"], ["--help"]):
        print(usage)
        return 0
    if argv == ["--starter"]:
        print(load().data["starter"], end="")
        return 0
    cases = argv[:1] == ["--cases"]
    paths = argv[1:] if cases else argv
    if len(paths) != 1 or paths[0].startswith("-"):
        given = " ".join(argv) or "nothing"
        print(f"{usage}\nOne file was expected, given was: {given}", file=sys.stderr)
        return 2
    try:
        text = Path(paths[0]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        print(f"Cannot read {paths[0]}: {error}", file=sys.stderr)
        return 2
    if cases:
        result = challenge(text, load())
        print(report_challenge(result))
        return 1 if result["escaped"] or result["problems"] else 0
    # A call into C that never comes back hears no exception: this ends it, and says where.
    faulthandler.dump_traceback_later(5 * SECONDS, exit=True)
    verdict = judge(text, load())
    faulthandler.cancel_dump_traceback_later()
    print(report(verdict))
    return 0 if verdict["passed"] == verdict["total"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
