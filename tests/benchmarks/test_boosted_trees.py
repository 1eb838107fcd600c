import json

import numpy as np
import pytest

from benchmarks.accuracy.accuracy_streams import AccuracyStream, Scales

pytest.importorskip("lightgbm", reason="LightGBM is in the benchmarks' environment")
boosted_trees = pytest.importorskip("benchmarks.accuracy.boosted_trees")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(700, 2))
Y = np.abs(X[:, 0]) + X[:, 1]
STREAM = AccuracyStream(X, Y, Scales.of_stream(X, Y))
SETTINGS = boosted_trees.TreeSettings(leaves=7, trees=30, learning_rate=0.2)


def test_trees_see_curvature():
    error = boosted_trees.measure_trees(STREAM, SETTINGS).error
    assert error < 0.3 * STREAM.y[100:].var()


def test_results_are_measured_once_for_a_stream_and_settings(tmp_path, monkeypatch):
    path = tmp_path / "folder" / "results.json"
    first = boosted_trees.TreeResults(path).measure("made up", STREAM, SETTINGS)
    (key,) = json.loads(path.read_text())
    assert "made up" in key and "7 leaves" in key

    calls = []
    monkeypatch.setattr(
        boosted_trees,
        "measure_trees",
        lambda *given: calls.append(given) or boosted_trees.TreeAccuracy(1.0, 2.0),
    )
    results = boosted_trees.TreeResults(path)
    assert results.measure("made up", STREAM, SETTINGS) == first and not calls
    results.measure("made up", STREAM._replace(y=STREAM.y + 1), SETTINGS)
    results.measure("made up", STREAM, SETTINGS._replace(of_changes=True))
    assert len(calls) == 2


def test_the_best_settings_have_the_least_geometric_mean():
    result = boosted_trees.TreeAccuracy
    other = SETTINGS._replace(leaves=9)
    results = {
        SETTINGS: {"a": result(1.0, 1.0), "b": result(4.0, 1.0)},  # 2
        other: {"a": result(0.1, 1.0), "b": result(30.0, 1.0)},  # √3
    }
    assert boosted_trees.best_settings(results) == other
