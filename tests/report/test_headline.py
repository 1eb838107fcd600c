"""The tiles of a run, and its headline: what a manager reads first."""

from dataclasses import replace

import numpy as np

from tests.report import example_studies
from thalweg.report.charts import main_figures
from thalweg.report.headline import BAND, tiles


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
