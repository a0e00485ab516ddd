"""Number the chapters: `nav` in mkdocs.yml is the only place that knows their order.

A page that stands in a part of the navigation is a chapter, unless the part is REFERENCE.
"""

import re

REFERENCE = "Reference"


def parts(nav: list) -> dict[str, list[str]]:
    """The parts of the lesson, and the pages of each, from `nav` as mkdocs.yml has it."""
    return {
        part: [page for entry in pages for page in entry.values()]
        for item in nav
        for part, pages in item.items()
        if isinstance(pages, list) and part != REFERENCE
    }


def numbers(nav: list) -> dict[str, int]:
    """The number of each chapter, by the name of its page."""
    chapters = [page for pages in parts(nav).values() for page in pages]
    return {page: number for number, page in enumerate(chapters, 1)}


def on_nav(nav, config, **_) -> None:
    number = numbers(config.nav)
    for page in nav.pages:
        if page.file.src_uri in number:
            page.title = f"{number[page.file.src_uri]} {page.title}"


def on_page_markdown(text: str, page, config, **_) -> str:
    """Say above a chapter's title where in the lesson it stands, and in the title its number."""
    number = numbers(config.nav)
    mine = number.get(page.file.src_uri)
    if mine is None:
        return text
    part = next(name for name, pages in parts(config.nav).items() if page.file.src_uri in pages)
    where = f'<p class="where">{part}: chapter {mine} of {len(number)}</p>'
    return re.sub(r"^# ", f"{where}\n\n# {mine} ", text, count=1, flags=re.MULTILINE)


def on_env(env, config, files) -> None:
    """Tell the templates which pages are chapters."""
    pages = map(files.get_file_from_path, numbers(config.nav))
    env.globals["chapters"] = [page.url for page in pages]
