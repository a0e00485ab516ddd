"""Run a learner's code within limits, and say what it did: its result, error and output."""

from __future__ import annotations

import builtins
import copy
import io
import math
import sys
from time import monotonic

from .characters import stray
from .errors import in_words
from .results import read, short

SECONDS = 2  # that a learner's code may run, over all checks together
PRINTED = 2000  # characters of its output that are kept, for each check
FILE = "<your code>"
TOOL = 4  # of sys.monitoring: one of the two that Python leaves free


class Stopped(BaseException):
    """Raised in a learner's code when its time is up; `except Exception` lets it pass."""


class Run:
    """A source text, run once; `call` gives what its `solve` makes of one case.

    `names` are those of its arguments, in order, and `outputs` those of what it returns,
    where that is more than one matrix. Where `calls` names a `class` and a `method`, an object
    of that class is made for each case, and its method called with a row of each argument at
    a time: the rows that come back are the result. It may take `seconds` over all calls
    together. `reached(line)` is called before a line is first run.
    """

    def __init__(
        self, source: str, names: list[str], seconds=SECONDS, reached=None, outputs=(), calls=None
    ):
        self.source, self.names, self.seconds, self.reached = source, names, seconds, reached
        self.outputs, self.calls = outputs, calls
        self.entry = calls["class"] if calls else "solve"
        self.until = monotonic() + seconds
        self.namespace = {"__name__": "your_code", "input": _no_input}
        self.stopped = False
        done = self._guarded(lambda: exec(compile(source, FILE, "exec"), self.namespace))
        self.printed, self.problem = done["printed"], done["error"]
        if not self.problem and not callable(self.namespace.get(self.entry)):
            self.problem = {"message": self._no_solve(), "trace": []}

    def call(self, case: dict) -> dict:
        """Run `solve` on copies of the case's arguments.

        -> {value: rows of floats or None, returned: as text, problem, note, error,
            printed, changed: did it change its arguments}
        """
        given = [copy.deepcopy(case[name]) for name in self.names]
        kept = copy.deepcopy(given)
        done = self._guarded(lambda: self._called(given))
        value, problem, note = None, "", ""
        try:
            done["changed"] = bool(given != kept)
            if not done["error"]:
                value, problem, note = read(done["got"], self.outputs)
        except Exception as error:  # of a learner's own class, or an array among the lists
            done["changed"] = True
            problem = f"the result cannot be read: {type(error).__name__}"
        returned = "" if done["error"] else short(done["got"])
        return done | {"value": value, "returned": returned, "problem": problem, "note": note}

    def _called(self, given: list) -> object:
        """What the learner's function makes of a case, or an object of their class, row by row."""
        made = self.namespace[self.entry]
        if not self.calls:
            return made(*given)
        one = made()
        return [getattr(one, self.calls["method"])(*rows) for rows in zip(*given, strict=True)]

    def _no_solve(self) -> str:
        kind = "class" if self.calls else "function"
        if self.entry in self.namespace:
            return f"{self.entry} is {short(self.namespace[self.entry])}: it should be a {kind}"
        made = [
            name
            for name, thing in self.namespace.items()
            if callable(thing) and getattr(thing, "__module__", "") == "your_code"
        ]
        found = f" There is {', '.join(made)}." if made else ""
        return f"No {kind} is named {self.entry}.{found} The checks call {self._call()}."

    def _call(self) -> str:
        return called(self.names, self.calls)

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
        described = None if error is None else self._described(error)
        return {"got": got, "error": described, "printed": printed.text()}

    def _described(self, error: BaseException) -> dict:
        """An error as {message, trace, kind}: the learner's lines, the one that failed last."""
        if isinstance(error, SyntaxError) and error.filename == FILE:
            line = error.lineno or 1
            step = {"line": line, "inside": "", "code": line_of(self.source, line)}
            message = f"{type(error).__name__}: {error.msg}, at line {line}"
            message = ". ".join(filter(None, [message, stray(error.msg) or in_words(error.msg)]))
            return {"message": message, "trace": [step], "kind": type(error).__name__}
        trace = traced(error, self.source)
        at = f", at line {trace[-1]['line']}" if trace else ""
        if isinstance(error, Stopped):
            message = f"Stopped after {self.seconds} seconds{at}: is there a loop that never ends?"
        elif isinstance(error, KeyboardInterrupt):
            message = f"Interrupted{at}"
        elif isinstance(error, SystemExit):
            message = f"The code asked Python to exit{at}: it should return its result"
        else:
            message = f"{said_by(error)}{at}"
            if isinstance(error, TypeError) and not trace:
                message += f". The checks call {self._call()}"
            elif isinstance(error, ModuleNotFoundError) and error.name == "numpy":
                message += ". There is no numpy here: lists and math are enough"
            elif trace and (words := in_words(text_of(error))):
                message += f". {words}"
        kind = "arithmetic" if isinstance(error, ArithmeticError) else type(error).__name__
        return {"message": message, "trace": trace, "kind": kind}


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
    raise EOFError("nobody is there to answer input(): your code gets all it needs as arguments")


def called(names: list[str], calls: dict | None = None) -> str:
    """The call that the checks make, as a learner would write it."""
    if calls:
        rows = ", ".join(name.lower() for name in names)
        return f"{calls['class']}() and then {calls['method']}({rows}) for each row"
    return f"solve({', '.join(names)})"


def line_of(source: str, number: int) -> str:
    """One line of a source text, without its indentation; "" where there is none."""
    lines = source.splitlines()
    return lines[number - 1].strip() if number <= len(lines) else ""


def traced(error: BaseException, source: str) -> list[dict]:
    """The learner's own steps to an error, as {line, inside, code}, the last one last."""
    trace, step = [], error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if code.co_filename == FILE:
            # What Python puts between two lines, as at the end of an except, has none.
            line = step.tb_lineno or step.tb_frame.f_lineno or code.co_firstlineno
            inside = "" if code.co_name == "<module>" else code.co_name
            trace.append({"line": line, "inside": inside, "code": line_of(source, line)})
        step = step.tb_next
    if len(trace) > 5:  # a recursion
        trace = [*trace[:2], {"line": 0, "inside": "", "code": "…"}, *trace[-2:]]
    return trace


def said_by(error: BaseException) -> str:
    """An error's type and text; the type where it has none."""
    return f"{type(error).__name__}: {text_of(error)}".rstrip(": ")


def text_of(error: BaseException) -> str:
    """An error's text, cut where it is long; "" where it cannot be told."""
    try:
        return str(error)[:300]
    except Exception:
        return ""
