"""Show the notebook as one of the site's own pages.

mkdocs-jupyter runs the notebook and renders it with styles and scripts of its own: 600 KB
and loaders that ask a CDN. The cells and their outputs are kept and put into the site's
own markup, so that the page looks, weighs and reads like the others. The source is folded:
who comes to the page comes for its runs.
"""

import functools
import html
import re

# The first is what hooks.py fills in.
TOP = '<!-- colab --><p><a href="../attention.ipynb" download>Download the notebook</a></p>'
MOST = 6  # names that stand for a cell
LONG = 12  # lines of code from which on a cell is folded
NAMED = re.compile(r"^(?:def|class) (\w+)", re.MULTILINE)


@functools.cache  # while serving it stays the same
def own_markup(rendered: str) -> str:
    """The cells of a notebook, as mkdocs-jupyter renders it, in the site's markup."""
    from bs4 import BeautifulSoup  # slow to load, and few builds need it

    parts = []
    for cell in BeautifulSoup(rendered, "html.parser").select(
        ".jp-MarkdownOutput, .hl-python pre, .jp-OutputArea-output"
    ):
        if cell.name == "pre":
            parts.append(code(cell))
        elif "jp-MarkdownOutput" in cell["class"]:
            for link in cell.select("a.anchor-link"):
                link["class"] = "headerlink"
                link["title"] = "Link to this section"
            parts.append(inner(cell))
        elif text := cell.get_text().strip("\n"):
            shown = f"<pre><code>{html.escape(text, quote=False)}</code></pre>"
            parts.append(f'<div class="output"><div class="highlight no-copy">{shown}</div></div>')
    return "\n".join(parts)


def code(cell) -> str:
    """A cell of code; a long one is closed, and says what it defines."""
    shown = f'<div class="highlight"><pre><code>{inner(cell)}</code></pre></div>'
    text = cell.get_text()
    if text.count("\n") < LONG:
        return shown
    names = ", ".join(f"<code>{name}</code>" for name in NAMED.findall(text)[:MOST])
    about = f"Source: {names}" if names else "Source"
    return f"<details><summary>{about}</summary>{shown}</details>"


def inner(tag) -> str:
    return "".join(str(child) for child in tag.contents).replace("<span></span>", "").strip("\n")


def on_page_content(text: str, page, **_) -> str | None:
    if not page.file.src_uri.endswith(".ipynb"):
        return None
    title, end, rest = own_markup(text).partition("</h1>")
    return title + end + TOP + rest
