"""An exercise's page begins with its task: what leads up to it stands below, closed."""

from __future__ import annotations

import re

TASK = "the-task"
HEADING = re.compile(r"(?=<h2 )")


def on_page_content(html: str, page, **_) -> str | None:
    if f'id="{TASK}"' not in html:
        return None
    top, *sections = HEADING.split(html)
    place = next(i for i, one in enumerate(sections) if f'id="{TASK}"' in one)
    if page.toc.items:
        items = page.toc.items[0].children
        items[:] = [items[place], *items[:place], *items[place + 1 :]]
    task, later = sections[place], sections[place + 1 :]
    return "".join([top, task, *map(closed, sections[:place]), *later])


def closed(section: str) -> str:
    """A section that opens at its heading."""
    heading, body = re.fullmatch(r"(<h2.*?</h2>)(.*)", section, re.DOTALL).groups()
    # A link in what opens and closes could not be told from it by a keyboard.
    heading = re.sub(r'<a class="headerlink".*?</a>', "", heading)
    return f'<details class="turn-before info"><summary>{heading}</summary>{body}</details>'
