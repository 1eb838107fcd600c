"""What a page shows beside errors, of rows with and without a value."""

import numpy as np
import pytest

from thalweg.evaluation.run_record import ForecastRecord
from thalweg.types import Trace

ROWS = 1000


def record_of(is_scored, half_width, cuts=()):
    """A record of forecasts of 0 whose bands are so wide, cut into pieces."""
    record = ForecastRecord(1)
    zero = np.zeros(ROWS)
    labels = np.where(is_scored, 0.0, np.nan)
    for rows in np.split(np.arange(ROWS), cuts):
        trace = Trace(
            zero[rows],
            zero[rows],
            np.zeros((len(rows), 1)),
            {"interval": np.stack([-half_width, half_width], axis=1)[rows]},
        )
        x = np.zeros((len(rows), 1))
        record.add(x, labels[rows], trace, labels[rows], np.full(len(rows), np.nan))
    return record


@pytest.mark.parametrize("cuts", [(), (1, 40, 41, 700)])
def test_bands_are_as_wide_as_those_of_rows_that_were_scored(cuts):
    is_scored = np.arange(ROWS) < 96
    half_width = np.where(is_scored, np.linspace(0.5, 1.5, ROWS), 40.0)
    half_width[:3] = np.inf  # before any error was seen there is no band
    bands = record_of(is_scored, half_width, cuts).bands(0.9)
    assert bands.half_width == pytest.approx(half_width[3:96].mean())
    assert np.nanmedian(bands.high.mean) == 40.0


def test_the_width_of_bands_of_which_no_row_was_scored_is_not_known():
    bands = record_of(np.zeros(ROWS, bool), np.ones(ROWS)).bands(0.9)
    assert bands.half_width is None
