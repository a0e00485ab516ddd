"""Show what a term means where a page first uses it. docs/glossary.md is the home of each."""

import re

from _lesson import DOCS

PAGE = DOCS / "glossary.md"
ENTRY = re.compile(r"^(\w.*)\n: +(.+)", re.MULTILINE)  # Markdown's definition list
MARKS = re.compile(r"<!--.*?-->|[`*$]|\]\([^)]*\)|[\[\]]")
TERM = re.compile(
    r"<(?P<end>/?)(?P<tag>a|th|h[1-6]|summary)(?=[\s>])"  # no tooltip in these
    r'|<abbr title="(?P<meaning>[^"]*)">(?P<term>[^<]*)</abbr>'
)


def entries() -> dict[str, str]:
    """The meaning of each term, as the glossary has it: in Markdown."""
    return dict(ENTRY.findall(PAGE.read_text("utf-8")))


def terms() -> dict[str, str]:
    """The meaning of each form in which a term occurs, without Markdown's marks."""
    found = {}
    for term, meaning in entries().items():
        plural = term[:-1] + "ies" if term.endswith("y") and term != "key" else term + "s"
        for form in (term, plural):
            found[form] = found[form[0].upper() + form[1:]] = plain(meaning)
    return found


def plain(markdown: str) -> str:
    """A line of Markdown without its marks."""
    return MARKS.sub("", markdown)


def once(html: str) -> str:
    """A page's HTML with the tooltip of a term where it first stands in running text, only."""
    seen, inside = set(), 0

    def keep(found: re.Match) -> str:
        nonlocal inside
        if found["tag"]:
            inside += -1 if found["end"] else 1
        elif inside or found["meaning"] in seen:
            return found["term"]
        else:
            seen.add(found["meaning"])
        return found[0]

    return TERM.sub(keep, html)


def on_config(config) -> None:
    config.mdx_configs.setdefault("abbr", {})["glossary"] = terms()


def on_page_content(text: str, page, **_) -> str:
    if page.file.src_uri == PAGE.name:  # it says what they mean
        return TERM.sub(lambda found: found["term"] or found[0], text)
    return once(text)
