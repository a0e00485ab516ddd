"""A sentence is as true as its claim: one that is false, or cannot be, fails with its place."""

import re

import pytest
from _lesson.checked import process
from _lesson.checked.document import parse
from _lesson.checked.records import edited
from _lesson.checked.render import for_site

CODE = "```pycon\n>>> import math\n>>> from math import isqrt\n"
CODE += ">>> w, words = [0.25, 0.75], ['the', 'dog']\n"
CODE += ">>> def rising(v):\n...     return v == sorted(v)\n```\n\n"
LINE = CODE.count("\n") + 1


def said(text: str, code: str = CODE) -> list[tuple[int, str]]:
    return [tuple(problem) for problem in process(code + text, "docs/page.md").problems]


def shown(text: str) -> str:
    page = process(CODE + text, "docs/page.md")
    assert page.problems == []
    return for_site(parse(CODE + text, "docs/page.md"), page).rpartition("```\n\n")[2].strip()


HOLD = {
    "The weights grow.<!--? rising(w) -->": "<The weights grow.>",
    "One. The next is more<!--? w[1] > w[0] -->, it says.": "One. <The next is more>, it says.",
    "More<!--? w[1] > w[0] -->, and less<!--? w[0] < w[1] -->.": "<More>, <and less>.",
    "- An item. **Bold, it grows.**<!--? rising(w) --> So.": "- An item. <**Bold, it grows.**> So.",
    "1. One. It grows.<!--? rising(w) -->": "1. One. <It grows.>",
    "> A quote\n> that grows.<!--? rising(w) -->": "> <A quote\n> that grows.>",
    "**So it grows.<!--? rising(w) -->**": "**<So it grows.>**",
    "| a | it grows<!--? rising(w) --> |\n|---|---|": "| a | <it grows> |\n|---|---|",
    '??? tip "?"\n\n    So. It grows.<!--? rising(w) -->': '??? tip "?"\n\n    So. <It grows.>',
    "## It grows<!--? rising(w) -->": "## It grows",
    "Vaswani et al. say it grows.<!--? rising(w) -->": "<Vaswani et al. say it grows.>",
    "`x. y`, $a. b$ [c. d](e.md) grow.<!--? rising(w) -->": "<`x. y`, $a. b$ [c. d](e.md) grow.>",
    "It grows.<!--? rising(w) --> So [it](is.md).": "<It grows.> So [it](is.md).",
    "(An aside. It grows.<!--? rising(w) -->)": "(<An aside. It grows.>)",
}  # fmt: skip


@pytest.mark.parametrize("text", HOLD)
def test_a_claim_shows_on_its_own_sentence_and_is_hidden_elsewhere(text):
    marked = re.sub(r'<span class="claim" title="[^"]*">', "<", shown(text))
    assert marked.replace("</span>", ">") == HOLD[text]


@pytest.mark.parametrize("text", HOLD)
def test_each_claim_denied_is_red_at_its_line(text):
    for claim in re.finditer(r"<!--\? (.*?) -->", text):
        denied = edited(text, [(*claim.span(1), f"not ({claim[1]})")])
        ((line, message),) = said(denied)
        assert line == LINE + text.count("\n", 0, claim.start())
        assert f"but not ({claim[1]}) is false" in message


def test_a_false_claim_says_what_was_found():
    ((line, message),) = said("One.\n\nThe first is more.<!--? w[0] > w[1] -->")
    assert line == LINE + 2
    assert message == (
        "the page says “The first is more.”, but w[0] > w[1] is false: w[0] is 0.25, w[1] is 0.75"
    )
    ((_, message),) = said("All are more.<!--? all(x > sum(w) for x in w) -->")
    assert message.endswith("but all(x > sum(w) for x in w) is false")


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        ("1 < 2", "a claim that rests on no computed name cannot fail"),
        ("True", "a claim that rests on no computed name cannot fail"),
        ("math.pi > 3", "a claim that rests on no computed name cannot fail"),
        ("isqrt(9) == 3", "a claim that rests on no computed name cannot fail"),
        ("len('abc') == 3", "a claim that rests on no computed name cannot fail"),
        ("all(w > 0 for w in [1])", "a claim that rests on no computed name cannot fail"),
        ("(lambda words: True)(1)", "a claim that rests on no computed name cannot fail"),
        ("w", "a claim is true or false, and w is [0.25, 0.75]"),
        ("len(w)", "a claim is true or false, and len(w) is 2"),
        ("w[0]", "a claim is true or false, and w[0] is 0.25"),
        ("None", "a claim is true or false, and None is None"),
        ("w[2] > 1", "w[2] > 1: IndexError: list index out of range"),
        ("v > 1", "v > 1: NameError: name 'v' is not defined"),
        ("w[0 > 1", "w[0 > 1: SyntaxError: '[' was never closed"),
        ("", ": SyntaxError: invalid syntax"),
        ("(m := w) == w", "an expression assigns nothing, and this one m"),
        ("print(w) is None", "an expression prints nothing"),
        ("w = [1]", "w = [1]: SyntaxError"),
    ],
)
def test_what_is_no_claim_is_refused(claim, why):
    ((line, message),) = said(f"A word.\n\nIt is so.<!--? {claim} -->")
    assert line == LINE + 2
    assert why in message


def test_a_bool_of_numpy_is_one():
    code = CODE.replace("import math", "import numpy as np\n>>> a = np.ones(2)")
    assert said("They are one.<!--? (a == 1).all() -->", code) == []
    assert "is [ True True]" in said("They are one.<!--? a == 1 -->", code)[0][1].replace("  ", " ")


@pytest.mark.parametrize(
    "text",
    ["<!--? rising(w) --> It grows.", "It grows.\n<!--? rising(w) -->", "**.**<!--? rising(w) -->",
     "It grows.<!--? rising(w) --><!--? rising(w) -->", "- <!--? rising(w) -->",
     "It grows<!--? rising(w) -->.<!--? rising(w) -->", "| <!--? rising(w) --> | a |\n|---|---|"],
)  # fmt: skip
def test_a_claim_stands_behind_words(text):
    assert any("no words stand directly before this claim" in message for _, message in said(text))


@pytest.mark.parametrize(
    "text",
    ["[it grows](a.md 'so<!--? rising(w) -->')", "![it grows<!--? rising(w) -->](a.svg)",
     "    It grows.<!--? rising(w) -->", "# It { #grows<!--? rising(w) --> }",
     '<p title="It grows.<!--? rising(w) -->">', "```text\nIt grows.<!--? rising(w) -->\n```"],
)  # fmt: skip
def test_a_claim_is_refused_where_it_would_show(text):
    assert said(text)


@pytest.mark.parametrize("mark", ["<!--? True -->", "<!--= 3 -->"])
@pytest.mark.parametrize("html", ["", ' html="true"'])
def test_a_mark_that_a_block_prints_is_refused(mark, html):
    block = f'```python exec="true"{html}\nprint("It grows.{mark}")\n```\n'
    mark = mark.replace("3", "len(w)")
    ((line, message),) = said(block.replace("= 3", "= len(w)"))
    assert line == LINE
    assert message == f"a mark that is printed is not checked: '{mark}\\n'"


def test_numbers_names_and_claims_share_a_sentence():
    text = 'Of 0.75<!--= w[1] -->, "dog"<!--= words[w.index(max(w))] --> has most.'
    text += "<!--? w[1] > w[0] -->"
    made = shown(text)
    assert made.startswith('<span class="claim"')
    assert made.count("<span") == made.count("</span>") == 3


def test_no_repair_touches_a_claim():
    text = CODE + "It falls to 0.5<!--= w[1] -->.<!--? w[1] < w[0] -->"
    page = process(text, "docs/page.md")
    mended = edited(text, page.changes)
    assert mended == text.replace("0.5<", "0.8<")
    ((_, message),) = process(mended, "docs/page.md").problems
    assert "w[1] < w[0] is false" in message
    assert process(mended, "docs/page.md").changes == []
