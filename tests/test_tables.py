"""A table is valid Markdown, and its columns line up where text is monospaced."""

import numpy as np
import pytest

from attention import table, vector


def test_words_to_the_left_and_numbers_to_the_right():
    rows = [["is", "0.3200", "0.06x"], ["q·k, n²", "-1,048,576", "4096.00x"], ["", "", "8%"]]
    assert table(["key", "number", "against"], rows) == (
        "| key     |     number |  against |\n"
        "| ------- | ---------: | -------: |\n"
        "| is      |     0.3200 |    0.06x |\n"
        "| q·k, n² | -1,048,576 | 4096.00x |\n"
        "|         |            |       8% |"
    )


def test_alignment_can_be_given():
    assert table(["a", "b"], [["x", "1"]], align="rl") == (
        "|    a | b    |\n"
        "| ---: | ---- |\n"
        "|    x | 1    |"
    )  # fmt: skip


def test_numbers_are_written_with_their_places():
    rows = [[np.int64(1024), 0.55, np.float64(2)], [4, "—", 0.125]]
    assert table(["d_k", "alpha", "sd"], rows, align="rrr", places=3) == (
        "|   d_k | alpha |    sd |\n"
        "| ----: | ----: | ----: |\n"
        "| 1,024 | 0.550 | 2.000 |\n"
        "|     4 |     — | 0.125 |"
    )
    assert "| 1,024 |" in table(["n"], [[1024]])
    assert "|  0.6 | 2.00 |" in table(["a", "b"], [[0.55001, 2.0]], places=(1, 2))
    with pytest.raises(ValueError, match=r"places \(1,\) do not fit 2 columns"):
        table(["a", "b"], [[0.5, 0.5]], places=(1,))


def test_a_vector_stands_in_brackets():
    assert vector([0.1, 2]) == "(0.1, 2.0)"
    assert vector(np.array([1 / 3]), 4) == "(0.3333)"


def test_a_pipe_does_not_split_a_cell():
    assert table(["|V|"], [["a|b"]]) == "| \\|V\\| |\n| ----- |\n| a\\|b  |"


def test_a_table_may_have_no_rows():
    assert table(["a", "b"], []) == "| a    | b    |\n| ---- | ---- |"


def test_no_line_ends_in_a_space():
    text = table(["a", "b"], [["", ""]])
    assert all(line == line.rstrip() for line in text.split("\n"))


@pytest.mark.parametrize("row", [["x"], ["x", "y", "z"], []])
def test_a_ragged_row_is_quoted(row):
    with pytest.raises(ValueError, match=f"{len(row)} cells under 2 columns") as error:
        table(["a", "b"], [["x", "y"], row])
    assert str(row) in str(error.value)


@pytest.mark.parametrize("cell", [0.5, None])
def test_a_cell_that_is_neither_text_nor_a_whole_number_is_quoted(cell):
    with pytest.raises(TypeError, match=f"already formatted: {cell!r}"):
        table(["a"], [[cell]])


def test_a_line_break_in_a_cell_is_refused():
    with pytest.raises(ValueError, match="one line"):
        table(["a"], [["x\ny"]])


@pytest.mark.parametrize("align", ["", "l", "lc", "lrl"])
def test_an_alignment_that_does_not_fit_is_quoted(align):
    with pytest.raises(ValueError, match=f"align '{align}' does not fit 2 columns"):
        table(["a", "b"], [["x", "y"]], align=align)
