"""The page of an exercise: its parts, each as text for one of the page's blocks to print."""

from __future__ import annotations

import html
import re
from pathlib import Path

from _lesson.exercise import editor, judge, publish, runtime
from _lesson.exercise.judge.exercise import Exercise
from _lesson.exercise.judge.results import TOLERANCE, parts, power, written
from _lesson.site import glossary

LOCAL = """\
Save [{name}]({folder}/{name}){{ download }}, and beside it your code as `my_solution.py`.
Python {python} or newer is all that it needs:

```console
python3 {name} my_solution.py
```

With `--starter` in place of the file's name it prints the code to begin with; with
`--cases my_cases.txt` it runs the wrong programs on cases of your own.
"""
MISSING = (
    "This copy of the site was built without Python for the browser. "
    "Run it on your own computer, as said below “Your turn”."
)
LEADING = (
    "Below the editor there are [the words](#words-to-know), [the steps](#how-it-works) and "
    "[a worked example](#a-worked-example), for you to open."
)
CLOSE = """\
The last digits of a number depend on the order in which you add, so they do not count: a number
passes if it differs from the expected one by at most {tolerance}, or by at most that part of the
larger of the two. Python's own floats come far closer. Single precision (`float32`) does not
come so close, and a number that you have rounded may not.
"""
BOX = """\
<div class="turn" data-kind="{kind}" data-runtime="{runtime}" data-bytes="{size}"
 data-exercise="{exercise}" data-version="{version}" data-editor="{editor}">
<label id="turn-{kind}-name" for="turn-{kind}">{name}</label>
<textarea id="turn-{kind}" rows="{rows}" spellcheck="false" autocapitalize="off"
 autocomplete="off" readonly aria-describedby="turn-{kind}-keys">{text}</textarea>
<p id="turn-{kind}-keys"><kbd>Ctrl</kbd>+<kbd>Enter</kbd> runs.
<span class="turn-plain"><kbd>Tab</kbd> leaves the box.
<kbd>Shift</kbd>+<kbd>Enter</kbd> starts a line as far in as the one before.</span>
<span class="turn-rich" hidden><kbd>Tab</kbd> moves lines in, <kbd>Shift</kbd>+<kbd>Tab</kbd> out.
<kbd>Esc</kbd>, then <kbd>Tab</kbd>, leaves the editor.</span>
What you write is kept in this browser.</p>
<p class="turn-buttons">
<button type="button" class="md-button md-button--primary" data-do="run" disabled>{run}</button>
<button type="button" class="md-button" data-do="stop" disabled>Stop</button>
<button type="button" class="md-button" data-do="reset" disabled>Reset</button>
<button type="button" class="md-button" data-do="undo" hidden>Undo reset</button>
<progress hidden aria-label="Loading Python"></progress>
<span class="turn-time"></span>
</p>
<div class="turn-results" role="status" aria-label="{results}" aria-atomic="false">
<p class="turn-summary">Not run yet.</p>
</div>
<noscript><p>Without JavaScript, run the checks on your own computer, as said below.</p></noscript>
</div>"""


class ExercisePage:
    """What the page of one exercise shows: all of it comes from its data file."""

    def __init__(self, data_file: Path):
        self.data_file = data_file
        self.exercise = Exercise(data_file.read_text("utf-8"))
        self.data = self.exercise.data

    def words(self) -> str:
        """The words to know, as the glossary has them."""
        meaning = glossary.entries()
        return "\n".join(f"**{word}**\n:   {meaning[word]}\n" for word in self.data["words"])

    def task(self) -> str:
        """What is asked: the arguments, and what is returned."""
        rows = [f"| `{one['name']}` | {one['holds']} |" for one in self.data["argument"]]
        rows.append(f"| returns | {self.data['returns']} |")
        head = ["| argument | what it holds |", "| --- | --- |"]
        return "\n".join([self.data["task"].strip(), "", *head, *rows, "", LEADING])

    def cases(self) -> str:
        """The visible cases as a table, a matrix with a line for each row."""
        lines = []
        for case in self.exercise.cases:
            if not case["hidden"]:
                cells = [cell(case[name]) for name in self.exercise.names]
                several = len(self.exercise.outputs) > 1
                shown = written(case["output"], [])
                cells += map(matrix, parts(shown) if several else [shown])
                lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        names = "".join(
            f"<th>{name}</th>" for name in [*self.exercise.names, *self.exercise.outputs]
        )
        body = "\n".join(lines)
        return f"<table>\n<thead><tr>{names}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"

    def count(self, hidden: bool) -> int:
        """How many cases are hidden, or not."""
        return sum(case["hidden"] == hidden for case in self.exercise.cases)

    def wrong(self, equal: bool) -> int:
        """How many of the stored programs are wrong, or equal to the right one."""
        return sum(one["equal"] == equal for one in self.exercise.wrong)

    def hints(self) -> str:
        """The hints, closed."""
        parts = []
        for number, hint in enumerate(self.data["hint"], 1):
            parts += [f'??? tip "Hint {number}: {hint["title"]}"', "", f"    {hint['text']}", ""]
        return "\n".join(parts)

    def solution(self) -> str:
        """The solution, closed, with a list of the steps that are its code's comments."""
        code = self.data["solution"]
        steps = re.findall(r"^ *# (\d+\. .*)$", code, re.MULTILINE)
        body = indented("\n".join([*steps, "", "```python", *code.splitlines(), "```"]))
        return f'??? warning "The solution: it gives the whole method away"\n\n{body}\n'

    def local(self) -> str:
        """How to run the same checks on one's own computer: open where nothing else will do."""
        python = re.search(r"Python (\d[\d.]*)", judge.__doc__)[1]
        name = publish.download_name(self.data_file)
        body = indented(LOCAL.format(folder=publish.DOWNLOADS, name=name, python=python))
        kind = "???" if runtime.available() else "???+"
        return f'{kind} info turn-local "On your own computer"\n\n{body}\n'

    def editor(self) -> str:
        """The box for the learner's code, its buttons, and where the verdicts go."""
        starter = self.data["starter"]
        return self.box("check", "Your solution", "Run checks", "Results", starter)

    def rival(self) -> str:
        """The box for the learner's cases, to begin with the first of the page's own."""
        case = self.exercise.cases[0]
        first = ", ".join(f"{name}={case[name]}" for name in self.exercise.names)
        text = f"# One case a line.\n{first}\n"
        return self.box("cases", "Your cases", "Run the wrong programs", "What was caught", text)

    def box(self, kind: str, name: str, run: str, results: str, text: str) -> str:
        """A text box with its buttons, for the page's script to work on."""
        if not runtime.available():
            return f"<p>{MISSING}</p>"
        return BOX.format(
            kind=kind,
            name=name,
            run=run,
            results=results,
            text="\n" + html.escape(text),  # HTML drops the first line end
            rows=text.count("\n") + 10,
            runtime=runtime.NAME,
            size=sum(file.stat().st_size for file in runtime.files()),
            exercise=self.data_file.name,
            version=publish.version(self.data_file),
            editor=editor.FILE if editor.available() else "",
        )


def cell(value: list | bool | int) -> str:
    """An argument in a table of cases."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    return matrix([[str(x) for x in row] for row in value])


def matrix(rows: list[list[str]]) -> str:
    """A matrix as code that does not break within a row."""
    text = ",\n ".join(f"[{', '.join(row)}]" for row in rows)
    return f'<code class="turn-rows">[{text}]</code>'


def indented(text: str) -> str:
    """A text as the body of a Markdown block."""
    return "\n".join(f"    {line}" if line else "" for line in text.splitlines())


def tolerance() -> str:
    """How near to the expected number is near enough."""
    return CLOSE.format(tolerance=power(TOLERANCE))


def download() -> str:
    """What a reader's browser fetches, once, from a server that compresses."""
    if not runtime.available():
        return MISSING
    return (
        "Your browser fetches Python from this site, "
        f"{runtime.compressed_size() / 1e6:.1f} MB, and keeps it for the next time: when you "
        "type or run, or come as far as the editor on a fast line that is not metered."
    )


def script() -> str:
    """What only the pages of exercises load: their style and their script."""
    if not runtime.available():
        return "<!-- no script -->"
    return (
        '<link rel="stylesheet" href="../assets/your-turn.css">\n'
        '<script type="module" src="../assets/your-turn.js"></script>\n'
    )
