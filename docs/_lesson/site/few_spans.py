"""Take from code the element around each name and bracket, as a page is built.

These have the colour of the text, and were a third of the elements of a page.
"""

import re

UNCOLOURED = re.compile(r'<span class="(?:n|p|w)">([^<]*)</span>')  # name, punctuation, space


def on_page_content(text: str, **_) -> str:
    return UNCOLOURED.sub(r"\1", text)
