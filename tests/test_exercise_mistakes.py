"""No wrong program passes the exercise, and the page says what a wrong one seems to do."""

import itertools

import pytest
from _lesson.exercise import YOUR_TURN
from _lesson.exercise.judge.command_line import report
from _lesson.exercise.judge.exercise import Exercise
from _lesson.exercise.judge.recognition import MOST_MISTAKES
from _lesson.exercise.judge.sandbox import Run
from _lesson.exercise.judge.verdicts import compare, judge

from tests.audit.variants import variants

EXERCISE = Exercise(YOUR_TURN.read_text("utf-8"))
SOLUTION = EXERCISE.data["solution"]
HEAD = "def solve(Q, K, V, causal):\n"


def names(code: str) -> list[str]:
    return [one["name"] for one in judge(code, EXERCISE)["recognised"]]


# --- Programs made of the solution by one change each


@pytest.fixture(scope="module")
def changed():
    return variants(SOLUTION)


def caught(program: str) -> bool:
    run = Run(program, EXERCISE.names)
    return bool(run.problem) or any(
        compare(run.call(case), case["output"])["state"] == "failed" for case in EXERCISE.cases
    )


SCORES = "scores = [sum(({} for {} in {})) / root for key in keys]"
ROW = "row = [sum(({} for {} in {})) for column in zip(*V)]"
LARGEST = "largest = max(scores, default={})"
NO_ORDER = "A product and a sum have no order."
NO_KEYS = "Every query of the cases sees a key."
EQUAL = {
    SCORES.format("k * q", "q, k", "zip(query, key)"): NO_ORDER,
    SCORES.format("q * k", "k, q", "zip(query, key)"): NO_ORDER,
    SCORES.format("q * k", "q, k", "zip(key, query)"): NO_ORDER,
    SCORES.format("q * k", "q, k", "list(zip(query, key))[::-1]"): NO_ORDER,
    ROW.format("v * w", "w, v", "zip(weights, column)"): NO_ORDER,
    ROW.format("w * v", "v, w", "zip(weights, column)"): NO_ORDER,
    ROW.format("w * v", "w, v", "zip(column, weights)"): NO_ORDER,
    ROW.format("w * v", "w, v", "list(zip(weights, column))[::-1]"): NO_ORDER,
    "keys = K[:1 + i] if causal else K": NO_ORDER,
    "root = sqrt(len(query)); keys = K[:i + 1] if causal else K": "Neither needs the other.",
    "largest = max(scores)": NO_KEYS,
    LARGEST.format(1): NO_KEYS,
    LARGEST.format(-1): NO_KEYS,
    LARGEST.format(2): NO_KEYS,
}


def test_every_change_of_the_solution_is_caught_by_a_case_or_listed_as_equal(changed):
    assert len(changed) > 800
    passed = [what.partition(" -> ")[2] for code, what in changed.items() if not caught(code)]
    assert sorted(passed) == sorted(EQUAL)


@pytest.mark.parametrize(
    "change",
    [
        "scores = [sum((q + k for",  # an operator
        "keys = K[:i + 2] if",  # a bound
        "keys = K[:i + 0] if",
        "keys = K[:] if",
        "largest = min(scores",  # a function
        "for e in total]",  # a name
        "exps = [exp(score) for",  # a term left out
        "K if causal else K[:i + 1]",  # a condition
        "largest = max(scores, default=0); scores = [",  # an order
        "output.append(row); row = [sum(",
        "for q, k in list(zip(query, key))[1:]",  # what a loop runs over
    ],
)
def test_the_changes_are_of_every_kind(change, changed):
    assert any(change in what.partition(" -> ")[2] for what in changed.values())


# --- More than one mistake

PROGRAM = """
from math import exp, sqrt

def solve(Q, K, V, causal):
    output = []
    for i, q in enumerate(Q):
        n = len(K)
        every = [{score} for k in K]
        seen = [{see} for j in range(n)] if causal else [True] * n
        scores = [s for s, ok in zip(every, seen) if ok]
        values = [v for v, ok in zip(V, seen) if ok]
        top = {top}
        exps = [{exp} for s in scores]
        weights = [{weight} for e in exps]
        output.append([sum(w * x for w, x in zip(weights, column)) for column in zip(*values)])
    return output
"""
DOT = "sum(a * b for a, b in zip(q, k))"
PARTS = {
    "score": f"{DOT} / sqrt(len(q))",
    "see": "j <= i",
    "top": "max(scores)",
    "exp": "exp(s - top)",
    "weight": "e / sum(exps)",
}
MISTAKES = {
    "no scaling": {"score": DOT},
    "divided by d": {"score": f"{DOT} / len(q)"},
    "multiplied instead of divided": {"score": f"{DOT} * sqrt(len(q))"},
    "root of the value width": {"score": f"{DOT} / sqrt(len(V[0]))"},
    "absolute dot product": {"score": f"abs({DOT}) / sqrt(len(q))"},
    "causal ignored": {"see": "True"},
    "strict causal": {"see": "j < i or i == 0"},
    "one token too far": {"see": "j <= i + 1"},
    "reversed": {"see": "j >= i"},
    "bottom-right alignment": {"see": "j <= i + len(K) - len(Q)"},
    "softmax without subtracting the maximum": {"top": "0"},
    "maximum that starts at zero": {"top": "max(0, *scores)"},
    "first score subtracted": {"top": "scores[0]"},
    "base 2": {"exp": "2.0 ** (s - top)"},
    "exp never normalised": {"weight": "e"},
    "weights times n": {"weight": "len(exps) * e / sum(exps)"},
}
PAIRS = [
    (one, other)
    for one, other in itertools.combinations(MISTAKES, 2)
    if MISTAKES[one].keys() != MISTAKES[other].keys()
]


def test_the_parts_together_are_right_and_each_mistake_alone_is_named():
    assert not caught(PROGRAM.format(**PARTS))
    for name, part in MISTAKES.items():
        assert names(PROGRAM.format(**PARTS | part)) == [name]


def test_of_two_mistakes_at_once_one_is_named_and_more_often_than_not_both():
    both = 0
    for pair in PAIRS:
        found = names(PROGRAM.format(**PARTS | MISTAKES[pair[0]] | MISTAKES[pair[1]]))
        assert set(pair) & set(found), f"{pair}: {found}"
        both += set(pair) <= set(found)
        assert len(found) <= MOST_MISTAKES
    assert both > len(PAIRS) / 2


def test_the_checks_that_show_each_mistake_are_named():
    code = SOLUTION.replace("/ root", "").replace("if causal else K", "if False else K")
    text = report(judge(code, EXERCISE))
    assert "Checks 1, 5, 6 and 9 fail as with: no scaling." in text
    assert "Checks 4, 10 and 13 fail as with: causal ignored." in text


def test_a_failure_names_a_mistake_only_where_all_of_its_failures_are_seen():
    """Two checks fail, and others fail so with more: the mean, the maximum over all rows."""
    parts = PARTS | MISTAKES["no scaling"] | MISTAKES["first score subtracted"]
    assert names(PROGRAM.format(**parts)) == ["no scaling", "first score subtracted"]


def test_numbers_name_a_mistake_whose_failures_somebody_has_mended():
    code = SOLUTION.replace("exp(score - largest)", "score").replace("sum(exps)", "sum(exps) or 1")
    assert names(code)[0] == "normalised without exp"


@pytest.mark.parametrize("crash", ["1 / 0", "Q[9]", "int('x')", "undefined", "return None"])
def test_a_mistake_is_named_although_one_case_fails_in_another_way(crash):
    """Three queries and two keys: where an index is often wrong."""
    code = SOLUTION.replace("/ root", "").replace(
        "    output = []\n", f"    output = []\n    if len(Q) > len(K): {crash}\n"
    )
    assert names(code)[0] == "no scaling"


def test_a_mistake_is_named_although_the_time_was_up_before_the_last_case():
    code = SOLUTION.replace("/ root", "").replace(
        "    output = []\n", "    output = []\n    while len(K) == 4: pass\n"
    )
    verdict = judge(code, EXERCISE, seconds=0.5)
    assert verdict["cases"][-1]["state"] == "not run"
    assert verdict["recognised"][0]["says"] == "Checks 1, 2 and 5 fail as with: no scaling"


@pytest.mark.parametrize(
    "code",
    [
        EXERCISE.data["starter"],
        HEAD + "    return undefined\n",
        HEAD + "    return [[0] * len(V[0]) for q in Q]\n",
        HEAD + "    return [[float('nan')] * len(V[0]) for q in Q]\n",
        HEAD + "    return [[7] * len(V[0]) for q in Q]\n",
        SOLUTION.replace("if causal else K", "if not causal else undefined"),
    ],
)
def test_what_fits_by_chance_is_given_no_name(code):
    assert names(code) == []


# --- Rounding

SINGLE = """
from math import exp, sqrt
from struct import pack, unpack

def f(x):
    return unpack("f", pack("f", x))[0]

def solve(Q, K, V, causal):
    output = []
    for i, q in enumerate(Q):
        keys = K[: i + 1] if causal else K
        scores = [f(f(sum(f(f(a) * f(b)) for a, b in zip(q, k))) / f(sqrt(len(q)))) for k in keys]
        exps = [f(exp(f(s - max(scores)))) for s in scores]
        weights = [f(e / f(sum(exps))) for e in exps]
        output.append([f(sum(f(w * f(x)) for w, x in zip(weights, column))) for column in zip(*V)])
    return output
"""
NUMPY = """
import numpy as np

def solve(Q, K, V, causal):
    Q, K, V = (np.array(x, dtype=np.float32) for x in (Q, K, V))
    scores = Q @ K.T / np.sqrt(np.float32(Q.shape[1]))
    if causal:
        scores = np.where(np.tri(*scores.shape, dtype=bool), scores, np.float32(-np.inf))
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ V
"""
ROUNDED = SOLUTION.replace("sum(w * v", "round(sum(w * v").replace(
    "zip(weights, column))", "zip(weights, column)), 5)"
)


@pytest.mark.parametrize("code", [SINGLE, NUMPY, ROUNDED], ids=["struct", "numpy", "rounded"])
def test_a_right_program_of_few_digits_is_told_so_in_words(code):
    verdict = judge(code, EXERCISE)
    assert 0 < verdict["passed"] < verdict["total"]
    (known,) = verdict["recognised"]
    assert known["says"] == "Right, but for rounding"
    assert "the checks want 1e-9: the method is right." in known["comes_from"]
    assert known["comes_from"] in report(verdict)


def test_what_is_not_finite_is_no_rounding():
    code = NUMPY.replace("scores - scores.max(axis=1, keepdims=True)", "scores")
    code = code.replace("float32", "float64").replace(
        "    Q, K", "    np.seterr(all='ignore')\n    Q, K"
    )
    assert names(code) == ["softmax without subtracting the maximum"]


def test_a_mistake_is_no_rounding():
    assert names(SOLUTION.replace("w * v for", "w * v * 1.001 for")) == []
    for name in ("masked score -10", "masked score -1e-9", "no scaling"):
        program = next(one["program"] for one in EXERCISE.wrong if one["name"] == name)
        assert names(program) == [name]
