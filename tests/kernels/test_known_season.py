import numpy as np
import pytest

from thalweg.evaluation.change_detector import ChangeDetector
from thalweg.kernels.change_detector.detector_layout import SEASON, STATE


def season_after(y, season):
    """The season of a detector that takes this one as soon as it can."""
    detector = ChangeDetector(0)
    for t in range(len(y)):
        detector.add(y[t : t + 1], np.empty((1, 0)))
        detector.take_season(season)
    return STATE.views(detector.buffer, columns=0).counters[SEASON]


@pytest.mark.parametrize("season", [24, 48])
def test_a_known_season_is_taken_once_it_was_seen_three_times(season):
    t = np.arange(4 * season)
    y = 10 * np.sin(t / season * 2 * np.pi) + np.random.default_rng(1).normal(
        size=len(t)
    )
    assert season_after(y[: 3 * season - 1], season) == 0
    assert season_after(y[: 3 * season + 20], season) == season


def test_a_season_that_values_do_not_show_is_not_taken():
    rng = np.random.default_rng(2)
    for y in (rng.normal(size=240), rng.normal(size=240).cumsum()):
        assert season_after(y, 48) == 0


def test_a_detector_without_rows_takes_none():
    detector = ChangeDetector(0)
    detector.take_season(48)
    assert not len(detector.buffer) and detector.total == 0
