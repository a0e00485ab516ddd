"""What stands around a number changes what it says: 0.25 and then a percent sign, about 3."""

from __future__ import annotations

import re

from .numerals import ROUGH
from .prose import Token
from .words import SCALES, SMALL, TENS, WORD, counts, fraction

# Between two words or signs: spaces, quote marks, emphasis, tags.
GAP = r"(?:\s|&nbsp;|[>*_]|</?\w+>)"

_ROUGH = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in ROUGH)
_NEXT = r"[ \t\r>*_(`$“\"]*"
ROUGHLY = re.compile(rf"(?:(?<!\w)|(?=\W))(?P<word>{_ROUGH}){_NEXT}\n?{_NEXT}\Z", re.IGNORECASE)
# A dash is a minus where nothing stands before it; those of a keyboard belong to the number.
DASH = re.compile(
    r"(?:^|(?<=[\s(\[{|*_>=~≈<$`]))(?<!-->)(?:[‐‑‒–—―⁻﹣－➖]|&minus;|&[nm]dash;|&hyphen;|&dash;)\Z"
)
BEHIND = re.compile(
    rf"(?:[*_]|</?\w+>)*[^\W_]|{GAP}*(?:[%‰‱％٪]|&percnt;|&permil;|\\%|per\s?cent\b)"
    rf"|{GAP}+and{GAP}+(?:a|one|two|three)[\s-]+(?:half|third|quarter|fifth)s?\b",
    re.IGNORECASE,
)
PERCENT = re.compile(r"(?:\s|\\[,;:! ]|~|\{\})*\\%|[‰‱]")  # in a formula
MORE = re.compile(rf"(?:{GAP}|-)*(?:{'|'.join(SCALES)}|trillion|dozen)\b", re.IGNORECASE)
LESS = re.compile(
    rf"\b(?:(?:{'|'.join(SCALES)}){GAP}+and{GAP}+|(?:{'|'.join([*SCALES, *TENS])})(?:{GAP}|-)+)\Z",
    re.IGNORECASE,
)
MIXED = re.compile(rf"(?:\b(?:{'|'.join(SMALL)})|-->){GAP}+and{GAP}+\Z", re.IGNORECASE)
# Places where a mark, a comment, is none: what stands before it, back to a blank line.
NO_COMMENT = {
    "an image's alternative": r"!\[[^\]]*\Z",
    "an address or its title": r"\]\([^()]*\Z|^ *\*?\[(?!\^)[^\]\n]+\]:[^\n]*\Z",
    "a tag": r"<(?!!--)[a-zA-Z/][^<>]*\Z",
    "an attribute": r"\{(?::|\s*[#.])[^{}\n]*\Z",
}
HIDDEN = {what: re.compile(where, re.MULTILINE) for what, where in NO_COMMENT.items()}
HEADING = re.compile(r"[ >]*(?:#|<h\d)", re.IGNORECASE)
UNDERLINED = re.compile(r" {0,3}(?:=+|-+) *(?:\r?\n|$)")
ROW = re.compile(r"(?<!\\)\||<(?:t[hd]|caption)\b", re.IGNORECASE)


def rough(text: str, at: int) -> str:
    """The word before text[at] which says that the number there is not exact; "" if none."""
    found = ROUGHLY.search(text, max(0, at - 40), at)
    return " ".join(found["word"].lower().split()) if found else ""


def sign(text: str, at: int, end: int) -> str:
    """What is wrong with the signs around the number text[at:end]."""
    if percent := PERCENT.match(text, end):
        return f"{percent[0]} does not stand directly behind {text[at:end]}, as % would"
    found = DASH.search(text, max(0, at - 40), at)
    return f"{found[0]} is no minus: write - or −" if found else ""


def fault(text: str, start: int, number: Token | None, mark: Token) -> str:
    """What makes a number say something else than its mark, in the prose that begins at `start`."""
    begin = max(start, text.rfind("\n\n", 0, mark.start))
    for what, where in HIDDEN.items():
        if where.search(text, begin, mark.start):
            return f"a mark in {what} would show: write it in the text"
    if number is None or number.kind == "target":
        return ""
    behind = BEHIND.match(text, mark.end)
    if not behind and number.kind == "word":
        behind = MORE.match(text, mark.end)
    if behind:
        return f"{behind[0].strip()} belongs to the number: write it before the mark"
    if number.kind not in ("number", "word"):
        return ""
    before = LESS.search(text, begin, number.start)
    if fraction(number.text) and re.search(r"[\s-]|half", number.text):  # one and a half
        before = before or MIXED.search(text, begin, number.start)
    if before:
        return f"{before[0].strip()} belongs to {number.text}: write the number in one piece"
    return ""


def loose(text: str, token: Token, behind: Token | None) -> str:
    """What is wrong with number words that are bound to nothing, where they count something."""
    if token.kind == "formula":
        said = re.search(rf"(?<!\\){WORD}", token.text, re.IGNORECASE)
        return f"a formula says {said[0]}: write it in digits" if said else ""
    if token.kind != "word" or not counts(token.text):
        return ""
    bound = behind and behind.kind == "mark" and behind.start == token.end
    first = text.rfind("\n", 0, token.start) + 1
    if bound or HIDDEN["an attribute"].search(text, first, token.start):
        return ""
    line, _, rest = text[first:].partition("\n")
    where = "a heading" if HEADING.match(line) or UNDERLINED.match(rest) else ""
    where = "a table" if ROW.search(line) else where
    said = f"{token.text} in {where} is neither computed nor declared"
    return f"{said}: write its expression behind it, as in {token.text}<!--= … -->" if where else ""
