"""A number says what its mark says, whatever stands around it and however it is written."""

import re

import pytest
from _lesson.checked import process
from _lesson.checked.around import DASH
from _lesson.checked.numerals import ROUGH
from _lesson.checked.records import edited
from hypothesis import given
from hypothesis import strategies as st

CODE = "```pycon\n>>> w, n, f = 0.25, 3, [len]\n```\n\n"


def said(text: str, code: str = CODE) -> list[str]:
    return [message for _, message in process(code + text, "docs/page.md").problems]


FINE = [
    "0.25<!--= w --> of it, (0.25<!--= w -->), **0.25<!--= w -->**, “0.25<!--= w -->”.",
    "3<!--= n -->, 3<!--= n -->; 3<!--= n -->: *3<!--= n -->*! _3<!--= n -->_? [3<!--= n -->].",
    "from 3<!--= n -->–4<!--= n + 1 -->, 3<!--= n -->-fold, a-3<!--= n --> and $-3$<!--= -n -->",
    "25%<!--= w --> — 3<!--= n --> – a word—3<!--= n -->",
    "| a | 3<!--= n --> |\n|---|---|\n| b | 3<!--= n --> |",
    "3<!--= n --> millionths, 3<!--= n --> tokens\nand 3<!--= n -->\n\n3<!--= n -->",
    "<b>-3<!--= -n --></b>, (−3<!--= -n -->), x = -3<!--= -n -->",
    "- An item\n\n    with 3<!--= n -->\n\n    - and one\n\n        with 3<!--= n -->",
    '??? question "Why 3<!--= n -->?"\n\n    So: 3<!--= n -->.\n\n    And 3<!--= n -->.',
    "[^a]: A note\n\n    of 3<!--= n -->.\n\nA paragraph of\n    3<!--= n --> lines.",
    "twenty-one<!--= 21 -->, the third<!--= n --> of them, half<!--= 0.5 -->, twice<!--= 2 -->",
    "two thirds<!--= 2 / n -->, one hundred and twenty<!--= 120 -->, ten<!--= 10 -->.",
    "between twenty and thirty<!--= 30 -->, one and three<!--= n -->, a hundred<!--= 100 -->",
    "## Step three<!--= n -->: one key",
    "about 1<!--= 1.4 -->, nearly 3<!--= 2.9 -->, almost\nthree<!--= 2.9 -->.",
    "$\\approx 3$<!--= 2.9 -->",
    "close to **3<!--= 3.1 -->**, ≈ 3<!--= 2.9 -->, ~3%<!--= 0.031 -->, about 0.0<!--= 0.04 -->",
]


@pytest.mark.parametrize("text", FINE)
def test_numbers_that_are_what_they_say(text):
    assert said(text) == []


# --- What stands behind a mark

PERCENT = [
    "%",
    " %",
    "‰",
    "**%",
    " percent",
    " per cent",
    "&nbsp;%",
    "&percnt;",
    "</b>%",
    "_ %",
    "\\%",
]


@pytest.mark.parametrize(
    "behind", [*PERCENT, "k", "M", "x", "é", "th", "**k**", "<b>k</b>", "e", "π"]
)
def test_nothing_that_would_change_a_number_stands_behind_its_mark(behind):
    (message,) = said(f"It is 0.25<!--= w -->{behind} of it.")
    assert message.endswith("belongs to the number: write it before the mark")


@pytest.mark.parametrize("number", ["`0.25`", "$0.25$", "$x = 0.25$", "`f(0.25)`"])
@pytest.mark.parametrize("behind", ["%", " %", "‰", "k"])
def test_nor_behind_that_of_code_or_a_formula(number, behind):
    assert said(f"It is {number}<!--= w -->{behind} of it.")
    assert said(f"It is {number}<!--= w --> of it.") == []


@pytest.mark.parametrize("sign", [r"\%", r" \%", r"\,\%", "‰"])
def test_a_formula_has_no_percent_sign_of_its_own(sign):
    assert said(f"It is $0.25{sign}$<!--= w --> of it.")


@given(st.characters(categories=["L", "N"]))
def test_no_letter_and_no_numeral_stands_behind_a_mark(letter):
    assert said(f"It is 3<!--= n -->{letter} of it.")


# --- The sign


@pytest.mark.parametrize("dash", [*"‐‑‒–—―⁻﹣－➖", "&minus;", "&ndash;", "&mdash;"])
@pytest.mark.parametrize("before", ["", "It is ", "(", "**", "| ", "> ", "x ="])
def test_no_dash_passes_for_a_minus(before, dash):
    assert said(f"{before}{dash}0.25<!--= w -->")


@pytest.mark.parametrize("text", ["`{}0.25`", "$x = {}0.25$", "`({}0.25, 1)`", "${}0.25$"])
def test_no_dash_passes_for_a_minus_in_code_or_a_formula(text):
    values = "w, 1" if "1)" in text else "w"
    assert said(text.format("–") + f"<!--= {values} -->")
    assert said(text.format("-") + f"<!--= {values.replace('w', '-w')} -->") == []


@pytest.mark.parametrize("tag", ["<b>-0.25<!--= w --></b>", "<b>−0.25<!--= w --></b>"])
def test_a_tag_before_it_hides_no_minus(tag):
    assert said(tag) == [f"the page says {tag[3]}0.25, the code says 0.25 (w)"]


def test_dashes_are_all_that_unicode_has():
    import sys
    import unicodedata

    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)) == "Pd" and unicodedata.bidirectional(chr(code)) == "ES":
            assert DASH.search(f"( {chr(code)}") or chr(code) in "-", hex(code)


# --- A whole number


@pytest.mark.parametrize(
    "text",
    ["1<!--= 1.4 -->", "2<!--= 2.5 -->", "0<!--= 0.49 -->", "0%<!--= 0.004 -->", "`2`<!--= 2.2 -->",
     "0.0<!--= 0.04 -->", "1e-3<!--= 0.0014999 -->", "31%<!--= 0.3102 -->", "three<!--= 3.1 -->",
     "$2$<!--= 2.2 -->", "4,096<!--= 4096.2 -->", "third<!--= 3.2 -->", "-1<!--= -1.2 -->"],
)  # fmt: skip
def test_a_whole_number_is_exact_unless_the_sentence_says_about(text):
    assert re.search(r"the page says .*, the code says .*: write", said(f"It is {text}.")[0])
    mended = edited(f"It is {text}.", process(f"It is {text}.", "docs/page.md").changes)
    assert mended == f"It is {text}."  # no repair would be right
    for rough in ROUGH:
        found = said(f"It is {rough} {text}.")
        assert not any("about" in message or "decimals" in message for message in found)


@pytest.mark.parametrize(
    "text", ["About it: 1", "about ten, 1", "talkabout 1", "about\n\n1", "about a 1"]
)
def test_about_stands_directly_before_its_number(text):
    assert said(f"{text}<!--= 1.4 -->")


@pytest.mark.parametrize("rough", ["nearly", "almost", "just under"])
def test_nearly_is_not_more(rough):
    assert said(f"{rough} 3<!--= 2.9 -->") == []
    assert "that is more" in said(f"{rough} 3<!--= 3.1 -->")[0]


# --- Expressions


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("(m := 3)", "an expression assigns nothing, and this one m"),
        ("[w := 3][0]", "an expression assigns nothing, and this one w"),
        ("exec('m = 3') or 3", "an expression assigns nothing"),
        ("globals().update(m=3) or 3", "an expression assigns nothing"),
        ("globals().pop('n')", "an expression assigns nothing"),
        ("print('x') or 3", "an expression prints nothing, and this one 'x\\n'"),
        ("(lambda: print(end='x'))() or 3", "an expression prints nothing, and this one 'x'"),
        ("__import__('os').write(1, b'x') + 2", "wrote past the capture"),
    ],
)
def test_an_expression_gives_its_value_and_does_nothing_else(expression, why):
    (message,) = said(
        f"It is 3<!--= {expression} -->.",
        CODE,
    )
    assert why in message


# --- Other numerals, and words


@pytest.mark.parametrize("numeral", [*"Ⅳ①⅗⑴五⚅", "&half;", "&#xBD;", "5\u20e3", "x²"])
@pytest.mark.parametrize(
    "text", ["It has {} keys.", "| {} |\n|---|", "# {}", "`{}`", "$x_{}$", "---\na: {}\n---"]
)
def test_other_numerals_are_compared_with_nothing_and_refused(numeral, text):
    assert said(text.format(numeral), "" if text.startswith("---") else CODE)


@pytest.mark.parametrize(
    "word", ["two", "Three", "twenty-one", "a hundred", "zero", "twice", "twelve"]
)
@pytest.mark.parametrize(
    "text",
    ["# {} keys", "## The {} keys", "The {} keys\n---", "> # {}", "<h2>{}</h2>",
     "| {} | a |\n|---|---|",
     "a | b\n---|---\nc | {}", "<td>{}</td>", "$\\frac{{one}}{{{}}}$", "$$\n\\text{{{}}}\n$$",
     "---\ntitle: {}\n---\n"],
)  # fmt: skip
def test_a_word_that_counts_is_bound_in_headings_tables_formulas(word, text):
    assert said(text.format(word), "" if text.startswith("---") else CODE)


@pytest.mark.parametrize(
    "text", ["# One query", "| one layer |\n|---|", "# The first case", "# A { #llama-two }"]
)
def test_idioms_and_names_are_no_counts(text):
    assert said(text) == []


@pytest.mark.parametrize(
    "text",
    ["twenty-three<!--= 3 -->", "one hundred and twenty<!--= 20 -->",
     "one hundred and 20<!--= 20 -->",
     "twenty 3<!--= 3 -->", "**twenty**-three<!--= 3 -->", "one hundred\n> and twenty<!--= 20 -->",
     "three<!--= 3 --> hundred", "three<!--= 3 -->-hundred", "ten<!--= 10 --> thousand",
     "one and a half<!--= 0.5 -->", "3<!--= 3 --> and a half", "three<!--= 3 --> and two thirds",
     "two thousand five<!--= 5 -->", "a hundred and third<!--= 3 -->"],
)  # fmt: skip
def test_a_compound_number_is_bound_as_a_whole(text):
    assert said(f"It has {text} of them.")


# --- Places where a mark is none


@pytest.mark.parametrize(
    "text",
    [
        "A paragraph.\n\n    3<!--= n -->",
        "A paragraph.\n\n\t3<!--= n -->",
        "- An item\n\n        3<!--= n -->",
        "- An item\n\nA paragraph.\n\n    3<!--= n -->",
        "1. one\n\n    - two\n\n            3<!--= n -->",
        '<img alt="3<!--= n --> bars">',
        "<img\nalt='3<!--= n --> bars'>",
        "![3<!--= n --> bars](a.svg)",
        "![of w[0]: 3<!--= n -->](a.svg)",
        "[a](https://a.org/3<!--= n -->)",
        "[a](https://a.org/3<!--=n-->)",
        '[a](a.md "3<!--= n --> bars")',
        "[a]: https://a.org/3<!--= n -->",
        "*[ABBR]: 3<!--= n --> letters",
        "<https://a.org/3<!--= n -->>",
        "# A heading { #a3<!--= n --> }",
        "A word{: title='3<!--= n -->' }",
    ],
)
def test_a_mark_is_refused_where_it_would_show(text):
    assert said(text)


@pytest.mark.parametrize(
    "fence", ["```pycon\n{0}>>> x = y\n{0}```", "~~~\n{0}x\n{0}~~~", "```text\n{0}x\n{0}```"]
)
@pytest.mark.parametrize(
    "before", ["> ", ">", "> > ", "- ", "1. ", "* > ", "[^a]: ", ":   ", "\t", "> - "]
)
def test_a_fence_behind_anything_but_spaces_is_refused(before, fence):
    inside = before if before.startswith(">") else "    "
    assert "nothing but spaces stands before a fence: this one would not be checked" in said(
        before + fence.format(inside)
    )


@pytest.mark.parametrize(
    "text", ["Text.\n\n    x = y", "\tx = y", "- a\n\n        x = y", "Text.\n\n    >>> x"]
)
def test_code_by_indent_is_refused(text):
    assert "by its indent this is code, which is not checked: write a fence" in said(text)
