"""Sections about forecasts: what they say, and what their charts show."""

import re
from dataclasses import replace

import numpy as np
import pytest

from tests.report import example_studies
from thalweg.calendar.series_clock import RowTimes
from thalweg.evaluation.forecast_result import make_result
from thalweg.evaluation.forecast_run import ForecastRun, ForecastSettings
from thalweg.forecasting import Forecaster
from thalweg.report.forecast_sections import forecast_section
from thalweg.report.study_sections import study_section
from thalweg.tables.timestamps import TimedRows

ROWS, HORIZON = 200, 6


def values_of(count, seed=0):
    noise = np.random.default_rng(seed).normal(size=count)
    return 5 + np.sin(np.arange(count) / 24 * 2 * np.pi) + 0.1 * noise


VALUES = values_of(ROWS)


def result_of(step, count=ROWS, seed=0, key=(), horizon=HORIZON):
    times = None if step is None else np.datetime64("2024-01-01", "ns")
    stamps = None if step is None else times + np.arange(count) * step
    y = values_of(count, seed)
    run = ForecastRun(ForecastSettings(horizon))
    run.play(TimedRows(y, RowTimes(stamps), np.empty((count, 0))))
    return make_result(run, "stream.csv", "load", key)


def with_forecast(result, mean):
    """The result with other values to come, each with a band of 0.2 around it."""
    mean = np.array(mean)
    ahead = replace(result.forecast, mean=mean, low=mean - 0.1, high=mean + 0.1)
    return replace(result, forecast=ahead)


@pytest.mark.parametrize(
    ("step", "low", "high"),
    [
        (
            np.timedelta64(1, "h"),
            "on 9 January 2024, 10:00",
            "on 9 January 2024, 09:00",
        ),
        (np.timedelta64(1, "D"), "on 21 July 2024", "on 20 July 2024"),
        (None, "3 rows ahead", "2 rows ahead"),
    ],
)
def test_the_headline_names_the_lowest_and_the_highest_value(step, low, high):
    result = with_forecast(result_of(step), [5.0, 6.5, 4.25, 5.0, 5.0, 5.0])
    section = forecast_section(result)
    assert section.headline.startswith(
        f"In the next 6 rows load is expected to reach its highest, 6.500, {high} and "
        f"its lowest, 4.250, {low}. In the past "
    )
    assert [tile.title for tile in section.tiles] == [
        "Next value", f"Sum of the next {HORIZON}", "Typical error",
        "Against the usual method",
    ]  # fmt: skip


def summary(result):
    return forecast_section(result).summary()


def test_values_that_are_all_the_same_are_named_once():
    headline = forecast_section(
        with_forecast(result_of(None), [5.0] * HORIZON)
    ).headline
    assert headline.startswith(
        "load is expected to be 5.000 in all of the next 6 rows."
    )


@pytest.mark.parametrize(
    ("horizon", "words"),
    [
        (1, r"load is expected to be 5\.\d+ in the next row\. "),
        (2, r"load is expected to be 5\.\d+ in the next row and 5\.\d+ 2 rows ahead\."),
    ],
)
def test_one_or_two_values_are_all_named(horizon, words):
    section = forecast_section(result_of(None, horizon=horizon))
    assert re.match(words, section.headline)
    texts = str(section)
    assert "next 1 " not in texts and "1 rows" not in texts and "0 rows" not in texts
    titles = [tile.title for tile in section.tiles]
    assert ("Sum of the next 2" in titles) == (horizon == 2)
    dashed = "the forecast made 1 row before the last one"
    assert (dashed in section.figures()[0].caption) == (horizon == 2)


def test_a_number_has_the_same_digits_in_the_headline_the_tiles_and_the_table():
    result = with_forecast(result_of(None), [1462.7, *[1500.0] * (HORIZON - 1)])
    section = forecast_section(result)
    tile, (row, *_) = section.tiles[0], section.folded[0].table.texts()
    assert row[1] == tile.value == "1,462.700" and tile.value in section.headline
    assert f"between {row[2]} and {row[3]}." in tile.text
    total = section.tiles[1]
    assert f"{total.title}: {total.value}. {total.text}" in section.summary()


def with_ratio(ratio, **changes):
    """A result whose typical errors are this part of the best simple method's."""
    result = result_of(np.timedelta64(1, "h"))
    best = result.naive[0]._replace(description="repeating a day ago", typical=2.0)
    own = result.own._replace(typical=2.0 * ratio, overall=best.overall * ratio)
    return replace(result, own=own, naive=(best, *result.naive[1:]), **changes)


@pytest.mark.parametrize(
    ("ratio", "value", "words"),
    [
        (
            0.66,
            "34 % less error",
            "the forecast had 34 % less error than repeating a day ago.",
        ),
        (1.01, "equally good", "the forecast was as good as repeating a day ago."),
        (
            1.19,
            "19 % more error",
            "repeating a day ago was better: the forecast had 19 % more error. "
            "Use that instead.",
        ),
    ],
)
def test_the_gain_is_told_in_the_words_of_a_run(ratio, value, words):
    result = with_ratio(ratio)
    section = forecast_section(result)
    assert section.headline.endswith(f" In the past {words}")
    tile = section.tiles[-1]
    assert tile.title == "Against the usual method" and tile.value == value
    count = len(result.naive)
    assert tile.text == (
        f"Repeating a day ago was off by 2 on average, the best of {count} simple "
        f"methods."
    )


def test_a_method_that_is_better_by_typical_errors_only_is_no_advice():
    result = with_ratio(1.19)
    result = replace(result, own=result.own._replace(overall=0.0))
    section = forecast_section(result)
    assert "Use that" not in section.headline
    assert "Large errors count more" in section.tiles[-1].text


def test_a_method_without_any_error_is_the_one_to_use():
    result = with_ratio(1.19)
    best = result.naive[0]._replace(typical=0.0, overall=0.0)
    result = replace(result, naive=(best, *result.naive[1:]))
    assert forecast_section(result).headline.endswith("made no error at all: use that.")


@pytest.mark.parametrize("origins", [1, 9, 10])
def test_no_method_is_compared_from_fewer_than_ten_origins(origins):
    counts = np.minimum(result_of(None).counts, origins)
    result = with_ratio(0.66, counts=counts)
    section = forecast_section(result)
    number = "1 past forecast" if origins == 1 else f"{origins} past forecasts"
    titles = [tile.title for tile in section.tiles]
    is_few = origins < 10
    assert (f"only {number} could be compared" in section.headline) == is_few
    assert ("Against the usual method" in titles) != is_few
    assert ("less error" in section.headline) != is_few
    assert (f"in only {number}." in section.tiles[2].text) == is_few


def test_steps_that_few_forecasts_were_of_are_told():
    counts = np.array([40.0, 30, 20, 11, 4, 0])
    result = with_ratio(0.66, counts=counts)
    note = (
        "The errors rest on few past forecasts: at most 40 a step, and none for step 6."
    )
    assert note in forecast_section(result).sentences
    steps = next(one for one in forecast_section(result).folded if one.name == "steps")
    assert steps.table.caption.endswith(note)
    many = replace(result, counts=counts + 10)
    assert "The errors rest on" not in " ".join(summary(many))
    equal = replace(result, counts=np.full(HORIZON, 3.0))
    assert "The errors rest on 3 past forecasts only." in summary(equal)


def test_all_next_values_are_in_the_table_up_to_a_hundred():
    result = result_of(np.timedelta64(1, "h"))
    for horizon, shown in ((100, 100), (101, 100)):
        values = np.arange(float(horizon))
        ahead = replace(result.forecast, mean=values, low=values, high=values + 1)
        longer = replace(result, forecast=ahead, times=None, time_texts=None)
        table = forecast_section(longer).folded[0].table
        assert [row[0] for row in table.rows] == [str(k + 1) for k in range(shown)]
        assert table.short_version().title.endswith(", the first 60 shown")
        rest = "The first 100 of 101; forecast.csv has all."
        assert table.caption.endswith(rest) == (horizon > 100)


def test_what_was_found_and_used_stands_outside_the_folded_notes():
    result = result_of(np.timedelta64(1, "h"))
    facts = dict(forecast_section(result).facts)
    assert facts["season found"].startswith("24 rows")
    assert facts["other columns used"] == facts["public holidays found"] == "none"
    many = replace(result, features=tuple("abcdefg"), holidays="NO", seasons=(1, 1))
    facts = dict(forecast_section(many).facts)
    assert facts["other columns used"] == "a, b, c, d, e and 2 more"
    assert facts["public holidays found"] == "those of Norway"
    assert facts["season found"] == "none"


def test_the_chart_has_the_values_the_band_and_the_forecast_before():
    result = result_of(np.timedelta64(1, "h"))
    figure, steps = forecast_section(result).all_figures()
    spec = figure.chart.to_dict()
    (data,) = (layer["data"]["values"] for layer in [spec])
    (columns,) = data
    count = len(columns["row"])
    assert columns["observed"][-HORIZON:] == [None] * HORIZON
    assert columns["ahead"][-HORIZON:] == pytest.approx(result.forecast.mean, rel=1e-5)
    # From the first of the last HORIZON rows, each step at the row that it is of.
    past = columns["past"][-2 * HORIZON : -HORIZON]
    made = Forecaster(HORIZON).update(
        VALUES[: ROWS - HORIZON + 1], time=result.tail_times[: ROWS - HORIZON + 1]
    )
    assert past[0] is None
    assert past[1:] == pytest.approx(made.forecast().mean[:-1], rel=1e-5)
    assert columns["time"][count - HORIZON] - columns["time"][0] == 3_600_000 * (
        count - HORIZON
    )
    assert spec["usermeta"]["zoom"]["x"] == "time"
    assert steps.name == "steps"


def test_a_series_too_short_for_a_backtest_has_no_errors_to_show():
    section = forecast_section(result_of(np.timedelta64(1, "h"), count=8))
    assert [part.name for part in section.folded if part.has_rows()] == ["values"]
    assert dict(section.facts)["bands held"] == "not known yet"


def test_steps_that_were_never_scored_are_shown_as_such():
    rows = 60
    run = ForecastRun(ForecastSettings(rows))
    run.play(TimedRows(values_of(rows), RowTimes(None), np.empty((rows, 0))))
    section = forecast_section(make_result(run, "stream.csv", "load", ()))
    steps = section.folded[1].table
    assert "nan" not in str(steps.texts()) and "" in steps.texts()[-1]


def test_beside_a_run_the_forecast_has_the_headline_and_tiles_say_how_far_ahead():
    ahead, study = forecast_section(with_ratio(1.19)), example_studies.full()
    joined, alone = study_section(study, ahead), study_section(study)
    assert joined.headline == ahead.headline
    titles = [tile.title for tile in joined.tiles]
    assert titles == [
        "Next value", "Typical error, one row ahead",
        "Against the usual method, one row ahead", "What changed",
    ]  # fmt: skip
    assert [tile.title for tile in alone.tiles][:2] == [
        "Typical error", "Against the usual method",
    ]  # fmt: skip


RESULT = result_of(np.timedelta64(1, "D"))


def holding(share):
    return replace(RESULT, coverage=np.full_like(RESULT.coverage, share))


def test_bands_that_held_too_few_values_are_called_too_narrow():
    result = holding(0.75)
    note = (
        "In the backtest the bands held 75 % of the values, not 90 %: take them as too "
        "narrow."
    )
    assert summary(result)[1] == note
    section = forecast_section(result)
    assert section.caution == note
    caption = section.figures()[0].caption
    assert "was to hold 90 % of them and held 75 % in the backtest" in caption
    assert section.folded[0].table.caption.startswith(
        f"Low and high are the ends of bands. {note}"
    )


@pytest.mark.parametrize("share", [0.86, 0.9, 1.0])
def test_bands_that_held_about_enough_are_as_they_were(share):
    result = holding(share)
    section = forecast_section(result)
    assert section.caution == ""
    held = f"{100 * share:.0f} % of past values, the aim is 90 %"
    assert dict(section.facts)["bands held"] == held
    assert "a band that holds 90 % of them" in section.figures()[0].caption


def test_a_series_without_a_backtest_has_no_measured_bands():
    assert forecast_section(result_of(None, count=3)).caution == ""


def test_a_country_is_called_by_its_name_and_by_its_code_in_json():
    result = replace(RESULT, holidays="NO")
    sentence = "The values follow the public holidays of Norway, which forecasts take "
    section = forecast_section(result)
    assert any(found.startswith(sentence) for found in section.sentences)
    assert section.numbers["holidays"] == "NO"


@pytest.mark.parametrize(
    ("count", "start"),
    [(1, "1 row was left out: its"), (1200, "1,200 rows were left out: their")],
)
def test_rows_left_out_are_counted(count, start):
    (note,) = forecast_section(replace(RESULT, left_out=count)).sentences
    assert note.startswith(start)
    assert forecast_section(RESULT).sentences == ()


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
    section = forecast_section(result)
    assert section.tiles[-1].text.endswith(note)
    assert note in " ".join(section.summary())
    assert section.numbers["rmse_over_best_naive"] == overall / 20


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
    words = " ".join(summary(with_errors(own, naive)))
    assert "Large errors" not in words


def test_the_best_by_squares_mostly_has_values_of_its_own():
    result = with_errors((24.0, 10.0), [(30.0, 10.0), (20.0, 12.0)])
    seldom = result.naive[1]._replace(own_share=0.1)
    result = replace(result, naive=(result.naive[0], seldom))
    assert result.best_by_squares.name == "one"
    assert result.square_ratio == 24.0 / 30.0
