import math

import pytest

from thalweg.report.number_text import format_number, format_percent


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (31.24, "31.2"),
        (1234.5, "1,230"),
        (99_960, "100,000"),
        (12_345_678, "12.3 million"),
        (999_999, "1 million"),
        (-0.0456, "−0.0456"),
        (0.5, "0.5"),
        (3e-7, "3.00e-07"),
        (math.inf, "∞"),
        (math.nan, "unknown"),
    ],
)
def test_numbers_are_written_as_people_write_them(value, text):
    assert format_number(value) == text


@pytest.mark.parametrize(
    ("part", "text"),
    [(0.5, "50 %"), (0.0712, "7.1 %"), (0.0001, "less than 0.1 %"), (0.0, "0 %"),
     (0.997, "99.7 %"), (1.0, "100 %"), (0.1234, "12 %")],
)  # fmt: skip
def test_percentages_have_two_digits_and_are_never_rounded_to_all(part, text):
    assert format_percent(part) == text
