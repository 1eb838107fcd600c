"""The tiles of a run, and its headline: what a manager reads first."""

from dataclasses import replace

import numpy as np

from tests.report import example_studies
from thalweg.report.charts import main_figures
from thalweg.report.headline import BAND, GAIN, headline_sentence, tiles


def tile_of(study, title):
    (found,) = (tile for tile in tiles(study) if tile.title == title)
    return found


def test_how_sure_a_forecast_is_is_the_mean_width_of_bands_of_scored_rows():
    study = example_studies.full()
    assert tile_of(study, BAND).value == "± 2"
    older = replace(study, bands=replace(study.bands, half_width=None))
    assert tile_of(older, BAND).value == "91 % held"  # of a file without the width


def test_values_in_the_first_rows_only_make_no_chart_of_errors_over_time():
    covered = np.full(example_studies.ROUNDS, np.nan)
    covered[:16] = 1.0  # too few for a mean over a window
    made = example_studies.curve(covered)
    study = example_studies.full()
    tracker = replace(study.tracker, absolute_errors=made)
    others = tuple(one for one in study.entries if one is not study.tracker)
    study = replace(
        study,
        bands=replace(study.bands, covered=made),
        entries=(tracker, *others),
    )
    names = [figure.name for figure in main_figures(study)]  # warnings are errors
    assert "coverage" not in names and "error" not in names


def with_errors(own, other):
    """A study with these (mean squared, mean absolute) errors."""
    study = example_studies.bare()
    tracker, persistence = study.entries
    names = ("squared", "absolute")
    return replace(
        study,
        entries=(
            replace(tracker, **dict(zip(names, own, strict=True))),
            replace(persistence, **dict(zip(names, other, strict=True))),
        ),
    )


def test_where_squared_errors_compare_otherwise_the_page_says_both():
    tile = tile_of(with_errors((144.0, 9.0), (100.0, 10.0)), GAIN)
    assert tile.value == "10 % less error"
    assert tile.text.endswith(
        "Large errors count more in the squared error, by which repeating the last "
        "value is better: the forecast has 20 % more error."
    )
    alike = tile_of(with_errors((81.0, 9.0), (100.0, 10.0)), GAIN)
    assert "squared" not in alike.text


def test_errors_that_are_not_numbers_have_no_squares_to_compare():
    tile = tile_of(with_errors((np.nan, np.nan), (100.0, 10.0)), GAIN)
    assert "squared" not in tile.text


def change_tile(alarms, rows):
    history = example_studies.tracker_history(alarms=alarms)
    study = replace(example_studies.full(history=history), rounds=rows)
    return tiles(study)[-1]


def test_no_alarm_is_no_word_that_nothing_changed():
    assert change_tile([], 3000).text == "No change of y was found."
    assert change_tile([], 3000).value == "none found"


def test_among_few_rows_only_large_changes_are_found():
    assert change_tile([], 96).text == (
        "No change of y was found. Among 96 rows only large ones can be."
    )


def headline_after(kind, before, after):
    (alarm,) = example_studies.tracker_history(alarms=[1234]).alarms
    alarm = replace(alarm, kind=kind, before=before, after=after, onset_time=None)
    history = replace(example_studies.tracker_history(alarms=[1]), alarms=(alarm,))
    return headline_sentence(example_studies.full(history=history))


def test_a_large_change_of_the_level_is_in_the_headline():
    sentence = headline_after("level", 100.0, 10.0)
    assert " Its level fell by 90 %, from 100 to 10 (" in sentence
    assert "Its level" not in headline_after("level", 100.0, 90.0)
    assert "Its level" not in headline_after("variance", 100.0, 10.0)
