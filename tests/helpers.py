"""What several tests use: the pages, a build, a server, a Python with little installed."""

import contextlib
import functools
import gzip
import http.server
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from _lesson.exercise import EXERCISES, runtime
from _lesson.lesson import config

from attention import blockwise_attention, scaled_dot_product_attention

ROOT = Path(__file__).resolve().parent.parent
IN_CI = os.environ.get("CI") == "true"
OPEN = "document.querySelectorAll('details').forEach(answer => answer.open = true)"


def need(found, what: str):
    """What a test needs from the machine: without it a reader's run skips, CI's fails."""
    if not found:
        (pytest.fail if IN_CI else pytest.skip)(f"{what} is not on this machine")
    return found


def importable(name: str):
    """The module of this name, or None where it is not installed."""
    try:
        return __import__(name, fromlist=["*"])
    except ImportError:
        return None


# The ways to one function: by its formula, and block by block, also where blocks are so
# small that the smallest input fills several.
WAYS = {
    "plain": scaled_dot_product_attention,
    "blockwise": blockwise_attention,
    "blocks of 2, threads": functools.partial(blockwise_attention, block=2, threads=2),
}

# The site


def pages() -> list[str]:
    """The address of each page in the navigation, below the site's own."""
    nav = re.findall(r"^ +- .*: (\S+\.(?:md|ipynb))$", (ROOT / "mkdocs.yml").read_text(), re.M)
    return ["" if name == "index.md" else name.rpartition(".")[0] + "/" for name in nav]


def lesson() -> list[str]:
    """The numbered pages, in the order in which the links at their feet lead."""
    names = config().chapters
    return [name.removeprefix("docs/").removesuffix(".md") + "/" for name in names]


def chapters() -> list[str]:
    """The pages that teach: the lesson without its exercises."""
    exercises = {f"{data.stem}/" for data in EXERCISES}
    return [page for page in lesson() if page not in exercises]


# A lesson on another subject, small enough to be changed and checked often


SECOND_LESSON = ROOT / "tests" / "second_lesson"
SECOND_SETTINGS = {"PYTHONPATH": str(ROOT / "docs"), "NO_MKDOCS_2_WARNING": "1"}


def in_lesson(lesson: Path, *command: str) -> subprocess.CompletedProcess:
    """Python, run in that lesson's folder as its author would."""
    return subprocess.run(
        [sys.executable, "-B", *command],
        cwd=lesson,
        env=os.environ | SECOND_SETTINGS,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


def build(source: Path, target: Path, **settings: str) -> None:
    """`mkdocs build`, with one date for all the builds of a run; whole, unless `settings` say."""
    inherited = {n: it for n, it in os.environ.items() if n not in ("NOTEBOOK", "RUNTIME")}
    made = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", target],
        cwd=source,
        env={"SOURCE_DATE_EPOCH": "1700000000"} | inherited | settings,
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stdout + made.stderr


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder below a prefix, with gzip, and says nothing."""

    prefix = "/"
    protocol_version = "HTTP/1.1"

    def translate_path(self, path: str) -> str:
        if not path.startswith(self.prefix):
            return os.path.join(self.directory, "missing")
        return super().translate_path("/" + path[len(self.prefix) :])

    def do_GET(self):
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        body = path.read_bytes() if path.is_file() else b""
        self.send_response(200 if path.is_file() else 404)
        self.send_header("Content-Type", self.guess_type(str(path)))
        if path.suffix in {".html", ".css", ".js", ".json", ".xml", ".svg", ".py", ".ipynb"}:
            body = gzip.compress(body, 6)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving(folder: Path, command: str | None = None, said: list[str] | None = None, **settings):
    """`mkdocs serve` in a folder, at a free port: its address. What it says is put in `said`."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    command = command or f"exec '{sys.executable}' -m mkdocs serve"
    process = subprocess.Popen(
        ["bash", "-c", f"{command} --dev-addr 127.0.0.1:{port}"],
        cwd=folder,
        env={name: it for name, it in os.environ.items() if name != "SITE_URL"} | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    said = [] if said is None else said
    reader = threading.Thread(target=lambda: said.extend(process.stdout), daemon=True)
    reader.start()
    try:
        yield f"http://127.0.0.1:{port}/"
        assert process.poll() is None, "".join(said)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        reader.join()
        process.stdout.close()


def wait_for(address: str, text: str, without: str | None = None, seconds: float = 120) -> str:
    """Ask for a page until it says `text` (and no longer says `without`)."""
    page, end = "", time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            page = urllib.request.urlopen(address, timeout=10).read().decode()
        except OSError:
            page = ""
        if text in page and not (without and without in page):
            return page
        time.sleep(0.2)
    pytest.fail(f"{address} never said {text!r}, but {page[:2000]!r}")


def until(holds, seconds: float = 30) -> None:
    """Wait until `holds()`; a test fails where that takes too long."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.05)


# A page in Chromium


def follow(tab) -> None:
    """Keep what a page has asked for and not got yet, for `settle`."""
    tab.asked, tab.open, tab.scripts = 0, set(), True

    def ask(request):
        tab.asked += 1
        # A worker that is ended as its page goes says nothing more of what it had asked for.
        if not request.url.startswith("blob:") and not request.url.endswith(runtime.FILES):
            tab.open.add(request)

    def end(request):
        tab.open.discard(request)

    tab.on("request", ask)
    tab.on("requestfinished", end)
    tab.on("requestfailed", end)


def go(tab, address: str) -> None:
    """Open an address in a tab that `follow` watches."""
    tab.goto(address)
    settle(tab)


def settle(tab) -> None:
    """Wait until a page asks for nothing more and has nothing more to do."""
    asked = -1
    while tab.scripts and (tab.open or asked != tab.asked):
        asked = tab.asked
        tab.evaluate("new Promise(requestIdleCallback)")


def drawn(tab) -> None:
    """Wait until what has just changed on a page is drawn, and nothing moves any more."""
    tab.evaluate(
        """async () => {
          for (let frames = 0; frames < 2; frames += 1) await new Promise(requestAnimationFrame);
          const moving = document.getAnimations().filter(one => one instanceof CSSTransition);
          await Promise.allSettled(moving.map(one => one.finished));
        }"""
    )


# Other Pythons


def environment(folder: Path, packages: list[str]) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    home = Path(subprocess.check_output([python, "-c", ask], text=True).strip())
    have = Path(np.__file__).parent.parent
    for name in packages:
        if (have / name).is_dir():
            shutil.copytree(have / name, home / name)
    return python


def run(python: Path, *arguments, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [python, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": "", "PYTHONUTF8": "1"},
        **options,
    )
