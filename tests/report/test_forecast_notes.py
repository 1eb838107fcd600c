"""Sentences on forecasts: bands that were too narrow, holidays, rows left out."""

from dataclasses import replace

import numpy as np
import pytest

from tests.report.test_forecast_sections import result_of
from thalweg.cli.forecasts.forecast_tables import result_as_json, result_sentences
from thalweg.report.forecast_notes import (
    large_error_note,
    left_out_note,
    narrow_bands_note,
)
from thalweg.report.forecast_sections import forecast_section

RESULT = result_of(np.timedelta64(1, "D"))


def holding(share):
    return replace(RESULT, coverage=np.full_like(RESULT.coverage, share))


def test_bands_that_held_too_few_values_are_called_too_narrow():
    result = holding(0.75)
    note = (
        "In the backtest the bands held 75 % of the values, not 90 %: take them as too "
        "narrow."
    )
    assert result_sentences(result)[1] == note
    section = forecast_section(result)
    assert section.headline.endswith(f"repeating the last value. {note}")
    caption = section.figures[0].caption
    assert "was to hold 90 % of them and held 75 % in the backtest" in caption
    assert section.folded[0].table.caption.startswith(
        f"Low and high are the ends of bands. {note}"
    )


@pytest.mark.parametrize("share", [0.86, 0.9, 1.0])
def test_bands_that_held_about_enough_are_as_they_were(share):
    result = holding(share)
    assert narrow_bands_note(result) is None
    sentence = f"The 90 % bands held {100 * share:.0f} % of the values."
    assert result_sentences(result)[1] == sentence
    section = forecast_section(result)
    assert "too narrow" not in section.headline
    assert "a band that holds 90 % of them" in section.figures[0].caption


def test_a_series_without_a_backtest_has_no_measured_bands():
    assert narrow_bands_note(result_of(None, count=3)) is None


def test_a_country_is_called_by_its_name_and_by_its_code_in_json():
    result = replace(RESULT, holidays="NO")
    sentence = "The values follow the public holidays of Norway, which forecasts take "
    assert any(s.startswith(sentence) for s in result_sentences(result))
    notes = forecast_section(result).folded[-1].items
    assert any(note.startswith(sentence) for note in notes)
    assert result_as_json(result)["holidays"] == "NO"


@pytest.mark.parametrize(
    ("count", "start"),
    [(1, "1 row was left out: its"), (1200, "1,200 rows were left out: their")],
)
def test_rows_left_out_are_counted(count, start):
    note = left_out_note(replace(RESULT, left_out=count))
    assert note is not None and note.startswith(start)
    assert left_out_note(RESULT) is None


def with_errors(own, naive):
    """A result with these (root mean squared, mean absolute) errors."""
    made, *others = (
        RESULT.own._replace(
            name=name, overall=overall, typical=typical, description=f"saying {name}"
        )
        for name, (overall, typical) in zip(
            ["thalweg", "one", "another"], [own, *naive], strict=True
        )
    )
    return replace(RESULT, own=made, naive=tuple(others))


@pytest.mark.parametrize(
    ("overall", "end"),
    [
        (15.0, "the forecast is better: 25 % less error than saying another."),
        (24.0, "saying another is better: the forecast has 20 % more error."),
    ],
)
def test_errors_by_squares_are_told_where_they_compare_otherwise(overall, end):
    result = with_errors((overall, 10.0), [(30.0, 10.0), (20.0, 12.0)])
    note = f"Large errors count more in the squared error, by which {end}"
    assert large_error_note(result) == note
    assert note in result_sentences(result)
    assert forecast_section(result).tiles[-1].text.endswith(note)
    assert result_as_json(result)["rmse_over_best_naive"] == overall / 20


@pytest.mark.parametrize(
    ("own", "naive"),
    [
        ((18.0, 9.0), [(20.0, 10.0), (25.0, 12.0)]),  # better by both
        ((12.0, 9.0), [(20.0, 10.0), (25.0, 12.0)]),
        ((30.0, 12.0), [(20.0, 10.0), (25.0, 12.0)]),  # worse by both
        ((20.3, 9.95), [(20.0, 10.0), (25.0, 12.0)]),  # equal by both
        ((0.0, 0.0), [(0.0, 0.0), (1.0, 1.0)]),
    ],
)
def test_errors_by_squares_that_compare_alike_are_not_told(own, naive):
    assert large_error_note(with_errors(own, naive)) is None


def test_the_best_by_squares_mostly_has_values_of_its_own():
    result = with_errors((24.0, 10.0), [(30.0, 10.0), (20.0, 12.0)])
    seldom = result.naive[1]._replace(own_share=0.1)
    result = replace(result, naive=(result.naive[0], seldom))
    assert result.best_by_squares.name == "one"
    assert result.square_ratio == 24.0 / 30.0
