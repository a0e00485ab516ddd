"""The judge says what is wrong with a learner's code, whatever the code does."""

import json
import re
import sys

import pytest
from _lesson.exercise import YOUR_TURN
from _lesson.exercise.judge.challenge import challenge, read_cases
from _lesson.exercise.judge.command_line import report
from _lesson.exercise.judge.exercise import Exercise
from _lesson.exercise.judge.sandbox import PRINTED
from _lesson.exercise.judge.verdicts import judge

TEXT = YOUR_TURN.read_text("utf-8")
EXERCISE = Exercise(TEXT)
SOLUTION = EXERCISE.data["solution"]
WRONG = sum(not wrong["equal"] for wrong in EXERCISE.wrong)
HEAD = "def solve(Q, K, V, causal):\n"


def first(code: str) -> dict:
    """The first check's verdict."""
    verdict = judge(code, EXERCISE)
    assert verdict["passed"] == 0
    return verdict["cases"][0]


# --- What a verdict says


def test_all_checks_pass_for_the_solution_and_only_then_it_says_so():
    verdict = judge(SOLUTION, EXERCISE)
    assert verdict["summary"] == f"All {len(EXERCISE.cases)} checks passed"
    wrong = judge(SOLUTION.replace("exp(score - largest)", "exp(score)"), EXERCISE)
    assert 0 < wrong["passed"] < wrong["total"]
    assert wrong["summary"] == f"{wrong['passed']} of {wrong['total']} checks passed"


def test_a_verdict_is_plain_data_that_travels_as_json():
    for code in (SOLUTION, HEAD + "    return [[float('nan'), 1]]\n", "def"):
        verdict = judge(code, EXERCISE)
        assert json.loads(json.dumps(verdict, allow_nan=False)) == verdict


def test_cells_that_differ_are_marked_and_no_others():
    code = SOLUTION.replace("return output", "output[0][1] += 1\n    return output")
    one = first(code.replace("if causal else K", "if False else K"))
    assert one["wrong"] == [[0, 1]]
    assert (one["expected"][0][1], one["got"][0][1]) == ("3.30238", "4.30238")
    assert one["message"] == "1 number differs"


def test_a_difference_that_six_digits_would_hide_is_shown():
    one = first(SOLUTION.replace("return output", "output[0][0] += 1e-7\n    return output"))
    assert one["expected"][0][0] != one["got"][0][0]
    assert one["got"][0][0].startswith("6.6976")


def test_rounding_that_differs_between_pythons_is_forgiven():
    for change in ("* (1 + 1e-12)", "+ 1e-12"):
        code = SOLUTION.replace("w * v for", f"w * v {change} for")
        assert judge(code, EXERCISE)["passed"] == len(EXERCISE.cases)


@pytest.mark.parametrize("kind", ["tuple(map(tuple, output))", "[array('d', r) for r in output]"])
def test_tuples_and_arrays_are_read_as_lists_and_that_is_said(kind):
    code = "from array import array\n" + SOLUTION.replace("return output", f"return {kind}")
    verdict = judge(code, EXERCISE)
    assert verdict["passed"] == verdict["total"]
    assert "read as lists" in verdict["cases"][0]["note"]


def test_numpy_results_are_read_where_numpy_is():
    code = "import numpy\n" + SOLUTION.replace("return output", "return numpy.array(output)")
    assert judge(code, EXERCISE)["passed"] == len(EXERCISE.cases)


def test_what_is_printed_stands_with_its_check():
    verdict = judge("print('loading')\n" + HEAD + "    print(len(Q), len(K))\n", EXERCISE)
    assert verdict["printed"] == "loading\n"
    assert [case["printed"] for case in verdict["cases"]] == [
        f"{len(case['Q'])} {len(case['K'])}\n" for case in EXERCISE.cases
    ]


# --- What it survives

SURVIVED = {
    "a syntax error": ("def solve(Q):\n    return (1\n", r"SyntaxError: .*at line 2"),
    "a no-break space": (
        HEAD + "    return\u00a0V\n",
        r"at line 2\. U\+00A0 is a no-break space, .*: type a space",
    ),
    "curly quotes": (
        HEAD + "    print(“Q”)\n",
        r"at line 2\. U\+201C is a curly quote, .*: type a straight \" in its place",
    ),
    "a curly apostrophe": (HEAD + "    print(‘Q’)\n", r"U\+2018 is a curly quote.* straight '"),
    "a minus sign": (HEAD + "    return 3 − 1\n", r"U\+2212 is a long dash, .*: type - in"),
    "a wide bracket": (HEAD + "    return exp（1)\n", r"U\+FF08 is a wide character.*type \( in"),
    "an invisible space": (HEAD + "    return V\u200b\n", r"U\+200B is an invisible mark"),
    "a letter of no language": (HEAD + "    return ☃\n", r"\(U\+2603\), at line 2$"),
    "wrong indentation": (HEAD + "return 1\n", r"IndentationError: .*at line 2"),
    "no solve": ("def attention(Q):\n    pass\n", r"No function is named solve.*attention"),
    "solve is no function": ("solve = 3\n", r"solve is 3: it should be a function"),
    "an error while loading": ("x = 1\ny = x / 0\n", r"ZeroDivisionError: .*at line 2"),
    "an exception": (HEAD + "    x = 0\n    return 1 / x\n", r"ZeroDivisionError: .*at line 3"),
    "too few arguments": ("def solve(Q, K, V):\n    return Q\n", r"TypeError.*solve\(Q, K, V, c"),
    "nothing returned": (HEAD + "    pass\n", r"returned None: does it end with a return"),
    "a number": (HEAD + "    return 3.5\n", r"returned 3.5, of type float: a list of rows"),
    "a flat list": (HEAD + "    return [1, 2]\n", r"row 0 is 1, of type int"),
    "ragged rows": (HEAD + "    return [[1, 2], [3]]\n", r"different lengths: \[2, 1\]"),
    "text for numbers": (HEAD + "    return [['a', 1]]\n", r"row 0, column 0 is 'a', of type str"),
    "truth for numbers": (HEAD + "    return [[True, 1]]\n", r"column 0 is True, of type bool"),
    "complex numbers": (HEAD + "    return [[1j, 1]]\n", r"column 0 is 1j, of type complex"),
    "a number beyond floats": (HEAD + "    return [[10**400, 1]]\n", r"too large for a float"),
    "NaN": (HEAD + "    return [[float('nan')] * 2] * 2\n", r"4 numbers differ.*not finite"),
    "too many rows": (HEAD + "    return Q + Q\n", r"2 rows of 2 expected, 4 rows of 2 ret"),
    "empty rows": (HEAD + "    return [[] for _ in Q]\n", r"2 rows of 2 expected, 2 empty rows"),
    "the largest of nothing": (
        HEAD + "    return [[max(K[:0])]]\n",
        r"empty.*, at line 2\. The list was empty there",
    ),
    "an index too far": (HEAD + "    return K[2]\n", r"at line 2\. The list is shorter than that"),
    "a list times a number": (HEAD + "    return Q * 0.5\n", r"at line 2\. A list was multiplied"),
    "lists added to numbers": (HEAD + "    return Q + 1\n", r"list.*, at line 2"),
    "no rows": (HEAD + "    return []\n", r"2 rows of 2 expected, an empty list ret"),
    "an enormous list": (HEAD + "    return [[0.0]] * 10**6\n", r"returned 1,000,000 rows"),
    "an enormous row": (HEAD + "    return [[0.0] * 10**6]\n", r"row 0 has 1,000,000 numbers"),
    "too much memory": (HEAD + "    return [0] * 2**62\n", r"(Memory|Overflow)Error.*at line 2"),
    "a list in itself": (
        HEAD + "    a = []\n    a.append(a)\n    return a\n",
        r"row 0, column 0 is",
    ),
    "a generator": (HEAD + "    yield Q\n", r"of type generator"),
    "input": (HEAD + "    return input('?')\n", r"nobody is there to answer.*at line 2"),
    "stdin": ("import sys\n" + HEAD + "    sys.stdin.read()\n", r"returned None"),
    "sys.exit": ("import sys\n" + HEAD + "    sys.exit()\n", r"asked Python to exit, at line 3"),
    "sys.exit while loading": ("import sys\nsys.exit(3)\n", r"asked Python to exit, at line 2"),
    "deep recursion": (HEAD + "    return solve(Q, K, V, causal)\n", r"RecursionError"),
    "a closed stdout": ("import sys\n" + HEAD + "    sys.stdout.close()\n", r"returned None"),
    "an interrupt": (HEAD + "    raise KeyboardInterrupt\n", r"Interrupted, at line 2"),
    "a repr that raises": (
        "class X:\n    def __repr__(self):\n        1 / 0\n" + HEAD + "    return X()\n",
        r"something whose repr raises ZeroDivisionError",
    ),
    "an error that cannot be told": (
        "class X(Exception):\n    def __str__(self):\n        1 / 0\n" + HEAD + "    raise X\n",
        r"X, at line 5",
    ),
    "a list that lies": (
        "class X(list):\n    def __len__(self):\n        1 / 0\n" + HEAD + "    return X([1])\n",
        r"cannot be read: ZeroDivisionError",
    ),
}


@pytest.mark.parametrize("name", SURVIVED)
def test_it_survives_and_says_what_is_wrong_and_where(name):
    code, message = SURVIVED[name]
    verdict = judge(code, EXERCISE)
    assert verdict["passed"] == 0
    said = (verdict["problem"] or verdict["cases"][0])["message"]
    assert re.search(message, said), said
    assert said in report(verdict)
    assert judge(SOLUTION, EXERCISE)["passed"] == len(EXERCISE.cases)


LOOPS = {
    "a loop": (HEAD + "    n = 0\n    while True:\n        n += 1\n", (3, 4)),
    "a loop on one line": (HEAD + "    while True: pass\n", (2,)),
    "a loop while loading": ("x = 1\nwhile x:\n    x = 2\n", (2, 3)),
    "a generator without end": (HEAD + "    return sum(1 for _ in iter(int, 1))\n", (2,)),
    "a list without end": (HEAD + "    x = []\n    while True:\n        x.append(Q)\n", (3, 4)),
    "calls without end": ("def f():\n    pass\n" + HEAD + "    while True: f()\n", (1, 2, 4)),
    "prints without end": (HEAD + "    while True:\n        print('x' * 99)\n", (2, 3)),
    "a loop that catches exceptions": (
        HEAD + "    while True:\n        try:\n            Q[9]\n        except Exception: pass\n",
        (2, 3, 4, 5),
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_an_endless_loop_is_stopped_and_its_line_is_named(name):
    code, lines = LOOPS[name]
    verdict = judge(code, EXERCISE, seconds=0.5)  # that it ends is tested, not how fast
    problem = verdict["problem"] or verdict["cases"][0]
    found = re.fullmatch(r"Stopped after .* at line (\d+): .*", problem["message"])
    assert int(found[1]) in lines
    assert int(found[1]) == problem["trace"][-1]["line"]
    assert [case["state"] for case in verdict["cases"][1:]] == ["not run"] * (
        len(EXERCISE.cases) - 1
    )
    assert verdict["recognised"] == []


def test_a_flood_of_prints_is_cut_and_counted():
    code = HEAD + "    for i in range(10_000):\n        print('flood')\n    print('x' * 90_000)\n"
    one = first(code)
    assert len(one["printed"]) < PRINTED + 100
    assert one["printed"].endswith(f"and {150_001 - PRINTED:,} more characters")


def test_a_trace_shows_the_learners_lines_and_no_others():
    code = "import json\n" + HEAD + "    return help(Q)\n\ndef help(x):\n    return json.loads(x)\n"
    assert [(step["line"], step["inside"]) for step in first(code)["trace"]] == [
        (3, "solve"),
        (6, "help"),
    ]


def test_a_changed_input_fails_even_with_the_right_output():
    code = SOLUTION.replace("return output", "V[0][0] = 99\n    return output")
    assert "changed the lists it was given" in first(code)["message"]
    again = judge(SOLUTION, EXERCISE)
    assert again["passed"] == again["total"]


def test_code_left_from_last_time_is_gone():
    judge("def helper():\n    return 1\n" + SOLUTION, EXERCISE)
    assert "NameError" in first(HEAD + "    return helper()\n")["message"]


def test_what_a_program_breaks_in_python_is_mended():
    broken = (
        "import builtins, math, sys\nmath.exp = math.inf = None\n"
        "builtins.sum = builtins.len = None\ndel builtins.zip\n"
        "sys.setrecursionlimit(100)\nmath.isclose = lambda *a, **k: True\n"
    )
    limit = sys.getrecursionlimit()
    assert judge(broken + HEAD + "    return [[0, 0], [0, 0]]\n", EXERCISE)["passed"] == 0
    assert sys.getrecursionlimit() == limit
    assert judge(SOLUTION, EXERCISE)["passed"] == len(EXERCISE.cases)


# --- The learner's own cases

ONE = "Q=[[1, 0]], K=[[1, 0], [0, 1]], V=[[1], [2]], causal=False"
AGREED = {"Q": [[1, 0]], "K": [[1, 0], [0, 1]], "V": [[1], [2]], "causal": False}
MISREAD = {
    "": "no case yet",
    "Q=[[1, 0]": r"line 1: cannot read 'Q=\[\[1, 0\]': write Q=",
    "f(3)": "line 1: cannot read",
    ONE + "\nQ=open('x'), K=[[1]], V=[[1]], causal=True": "line 2: cannot read",
    "Q=[[1]], K=[[1]], V=[[1]]": "line 1: a case has Q, K, V and causal, this one has Q, K, V",
    ONE.replace("False", "1"): "causal is 1: write True or False",
    ONE.replace("[[1], [2]]", "[[1]]"): "K has 2 rows of 2, V 1 row of 1: each key has its value",
    ONE.replace("Q=[[1, 0]]", "Q=[[1]]"): "a row of Q has 1 numbers, one of K 2",
    ONE.replace("Q=[[1, 0]]", "Q=[1, 0]"): r"Q is \[1, 0\]: write a list of rows",
    ONE.replace("Q=[[1, 0]]", "Q=[]"): r"Q is \[\]: write a list of rows",
    ONE.replace("[[1], [2]]", "[[1], [2, 3]]"): "the rows of V have different lengths",
    ONE.replace("[[1], [2]]", "[['a'], [2]]"): "V holds 'a': a finite number was expected",
    ONE.replace("[[1], [2]]", "[[1e999], [2]]"): "V holds inf",
    ONE.replace("[[1], [2]]", "[[True], [2]]"): "V holds True",
    ONE.replace(" K", "\u00a0K"): r"cannot read .*U\+00A0 is a no-break space",
    ONE.replace("[[1, 0]]", "[[−1, 0]]"): r"cannot read .*U\+2212 is a long dash",
    ONE.replace("[[1, 0]]", "[[1, 0]] * 9"): "cannot read",
    "Q=[[1]], K=[[1]], V=[" + "[1]," * 9 + "], causal=True": "at most 8 of 8 are run",
    "\n".join([ONE] * 21): "21 cases: at most 20 are run",
    ONE.replace("[[1, 0]]", "[[1e300, 0]]").replace("[[1, 0]", "[[1e300, 0]"): "smaller numbers",
}


@pytest.mark.parametrize("text", MISREAD)
def test_a_case_that_cannot_be_run_is_named_with_what_would_be_right(text):
    result = challenge(text, EXERCISE)
    assert result["summary"] == "Not run: the cases cannot be read"
    assert re.search(MISREAD[text], "\n".join(result["problems"])), result["problems"]


@pytest.mark.parametrize(
    "text",
    [
        ONE,
        ONE.replace("False", "false"),
        f"# first\n\n  {ONE},  ",
        ONE.replace("causal", "causal "),
    ],
)
def test_cases_are_read_as_python_and_as_json_write_them(text):
    cases, problems = read_cases(text, EXERCISE)
    assert problems == []
    assert [{name: case[name] for name in AGREED} for case in cases] == [AGREED]


def as_line(case: dict) -> str:
    return ", ".join(f"{name}={case[name]}" for name in ("Q", "K", "V", "causal"))


def test_the_pages_own_cases_catch_every_wrong_program():
    lines = "\n".join(as_line(case) for case in EXERCISE.cases)
    result = challenge(lines, EXERCISE)
    wrong = [one["name"] for one in EXERCISE.wrong if not one["equal"]]
    assert result["summary"] == f"Your cases catch {len(wrong)} of {len(wrong)}"
    assert [one["name"] for one in result["caught"]] == wrong
    assert result["escaped"] == result["beyond"] == []


def test_one_case_catches_some_and_the_others_are_named():
    result = challenge("# two equal keys\n" + as_line(EXERCISE.cases[2]), EXERCISE)
    names = {one["name"] for one in result["escaped"]}
    assert "no scaling" in names  # all its scores are zero
    assert "exp never normalised" in {one["name"] for one in result["caught"]}
    assert all(one["line"] == 2 for one in result["caught"])
    assert len(result["caught"]) + len(names) == WRONG
    assert all(one["comes_from"] for one in result["escaped"])


def test_an_extreme_case_tells_even_the_equal_ones_apart():
    line = "Q=[[-3e9], [1]], K=[[1], [0]], V=[[1], [2]], causal=True"
    result = challenge(line, EXERCISE)
    assert result["beyond"] == ["minus 1e9", "masked score -1e9"]
    assert len(result["caught"]) + len(result["escaped"]) == WRONG


# --- The exercise itself


def test_an_exercise_whose_own_program_fails_is_an_error():
    broken = Exercise(TEXT.replace("def solve", "def resolve"))
    with pytest.raises(ValueError, match="No function is named solve"):
        judge(HEAD + "    return [[1]]\n", broken)


def test_code_that_does_not_load_runs_no_check_and_a_stop_says_how_many_are_left():
    total = len(EXERCISE.cases)
    verdict = judge("def solve(:\n", EXERCISE)
    assert verdict["summary"] == "No check was run"
    assert "not run" not in report(verdict)
    verdict = judge(HEAD + "    while True: pass\n", EXERCISE, seconds=0.1)
    assert verdict["summary"] == f"0 of {total} checks passed, {total - 1} not run"
    assert report(verdict).count("not run") == 1
