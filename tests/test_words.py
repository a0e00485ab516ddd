"""Words of number and comparison that nothing checks are counted, and do not become more."""

import re

import pytest
from _lesson import lesson
from _lesson.checked.document import parse
from _lesson.checked.worded import listing, states, survey, worded
from _lesson.pages import words

CONFIG = lesson.config()
FOUND = survey(CONFIG.sources() | CONFIG.beyond(), CONFIG)


@pytest.mark.parametrize("name", FOUND)
def test_no_text_has_more_such_words_than_were_written_down(name):
    loose = [f"{s.line}: {', '.join(s.loose)}: {s.text}" for s in FOUND[name] if s.loose]
    most = words.listed().get(name, 0)
    advice = f"{name} may have {most} words of number or comparison that nothing binds: bind more,"
    advice += " or where they are as they should be, run `python docs/_lesson words`\n"
    assert words.loose(FOUND[name]) <= most, advice + "\n".join(loose)


def test_each_text_that_is_written_down_is_there():
    assert set(words.listed()) <= set(FOUND)


def test_the_site_says_how_many_there_are():
    total, checked, loose = (
        int(n.replace(",", "")) for n in re.findall(r"[\d,]+\d|\d", words.published())
    )
    pages = [said for name in CONFIG.sources() for said in FOUND[name]]
    assert (total, loose) == (len(pages), sum(said.state == "unbound" for said in pages))
    assert checked == total - loose > 0


STATES = {
    "It has three keys.": ["three unbound"],
    "It has three<!--= n --> keys.": ["three bound"],
    "Three<!--= n --> is twice two<!--= 2 -->.": ["Three bound", "twice unbound", "two bound"],
    "It has 3<!--= 3 --> keys.": [],
    "It falls.": ["falls unbound"],
    "It falls to 0.5<!--= w -->.": ["falls unbound"],
    "It falls.<!--? w < 1 -->": ["falls claimed"],
    "It falls<!--? w < 1 --> and grows.": ["falls claimed", "grows unbound"],
    "It falls<!--? w < 1 -->, and grows<!--? v > 1 -->.": ["falls claimed", "grows claimed"],
    '"dog"<!--= best --> gets most.': ["most bound"],
    "`dog`<!--= best --> gets the most of the two.": ["most bound", "two unbound"],
    "`f(3)`<!--= 3 --> gets most.": ["most unbound"],
    "It falls<!--= 'falls' if w < 1 else 'rises' -->.": ["falls bound"],
    "One falls. Another is the same.": ["falls unbound"],
    "Each one, once and for all.": ["Each unbound"],
    "They look at each other, and the first no longer.": [],
    "More tokens than keys are harder than that.": ["More unbound", "harder unbound"],
    "`three` $two$ [a](three.md) <!-- three -->": [],
    "| three | it falls |\n|---|---|": ["three unbound", "falls unbound"],
    "# Three keys": ["Three unbound"],
    '??? question "Why three?"\n\n    It falls.': ["three unbound", "falls unbound"],
    "A three-fold, all-three word.": [],
    "```pycon\n>>> three = 3  # falls\n```": [],
    '```python exec="true"\nbars("Three grow", w)\n```': ["Three unbound", "grow unbound"],
}  # fmt: skip


@pytest.mark.parametrize("text", STATES)
def test_each_word_of_number_and_comparison_is_found_with_its_state(text):
    found = worded(parse(text, "docs/page.md"), CONFIG.idioms)
    assert [f"{word} {state}" for said in found for word, state in said.words] == STATES[text]


def test_a_sentence_is_as_checked_as_its_weakest_word():
    text = "Three<!--= n -->. It falls.<!--? w < 1 -->\n\nThree<!--= n --> grow.\n\nTwo fall."
    found = worded(parse(text, "docs/page.md"))
    assert [(said.line, said.state) for said in found] == [
        (1, "bound"), (1, "claimed"), (3, "unbound"), (5, "unbound")
    ]  # fmt: skip
    assert states(found) == {"bound": 1, "claimed": 1, "unbound": 2}
    lines = listing({"docs/page.md": found})
    assert lines[:2] == [
        "docs/page.md:3: grow: Three grow.",
        "docs/page.md:5: Two, fall: Two fall.",
    ]
    assert lines[-1] == "1 bound, 1 claimed, 2 unbound"
