"""A name in a sentence is the one that the code picks, and is mended like a number."""

import pytest
from _lesson.checked import process
from _lesson.checked.document import parse
from _lesson.checked.records import edited
from _lesson.checked.render import for_site

CODE = "```pycon\n>>> w, words = [0.25, 0.75], ['the', 'dog']\n"
CODE += ">>> best, orders = words[w.index(max(w))], {'no norm': 3, 'x-3': 4}\n```\n\n"


def page(text: str):
    return process(CODE + text, "docs/page.md")


def mended(text: str) -> str:
    return edited(CODE + text, page(text).changes).removeprefix(CODE)


NAMES = {
    '"dog"<!--= best --> gets most': '"the"<!--= best --> gets most',
    "“dog”<!--= best --> gets most": "“the”<!--= best --> gets most",
    "The dog<!--= best --> gets most": "The so-so<!--= best --> gets most",
    "Dog<!--= best --> gets most": "The<!--= best --> gets most",
    "`dog`<!--= best -->, as it is": "`the`<!--= best -->, as it is",
    "| dog<!--= best --> |\n|---|": "| the<!--= best --> |\n|---|",
    "- **dog<!--= best -->** gets most": "- **the<!--= best -->** gets most",
    'the first, "dog"<!--= best -->.': 'the first, "3 and x"<!--= best -->.',
    '"x-3"<!--= max(orders) -->': '"no norm"<!--= max(orders) -->',
    "It falls<!--= 'falls' if best else '' -->": "It rises<!--= 'falls' if best else '' -->",
    "the second<!--= 1 + w.index(max(w)) -->": "the third<!--= 1 + w.index(max(w)) -->",
}  # fmt: skip


@pytest.mark.parametrize("text", NAMES)
def test_a_name_that_the_code_picks_is_no_problem_and_another_is_mended(text):
    assert page(text).problems == []
    wrong = NAMES[text]
    ((line, message),) = page(wrong).problems
    assert line == CODE.count("\n") + 1
    assert "the page says" in message
    assert "the code says" in message
    assert mended(wrong) == text
    assert mended(text) == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("dog<!--= 3 -->", "dog is a name, and the code gives 3, which is no text (3)"),
        ('"3"<!--= 3 -->', '"3" is a name, and the code gives 3, which is no text (3)'),
        ("dog<!--= w -->", "which is no text"),
        ("dog<!--= list(orders)[0] -->", "the code says no norm: write it in quote marks"),
        ("dog<!--= list(orders)[1] -->", "the code says x-3: write it in quote marks"),
        ("dog<!--= '' -->", "write it in quote marks"),
        ('"dog"<!--= \'"\' -->', "write it in quote marks"),
        ("`dog`<!--= '`' -->", "write it in quote marks"),
        ("dog<!--= words[2] -->", "words[2]: IndexError: list index out of range"),
        ("dog <!--= best -->", "nothing that could be checked stands directly before"),
        ("a dog<!--= best -->s", "s belongs to the number: write it before the mark"),
        ("`f(3)`<!--= best -->", "the page says 3, the code says dog: no number is in it (best)"),
    ],
)
def test_what_is_no_such_name_is_refused_and_not_mended(text, why):
    assert any(why in message for _, message in page(text).problems)
    assert mended(text) == text


def test_a_name_shows_the_expression_that_picks_it():
    text = f'{CODE}"dog"<!--= best --> gets most'
    made = for_site(parse(text, "docs/page.md"), process(text, "docs/page.md"))
    assert made.endswith('<span class="computed" title="best">"dog"</span> gets most')
