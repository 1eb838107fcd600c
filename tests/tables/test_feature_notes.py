"""Features that nobody has named: which there are, and what is said of them."""

import io

import numpy as np
import pytest

from thalweg.errors import StreamError
from thalweg.tables import Encoder, Recipe, read_table
from thalweg.tables.timestamps import YEAR_FEATURES

START = np.datetime64("2024-01-01T00:00")
PAST = ("forecast of y by its past", "mean of y at such times")


def encoded(times, y=None, recipe=None, columns=()):
    """The encoder and the rounds of a table of times, columns and a target."""
    y = range(len(times)) if y is None else y
    header = ",".join(["when", *columns, "y"])
    others = "".join(f",{k}" for k, _ in enumerate(columns))
    lines = [f"{t}{others},{v}" for t, v in zip(times, y, strict=True)]
    encoder = Encoder(recipe or Recipe(("y",), missing="skip"))
    table = read_table(io.BytesIO("\n".join([header, *lines, ""]).encode()))
    with table:
        rounds = [encoder.encode(chunk) for chunk in table.chunks()]
    return encoder, np.vstack([one.x for one in rounds])


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        ("60m", "and those 24 and 168 rows ago and the mean of y at the same hour of "
         "the week."),
        ("30m", "and those 48 and 336 rows ago and the mean of y at the same time of "
         "the week."),
        ("1D", "and those 7 and 365 rows ago, the mean of y on the same weekday and "
         "the time of year."),
        ("7D", "and those 52 rows ago and the mean of y in the same week of the year."),
        ("400D", "and the mean of y of the last rows."),
    ],
)  # fmt: skip
def test_what_was_used_is_said(step, sentence):
    unit = np.timedelta64(int(step[:-1]), step[-1])
    encoder, x = encoded(START + np.arange(20) * unit)
    assert encoder.notes() == (
        f"Features: a forecast of y from its last values {sentence}",
        "Column 'when' holds the times of the rows.",
    )
    assert encoder.feature_names() == (*YEAR_FEATURES, *PAST)
    used = encoder.used_feature_names()
    assert used == (encoder.feature_names() if step == "1D" else PAST)
    assert x.shape == (20, 4) and np.isfinite(x).all()
    assert bool(x[8:, 0].any()) is (step == "1D") and not x[:8, :2].any()


def test_months_have_a_year_and_columns_are_named():
    months = np.datetime64("2020-01") + np.arange(15)
    encoder, _ = encoded([f"{month}-01" for month in months], columns=("a", "b"))
    assert encoder.notes()[:2] == (
        "Features: the columns 'a', 'b' of the same row, a forecast of y from its last "
        "values and those 12 rows ago and the mean of y in the same month.",
        "A column that is known only after y must be left out: name those to use, "
        "--features.",
    )


def test_times_that_go_back_are_no_error_where_nobody_named_them():
    times = START + np.timedelta64(1, "h") * np.r_[np.arange(12), np.arange(12)]
    encoder, x = encoded(times)
    assert encoder.notes()[1].startswith(
        "Column 'when' is taken for the times of the rows, and goes back in row 13: "
        "rows are taken in their order."
    )
    assert len(x) == 24
    with pytest.raises(StreamError, match="goes back"):
        encoded(times, recipe=Recipe(("y",), time="when"))


def test_what_is_no_time_counts_as_the_one_after_the_row_before():
    times = [str(t) for t in START + np.arange(40) * np.timedelta64(1, "h")]
    y = np.sin(np.arange(40))
    _, whole = encoded(times, y)
    for place, cell in ((20, "n/a"), (25, "later"), (26, ""), (39, "?")):
        times[place] = cell
    _, broken = encoded(times, y)
    np.testing.assert_array_equal(broken, whole)


def test_a_row_that_asks_is_no_row_that_has_passed():
    times = [str(t) for t in START + np.arange(30) * np.timedelta64(1, "h")]
    lines = [f"{t},{k % 7}\n" for k, t in enumerate(times)]
    asking = [text for k, t in enumerate(times) for text in (f"{t},\n", lines[k])]

    def features(rows):
        encoder = Encoder(Recipe(("y",), missing="skip"))
        data = "".join(["when,y\n", *rows]).encode()
        with read_table(io.BytesIO(data)) as table:
            chunks = [encoder.encode(one, are_questions=True) for one in table.chunks()]
        return np.vstack([one.x for one in chunks])

    asked, plain = features(asking), features(lines)
    np.testing.assert_array_equal(asked[1::2], plain)
    np.testing.assert_array_equal(asked[::2], plain)


def test_settings_leave_features_out():
    times = START + np.arange(20) * np.timedelta64(1, "D")
    names = {
        (): (*YEAR_FEATURES, *PAST),
        ("calendar",): PAST,
        ("time",): PAST,
        ("time", "calendar"): PAST,
    }
    for left_out, expected in names.items():
        recipe = Recipe(("y",), **dict.fromkeys(left_out))
        encoder, _ = encoded(times, recipe=recipe)
        assert encoder.feature_names() == expected
    with pytest.raises(StreamError, match="no column to learn from"):
        encoded(times, recipe=Recipe(("y",), lags=()))
