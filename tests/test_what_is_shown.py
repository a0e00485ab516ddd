"""What the site shows as code, as an output or as a figure has been run and compared."""

import html
import re

import markdown
import pytest
from _lesson.checked import process
from _lesson.checked.document import parse
from _lesson.checked.render import for_site, output_as_html
from _lesson.checked.shown import unseen
from markdown_exec import formatter, validator

EXTENSIONS = """abbr admonition attr_list def_list footnotes md_in_html tables toc
pymdownx.arithmatex pymdownx.details pymdownx.highlight pymdownx.superfences pymdownx.snippets
pymdownx.tabbed pymdownx.tasklist pymdownx.blocks.html pymdownx.inlinehilite""".split()
FENCES = [
    {"name": "output", "class": "output", "format": output_as_html},
    {"name": "python", "class": "python", "validator": validator, "format": formatter},
]
FIRST = "# Page\n\n```pycon\n>>> w, f = [0.25, 0.75], [abs]\n>>> print('| a |\\n| - |\\n| b |')\n"
FIRST += "| a |\n| - |\n| b |\n```\n\n"


def built(text: str, base=".") -> tuple[str, str]:
    """A page's Markdown for the site, and its HTML, by all that Markdown has to offer."""
    options = {
        "pymdownx.superfences": {"custom_fences": FENCES},
        "pymdownx.arithmatex": {"generic": True},
        "pymdownx.snippets": {"base_path": [str(base)]},
        "pymdownx.tabbed": {"alternate_style": True},
    }
    page = process(text, "docs/page.md")
    source = for_site(parse(text, "docs/page.md"), page)
    converter = markdown.Markdown(extensions=EXTENSIONS, extension_configs=options)
    return source, converter.convert(source)


def said(text: str, base=".") -> list[tuple[int, str]]:
    return unseen(parse(text, "docs/page.md"), *built(text, base))


FENCE = "```pycon\n>>> x = 'a loose thing'\n>>> print(x)\na loose thing\n```"
DRAWS = '```python exec="true" html="true"\nprint(\'<svg><text>thing</text></svg>\')\n```'
AROUND = {
    "a quote": ("> ", "> "),
    "a quote without a space": (">", ">"),
    "two quotes": ("> > ", "> > "),
    "a list": ("- ", "    "),
    "a numbered list": ("1. ", "    "),
    "a quote in a list": ("- > ", "    > "),
    "a list in a quote": ("> - ", ">     "),
    "a definition": ("Word\n:   ", "    "),
    "a footnote": ("Text.[^a]\n\n[^a]: ", "    "),
    "a footnote's paragraph": ("Text.[^a]\n\n[^a]: Note.\n\n    ", "    "),
    "a list's paragraph": ("- item\n\n    ", "    "),
    "an admonition": ("!!! note\n\n    ", "    "),
    "a tab": ('=== "Tab"\n\n    ', "    "),
    "a question": ("??? question\n\n    ", "    "),
    "a quote in a question": ("??? question\n\n    > ", "    > "),
    "a tabulator": ("- item\n\n\t", "\t"),
    "a div": ('<div markdown="1">\n\n', ""),
    "a block": ("/// html | div\n", ""),
    "a task": ("- [ ] ", "    "),
    "a quote in a tab": ('=== "Tab"\n\n    > ', "    > "),
}


@pytest.mark.parametrize(
    "fence", [FENCE, DRAWS, FENCE.replace("```", "~~~"), "```text\nthing\n```"]
)
@pytest.mark.parametrize("place", AROUND)
def test_a_fence_is_run_wherever_it_stands_or_is_reported_with_its_line(place, fence):
    first, others = AROUND[place]
    text = FIRST + first + fence.replace("\n", f"\n{others}") + "\n" + "</div>\n" * ("div" in place)
    _, shown = built(text)
    page = process(text, "docs/page.md")
    ran = any("thing" in record.fresh for record in page.records) or "text" in fence[:8]
    if "thing" in html.unescape(re.sub("<[^>]*>", "", shown)) and not (ran and not said(text)):
        lines = [line for line, _ in said(text)] + [line for line, _ in page.problems]
        first_line = (FIRST + first).count("\n") + 1
        assert any(first_line <= line <= first_line + 3 for line in lines)


@pytest.mark.parametrize(
    "text",
    [
        "<pre>x = y</pre>",
        "<PRE>x = y",
        "<div><pre><code>x = y</code></pre></div>",
        "    x = y",
        "- a\n\n        x = y",
        "=== \"Tab\"\n\n    <pre>x = y</pre>",
        "[^a]\n\n[^a]: <pre>x = y</pre>",
        "<svg><path/></svg>",
        "<figure>a</figure>",
        "<script>document.write(x)</script>",
        "<style>p:after { content: 'x' }</style>",
        '<iframe src="a.html"></iframe>',
        '<div class="output">x</div>',
        '<span class="computed" title="n">many</span>',
        "```math\nx\n```",
        "> ```output\n> x\n> ```",
        "> ```drawn\n> <svg></svg>\n> ```",
        "> ```drawn\n> <b>many</b>\n> ```",
        "/// html | pre\nx = y\n///",
    ],
)  # fmt: skip
def test_code_and_figures_that_nothing_ran_are_reported(text):
    page = FIRST + text + "\n"
    line = page[: page.index(text)].count("\n") + 1
    found = said(page) or process(page, "docs/page.md").problems
    assert found
    assert all(line <= place <= line + 3 for place, _ in found)


def test_what_a_page_includes_is_reported(tmp_path):
    (tmp_path / "more.md").write_text("```python\nx = 'a thing'\n```\n", "utf-8")
    ((_, message),) = said(FIRST + '--8<-- "more.md"\n', tmp_path)
    assert message == "x = 'a thing' is shown as code and was not checked"


@pytest.mark.parametrize(
    "text",
    ["    0.25<!--= w[0] -->", "`` 0.25<!--= w[0] --> ``", "<p title='0.25<!--= w[0] -->'>",
     "<!-- 0.25<!--= w[0] --> -->", "[a](b/0.25<!--= w[0] -->)", "![0.25<!--= w[0] -->](a.svg)"],
)  # fmt: skip
def test_a_mark_that_does_not_show_its_expression_is_reported(text):
    page = FIRST + text + "\n"
    assert said(page) or process(page, "docs/page.md").problems


def test_a_mark_that_markdown_makes_code_of_is_seen_on_the_built_page_alone():
    found = [message for _, message in said(FIRST + "Text.\n\n    0.25<!--= w[0] -->\n")]
    assert "<!--= w[0] --> does not show as a mark" in found


def test_a_page_that_shows_what_was_checked_has_no_problem():
    text = FIRST + "\n\n".join(
        [
            "It is 0.25<!--= w[0] -->, 0.75<!--= f[0](w[1]) -->.",
            "??? question\n\n    " + FENCE.replace("\n", "\n    "),
            "```console\n$ ls  <a> &amp;\n\tb\n```",
            "````markdown\n```pycon\n>>> y = '&lt;'\n```\n\nIt is 0.5<!--= 1 / 2 -->.\n````",
            DRAWS.replace("thing", r"\n\n```"),
            '```python exec="true"\nprint("| a |\\n| - |\\n| b |")\n```',
        ]
    )  # fmt: skip
    assert process(text, "docs/page.md").problems == []
    assert said(text) == []


@pytest.mark.parametrize(
    "expression",
    ["f[0](w[0])", "f[0](w[0]) if w else {'a': \"_b_\"}['a']",
     "w[0] * 1 ** 2 if 1 <= 2 > 0 else '$a$'",
     "(w[0],)[0] if '`x`' != '*y*' and r'\\[' else 0", "w[0] # &lt; ![a](b) <b> | ~~x~~ \\* @ ^a^",
     "w[0] if '[a][b] [^a] http://a.org <http://a.org>' else __name__"],
)  # fmt: skip
def test_an_expression_shows_as_it_is(expression):
    number = f"0.25<!--= {expression} -->"
    page = f"{FIRST}| a |\n|---|\n| {number} |\n\nIt is {number}.\n"
    _, shown = built(page)
    titles = re.findall(r'<span class="computed" title="([^"]*)">0\.25</span>', shown)
    assert [html.unescape(title) for title in titles] == [expression, expression]
    assert said(page) == []
