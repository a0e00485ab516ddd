"""Every exercise is right, tells its wrong answers apart, and works as it is downloaded."""

import re
import subprocess
import sys

import numpy as np
import pytest
from _lesson.exercise import EXERCISES, YOUR_CACHE, YOUR_GRADIENT, YOUR_HEADS, YOUR_TURN
from _lesson.exercise.judge.challenge import challenge
from _lesson.exercise.judge.command_line import report
from _lesson.exercise.judge.exercise import results_of, spellings
from _lesson.exercise.judge.results import parts, read
from _lesson.exercise.judge.verdicts import compare, judge
from _lesson.exercise.page import ExercisePage
from _lesson.exercise.publish import download
from helpers import pages as navigation

from attention import (
    attention_backward,
    attention_weights,
    multi_head_attention,
    rotary_embedding,
    scaled_dot_product_attention,
    split_heads,
)

PAGES = {file.stem: ExercisePage(file) for file in EXERCISES}
EVERY = {
    f"{stem}: {wrong['name']} {number}": (page.exercise, wrong, one)
    for stem, page in PAGES.items()
    for wrong in page.exercise.wrong
    for number, one in enumerate(spellings(wrong))
    if not wrong["equal"]
}


def heads(case: dict) -> list:
    weights = (np.array(case[name], float) for name in ("x", "W_Q", "W_K", "W_V", "W_O"))
    return multi_head_attention(*weights, case["num_heads"], is_causal=case["causal"])


def as_line(case: dict, names: list[str]) -> str:
    return ", ".join(f"{name}={case[name]}" for name in names)


def passes(program: str, exercise, cases: list[dict]) -> bool:
    results = results_of(program, cases, exercise.names, **exercise.how)
    pairs = zip(results, cases, strict=True)
    return all(compare(result, case["output"])["state"] == "passed" for result, case in pairs)


# --- What holds for each exercise


@pytest.mark.parametrize("stem", PAGES)
def test_the_starter_fails_every_check_and_the_solution_none(stem):
    exercise = PAGES[stem].exercise
    assert judge(exercise.data["starter"], exercise)["passed"] == 0
    assert judge(exercise.data["solution"], exercise)["passed"] == len(exercise.cases)


@pytest.mark.parametrize("one", EVERY)
def test_a_wrong_answer_fails_and_is_recognised_by_its_own_name_alone(one):
    exercise, wrong, spelling = EVERY[one]
    verdict = judge(spelling["program"], exercise)
    assert verdict["passed"] < verdict["total"]
    known = verdict["recognised"]
    assert [known["name"] for known in known] == [wrong["name"]]
    assert known[0]["says"] == f"These are the outputs of: {wrong['name']}"
    assert known[0]["comes_from"] == wrong["comes_from"]


@pytest.mark.parametrize("stem", PAGES)
def test_the_pages_own_cases_catch_every_wrong_program(stem):
    exercise = PAGES[stem].exercise
    lines = [as_line(case, exercise.names) for case in exercise.cases]
    result = challenge("\n".join(lines), exercise)
    assert (result["problems"], result["escaped"]) == ([], [])


@pytest.mark.parametrize("stem", [YOUR_TURN.stem, YOUR_HEADS.stem])
def test_wrong_programs_can_pass_the_visible_cases_as_these_pages_say(stem):
    exercise = PAGES[stem].exercise
    lines = [as_line(case, exercise.names) for case in exercise.cases]
    shown = [line for line, case in zip(lines, exercise.cases, strict=True) if not case["hidden"]]
    assert challenge("\n".join(shown), exercise)["escaped"]


@pytest.mark.parametrize("stem", PAGES)
def test_the_downloaded_file_prints_the_same_verdicts(stem, tmp_path):
    page = PAGES[stem]
    exercise = page.exercise
    (tmp_path / f"{stem}.py").write_text(download(page.data_file), "utf-8")
    for code in (exercise.data["solution"], exercise.wrong[0]["program"]):
        (tmp_path / "mine.py").write_text(code, "utf-8")
        command = [sys.executable, "-I", "-S", f"{stem}.py", "mine.py"]
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8")
        verdict = judge(code, exercise)
        assert result.stdout == report(verdict) + "\n"
        assert result.returncode == (verdict["passed"] < verdict["total"])


@pytest.mark.parametrize("stem", PAGES)
def test_who_solves_it_is_told_the_next_page_and_nobody_else(stem):
    exercise = PAGES[stem].exercise
    verdict = judge(exercise.data["solution"], exercise)
    following = navigation()[navigation().index(f"{stem}/") + 1]
    assert f"{verdict['next']['page']}/" == following
    assert report(verdict).endswith(verdict["next"]["says"])
    assert judge(exercise.data["starter"], exercise)["next"] is None


@pytest.mark.parametrize("stem", PAGES)
def test_its_texts_give_nothing_away_and_no_digit_that_nothing_checks(stem):
    data = PAGES[stem].exercise.data
    lines = [line.strip() for line in data["solution"].splitlines() if "=" in line]
    texts = [hint["text"] for hint in data["hint"]] + [one["comes_from"] for one in data["wrong"]]
    assert len(data["hint"]) == 3
    assert [line for line in lines for text in texts if line in text] == []
    texts += [
        data["task"],
        data["returns"],
        data["next"]["says"],
        *(a["holds"] for a in data["argument"]),
    ]
    assert [text for text in texts if re.search(r"\d", text)] == []
    steps = re.findall(r"# (\d+)\. ", data["solution"])
    assert steps == [str(n + 1) for n in range(len(steps))]
    assert len(steps) >= 4


# --- Several heads

HEADS = PAGES[YOUR_HEADS.stem].exercise
NAMES = {wrong["name"] for wrong in HEADS.wrong}


@pytest.mark.parametrize("case", HEADS.cases, ids=lambda case: case["why"])
def test_the_package_agrees_with_every_case_of_several_heads(case):
    np.testing.assert_allclose(np.array(case["output"]), heads(case), rtol=1e-12, atol=1e-12)


def largest_weight(case: dict) -> float:
    Q, K = (
        split_heads(np.array(case["x"], float) @ case[name], case["num_heads"])
        for name in ("W_Q", "W_K")
    )
    return attention_weights(Q, K).max()


def test_hidden_cases_of_several_heads_have_unequal_sizes_signs_and_no_saturation():
    for case in (case for case in HEADS.cases if case["hidden"]):
        width = len(case["W_Q"][0]) // case["num_heads"]
        assert case["num_heads"] not in (width, len(case["x"])) or case["why"].startswith(
            "More tokens"
        )
        assert min(cell for name in ("x", "W_Q") for row in case[name] for cell in row) < 0
        assert largest_weight(case) < 0.95


def published(kind: str) -> list[dict]:
    """Cases as well-known exercises have them: large numbers, or ones alone."""
    rng = np.random.default_rng(0)
    cases = []
    for n, D, h in ((4, 4, 2), (6, 8, 4)):
        if kind == "ones":
            x, *weights = np.ones((n, D)), *np.ones((4, D, D))
        else:
            x = rng.permutation(n * D).reshape(n, D).astype(float)
            weights = [rng.permutation(D * D).reshape(D, D).astype(float) for _ in range(4)]
        given = [x.tolist(), *(w.tolist() for w in weights), h, False]
        case = dict(zip(HEADS.names, given, strict=True))
        cases.append(case | {"output": heads(case).tolist()})
    return cases


SCALES = {
    "scaled by the width of a token",
    "scaled by the width of all heads",
    "root of the number of tokens",
    "root of the number of heads",
    "divided by the width",
    "no scaling",
}


@pytest.mark.parametrize("kind", ["saturated", "ones"])
def test_the_cases_of_well_known_exercises_let_wrong_programs_through(kind):
    cases = published(kind)
    escaped = {one["name"] for one in HEADS.wrong if passes(one["program"], HEADS, cases)}
    if kind == "saturated":
        assert escaped == SCALES | {"causal ignored", "one head only"}
    else:
        seen = {"no output projection", "softmax over heads", "input split before projection"}
        assert escaped == NAMES - seen


MISREAD = {
    "num_heads=2.5": "num_heads is 2.5: write a whole number from 1 to 8",
    "num_heads=True": "num_heads is True: write a whole number",
    "num_heads=0": "num_heads is 0: write a whole number",
    "num_heads=3": "a row of W_Q has 2 numbers, and num_heads is 3: all heads are equally wide",
    "W_O=[[1]]": "a row of W_V has 2 numbers, and W_O 1 row of 1: each number of the joined heads",
    "x=[[1], [2]]": "a row of x has 1 numbers, and W_Q 2 rows of 2: each number of a token",
}


@pytest.mark.parametrize("change", MISREAD)
def test_a_case_of_several_heads_that_cannot_be_run_is_told_why(change):
    name, _, _ = change.partition("=")
    parts = {one: f"{one}={HEADS.cases[0][one]}" for one in HEADS.names}
    result = challenge(", ".join((parts | {name: change}).values()), HEADS)
    assert MISREAD[change] in "\n".join(result["problems"])


# --- The gradient

GRADIENT = PAGES[YOUR_GRADIENT.stem].exercise


def gradients(case: dict) -> list:
    """dQ, dK and dV below each other, with an empty row between them, as the judge reads them."""
    found = attention_backward(*(np.array(case[name], float) for name in GRADIENT.names))
    return read([one.tolist() for one in found], GRADIENT.outputs)[0]


@pytest.mark.parametrize("case", GRADIENT.cases, ids=lambda case: case["why"])
def test_the_package_agrees_with_every_case_of_the_gradient(case):
    for ours, theirs in zip(parts(case["output"]), parts(gradients(case)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", GRADIENT.cases, ids=lambda case: case["why"])
def test_no_case_of_the_gradient_has_values_of_equal_sums_or_a_saturated_softmax(case):
    sums = [sum(row) for row in case["V"]]
    assert len(set(sums)) == len(sums)
    assert attention_weights(np.array(case["Q"]), np.array(case["K"])).max() < 0.95


BLIND = {
    "ones": [np.ones((3, 4))] * 4,
    "equal sums": [np.ones((2, 2)), np.eye(2), np.eye(2), np.array([[1, 2], [3, 0]])],
    "saturated": [np.eye(2), 99 * np.eye(2), np.eye(2), np.array([[1, 2], [3, 5]])],
}
SCALE = {wrong["name"] for wrong in GRADIENT.wrong if "scale f" in wrong["name"]} | {
    "multiplied by the root",
    "scale twice",
    "queries and keys exchanged",
    "queries multiplied for the queries",
    "scores not turned over for the keys",
    "the sign reversed",
}


@pytest.mark.parametrize("kind", BLIND)
def test_cases_of_these_kinds_let_wrong_gradients_through(kind):
    case = dict(zip(GRADIENT.names, (one.tolist() for one in BLIND[kind]), strict=True))
    case["output"] = gradients(case)
    escaped = {one["name"] for one in GRADIENT.wrong if passes(one["program"], GRADIENT, [case])}
    assert escaped >= SCALE


RETURNED = {
    "return dQ": "dQ, dK, dV were expected",
    "return [[1]], dK, 3": "dK: solve returned ",
    "return [[1]], [[1]], [['a']]": "dV: row 0, column 0 is 'a'",
    "return [[1]], [[1]], [[1]]": "1 row of 2, 2 rows of 2, 2 rows of 1 expected, 1 row of 1, 1 r",
    "return None": "solve returned None",
}


@pytest.mark.parametrize("code", RETURNED)
def test_what_is_wrong_with_one_of_several_results_is_said_with_its_name(code):
    program = f"def solve(d_out, Q, K, V):\n    dQ, dK = [[1, 0]], 7\n    {code}\n"
    verdict = judge(program, GRADIENT)
    assert RETURNED[code] in verdict["cases"][0]["message"]


# --- The cache

CACHE = PAGES[YOUR_CACHE.stem].exercise


def cached(case: dict) -> np.ndarray:
    Q, K, V = (np.array(case[name], float) for name in "QKV")
    Q, K = (rotary_embedding(one, np.arange(len(one))) for one in (Q, K))
    return scaled_dot_product_attention(Q, K, V, is_causal=True)


@pytest.mark.parametrize("case", CACHE.cases, ids=lambda case: case["why"])
def test_the_package_agrees_with_every_case_of_the_cache(case):
    np.testing.assert_allclose(np.array(case["output"]), cached(case), rtol=1e-12, atol=1e-12)


def test_places_counted_from_one_are_equal_and_pass():
    (equal,) = (one for one in CACHE.wrong if one["equal"])
    assert equal["name"] == "places counted from one"
    assert passes(equal["program"], CACHE, CACHE.cases)


@pytest.mark.parametrize("kind", ["one token", "ones"])
def test_a_test_on_the_first_token_or_on_ones_lets_wrong_caches_through(kind):
    Q = K = [[1.0] * 4] * (1 if kind == "one token" else 3)
    case = {"Q": Q, "K": K, "V": [[1.0] * 4] * len(Q)}
    case["output"] = cached(case).tolist()
    escaped = {one["name"] for one in CACHE.wrong if passes(one["program"], CACHE, [case])}
    seen = {"one token": set(), "ones": {"values rotated too"}}
    assert escaped == {one["name"] for one in CACHE.wrong} - seen[kind]


CLASSES = {
    "class Store: pass": "No class is named Cache. There is Store. The checks call Cache() and th",
    "Cache = 3": "Cache is 3: it should be a class",
    "class Cache: pass": "AttributeError: 'Cache' object has no attribute 'step'",
    "class Cache:\n    def step(self, q): pass": "The checks call Cache() and then step(q, k, v)",
    "class Cache:\n    def step(self, q, k, v): pass": "row 0 is None",
    "class Cache:\n    def step(self, q, k, v):\n        v[0] = 9\n        return v": "",
    "class Cache:\n    def step(self, q, k, v):\n        while True: pass": "Stopped after",
}


@pytest.mark.parametrize("code", CLASSES)
def test_a_class_that_cannot_be_run_is_told_why(code):
    verdict = judge(code, CACHE, seconds=0.5)
    assert CLASSES[code] in (verdict["problem"] or verdict["cases"][0])["message"]
    assert verdict["passed"] == 0


def test_rows_of_an_odd_width_are_refused():
    result = challenge("Q=[[1, 2, 3]], K=[[1, 2, 3]], V=[[1]]", CACHE)
    assert result["problems"] == ["line 1: a row of Q has 3 numbers: numbers are rotated in pairs"]
