"""No digit of a page can change unseen, but for those that are listed with a reason."""

import re

import pytest
from _lesson import gate
from _lesson.check import sources

PAGES = sources()


@pytest.fixture(scope="module")
def tallies():
    return gate.try_pages(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_each_changed_digit_is_reported_or_listed(tallies, name):
    assert sorted(tallies[name].survivors) == sorted(gate.listed().get(name, {}))


def test_every_digit_of_every_page_was_changed(tallies):
    for name, text in PAGES.items():
        assert tallies[name].digits == len(re.findall("[0-9]", text))


def test_the_figures_that_the_site_publishes_are_those_of_this_run(tallies):
    total = sum(tally.digits for tally in tallies.values())
    left = sum(len(tally.survivors) for tally in tallies.values())
    assert f"{total:,} digits" in gate.published()
    assert f"{total - left:,} changes" in gate.published()


# --- The gate itself: it must see what it is there to see


@pytest.mark.parametrize(
    ("text", "survivors"),
    [
        ("```pycon\n>>> x = 5\n```\n", ["x = 5  →  x = 6"]),
        ("```pycon\n>>> x = 5\n>>> print(x)\n5\n```\n", []),
        ("```pycon\n>>> x = 5\n>>> print(x > False)\nTrue\n```\n", ["x = 5  →  x = 6"]),
        ("It is 3<!--= 3 -->.\n", []),
        ("It is 3<!--= len('abc' * 1) -->.\n", []),
        ("It is 3<!--= 3 + 0 * 7 -->.\n", ["3 + 0 * 7  →  3 + 0 * 8"]),
        ("````markdown\n```pycon\n>>> x = 5\n```\n````\n", ["x = 5  →  x = 6"]),
    ],
)
def test_a_digit_that_nothing_depends_on_survives(text, survivors):
    assert gate.try_pages({"docs/page.md": text})["docs/page.md"].survivors == survivors


def test_a_page_that_fails_its_check_is_refused():
    with pytest.raises(ValueError, match="must pass its check first"):
        gate.try_page("A loose 5.", "docs/page.md")
