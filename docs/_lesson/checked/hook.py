"""Where a MkDocs build meets the checked pages.

A build ends where a number has drifted. `mkdocs serve` says so on top of the page and in the
console, and goes on.
"""

from __future__ import annotations

import html
import logging
import re
import sys
from collections.abc import Callable

from .config import Config
from .document import parse
from .pool import Checking
from .records import Page, report
from .render import OUTPUT, for_site, not_run, output_as_html
from .shown import unseen

log = logging.getLogger("mkdocs.hooks.checked")


class Hook:
    """What MkDocs is to call while it builds the pages of one lesson.

    `config` says at each build what the lesson is now; `known` says which pages a server need
    not run again: those of the texts it is given whose result it knows.
    """

    checking: Checking

    def __init__(
        self,
        config: Callable[[], Config],
        known: Callable[[dict[str, str]], dict[str, Page]] = lambda texts: {},
    ):
        self.config, self.known = config, known
        self.serving = False

    @property
    def events(self) -> tuple[Callable, ...]:
        return (
            self.on_startup,
            self.on_config,
            self.on_page_read_source,
            self.on_page_content,
            self.on_env,
        )

    def on_startup(self, command: str, **_) -> None:
        self.serving = command == "serve"
        sys.dont_write_bytecode = True  # else a file saved twice in a second passes for the old

    def on_config(self, config) -> None:
        about = self.config()
        texts = about.sources()
        known = self.known(texts) if self.serving else {}
        # It goes on while MkDocs gets ready. An author waits for each save: there, once is enough.
        self.checking = Checking(texts, about, known=known, twice=not self.serving)
        fences = config.mdx_configs.setdefault("pymdownx.superfences", {})
        fence = {"name": OUTPUT, "class": OUTPUT, "format": output_as_html}
        fences.setdefault("custom_fences", []).append(fence)
        self.markdown, self.unseen = {}, {}

    def on_page_read_source(self, page, config) -> str | None:
        name = f"docs/{page.file.src_uri}"
        if name not in self.checking.texts:
            return None
        checked, text = self.checking[name], self.checking.texts[name]
        text = for_site(parse(text, name), checked) if checked.records else not_run(text)
        text = text.removeprefix("\ufeff").encode(errors="surrogateescape").decode(errors="replace")
        self.markdown[name] = text
        return with_notice(text, report({name: checked})) if checked.problems else text

    def on_page_content(self, built: str, page, **_) -> str | None:
        """What Markdown has made of a page must be what was checked."""
        name = f"docs/{page.file.src_uri}"
        if name not in self.markdown or self.checking[name].problems:
            return None
        document = parse(self.checking.texts[name], name)
        found = unseen(document, self.markdown[name], built)
        if not found:
            return None
        self.unseen[name] = Page(found)
        return notice(report({name: self.unseen[name]})) + built

    def on_env(self, env, config, files) -> None:
        """All pages are read, and none is written: where numbers drifted, a build ends here."""
        lines = report(self.checking.pages()) + report(self.unseen)
        for line in lines:
            log.error(line)
        if lines and not self.serving:
            sys.exit(f"{len(lines)} places differ from the code: see above")


def with_notice(text: str, lines: list[str]) -> str:
    """The page with its problems on top, below its front matter."""
    front = re.match(r"---\n.*?\n---\n", text, re.DOTALL)
    at = front.end() if front else 0
    return f"{text[:at]}\n{notice(lines)}\n\n{text[at:]}"


def notice(lines: list[str]) -> str:
    rows = "".join(f"<li><code>{html.escape(line)}</code></li>" for line in lines)
    title = '<p class="admonition-title">This page and the code differ</p>'
    return f'<div class="admonition failure">{title}<ul>{rows}</ul></div>'
