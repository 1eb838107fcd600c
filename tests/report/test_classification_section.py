"""The section of a classification on a page."""

from dataclasses import replace

import numpy as np
import pytest

from thalweg.evaluation.classification_study import ClassificationStudy
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
    assert repr(study.best_baseline.name) in section.tiles[1].text
    assert section.summary()[0] == section.headline
    names = [figure.name for figure in section.figures()]
    assert names == ["class-shares", "log-loss", "reliability", "feature-weights"]
    spec = str(section.figures()[1].chart.to_dict())
    assert ("'field': 'time'" in spec) == has_times
    confusion = section.folded[1].table
    assert sum(int(cell) for row in confusion.rows for cell in row[1:]) == (
        study.scored_rounds
    )
    assert len(section.folded[0].table.rows) == 4


def study_of(labels, is_binary=False):
    """Two features of noise, the first of which tells the class, which is text."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(ROWS, 2))
    edges = np.linspace(-0.7, 0.7, len(labels) - 1) if len(labels) > 2 else [0.0]
    order = np.searchsorted(edges, x[:, 0])
    appearance = [*dict.fromkeys(order.tolist())]
    y = order if is_binary else np.array([appearance.index(one) for one in order])
    named = labels if is_binary else tuple(labels[one] for one in appearance)
    run = ClassifierRun(2, 0, "refuse", is_binary)
    run.play(x, y.astype(float))
    classes = ClassLabels("k", named, is_binary, len(labels))
    return run.study("s.csv", classes, ("size", "noise"))


def weight_chart(study):
    figure = classification_section(study).figures()[-1]
    spec = figure.chart.to_dict()
    (lists,) = (spec.get("data") or spec["layer"][0]["data"])["values"]
    return figure.caption, lists


@pytest.mark.parametrize("is_binary", [True, False])
def test_a_bar_says_which_of_two_classes_a_feature_speaks_for(is_binary):
    labels = ("0", "1") if is_binary else ("small", "large")
    study = study_of(labels, is_binary)
    caption, lists = weight_chart(study)
    at = lists["feature"].index("size")
    # The larger the feature, the sooner the second label: on which side its bar is
    # depends on which class came first.
    assert lists["name"][at] == f"for {labels[1]}"
    assert (lists["weight"][at] > 0) == (study.classes[1] == labels[1])
    right, left = study.classes[1], study.classes[0]
    assert f"for {right} (bars to the right) or for {left} (to the left)" in caption


def test_of_several_classes_the_one_a_feature_speaks_for_is_named():
    study = study_of(("small", "middle", "large"))
    caption, lists = weight_chart(study)
    assert "size, for large" in lists["feature"]
    assert "stands beside it" in caption
    older = replace(study, leanings=None)
    caption, lists = weight_chart(older)
    assert "size" in lists["feature"] and "for or against a class" in caption


def test_columns_of_identifiers_have_no_bars():
    study = study_of(("small", "large")).without_identifiers({"noise": ("noise",)})
    caption, lists = weight_chart(study)
    assert lists["feature"] == ["size"]
    assert caption.endswith("Left out: 'noise', which looks like identifiers.")
    again = ClassificationStudy.from_dict(study.as_dict())
    assert again.identifiers == ("noise",) and again.leanings == study.leanings
