"""The exercise is right, its wrong answers are told apart, and it has one home."""

import hashlib
import re
import tarfile
from io import BytesIO

import numpy as np
import pytest
from _lesson.exercise import EXERCISES, YOUR_TURN, editor, node, publish, runtime
from _lesson.exercise.judge.exercise import results_of
from _lesson.exercise.judge.verdicts import compare, judge
from _lesson.exercise.page import ExercisePage
from bs4 import BeautifulSoup
from helpers import ROOT, build

from attention import scaled_dot_product_attention

PAGE = ExercisePage(YOUR_TURN)
EXERCISE = PAGE.exercise
WRONG = {one["name"]: one for one in EXERCISE.wrong}
SPELLED = [
    pytest.param(wrong["name"], one["program"], id=f"{wrong['name']} {number}")
    for wrong in EXERCISE.wrong
    for number, one in enumerate((wrong, *wrong.get("spelling", [])))
    if not wrong["equal"]
]


@pytest.mark.parametrize("case", EXERCISE.cases, ids=lambda case: case["why"])
def test_the_package_agrees_with_every_case(case):
    output = scaled_dot_product_attention(case["Q"], case["K"], case["V"], is_causal=case["causal"])
    np.testing.assert_allclose(np.array(case["output"]), output, rtol=1e-12, atol=1e-12)


def test_the_starter_fails_every_check_and_the_solution_none():
    assert judge(EXERCISE.data["starter"], EXERCISE)["passed"] == 0
    assert judge(EXERCISE.data["solution"], EXERCISE)["passed"] == len(EXERCISE.cases)


def test_the_cases_of_the_task_are_there():
    """Five to see; the others asymmetric, not square both ways, and with large scores."""
    assert [case["hidden"] for case in EXERCISE.cases] == [False] * 5 + [True] * 9
    sizes = [(len(case["Q"]), len(case["K"]), case["causal"]) for case in EXERCISE.cases[5:]]
    assert (1, 3, True) in sizes
    assert (3, 2, True) in sizes
    scores = [np.array(case["Q"]) @ np.array(case["K"]).T for case in EXERCISE.cases]
    assert any(s.max() == 1100 for s in scores)
    assert min(s.min() for s in scores) < 0
    assert all(case["why"] for case in EXERCISE.cases)


@pytest.mark.parametrize(("name", "program"), SPELLED)
def test_a_wrong_answer_fails_and_is_recognised_by_its_own_name_alone(name, program):
    verdict = judge(program, EXERCISE)
    assert verdict["passed"] < verdict["total"]
    known = verdict["recognised"]
    assert [(one["name"], one["comes_from"]) for one in known] == [
        (name, WRONG[name]["comes_from"])
    ]
    assert known[0]["says"] == f"These are the outputs of: {name}"
    failed = [case["number"] for case in verdict["cases"] if case["state"] == "failed"]
    assert known[0]["checks"] == failed


@pytest.mark.parametrize("name", [name for name in WRONG if WRONG[name]["equal"]])
def test_an_answer_that_is_equal_here_passes(name):
    verdict = judge(WRONG[name]["program"], EXERCISE)
    assert verdict["passed"] == verdict["total"]
    assert verdict["recognised"] == []


def test_there_are_as_many_wrong_answers_as_the_page_says():
    assert (PAGE.wrong(equal=False), PAGE.wrong(equal=True)) == (40, 2)


def test_a_wrong_program_can_pass_all_cases_that_are_shown():
    """As the page says, and why there are more cases."""
    shown = [case for case in EXERCISE.cases if not case["hidden"]]
    passing = [
        name
        for name, wrong in WRONG.items()
        if all(
            compare(result, case["output"])["state"] == "passed"
            for result, case in zip(
                results_of(wrong["program"], shown, EXERCISE.names), shown, strict=True
            )
        )
    ]
    assert set(passing) > {"absolute dot product", "Q and K swapped", "bottom-right alignment"}


def test_a_mistake_of_another_kind_is_not_given_a_name():
    code = EXERCISE.data["solution"].replace("return output", "return [[7] * len(V[0]) for q in Q]")
    assert judge(code, EXERCISE)["recognised"] == []


def test_a_known_mistake_written_another_way_is_recognised():
    code = """
import math
def solve(Q, K, V, causal):
    out = []
    for i in range(len(Q)):
        n = min(i + 1, len(K)) if causal else len(K)
        s = [sum(Q[i][c] * K[j][c] for c in range(len(Q[i]))) for j in range(n)]
        e = [math.exp(x - max(s)) for x in s]
        out.append([sum(e[j] / sum(e) * V[j][c] for j in range(n)) for c in range(len(V[0]))])
    return out
"""
    assert [one["name"] for one in judge(code, EXERCISE)["recognised"]] == ["no scaling"]


def test_the_solution_gives_zeros_where_every_key_is_dropped_as_the_package_does():
    given = {}
    exec(EXERCISE.data["solution"].replace("K[: i + 1]", "K[:i]"), given)
    Q, K, V = [[1, 2], [0, 1]], [[2, 1], [1, 1]], [[1, 2, 3], [4, 5, 7]]
    mask = np.array([[False, False], [True, False]])
    expected = scaled_dot_product_attention(Q, K, V, attn_mask=mask)
    assert not expected[0].any()
    np.testing.assert_allclose(given["solve"](Q, K, V, True), expected, rtol=1e-12)
    assert given["solve"](Q, [], [], False) == [[], []]


def test_the_steps_beside_the_solution_are_its_comments():
    shown = PAGE.solution()
    comments = re.findall(r"# (\d+)\. (.*)", EXERCISE.data["solution"])
    assert [number for number, _ in comments] == [str(n + 1) for n in range(len(comments))]
    assert len(comments) >= 4
    for number, step in comments:
        assert f"    {number}. {step}\n" in shown
        assert f"# {number}. {step}\n" in shown


def test_no_help_holds_a_line_of_the_solution():
    lines = [line.strip() for line in EXERCISE.data["solution"].splitlines() if "=" in line]
    helps = [hint["text"] for hint in EXERCISE.data["hint"]]
    helps += [one["comes_from"] for one in EXERCISE.wrong]
    assert len(EXERCISE.data["hint"]) == 3
    assert [line for line in lines for text in helps if line in text] == []
    assert not any("sqrt(" in one["comes_from"] for one in EXERCISE.wrong)


def test_another_package_in_place_of_pythons_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(runtime, "CACHE", tmp_path / "cache")
    archive = BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        tar.addfile(tarfile.TarInfo("package/pyodide.mjs"))
    with pytest.raises(ValueError, match=r"checksum is .*, not d18bd7c4485f"):
        runtime.unpack(archive.getvalue())
    assert not runtime.available()


def test_without_python_for_the_browser_the_page_offers_the_command(monkeypatch, tmp_path, caplog):
    monkeypatch.setattr(runtime, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(runtime, "package", lambda: b"")
    monkeypatch.setattr(editor, "CACHE", tmp_path / "cache")
    with caplog.at_level("INFO"):
        runtime.fetch()
    assert "can't be had" in caplog.text
    assert all(record.levelname == "INFO" for record in caplog.records)
    assert "textarea" not in PAGE.editor() + PAGE.rival()
    assert "built without Python" in PAGE.editor()
    assert PAGE.local().startswith("???+ info")
    downloads = {f"code/{data.stem}.py" for data in EXERCISES}
    assert set(publish.published(EXERCISES)) == downloads | {"assets/judge.py"}


def test_without_the_editors_packages_the_page_has_its_plain_box(monkeypatch, tmp_path, caplog):
    monkeypatch.setattr(editor, "CACHE", tmp_path)
    monkeypatch.setattr(node.shutil, "which", lambda name: None)
    monkeypatch.setattr(node.importlib.util, "find_spec", lambda name: None)
    with caplog.at_level("INFO"):
        editor.fetch()
    assert "there is no npm on this machine" in caplog.text
    assert all(record.levelname == "INFO" for record in caplog.records)
    assert 'data-editor=""' in PAGE.editor() or not runtime.available()
    assert f"assets/{editor.FILE}" not in publish.published(EXERCISES)


@pytest.mark.parametrize(
    "harm",
    [
        lambda cache: (cache / "pyodide.asm.wasm").write_bytes(b"rubbish"),
        lambda cache: (cache / "pyodide.mjs").unlink(),
        lambda cache: (cache / "files.json").write_text("{"),
        lambda cache: (cache / "files.json").write_text("[]"),
    ],
)
def test_a_damaged_cache_is_fetched_anew_and_a_sound_one_is_not(monkeypatch, tmp_path, harm):
    archive = BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for name in runtime.FILES:
            member = tarfile.TarInfo(f"package/{name}")
            member.size = 2
            tar.addfile(member, BytesIO(b"{}"))
    fetched = []
    monkeypatch.setattr(runtime, "CACHE", tmp_path)
    monkeypatch.setattr(runtime, "compiled", lambda files: files[runtime.LIBRARY])
    monkeypatch.setattr(runtime, "SHA512", hashlib.sha512(archive.getvalue()).hexdigest())
    monkeypatch.setattr(runtime, "package", lambda: fetched.append(1) or archive.getvalue())
    runtime.fetch()
    runtime.fetch()
    assert len(fetched) == 1
    harm(tmp_path)
    runtime.fetch()
    assert len(fetched) == 2
    assert runtime.available()
    assert {file.read_bytes() for file in runtime.files()} == {b"{}", b'{"packages": {}}'}


@pytest.mark.parametrize("word", ["false", "False", "no", "0", " off "])
def test_the_environment_says_in_many_words_that_it_is_not_wanted(monkeypatch, word):
    monkeypatch.setenv("RUNTIME", word)
    assert not runtime.wanted()


@pytest.mark.ci
def test_a_site_built_without_it_still_stands(tmp_path):
    """It builds without a warning, says so where the editor would be, and has the command."""
    build(ROOT, tmp_path, RUNTIME="false", NOTEBOOK="false")
    page = BeautifulSoup((tmp_path / "your-turn/index.html").read_text("utf-8"), "html.parser")
    article = page.select_one("article")
    assert "built without Python for the browser" in article.get_text()
    assert article.select("textarea, button[data-do], script[type=module]") == []
    offer = article.select_one("details.turn-local[open]")
    assert "python3 your-turn.py my_solution.py" in offer.get_text()
    assert offer.select_one("a[download]")["href"] == "../code/your-turn.py"
    assert (tmp_path / "code/your-turn.py").read_text("utf-8") == publish.download(YOUR_TURN)
    assert not list(tmp_path.glob("assets/pyodide*"))
