"""No digit of a page can change unseen, but for those that are listed with a reason."""

import functools
import json
import re
import tomllib
from decimal import Decimal, localcontext
from pathlib import Path

import pytest
from _lesson import DOCS, ROOT, lesson
from _lesson.checked.config import read
from _lesson.exercise import YOUR_TURN
from _lesson.exercise.judge.exercise import Exercise, results_of
from _lesson.exercise.judge.verdicts import compare
from _lesson.pages import digits

from tests.audit import mutation

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("digits")]  # one count serves all

CONFIG = lesson.config()
PAGES = CONFIG.sources()


@pytest.fixture(scope="module")
def tallies():
    return mutation.try_pages(PAGES, CONFIG)


@pytest.mark.parametrize("name", PAGES)
def test_each_changed_digit_is_reported_or_listed(tallies, name):
    assert sorted(tallies[name].survivors) == sorted(digits.listed().get(name, {}))


def test_every_digit_of_every_page_was_changed(tallies):
    for name, text in PAGES.items():
        assert tallies[name].digits == len(re.findall("[0-9]", text))


# --- The audit itself: it must see what it is there to see


FIVE = "```pycon\n>>> x = 5\n>>> print(x)\n5\n```\n\n"


@pytest.mark.parametrize(
    ("text", "survivors"),
    [
        ("```pycon\n>>> x = 5\n```\n", ["x = 5  →  x = 6"]),
        ("```pycon\n>>> x = 5\n>>> print(x)\n5\n```\n", []),
        ("```pycon\n>>> x = 5\n>>> print(x > False)\nTrue\n```\n", ["x = 5  →  x = 6"]),
        ("It is 3<!--= 3 -->.\n", []),
        (f"{FIVE}It is.<!--? 2 < x < 9 -->\n", []),
        (f"{FIVE}It is.<!--? x < 9 - 0 * 7 -->\n", ["x < 9 - 0 * 7  →  x < 9 - 0 * 8"]),
        ("It is 3<!--= len('abc' * 1) -->.\n", []),
        ("It is 3<!--= 3 + 0 * 7 -->.\n", ["3 + 0 * 7  →  3 + 0 * 8"]),
        ("````markdown\n```pycon\n>>> x = 5\n```\n````\n", ["x = 5  →  x = 6"]),
    ],
)
def test_a_digit_that_nothing_depends_on_survives(text, survivors):
    assert mutation.try_pages({"docs/page.md": text}, CONFIG)["docs/page.md"].survivors == survivors


def test_a_page_that_fails_its_check_is_refused():
    with pytest.raises(ValueError, match="must pass its check first"):
        mutation.try_page("A loose 5.", "docs/page.md", CONFIG)


# --- The data of the exercise, whose digits the page shows too

EXERCISE = YOUR_TURN.relative_to(ROOT).as_posix()
NAMES = ["Q", "K", "V", "causal"]


def inputs(case: dict) -> list:
    return [case[name] for name in NAMES]


def published(file: Path, start: str) -> list[list]:
    """The inputs of the cases for the exercise among those that were published."""
    cases = json.loads(file.read_text("utf-8"))
    found = [case["input"] for case in cases if case["id"].startswith(start)]
    return [inputs({"causal": False, **one}) for one in found]


SHOWN = published(DOCS / "bug-clinic.json", "exercise-case")
MORE = published(ROOT / "tests/data/more-cases.json", "exercise-")


def nearest(case: dict) -> list[list[float]]:
    """The doubles that lie nearest to the true output of a case."""
    with localcontext() as context:
        context.prec = 60
        output = []
        Q, K, V = ([list(map(Decimal, row)) for row in case[name]] for name in "QKV")
        for i, query in enumerate(Q):
            keys = K[: i + 1] if case["causal"] else K
            root = Decimal(len(query)).sqrt()
            exps = [(sum(a * b for a, b in zip(query, k, strict=True)) / root).exp() for k in keys]
            columns = zip(*V[: len(keys)], strict=True)
            output.append(
                [
                    float(sum(e * x for e, x in zip(exps, column, strict=True)) / sum(exps))
                    for column in columns
                ]
            )
        return output


@functools.cache
def given(program: str, cases: str) -> list[dict]:
    return results_of(program, json.loads(cases), NAMES)


def right(program: str, cases: list[dict]) -> bool:
    results = given(program, json.dumps(cases))
    return all(
        compare(result, case["output"])["state"] == "passed"
        for result, case in zip(results, cases, strict=True)
    )


def faults(text: str):
    """What is wrong with the data of the exercise."""
    try:
        exercise = Exercise(text)
        for case in exercise.cases:
            if f"output = {nearest(case)}\n" not in text:
                yield f"{case['why']}: the output is {nearest(case)}"
        if [inputs(case) for case in exercise.cases if not case["hidden"]] != SHOWN:
            yield "the cases that are shown are not those that were published"
        hidden = [inputs(case) for case in exercise.cases if case["hidden"]]
        yield from (f"{one} is not among the cases" for one in MORE if one not in hidden)
        if not right(exercise.data["solution"], exercise.cases):
            yield "the solution fails"
        steps = re.findall(r"# (\d+)\.", exercise.data["solution"])
        if steps != [str(n) for n in range(1, len(steps) + 1)]:
            yield f"the steps of the solution are numbered {steps}"
        texts = [exercise.data["task"], exercise.data["returns"], exercise.data["starter"]]
        texts += [one["holds"] for one in exercise.data["argument"]]
        texts += [one["why"] for one in exercise.cases]
        texts += [one["text"] for one in exercise.data["hint"]]
        for wrong in exercise.wrong:
            texts.append(wrong["comes_from"])
            for one in (wrong, *wrong.get("spelling", [])):
                results = given(one["program"], json.dumps(pinned(exercise.cases)))
                outputs = [
                    [[round(float(x), 4) for x in row] for row in result["value"] or []]
                    for result in results
                ]
                if str(outputs) != str(one["gives"]):  # as text: a NaN is equal to nothing
                    yield f"{wrong['name']}: gives {outputs}"
                if right(one["program"], exercise.cases) != wrong["equal"]:
                    yield f"{wrong['name']}: equal is {not wrong['equal']}"
            for number in re.findall(r"-?\d[\de-]*", wrong["name"]):
                if not re.search(rf"{number}\b", wrong["program"].replace("s - ", "s - minus ")):
                    yield f"{wrong['name']}: no {number} in the program"
        yield from (
            f"nothing checks a number here: {one}" for one in texts if re.search(r"\d", one)
        )
    except (ValueError, KeyError, TypeError, SyntaxError, tomllib.TOMLDecodeError) as error:
        yield str(error)


def pinned(cases: list[dict]) -> list[dict]:
    """The cases for which the data says what each wrong answer gives."""
    return [case for case in cases if case["causal"] and len(case["Q"]) != len(case["K"])]


def test_the_data_of_the_exercise_is_without_fault():
    assert list(faults(read(YOUR_TURN))) == []


@pytest.fixture(scope="module")
def exercise_tally():
    text = read(YOUR_TURN)
    tally = mutation.Tally()
    for at in mutation.digits(text):
        tally.tried(text, at, caught=any(faults(mutation.changed(text, at))))
    return tally


def test_each_changed_digit_of_the_exercise_is_reported_or_listed(exercise_tally):
    assert sorted(exercise_tally.survivors) == sorted(digits.listed().get(EXERCISE, {}))


def test_the_figures_that_the_site_publishes_are_those_of_this_run(tallies, exercise_tally):
    every = [*tallies.values(), exercise_tally]
    total = sum(tally.digits for tally in every)
    left = sum(len(tally.survivors) for tally in every)
    assert f"{total:,} digits" in digits.published()
    assert f"{total - left:,} changes" in digits.published()
