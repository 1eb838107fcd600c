"""Ratios of errors, in all kinds of results."""

import math

import numpy as np
import pytest

from thalweg.evaluation.keyed_scores import KeyedClassScores, PooledClassEntry
from thalweg.evaluation.prequential import BaselineErrors, PrequentialResult
from thalweg.evaluation.study import Entry, Study


def of_learners(own, other):
    result = PrequentialResult(
        "OGD", 9, 9, own, own, other, other, np.zeros(9),
        (BaselineErrors("last value", other, other, ""),),
    )  # fmt: skip
    assert result.ratio == pytest.approx(result.baseline_ratio, nan_ok=True)
    return result.ratio


def of_entries(own, other):
    entries = (
        Entry("Tracker", "tracker", own, own, None),
        Entry("last value", "persistence", other, other, None),
    )
    study = object.__new__(Study)
    object.__setattr__(study, "entries", entries)
    return study.ratio("Tracker", "last value")


def of_classes(own, other):
    entries = (
        PooledClassEntry("Tracker", "tracker", own, 0.5, 0.5),
        PooledClassEntry("frequencies", "baseline", other, 0.5, 0.5),
    )
    scores = KeyedClassScores("y", ("a", "b"), 9, 9, (), 0, entries, ())
    return scores.ratio(scores.tracker)


@pytest.mark.parametrize("ratio", [of_learners, of_entries, of_classes])
def test_every_result_has_the_same_ratios(ratio):
    assert ratio(2.0, 4.0) == 0.5
    assert ratio(0.0, 0.0) == 1.0
    assert ratio(2.0, 0.0) == math.inf
    assert math.isnan(ratio(math.nan, 0.0))
    assert math.isnan(ratio(math.nan, 4.0))
