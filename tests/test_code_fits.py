"""Code fits its box, nothing lies over it, and what scrolls sideways shows that it does."""

import pytest
from helpers import OPEN, drawn, pages

pytestmark = pytest.mark.ci

# Each visible line of such code that is wider than its box.
WIDE = """(which) => {
  const wide = [];
  for (const code of document.querySelectorAll(which)) {
    const box = code.getBoundingClientRect(), style = getComputedStyle(code);
    if (!code.checkVisibility()) continue;
    const edge = box.right - parseFloat(style.borderRightWidth);
    const range = document.createRange();
    const text = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    const lines = new Set();
    while (text.nextNode()) {
      for (const word of text.currentNode.data.matchAll(/\\S+/g)) {  // spaces may hang over
        range.setStart(text.currentNode, word.index);
        range.setEnd(text.currentNode, word.index + word[0].length);
        for (const part of range.getClientRects()) {
          if (part.right > edge + 0.5) lines.add(Math.round(part.top));
        }
      }
    }
    for (const _ of lines) wide.push(code.textContent.slice(0, 60));
  }
  return wide;
}"""
# Each block of code with the copy button upon one of its characters, once it is there.
COVERED = """async () => {
  const covered = [];
  for (const block of document.querySelectorAll("article div.highlight:not(.no-copy)")) {
    if (!block.checkVisibility()) continue;
    block.scrollIntoView({ block: "center" });
    const button = () => block.querySelector("button[data-md-type=copy]");
    for (let tries = 0; tries < 200 && !button(); tries += 1) {
      await new Promise(requestAnimationFrame);
    }
    const icon = button().getBoundingClientRect();
    const code = block.querySelector("code"), range = document.createRange();
    const box = code.getBoundingClientRect();
    const text = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    let touched = false;
    while (text.nextNode()) {
      const end = text.currentNode.data.trimEnd().length;
      range.setStart(text.currentNode, 0);
      range.setEnd(text.currentNode, end);
      for (const part of range.getClientRects()) {
        touched ||= Math.min(part.right, box.right) > icon.left && part.left < icon.right
          && part.bottom > icon.top && part.top < icon.bottom;
      }
    }
    if (touched) covered.push(code.textContent.slice(0, 60));
  }
  return covered;
}"""


# Each box that scrolls sideways without the shadow that stays where its text does not.
SILENT = """() => [...document.querySelectorAll("article *")].filter(box => {
  const style = getComputedStyle(box);
  if (box.matches("textarea") || !/auto|scroll/.test(style.overflowX)) return false;
  if (!box.checkVisibility()) return false;
  const cue = style.backgroundAttachment;
  return box.scrollWidth > box.clientWidth && !(/local/.test(cue) && /scroll/.test(cue));
}).map(box => box.outerHTML.slice(0, 100))"""
CODE, PRINTED = "article .highlight:not(.no-copy) pre > code", "article .no-copy pre > code"


@pytest.mark.parametrize("page", pages())
def test_code_fits(page, visit):
    """On a desktop all lines; on a phone code wraps, and what is printed may scroll."""
    tab = visit(page)
    tab.evaluate(OPEN)
    for width, whole in ((1280, (CODE, PRINTED)), (390, (CODE,))):
        tab.set_viewport_size({"width": width, "height": 800})
        drawn(tab)
        assert [tab.evaluate(WIDE, which) for which in whole] == [[]] * len(whole), width
        assert tab.evaluate(COVERED) == [], width
        assert tab.evaluate(SILENT) == [], width
