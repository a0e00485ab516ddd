"""Where MkDocs meets the checked pages: few lines, so that another generator would do.

A build fails on any number that has drifted. `mkdocs serve` shows it, on the page and in the
console, and goes on.
"""

from __future__ import annotations

import functools
import html
import logging
import re
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from mkdocs.plugins import event_priority
from mkdocs.structure.files import File

PLACES = [str(Path(__file__).resolve().parents[up]) for up in (2, 3)]


def importable() -> None:
    """Let hooks and pages import _lesson, and the package: those of this checkout."""
    sys.path[:0] = [place for place in PLACES if place not in sys.path]


importable()

from _lesson import lesson  # noqa: E402
from _lesson.checked.hook import Hook  # noqa: E402
from _lesson.site import search, serving  # noqa: E402
from _lesson.site.chapters import numbers  # noqa: E402

log = logging.getLogger("mkdocs.hooks.lesson")

DERIVED = {"code/attention.py": "script", "code/attention.ipynb": "notebook"}


class Build:
    """What is known while one build runs."""

    checked = Hook(lesson.config, serving.known)
    scratch = tempfile.TemporaryDirectory(prefix="attention-")


def on_startup(command: str, **_) -> None:
    # Else who is told to end would leave temporary folders behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    importable()  # MkDocs has taken back what was done while it loaded this file
    Build.checked.on_startup(command)


def on_config(config) -> None:
    Build.checked.on_config(config)
    jupyter = config.plugins.get("mkdocs-jupyter")
    if Build.checked.serving and jupyter:
        # Running the notebook takes seconds; an author waits for each save.
        jupyter.config.update(execute=False, cache=True, cache_dir=Build.scratch.name + "/cache")


def on_pre_build(config) -> None:
    found = config.plugins["material/search"].search_index
    add = functools.partial(search.add, found, chapters=set(numbers(config.nav)))
    found.add_entry_from_context = (
        functools.partial(serving.index, found, add) if Build.checked.serving else add
    )


@event_priority(100)  # before mkdocs-jupyter looks for notebooks
def on_files(files, config) -> None:
    """Add what is derived from the package: the script and the notebook."""
    from _lesson.site import derive

    for name, derived in DERIVED.items():
        path = Path(Build.scratch.name, name)
        path.parent.mkdir(exist_ok=True)
        there = path.exists() and path.stat().st_size > 0
        try:
            # It takes a second to render the notebook: a server shows that of its start.
            if not (Build.checked.serving and derived == "notebook" and there):
                path.write_bytes(getattr(derive, derived)().encode())
        except SyntaxError as error:  # a module of the package, half written
            if not Build.checked.serving:
                raise
            log.error(f"{name} is that of the last good save: {error}")
        if not path.exists():
            path.touch()
        # Not File.generated: mkdocs-jupyter wants a file that lies in a folder.
        files.append(File(name, Build.scratch.name, config.site_dir, config.use_directory_urls))


on_page_read_source = Build.checked.on_page_read_source
on_page_content = Build.checked.on_page_content  # first, before others write into the page


def on_env(env, config, files) -> None:
    """All pages are read, and none is written: where numbers drifted, a build ends here."""
    if Build.checked.serving:
        serving.keep(Build.checked.checking, env)
    Build.checked.on_env(env, config, files)
    # Fill in what only the whole build knows.
    for file in files.documentation_pages():
        text = file.page.content or ""
        file.page.content = FILLED.sub(lambda found: FILLERS[found[0]](config), text)


def on_post_build(config) -> None:
    # mkdocs-jupyter makes a page of the notebook, which readers also download.
    for name in DERIVED:
        shutil.copyfile(Path(Build.scratch.name, name), Path(config.site_dir, name))


def on_serve(server, config, builder) -> None:
    serving.watch_saves(server, [config.docs_dir, config.config_file_path])


def on_pre_page(page, **_) -> None:
    if Build.checked.serving and page.file.src_uri.endswith(".md"):  # mkdocs-jupyter caches its own
        page.render = functools.partial(serving.render, page)


def colab_link(repository: str | None) -> str:
    """A link that opens the published notebook in Colab; nothing for an unknown address."""
    found = re.fullmatch(r"https://github\.com/([^/]+/[^/]+?)(?:\.git)?/?", repository or "")
    if not found:
        return ""
    address = "https://colab.research.google.com/github"
    address += f"/{found[1]}/blob/gh-pages/code/attention.ipynb"
    return f'<p><a href="{address}">Open in Colab</a></p>'


def install_line(repository: str | None) -> str:
    """How to install the package without a clone; nothing for an unknown address."""
    if not repository:
        return ""
    what = f"attention-by-the-numbers[distributed] @ git+{repository}"
    return f'<p>Without a clone: <code>pip install "{html.escape(what)}"</code></p>'


def counted(pages: dict) -> str:
    """How much the checked pages hold, in a sentence for a page."""
    examples = sum(page.examples for page in pages.values())
    numbers = sum(page.numbers for page in pages.values())
    text = f"{examples:,} examples and {numbers:,} numbers in prose on {len(pages)} pages."
    return f"<strong>{text}</strong>"


def changed() -> str:
    """How many digits the test of every digit changes, and what came of it."""
    from _lesson.pages import digits

    return digits.published()


def worded() -> str:
    """How many sentences say a number or a comparison in words, and how many are checked."""
    from _lesson.pages import words

    return words.published()


FILLERS = {
    "<!-- colab -->": lambda config: colab_link(config.repo_url),
    "<!-- install -->": lambda config: install_line(config.repo_url),
    "<!-- counted -->": lambda config: counted(Build.checked.checking.pages()),
    "<!-- changed -->": lambda config: changed(),
    "<!-- worded -->": lambda config: worded(),
}
FILLED = re.compile("|".join(FILLERS))
