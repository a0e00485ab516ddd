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
import sys
import tempfile
from pathlib import Path

from mkdocs.exceptions import Abort
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File

DOCS = Path(__file__).resolve().parents[2]


def importable() -> None:
    """Let hooks and pages import the package and _lesson: of this checkout, before any other."""
    sys.path[:0] = [str(place) for place in (DOCS, DOCS.parent) if str(place) not in sys.path]


importable()
sys.dont_write_bytecode = True  # else a file saved twice in a second is taken for the old one

from _lesson.checked import command as check  # noqa: E402
from _lesson.checked import output  # noqa: E402
from _lesson.site import serving  # noqa: E402

log = logging.getLogger("mkdocs.hooks.lesson")

DERIVED = {"code/attention.py": "script", "code/attention.ipynb": "notebook"}


class Build:
    """What is known while one build runs."""

    serving = False
    checking: check.Checking
    scratch = tempfile.TemporaryDirectory(prefix="attention-")


def on_startup(command: str, **_) -> None:
    importable()  # MkDocs has taken back what it was when this file was loaded
    Build.serving = command == "serve"


def on_config(config) -> None:
    texts = check.sources()
    known = serving.known(texts) if Build.serving else {}
    Build.checking = check.Checking(texts, known=known)  # goes on while MkDocs gets ready
    fences = config.mdx_configs.setdefault("pymdownx.superfences", {})
    fences.setdefault("custom_fences", []).append(
        {"name": "output", "class": "output", "format": output.as_html}
    )
    jupyter = config.plugins.get("mkdocs-jupyter")
    if Build.serving and jupyter:
        # Running the notebook takes seconds; an author waits for each save.
        jupyter.config.update(execute=False, cache=True, cache_dir=Build.scratch.name + "/cache")


def on_pre_build(config) -> None:
    if Build.serving:
        search = config.plugins["material/search"].search_index
        search.add_entry_from_context = functools.partial(serving.index, search)


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
            if not (Build.serving and derived == "notebook" and there):
                path.write_bytes(getattr(derive, derived)().encode())
        except SyntaxError as error:  # a module of the package, half written
            if not Build.serving:
                raise
            log.error(f"{name} is that of the last good save: {error}")
        if not path.exists():
            path.touch()
        # Not File.generated: mkdocs-jupyter wants a file that lies in a folder.
        files.append(File(name, Build.scratch.name, config.site_dir, config.use_directory_urls))


def on_page_read_source(page, config) -> str | None:
    name = f"docs/{page.file.src_uri}"
    if name not in Build.checking.texts:
        return None
    checked = Build.checking[name]
    text = checked.site.removeprefix("\ufeff")
    if checked.problems:
        text = with_notice(text, check.report({name: checked}))
    return text


def on_env(env, config, files) -> None:
    """All pages are read, and none is written: where numbers drifted, a build ends here."""
    pages = Build.checking.pages()
    if Build.serving:
        serving.keep(Build.checking, env)
    lines = check.report(pages)
    for line in lines:
        log.error(line)
    if lines and not Build.serving:
        raise Abort(f"{len(lines)} places differ from the code: see above")
    # Fill in what only the whole build knows.
    for file in files.documentation_pages():
        text = file.page.content or ""
        file.page.content = FILLED.sub(lambda found: FILLERS[found[0]](config), text)


def on_post_build(config) -> None:
    # mkdocs-jupyter makes a page of the notebook, which readers also download.
    for name in DERIVED:
        shutil.copyfile(Path(Build.scratch.name, name), Path(config.site_dir, name))


def on_pre_page(page, **_) -> None:
    if Build.serving and page.file.src_uri.endswith(".md"):  # mkdocs-jupyter caches its own
        page.render = functools.partial(serving.render, page)


def with_notice(text: str, lines: list[str]) -> str:
    """The page with its problems on top, below its front matter."""
    front = re.match(r"---\n.*?\n---\n", text, re.DOTALL)
    at = front.end() if front else 0
    rows = "".join(f"    <li><code>{html.escape(line)}</code></li>\n" for line in lines)
    notice = f'\n!!! failure "This page and the code differ"\n\n    <ul>\n{rows}    </ul>\n\n'
    return text[:at] + notice + text[at:]


def colab_link(repository: str | None) -> str:
    """A link that opens the published notebook in Colab; nothing for an unknown address."""
    found = re.fullmatch(r"https://github\.com/([^/]+/[^/]+?)(?:\.git)?/?", repository or "")
    if not found:
        return ""
    address = "https://colab.research.google.com/github"
    address += f"/{found[1]}/blob/gh-pages/code/attention.ipynb"
    return f'<p><a href="{address}">Open in Colab</a></p>'


def changed() -> str:
    """How many digits the test of every digit changes, and what came of it."""
    from tests.audit import gate

    return gate.published()


FILLERS = {
    "<!-- colab -->": lambda config: colab_link(config.repo_url),
    "<!-- counted -->": lambda config: check.counted(Build.checking.pages()),
    "<!-- changed -->": lambda config: changed(),
}
FILLED = re.compile("|".join(FILLERS))
