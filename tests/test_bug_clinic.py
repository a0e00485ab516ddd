"""The bug clinic shows a published case with its input, its wrong output and the right one."""

import re
from pathlib import Path

import numpy as np
import pytest
from _lesson.pages import clinic

PAGE = (Path(__file__).parents[1] / "docs" / "bug-clinic.md").read_text("utf-8")
SHOWN = re.findall(r'print\(credit\("([^"]+)", given=', PAGE)


def test_each_case_has_a_closed_answer_and_a_report():
    assert len(SHOWN) == len(set(SHOWN)) == len(re.findall(r"^## ", PAGE, re.MULTILINE))
    questions = re.findall(r"^\?\?\? question ", PAGE, re.MULTILINE)  # ???+ would be open
    assert len(questions) == len(SHOWN)
    assert all(clinic.reports(clinic.CASES[name]) for name in SHOWN)


def test_the_page_counts_its_bugs_and_the_suspect_that_is_none():
    said = f"{len(SHOWN) - 1} real bugs, each with its wrong output, and one suspect that is none."
    assert clinic.counted() == f"<p>{said}</p>"
    assert "print(counted())" in PAGE
    right = re.findall(r'credit\("([^"]+)", given=.*, wrong=\(\), right=(?!\(wrong)', PAGE)
    assert right == ["mask-constant-offset-harmless"]


def test_a_wrong_answer_is_none_that_is_right(monkeypatch):
    case = {"input": {}, "expected": {"right": {"bits": 1.0}, "wrong": {"bits": 1.0}}}
    monkeypatch.setitem(clinic.CASES, "same", {**case, "source_reference": "a/b#1"})
    with pytest.raises(ValueError, match="is not wrong"):
        clinic.credit("same", given=(), wrong=1.0, right=1.0)


def test_a_report_is_linked_by_the_number_that_the_data_gives():
    line = clinic.credit("softmax-very-negative", [-1000.0, -1001.0], (), ())
    assert line == (
        '<p>Reported in <a href="https://github.com/pytorch/executorch/issues/18407">'
        "pytorch/executorch#18407</a></p>"
    )


@pytest.mark.parametrize("part", ["given", "wrong", "right"])
def test_what_the_case_does_not_hold_is_an_error(part):
    arrays = {
        "given": [-1000.0, -1001.0],
        "wrong": [np.nan, np.nan],
        "right": [0.7310585786300049, 0.2689414213699951],
    }
    clinic.credit("softmax-very-negative", **arrays)
    arrays[part] = [arrays[part][0], 0.5]
    with pytest.raises(ValueError, match=f"nothing {part} like"):
        clinic.credit("softmax-very-negative", **arrays)
