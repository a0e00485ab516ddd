"""Characters that get into code from a page or a word processor, and what to type instead."""

from __future__ import annotations

import re

SPACES = "looks like a space and is none: type a space of the keyboard in its place"
UNSEEN = "cannot be seen: delete it, with the character beside it if need be, and type that again"
QUOTES = "comes from a word processor or a page: type a straight {} in its place"
PLAIN = "looks like another character, which Python wants: type {} in its place"
STRAY = {
    "\u00a0": f"a no-break space, which {SPACES}",
    "\u2007\u2009\u202f\u3000": f"a space of a special width, which {SPACES}",
    "\ufeff": f"a byte-order mark, which {UNSEEN}",
    "\u00ad\u200b\u200c\u200d\u2060": f"an invisible mark between letters, which {UNSEEN}",
    "\u201c\u201d\u201e\u00ab\u00bb": f"a curly quote, which {QUOTES.format(chr(34))}",
    "\u2018\u2019\u201a\u2032": f"a curly quote, which {QUOTES.format(chr(39))}",
    "\u2010\u2011\u2012\u2013\u2014\u2212": f"a long dash, which {PLAIN.format('-')}",
    "\u00d7\u22c5\u00b7": f"a sign for times, which {PLAIN.format('*')}",
    "\u00f7\u2044\u2215": f"a sign for a fraction, which {PLAIN.format('/')}",
    "\u2264": f"a sign of mathematics, which {PLAIN.format('<=')}",
    "\u2265": f"a sign of mathematics, which {PLAIN.format('>=')}",
    "\u2260": f"a sign of mathematics, which {PLAIN.format('!=')}",
    "\u2026": f"three dots in one character, which {PLAIN.format('...')}",
}


def stray(message: str) -> str:
    """What the character is that a SyntaxError's message names by its number; "" for others."""
    found = re.search(r"\bU\+([0-9A-F]{4,6})\b", message)
    if not found:
        return ""
    one = chr(int(found[1], 16))
    what = next((said for characters, said in STRAY.items() if one in characters), "")
    if not what and 0xFF01 <= ord(one) <= 0xFF5E:  # the keyboard's characters, in full width
        what = f"a wide character, which {PLAIN.format(chr(ord(one) - 0xFEE0))}"
    return f"U+{found[1]} is {what}" if what else ""
