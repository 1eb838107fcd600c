"""The section of a classification on a page."""

import numpy as np
import pytest

from thalweg.evaluation.classifier_run import ClassifierRun
from thalweg.report.classification_section import classification_section
from thalweg.tables.class_labels import ClassLabels

ROWS = 300


@pytest.mark.parametrize("is_binary", [True, False])
@pytest.mark.parametrize("has_times", [True, False])
def test_a_section_says_how_often_the_class_is_right(is_binary, has_times):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS, 2))
    y = (x[:, 0] > 0) * 1.0 if is_binary else 1.0 * (x > 0).sum(axis=1)
    y = (
        y
        if is_binary
        else np.array([[*dict.fromkeys(y)].index(one) for one in y], float)
    )
    labels = ("0", "1") if is_binary else ("a", "b", "c")
    hours = np.datetime64("2024-03-01", "ns") + np.arange(ROWS) * np.timedelta64(1, "h")
    run = ClassifierRun(2, 0, "refuse", is_binary)
    run.play(x, y, times=hours if has_times else None)
    classes = ClassLabels("k", labels, is_binary, len(labels))
    study = run.study("s.csv", classes, ("p", "q"))
    section = classification_section(study)
    right = study.tracker.accuracy
    assert f"{100 * right:.0f} % of the rows" in section.headline
    names = [figure.name for figure in section.figures]
    assert names == ["class-shares", "log-loss", "reliability", "feature-weights"]
    spec = str(section.figures[1].chart.to_dict())
    assert ("'field': 'time'" in spec) == has_times
    confusion = section.folded[1].table
    assert sum(int(cell) for row in confusion.rows for cell in row[1:]) == (
        study.scored_rounds
    )
    assert len(section.folded[0].table.rows) == 4
