"""The picture in the README shows the first chapter as it is now.

Fonts and browsers differ, so pictures are not compared dot by dot: the picture carries a
mark of the text that it shows. To take it anew, from a machine with Chromium:

    PICTURE=take python -m pytest -m ci tests/test_picture.py
"""

import hashlib
import os
import struct
import zlib

import pytest
from helpers import ROOT

pytestmark = pytest.mark.ci

PICTURE = ROOT / "docs/assets/page.png"
TOP, BOTTOM = "#step-three-turn-scores-into-weights", "#step-four-mix-the-values"
BETWEEN = """([top, bottom]) => {
    const range = document.createRange();
    range.setStartBefore(document.querySelector(top));
    range.setEndBefore(document.querySelector(bottom));
    const box = range.getBoundingClientRect();
    return [range.toString().replace(/\\s+/g, " "), box.top + scrollY, box.height];
}"""


def mark(text: str) -> bytes:
    """A PNG chunk that says which text the picture shows."""
    data = b"tEXt" + b"Comment\0" + hashlib.sha256(text.encode()).hexdigest().encode()
    return struct.pack(">I", len(data) - 4) + data + struct.pack(">I", zlib.crc32(data))


def test_the_picture_in_the_readme_shows_the_page_as_it_is(visit):
    tab = visit("one-query/", 1000)
    text, top, height = tab.evaluate(BETWEEN, [TOP, BOTTOM])
    if os.environ.get("PICTURE") == "take":
        box = {"x": 0, "y": top - 24, "width": 760, "height": height + 24}
        taken = tab.screenshot(full_page=True, clip=box)
        after_size = 8 + 25  # the signature and the first chunk, which must come first
        PICTURE.write_bytes(taken[:after_size] + mark(text) + taken[after_size:])
    assert mark(text) in PICTURE.read_bytes(), "the page has changed: take the picture anew"
