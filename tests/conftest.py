"""The built site, a server for it as a host would serve it, and a browser."""

import functools
import gzip
import http.server
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from bs4 import BeautifulSoup

from attention import blockwise_attention, scaled_dot_product_attention

ROOT = Path(__file__).resolve().parent.parent
IN_CI = os.environ.get("CI") == "true"


# The ways to one function: by its formula, and block by block, also where blocks are so
# small that the smallest input fills several.
WAYS = {
    "plain": scaled_dot_product_attention,
    "blockwise": blockwise_attention,
    "blocks of 2, threads": functools.partial(blockwise_attention, block=2, threads=2),
}


@pytest.fixture(scope="session", params=WAYS)
def attend(request):
    """A function that does what scaled_dot_product_attention promises."""
    return WAYS[request.param]


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items):
    for item in items:
        if "site" in item.fixturenames:
            item.add_marker("site")
            if "SITE_DIR" not in os.environ:  # one process builds it, where several run tests
                item.add_marker(pytest.mark.xdist_group("site"))
            elif "survivor" in item.fixturenames:  # one page serves these
                item.add_marker(pytest.mark.xdist_group("survivor"))


def need(found, what: str):
    """What a test needs from the machine: without it a reader's run skips, CI's fails."""
    if not found:
        (pytest.fail if IN_CI else pytest.skip)(f"{what} is not on this machine")
    return found


def build(source: Path, target: Path) -> None:
    """`mkdocs build`, with one date for all the builds of a run."""
    made = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", target],
        cwd=source,
        env={"SOURCE_DATE_EPOCH": "1700000000", **os.environ},
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stdout + made.stderr


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """The built site's folder: the one in SITE_DIR, or one that is built here."""
    if given := os.environ.get("SITE_DIR"):
        return Path(given).resolve()
    target = tmp_path_factory.mktemp("built") / "site"
    build(ROOT, target)
    return target


@pytest.fixture(scope="session")
def parsed(site):
    """`parsed("glossary/")`: that page of the built site, parsed."""

    @functools.cache
    def parse(url: str) -> BeautifulSoup:
        file = site / url / "index.html" if url.endswith("/") or not url else site / url
        return BeautifulSoup(file.read_text("utf-8"), "html.parser")

    return parse


@pytest.fixture(scope="session")
def address(parsed) -> str:
    """Where the site says it lives, over plain HTTP."""
    canonical = parsed("").select_one("link[rel=canonical]")["href"]
    return "http:" + canonical.partition(":")[2]


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


@pytest.fixture(scope="session")
def port(site, address):
    """A local port that serves the site as its own host would."""
    handler = type("SiteHandler", (Handler,), {"prefix": urlsplit(address).path})
    handler = functools.partial(handler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.fixture(scope="session")
def browser(address, port):
    """Chromium, for which the site's own address leads to the local server."""
    playwright = need(importable("playwright.sync_api"), "playwright (.ci/requirements.txt)")
    names = ("chromium", "chromium-browser", "google-chrome")
    program = need(next(filter(None, map(shutil.which, names)), None), "Chromium")
    home = urlsplit(address)
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(
            executable_path=program,
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--no-first-run",
                # The last list counts, so it has what matters of Playwright's own. The popups
                # of the address bar are pages, and take as long to draw as the one visited.
                "--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,PaintHolding,"
                "ThirdPartyStoragePartitioning,WebUIOmniboxPopup,WebUIOmniboxAimPopup",
                f"--host-resolver-rules=MAP {home.hostname}:{home.port or 80} 127.0.0.1:{port}",
                # The clipboard asks for a secure page, and the tests serve no certificate.
                f"--unsafely-treat-insecure-origin-as-secure={home.scheme}://{home.netloc}",
            ],
        )
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser, address):
    """Open a page of the site as a new visitor; `faults` collects what goes wrong there."""
    contexts = []

    def open_page(page: str, width: int = 1280, scheme: str = "light", **options):
        context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=scheme, **options
        )
        contexts.append(context)
        tab = context.new_page()
        tab.faults, tab.responses = [], []
        follow(tab)
        tab.on("console", lambda m: m.type in ("error", "warning") and tab.faults.append(m.text))
        tab.on("pageerror", lambda error: tab.faults.append(str(error)))
        tab.on("requestfailed", lambda request: tab.faults.append(f"failed: {request.url}"))
        tab.on("request", lambda request: elsewhere(tab, request.url, address))
        tab.on("response", lambda response: tab.responses.append(response))
        go(tab, urljoin(address, page))
        return tab

    yield open_page
    for context in contexts:
        context.close()


def follow(tab) -> None:
    """Keep what a page has asked for and not got yet, for `settle`."""
    tab.asked, tab.open = 0, set()

    def ask(request):
        tab.asked += 1
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
    """Wait until a page asks for nothing more: Playwright's own wait for that takes 0.5 s."""
    asked = -1
    while tab.open or asked != tab.asked:
        asked = tab.asked
        tab.wait_for_timeout(100)


def elsewhere(tab, url: str, address: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("data", "blob") and parts.netloc != urlsplit(address).netloc:
        tab.faults.append(f"asked another host: {url}")


def importable(name: str):
    """The module of this name, or None where it is not installed."""
    try:
        return __import__(name, fromlist=["*"])
    except ImportError:
        return None


def pages() -> list[str]:
    """The address of each page in the navigation, below the site's own."""
    nav = re.findall(r"^ +- .*: (\S+\.(?:md|ipynb))$", (ROOT / "mkdocs.yml").read_text(), re.M)
    return ["" if name == "index.md" else name.rpartition(".")[0] + "/" for name in nav]


def lesson() -> list[str]:
    """The numbered pages, in the order in which the links at their feet lead."""
    return [page for page in pages() if page][: pages().index("run-it/") - 1]


def chapters() -> list[str]:
    """The pages that teach: the lesson without its exercise."""
    return [page for page in lesson() if page != "your-turn/"]


@pytest.fixture
def checkout(tmp_path):
    """A copy of the project that a test may change."""
    for name in ("attention", "docs", "mkdocs.yml", "pyproject.toml", "README.md"):
        source = ROOT / name
        if source.is_dir():
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, tmp_path / name, ignore=ignore)
        else:
            shutil.copy(source, tmp_path / name)
    return tmp_path


def wait_for(address: str, text: str, without: str | None = None) -> str:
    """Ask for a page until it says `text` (and no longer says `without`)."""
    page, end = "", time.monotonic() + 40
    while time.monotonic() < end:
        try:
            page = urllib.request.urlopen(address, timeout=10).read().decode()
        except OSError:
            page = ""
        if text in page and not (without and without in page):
            return page
        time.sleep(0.2)
    pytest.fail(f"{address} never said {text!r}, but {page[:2000]!r}")
