"""Turn the formulas of a page, $…$ and $$…$$, into MathML as the page is built.

`pymdownx.arithmatex` finds them, also in lists, tables and questions, and marks them;
here each mark is replaced by what `math_core` makes of it. A reader loads nothing for
them and reads them without JavaScript. A formula that does not parse is a warning.
"""

import html
import logging
import re

from math_core import LatexError, LatexToMathML

log = logging.getLogger("mkdocs.hooks.formulas")
converter = LatexToMathML(fancy_error=False)

# Where a formula has all three, each is in the colour that its part has in the figures.
ROLES = {"Q": "query", "K": "key", "V": "value"}
MARKED = re.compile(
    r'(?P<open><span class="computed"[^>]*>)?'
    r'<span class="arithmatex">\\\((?P<inline>.*?)\\\)</span>'
    r"(?P<close>(?(open)</span>))(?P<mark>[,.;:!?)]*)"
    r'|<div class="arithmatex">\\\[(?P<block>.*?)\\\]</div>',
    re.DOTALL,
)


def mathml(text: str, warn) -> str:
    """`text`, HTML, with its marked formulas as MathML; `warn(formula, why)` if one is wrong."""

    def coloured(made: str) -> str:
        if not all(f"<mi>{letter}</mi>" in made for letter in ROLES):
            return made
        for letter, role in ROLES.items():
            made = made.replace(f"<mi>{letter}</mi>", f'<mi class="{role}">{letter}</mi>')
        return made

    def convert(match: re.Match) -> str:
        block = match["block"] is not None
        latex = html.unescape(match["block"] if block else match["inline"]).strip()
        try:
            made = converter.convert_with_local_state(latex, displaystyle=block)
            made = coloured(made)
        except LatexError as error:
            warn(latex, str(error))
            made = f"<code>{html.escape(latex)}</code>"
        if block:
            return f'<div class="formula">{made}</div>'
        made = f"{match['open'] or ''}{made}{match['close']}"
        # A browser may break a line between a formula and the mark behind it.
        return f'<span class="nowrap">{made}{match["mark"]}</span>' if match["mark"] else made

    return MARKED.sub(convert, text)


def on_page_content(text: str, page, **_) -> str:
    where = f"docs/{page.file.src_uri}"
    return mathml(text, lambda latex, why: log.warning(f"{where}: formula ${latex}$: {why}"))
