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
from .render import for_site, not_run, output_as_html

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
        return self.on_startup, self.on_config, self.on_page_read_source, self.on_env

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
        fence = {"name": "output", "class": "output", "format": output_as_html}
        fences.setdefault("custom_fences", []).append(fence)

    def on_page_read_source(self, page, config) -> str | None:
        name = f"docs/{page.file.src_uri}"
        if name not in self.checking.texts:
            return None
        checked, text = self.checking[name], self.checking.texts[name]
        text = for_site(parse(text, name), checked) if checked.records else not_run(text)
        text = text.removeprefix("\ufeff").encode(errors="surrogateescape").decode(errors="replace")
        return with_notice(text, report({name: checked})) if checked.problems else text

    def on_env(self, env, config, files) -> None:
        """All pages are read, and none is written: where numbers drifted, a build ends here."""
        lines = report(self.checking.pages())
        for line in lines:
            log.error(line)
        if lines and not self.serving:
            sys.exit(f"{len(lines)} places differ from the code: see above")


def with_notice(text: str, lines: list[str]) -> str:
    """The page with its problems on top, below its front matter."""
    front = re.match(r"---\n.*?\n---\n", text, re.DOTALL)
    at = front.end() if front else 0
    rows = "".join(f"    <li><code>{html.escape(line)}</code></li>\n" for line in lines)
    notice = f'\n!!! failure "This page and the code differ"\n\n    <ul>\n{rows}    </ul>\n\n'
    return text[:at] + notice + text[at:]
