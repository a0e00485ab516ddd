"""What `mkdocs serve` keeps from one save to the next, since an author waits for each.

A page is checked again when it, the package or what pages are made with has changed, and
rendered and indexed again when that has changed it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from jinja2 import FileSystemBytecodeCache
from watchdog import events
from watchdog.observers import Observer

from _lesson import DOCS, ROOT
from _lesson.checked import Checking, Page


class Kept:
    """The state of the files, and what was made from them."""

    package: dict[Path, int] | None = None
    around: dict[Path, int] | None = None  # what all pages are made with
    texts: dict[str, str]
    pages: dict[str, Page]
    rendered: dict[str, tuple]
    indexed: dict[str, tuple]
    templates = tempfile.TemporaryDirectory(prefix="attention-")


def known(texts: dict[str, str]) -> dict[str, Page]:
    """Of the last build, the pages that a new check would find as they were."""
    pages = {ROOT / name for name in texts if name != "docs/glossary.md"}  # in all pages
    package = saved((ROOT / "attention").glob("*.py"))
    around = saved([ROOT / "mkdocs.yml", *(f for f in DOCS.rglob("*.*") if f not in pages)])
    if around != Kept.around:
        Kept.rendered, Kept.indexed = {}, {}
    if (package, around) != (Kept.package, Kept.around):
        Kept.package, Kept.around, Kept.texts, Kept.pages = package, around, {}, {}
    return {n: page for n, page in Kept.pages.items() if Kept.texts[n] == texts.get(n)}


def saved(files: Iterable[Path]) -> dict[Path, int]:
    """When each of these files was saved last; what an editor hides there is no such file."""
    seen = (file for file in files if file.is_file() and not file.name.startswith("."))
    return {file: file.stat().st_mtime_ns for file in seen}


def keep(checking: Checking, env) -> None:
    """Keep the results of a check, and the templates of the build it belongs to."""
    Kept.texts, Kept.pages = checking.texts, checking.pages()
    env.bytecode_cache = FileSystemBytecodeCache(Kept.templates.name)


def render(page, config, files) -> None:
    """`page.render`, unless the last build has rendered the same."""
    name, key = page.file.src_uri, (page.markdown, set(files.src_uris))
    if Kept.rendered.get(name, ("",))[0] != key:
        type(page).render(page, config, files)
        links = {to.src_uri: links for to, links in (page.links_to_anchors or {}).items()}
        parts = page.content, page.toc, page._title_from_render, page.present_anchor_ids
        Kept.rendered[name] = key, parts, links
    _, parts, links = Kept.rendered[name]
    page.content, page.toc, page._title_from_render, page.present_anchor_ids = parts
    page.links_to_anchors = {files.src_uris[uri]: found for uri, found in links.items()}


def index(search, add, page) -> None:
    """`add(page)` to the entries of `search`, unless the last build has indexed the same."""
    key = page.title, page.content
    if Kept.indexed.get(page.url, ("",))[0] != key:
        before = len(search.entries)
        add(page)
        Kept.indexed[page.url] = key, search.entries[before:]
    else:
        search.entries += Kept.indexed[page.url][1]


class Saves(Observer):
    """Tells of files that were written, at once; MkDocs's own looks twice a second.

    That a file was read is nothing to tell: a build reads them all.
    """

    told = (
        events.FileCreatedEvent,
        events.FileDeletedEvent,
        events.FileModifiedEvent,
        events.FileMovedEvent,
    )

    def schedule(self, handler, path, **options):
        return super().schedule(handler, path, event_filter=list(self.told), **options)


def watch_saves(server, watched: list[str]) -> None:
    """Let a server hear of saves at once in the places that it watches already."""
    for path in watched:
        server.unwatch(path)
    server.observer = Saves()
    for path in watched:
        server.watch(path)
