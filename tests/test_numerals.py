"""A value is written as the number that stands on the page."""

import pytest
from _lesson.checked.numerals import format_like


@pytest.mark.parametrize(
    ("literal", "value", "written"),
    [
        ("0.5", 0.25, "0.2"),
        ("1", 41.0, "41"),
        ("1,000", 1234567, "1,234,567"),
        ("1,000.5", 1234567.25, "1,234,567.2"),
        ("5%", 0.257, "26%"),
        ("5.0%", 0.257, "25.7%"),
        ("2e-6", 0.00000312, "3e-6"),
        ("2.0e-06", 0.00000312, "3.1e-06"),
        ("0.00", -0.0001, "0.00"),
        ("−1", -2, "−2"),
        ("+1", 2, "+2"),
        ("+1", -2, "-2"),
        ("three", 4, "four"),
        ("Three", 4, "Four"),
        ("1", 2**70 + 1, "1180591620717411303425"),
        ("a", "text", "text"),
    ],
)
def test_a_value_is_written_as_the_literal_is(literal, value, written):
    assert format_like(literal, value) == written
