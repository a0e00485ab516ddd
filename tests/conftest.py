"""The built site, a server for it as a host would serve it, and a browser."""

import functools
import http.server
import os
import shutil
import threading
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from bs4 import BeautifulSoup
from helpers import (
    ROOT,
    SECOND_LESSON,
    WAYS,
    Handler,
    build,
    environment,
    follow,
    go,
    importable,
    need,
)
from live import FIGURES, Figure


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
        tab.scripts = options.get("java_script_enabled", True)
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


@pytest.fixture
def figure(visit):
    """`figure("lab")`: that figure, on a page just opened; more words go to `visit`."""

    def open_figure(name: str, fragment: str = "", **options) -> Figure:
        return Figure(visit(FIGURES[name] + fragment, **options), name)

    return open_figure


def elsewhere(tab, url: str, address: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("data", "blob") and parts.netloc != urlsplit(address).netloc:
        tab.faults.append(f"asked another host: {url}")


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


@pytest.fixture
def second_lesson(tmp_path):
    """A copy of the second lesson that a test may change."""
    ignore = shutil.ignore_patterns("__pycache__", "site")
    return shutil.copytree(SECOND_LESSON, tmp_path / "lesson", ignore=ignore)


@pytest.fixture(scope="session")
def numpy_only(tmp_path_factory):
    """A Python that has numpy and nothing else, not even the package."""
    return environment(tmp_path_factory.mktemp("numpy-only"), ["numpy", "numpy.libs"])


@pytest.fixture(scope="session")
def bare(tmp_path_factory):
    """A Python that has nothing."""
    return environment(tmp_path_factory.mktemp("bare"), [])
