"""A table is valid Markdown, and its columns line up where text is monospaced."""

import pytest

from attention import table


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


@pytest.mark.parametrize("cell", [1, 0.5, None])
def test_a_cell_that_is_not_text_is_quoted(cell):
    with pytest.raises(TypeError, match=f"already formatted: {cell!r}"):
        table(["a"], [[cell]])


def test_a_line_break_in_a_cell_is_refused():
    with pytest.raises(ValueError, match="one line"):
        table(["a"], [["x\ny"]])


@pytest.mark.parametrize("align", ["", "l", "lc", "lrl"])
def test_an_alignment_that_does_not_fit_is_quoted(align):
    with pytest.raises(ValueError, match=f"align '{align}' does not fit 2 columns"):
        table(["a", "b"], [["x", "y"]], align=align)
