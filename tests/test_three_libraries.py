"""The answers that a page quotes from PyTorch, ONNX and JAX are those that they give."""

import warnings

import numpy as np
import pytest
from _lesson.pages import libraries
from helpers import need

from attention import causal_mask, scaled_dot_product_attention


@pytest.fixture(scope="module")
def asked():
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return libraries.ask_all()
    except ImportError as error:
        return need(None, f"{error.name} (.ci/torch.txt, .ci/requirements.txt)")


@pytest.mark.ci
def test_the_versions_are_those_that_were_asked(asked):
    assert asked["versions"] == libraries.stored()["versions"]


@pytest.mark.ci
def test_the_answers_are_those_that_they_give(asked):
    stored = libraries.stored()["answers"]
    assert asked["answers"].keys() == stored.keys()
    for question, answers in asked["answers"].items():
        for name, answer in answers.items():
            quoted = stored[question][name]
            if answer is None or isinstance(answer, str):
                assert quoted == answer, question
            else:
                given = np.array(answer, float)
                assert np.allclose(given, np.array(quoted, float), 1e-12, 1e-12, True), question


def test_the_file_is_written_as_the_command_writes_it(monkeypatch, tmp_path):
    file, asked = libraries.FILE, libraries.stored()
    monkeypatch.setattr(libraries, "FILE", tmp_path / "again.json")
    monkeypatch.setattr(libraries, "ask_all", lambda: asked)
    libraries.main()
    assert libraries.FILE.read_text("utf-8") == file.read_text("utf-8")


@pytest.mark.parametrize("question", libraries.QUESTIONS)
def test_ours_agree_wherever_theirs_define_an_answer(question):
    given = dict(libraries.QUESTIONS[question].given)
    if cached := given.pop("cached", 0):
        given["attn_mask"] = causal_mask(len(given["query"]), len(given["key"]), cached)
    if "attn_mask" in given:
        given["attn_mask"] = np.array(given["attn_mask"])
    if libraries.QUESTIONS[question].torch == "MultiheadAttention":
        given["attn_mask"] = ~given["attn_mask"]
    ours = scaled_dot_product_attention(**given)
    assert np.isfinite(ours).all()
    for name, theirs in libraries.stored()["answers"][question].items():
        if isinstance(theirs, list) and np.isfinite(theirs := np.array(theirs, float)).all():
            close = 1e-7 if name == "JAX" else 1e-12  # its scale is in single precision
            differs = (name, question) == ("JAX", "a row that sees nothing")
            assert np.allclose(ours, theirs, rtol=close, atol=close) != differs, name


def test_an_answer_is_never_shown_beside_another_input():
    query, key, value = (
        libraries.QUESTIONS["integers"].given[n] for n in ("query", "key", "value")
    )
    libraries.answers("integers", value, query=query, key=key, value=value)
    with pytest.raises(ValueError, match="query is not what the others were asked"):
        libraries.answers("integers", value, query=[[1, 0], [0, 2]], key=key, value=value)
    with pytest.raises(ValueError, match="value"):
        libraries.answers("integers", value, query=query, key=key)
