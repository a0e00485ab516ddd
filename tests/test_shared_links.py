"""A page has what it takes to be shared and found."""

import re
import struct
from urllib.parse import urlsplit

import pytest
from helpers import pages


@pytest.mark.parametrize("page", pages())
def test_a_shared_link_has_a_title_a_text_and_a_picture(page, parsed, site):
    head = parsed(page).head
    meta = {tag.get("property"): tag["content"] for tag in head.select("meta[property]")}
    canonical = head.select_one("link[rel=canonical]")["href"]
    assert meta["og:url"] == canonical
    assert meta["og:title"] == head.title.get_text().strip()
    assert meta["og:description"] == head.select_one("meta[name=description]")["content"]
    assert urlsplit(meta["og:image"]).scheme
    picture = site / meta["og:image"].removeprefix(canonical.removesuffix(page))
    width, height = struct.unpack(">II", picture.read_bytes()[16:24])
    assert (width, height) == (int(meta["og:image:width"]), int(meta["og:image:height"]))


def test_descriptions_differ_from_page_to_page(parsed):
    texts = [
        parsed(page).select_one("meta[name=description]")["content"]
        for page in pages()
        if page != "code/attention/"  # made from the package, without a page of its own
    ]
    assert len(set(texts)) == len(texts)
    assert all(40 < len(text) < 170 for text in texts)


def test_the_sitemap_lists_each_page_by_its_canonical_address(parsed, site):
    listed = set(re.findall(r"<loc>(.*?)</loc>", (site / "sitemap.xml").read_text()))
    assert {parsed(p).select_one("link[rel=canonical]")["href"] for p in pages()} <= listed


def test_each_page_has_an_icon(parsed):
    assert all(parsed(page).select_one("link[rel=icon]")["href"] for page in pages())
