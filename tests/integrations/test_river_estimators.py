"""Estimators for River: what its own checks do not ask."""

import copy
import math
import pickle
import re
import subprocess
import sys
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("river")

import pandas as pd
import polars as pl
import pyarrow as pa
from river import compose, evaluate, linear_model, metrics, preprocessing, stream

import thalweg as tw
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.integrations.river import (
    GradientRegressor,
    NewtonRegressor,
    RLSMultiTargetRegressor,
    RLSRegressor,
    TrackerClassifier,
    TrackerRegressor,
)
from thalweg.integrations.river.feature_rows import FeatureRows

PAGE = Path(__file__).parents[2] / "docs/river.md"
RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = X @ [1.0, -2.0, 0.5] + 0.1 * RNG.normal(size=80) + 3
WEIGHT = RNG.choice([0.0, 0.5, 1.0, 3.0], 80)
LABELS = [["red", "green", "blue"][k] for k in X.argmax(axis=1)]
ROWS = [dict(zip("abc", row, strict=True)) for row in X.tolist()]
REGRESSORS = [
    TrackerRegressor(curvature=False),
    TrackerRegressor(),
    RLSRegressor(discount=0.95, ridge=0.1),
    RLSRegressor(half_life=30, intercept=False),
    NewtonRegressor(discount=0.95),
    GradientRegressor(radius=5.0),
]
by_regressor = pytest.mark.parametrize(
    "regressor", REGRESSORS, ids=lambda model: type(model).__name__
)


def learn(model, rows=ROWS, targets=Y, weights=WEIGHT):
    """What the model predicts of each row before it learns it."""
    predictions = []
    for x, y, w in zip(rows, targets, weights, strict=True):
        predictions.append(model.predict_one(x))
        model.learn_one(x, y, w)
    return predictions


def same_bits(one, other):
    np.testing.assert_array_equal(np.array(one), np.array(other))


@by_regressor
def test_a_regressor_is_the_model_that_it_holds(regressor):
    model = regressor.clone()
    online = tw.Online(model.model.learner, intercept=model.model.intercept)
    trace = online.run(X, Y, WEIGHT)
    same_bits(learn(model), trace.prediction)
    theta = online.coefficients[:3].tolist()
    assert model.weights == dict(zip("abc", theta, strict=True))
    interval = model.predict_interval_one(ROWS[0], level=0.8)
    assert interval == online.predict(X[0], interval=0.8)
    assert interval.low <= interval.mean <= interval.high < math.inf
    assert model.model.health().rounds == 80


@by_regressor
def test_before_any_row_a_regressor_predicts_zero(regressor):
    model = regressor.clone()
    assert model.predict_one({}) == 0.0 and model.predict_one(ROWS[0]) == 0.0
    assert model.predict_many(pd.DataFrame(ROWS)).tolist() == [0.0] * 80
    assert model.weights == {}
    assert model.predict_interval_one({"a": 1.0}).high == math.inf


@pytest.mark.parametrize("keys", ["abc", (0, 1, 2), ((0, "p"), 1, "c")])
def test_keys_are_whatever_a_dict_takes_in_any_order(keys):
    one, other = TrackerRegressor(), TrackerRegressor()
    rows = [dict(zip(keys, row, strict=True)) for row in X.tolist()]
    backward = [dict(reversed(list(row.items()))) for row in rows]
    same_bits(learn(one, rows), learn(other, backward))
    assert set(one.weights) == set(keys)


@by_regressor
def test_an_absent_key_is_zero_and_a_new_key_is_a_feature_that_is_added(regressor):
    """Beside a model of arrays that is told of every change by hand."""
    model = regressor.clone()
    online = tw.Online(model.model.learner, intercept=model.model.intercept)
    for t, (a, b, c) in enumerate(X.tolist()):
        x, row = [
            ({"b": b}, [b]),
            ({"c": c, "a": a}, [0.0, a, c]),
            ({"a": a, "b": b, "c": c}, [b, a, c]),
            ({}, [0.0, 0.0, 0.0]),
        ][t // 20]
        if t == 20:
            assert model.predict_one(x) == online.predict([0.0])  # without new keys
            online.add_features([1, 2])
        else:
            assert model.predict_one(x) == online.predict(row)
        model.learn_one(x, Y[t])
        online.update(row, Y[t])
    assert model.predict_one(ROWS[0]) == online.predict(X[0][[1, 0, 2]])


@settings(deadline=None, max_examples=25)
@given(
    cuts=st.lists(st.integers(0, 80), max_size=4),
    columns=st.lists(st.sets(st.sampled_from("abc"), min_size=1), min_size=5),
    which=st.sampled_from([1, 2, 3]),
    library=st.sampled_from([pd.DataFrame, pl.DataFrame, pa.Table.from_pylist]),
)
def test_batches_are_learnt_as_single_rows_bit_for_bit(cuts, columns, which, library):
    single, batches = REGRESSORS[which].clone(), REGRESSORS[which].clone()
    edges = [0, *sorted(cuts), 80]
    for k, (start, stop) in enumerate(zip(edges, edges[1:], strict=False)):
        rows = [{key: row[key] for key in columns[k]} for row in ROWS[start:stop]]
        if not rows:
            continue
        frame, part = library(rows), slice(start, stop)
        for x, y, w in zip(rows, Y[part], WEIGHT[part], strict=True):
            single.learn_one(x, y, w)
        batches.learn_many(frame, Y[part], WEIGHT[part])
        expected = [single.predict_one(x) for x in rows]
        predictions = batches.predict_many(frame)
        same_bits(predictions, expected)
        assert type(predictions).__module__.split(".")[0] in repr(library)
    assert pickle.dumps(single.model.state) == pickle.dumps(batches.model.state)


def test_a_frame_may_have_an_index_numbers_for_names_and_nullable_columns():
    frame = pd.DataFrame(X, index=pd.RangeIndex(5, 85, name="row"))
    model, other = RLSRegressor(), RLSRegressor()
    model.learn_many(frame.convert_dtypes(), pd.Series(Y))
    for row, y in zip(X.tolist(), Y, strict=True):
        other.learn_one(dict(enumerate(row)), y)
    assert model.weights == other.weights and set(model.weights) == {0, 1, 2}
    assert model.predict_many(frame).index.equals(frame.index)
    model.learn_many(frame[:0], pd.Series([], dtype=float))
    assert model.model.rounds == 80 and len(model.predict_many(frame[:0])) == 0


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ({"a": "north"}, "'a' must be a number. Got 'north' instead. OneHotEncoder"),
        ({"a": None}, "'a' must be a number. Got None instead."),
        ({"a": 1.0, "b": math.nan}, "'b' must be finite and at most 1e+150 in size."),
        ({"b": math.inf, "d": 1.0}, "'b' must be finite and at most 1e+150 in size."),
        ({"a": 10**400}, "'a' must be a number. Got 1000"),
        ({"d": [1.0]}, "'d' must be a number. Got [1.0] instead."),
    ],
)
def test_what_is_no_number_is_refused_by_its_key_and_nothing_changes(x, message):
    for model in (RLSRegressor(), TrackerRegressor(curvature=False)):
        learn(model)
        before = pickle.dumps(model)
        with pytest.raises(StreamError, match=re.escape(message)):
            model.learn_one(x, 1.0)
        with pytest.raises(StreamError, match=f"The feature {message[:3]} must be "):
            model.learn_many(pd.DataFrame([ROWS[0] | x]), pd.Series([1.0]))
        model.model.refusals = 0
        assert pickle.dumps(model) == before


@pytest.mark.parametrize("value", ["north", math.nan, -math.inf, 1e151])
def test_classifiers_and_several_targets_refuse_values_by_their_key(value):
    for kind, y in ((TrackerClassifier, "red"), (RLSMultiTargetRegressor, {"p": 1.0})):
        model = kind()
        model.learn_one(ROWS[0], y)
        for x in (ROWS[1] | {"b": value}, {"b": value}):
            with pytest.raises(StreamError, match="The feature 'b' must be"):
                model.learn_one(x, y)
            with pytest.raises(StreamError, match="The feature 'b' must be"):
                model.predict_one(x)
        assert model.model.rounds == 1
    with pytest.raises(StreamError, match="label"):
        TrackerClassifier().learn_one(ROWS[0], None)


@pytest.mark.parametrize(
    "model", [TrackerRegressor(curvature=False), TrackerClassifier()], ids=repr
)
def test_dicts_that_make_up_values_are_read_by_the_keys_they_have(model):
    """``BagOfWords`` gives Counters; a defaultdict adds the keys it is asked for."""
    model, other = model.clone(), model.clone()
    for t, words in enumerate(["ab", "bc", "da", "abc", "eb", "c"] * 2):
        kind = partial(defaultdict, float) if t % 2 else Counter
        row, x = kind(Counter(words)), dict(Counter(words))
        assert model.predict_one(row) == other.predict_one(x) and row == x
        model.learn_one(row, float(t % 3))
        other.learn_one(x, float(t % 3))
        assert row == x
    assert model.predict_one(x) == other.predict_one(x) != 0.0


@pytest.mark.parametrize("y", [math.nan, None, "3", 1e200, [1.0, 2.0]])
def test_a_refused_target_leaves_new_keys_unknown(y):
    model = TrackerRegressor(curvature=False)
    learn(model)
    with pytest.raises(StreamError):
        model.learn_one({"d": 1.0}, y)
    assert set(model.weights) == set("abc")
    model.learn_one({"d": 1.0}, np.float32(2.0))
    assert set(model.weights) == set("abcd")


def test_an_open_vocabulary_ends_at_a_limit_that_is_refused_by_name():
    model = TrackerRegressor(curvature=False)
    model.learn_one({"first": 1.0}, 1.0)
    with pytest.raises(StreamError, match="Tracker takes at most 256 .* 'word 355'"):
        model.learn_one({f"word {k}": 1.0 for k in range(100, 500)}, 1.0)
    assert list(model.weights) == ["first"]
    wide = RLSRegressor()
    wide.learn_one({k: 1.0 for k in range(4200)}, 1.0)  # as many as the first row has
    with pytest.raises(StreamError, match="at most 4,096 .* one more, 'new'"):
        wide.learn_one({"new": 1.0}, 1.0)


@pytest.mark.parametrize(
    "model",
    [*REGRESSORS, TrackerClassifier(), RLSMultiTargetRegressor()],
    ids=lambda model: type(model).__name__,
)
def test_pickles_and_copies_go_on_to_the_last_bit(model):
    model, targets = model.clone(), Y.tolist()
    if isinstance(model, TrackerClassifier):
        targets = LABELS
    if isinstance(model, RLSMultiTargetRegressor):
        targets = [{"p": y, "q": -y} for y in Y.tolist()]
    for x, y in zip(ROWS[:40], targets[:40], strict=True):
        model.learn_one(x, y)
    copies = [
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
        model.clone(include_attributes=True),
    ]
    for x, y in zip(ROWS[40:], targets[40:], strict=True):
        expected = model.predict_one(x | {"d": 1.0})
        model.learn_one(x | {"d": 1.0}, y)
        for other in copies:
            assert other.predict_one(x | {"d": 1.0}) == expected
            other.learn_one(x | {"d": 1.0}, y)


def test_rows_without_any_feature_are_learnt_as_zeros():
    for model in (REGRESSORS[0].clone(), RLSRegressor(), RLSRegressor(intercept=False)):
        other = model.clone()
        for y in (1.0, 2.0, 3.0):
            model.learn_one({}, y)
            other.learn_one({"a": 0.0}, y)
        assert model.predict_one({}) == pytest.approx(other.predict_one({"a": 0.0}))
        model.learn_one({"a": 1.0, "b": 2.0}, 3.0)
        assert set(model.weights) == {"a", "b"}


def test_a_half_life_stands_for_a_discount_in_clones_too():
    model = RLSRegressor(half_life=10)
    assert model.model.learner == tw.RecursiveLeastSquares(half_life=10)
    assert model.clone().model.learner == model.model.learner
    assert model.clone({"half_life": 20}).model.learner.half_life == pytest.approx(20)
    assert RLSRegressor().discount == 0.99 and model.discount is None
    assert RLSRegressor(window=50).model.learner.discount == pytest.approx(0.98)
    with pytest.raises(InvalidParameterError, match="only one of"):
        RLSRegressor(discount=0.9, half_life=10)


def test_the_classifier_is_the_model_that_it_holds():
    model, other = TrackerClassifier(), tw.Classifier()
    assert model.predict_one(ROWS[0]) is None and model.predict_proba_one({}) == {}
    for t, x in enumerate(ROWS):
        assert model.predict_proba_one(x) == other.predict(X[t])
        model.learn_one(x, LABELS[t], WEIGHT[t])
        other.update(X[t], LABELS[t], WEIGHT[t])
    assert model.predict_one(ROWS[0]) == other.classify(X[0])
    assert set(model.model.classes) == set(LABELS)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_batches_of_classes_are_learnt_as_single_rows_bit_for_bit(library):
    single, batches = TrackerClassifier(), TrackerClassifier()
    frame = library(ROWS)
    assert batches.predict_proba_many(frame).shape[1] == 0
    assert list(batches.predict_many(frame)) == [None] * 80
    for start, keys in ((0, "b"), (30, "abc"), (55, "ca")):
        part = slice(start, start + 25)
        rows = [{key: x[key] for key in keys} for x in ROWS[part]]
        for x, label, w in zip(rows, LABELS[part], WEIGHT[part], strict=True):
            single.learn_one(x, label, w)
        labels = frame.iloc[:25] if library is pd.DataFrame else frame[:25]
        labels = type(labels["a"])(LABELS[part])
        batches.learn_many(library(rows), labels, WEIGHT[part])
    table = batches.predict_proba_many(frame)
    for t, x in enumerate(ROWS):
        expected = single.predict_proba_one(x)
        assert [float(table[key][t]) for key in expected] == list(expected.values())
    assert list(batches.predict_many(frame)) == list(map(single.predict_one, ROWS))


def test_several_targets_are_one_model_and_equal_separate_ones():
    model, first = RLSMultiTargetRegressor(0.95), RLSRegressor(0.95)
    assert model.predict_one(ROWS[0]) == {}
    for t, x in enumerate(ROWS):
        x = {"b": x["b"]} if t < 20 else x
        y = {"q": Y[t] ** 2, "p": Y[t]} if t % 2 else {"p": Y[t], "q": Y[t] ** 2}
        assert model.predict_one(x).get("p", 0.0) == first.predict_one(x)
        model.learn_one(x, y, WEIGHT[t])
        first.learn_one(x, Y[t], WEIGHT[t])
    with pytest.raises(StreamError, match="the first one, 'p', 'q'. Got 'p' instead"):
        model.learn_one(ROWS[0], {"p": 1.0})
    for value, rule in (("high", "a number"), (math.nan, "finite and at most 1e")):
        with pytest.raises(StreamError, match=f"The target 'q' must be {rule}"):
            model.learn_one(ROWS[0], {"p": 1.0, "q": value})
    with pytest.raises(StreamError, match="one at least. Got none instead"):
        RLSMultiTargetRegressor().learn_one(ROWS[0], {})
    single = RLSMultiTargetRegressor()
    single.learn_one({"a": 1.0}, {"p": 2.0})
    assert list(single.predict_one({"a": 1.0})) == ["p"]


@pytest.mark.parametrize("model", REGRESSORS[:5:2], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("scale", [1e-100, 1e-9, 1.0, 1e9, 1e100])
def test_predictions_stay_finite_at_every_scale(model, scale):
    model, rows = model.clone(), [{k: v * scale for k, v in x.items()} for x in ROWS]
    predictions = learn(model, rows) + learn(model, rows, Y * scale)
    assert np.isfinite(predictions).all()


@pytest.mark.parametrize("model", REGRESSORS[:3:2], ids=lambda m: type(m).__name__)
def test_a_quiet_feature_does_no_harm_in_20_000_rounds(model):
    """River's regression with smoothing 0.95 ends in NaN after 13,838 rounds."""
    model, rng = model.clone(), np.random.default_rng(1)
    loud = rng.normal(size=20_000)
    for t, value in enumerate(loud.tolist()):
        x = {"loud": value, "quiet": float(t < 10)}
        assert math.isfinite(model.predict_one(x))
        model.learn_one(x, 2 * value + 1)
    assert model.predict_one({"loud": 1.0, "quiet": 0.0}) == pytest.approx(3, abs=0.01)
    assert math.isfinite(model.predict_one({"loud": 1.0, "quiet": 1.0}))


def test_a_long_stream_of_classes_stays_finite_and_its_memory_bounded():
    model, rng = TrackerClassifier(), np.random.default_rng(1)
    sizes = []
    for t in range(5000):
        value = rng.normal()
        model.learn_one({"x": value, "quiet": float(t < 10)}, bool(value > 0))
        if t in (1000, 4999):
            sizes.append(model._raw_memory_usage)
    assert sizes[0] == sizes[1] < 100_000
    assert model.predict_proba_one({"x": 1.0})[True] > 0.95


def test_memory_is_counted_with_arrays_and_without_the_compiler():
    model = RLSRegressor()
    model.learn_one(dict.fromkeys(range(100), 1.0), 1.0)
    assert 100 * 100 * 8 < model._raw_memory_usage < 500_000


def test_an_estimator_works_in_pipelines_and_evaluations_of_river():
    model = compose.Select("a", "b", "c") | RLSRegressor()
    scores = evaluate.progressive_val_score(
        stream.iter_array(X, Y, feature_names=list("abc")), model, metrics.MAE()
    )
    assert scores.get() < 0.5
    theirs = preprocessing.StandardScaler() | linear_model.LinearRegression()
    for x, y in zip(ROWS, Y, strict=True):
        theirs.learn_one(x, y)
    assert abs(model.predict_one(ROWS[0]) - Y[0]) < abs(theirs.predict_one(ROWS[0]))


def test_what_the_page_shows_runs_as_it_stands_beside_river():
    shown = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names = {}
    exec(compile("\n".join(shown), str(PAGE), "exec"), names)
    assert names["errors"]["thalweg"] < 0.2 * names["errors"]["River"]
    printed = {name: round(value, 2) for name, value in names["errors"].items()}
    assert f"# {printed}" in PAGE.read_text()
    assert set(names["ours"].weights) >= {"humidity", "hour"}


def test_river_is_imported_only_with_its_estimators():
    code = (
        "import sys, thalweg; thalweg.integrations; print('river' in sys.modules); "
        "from thalweg.integrations import river; print(sorted(river.__all__) == "
        "river.__all__, 'river' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert shown.stdout == "False\nTrue True\n"


def test_rows_are_read_into_one_array_which_holds_no_old_values():
    rows = FeatureRows(("b", "a"))
    assert rows.read({"a": 1.0}) is None and rows.read({"a": 1.0, "c": 2.0}) is None
    assert rows.read({"a": 1, "b": True}).tolist() == [1.0, 1.0]
    assert rows.complete({"a": 3.0, "z": "text"}).tolist() == [0.0, 3.0]
    assert rows.read({"a": "1", "b": 2.0}) is None
    assert rows.complete({"b": np.float32(2)}).tolist() == [2.0, 0.0]
    assert FeatureRows(("a",)).read({"a": 4.0}).tolist() == [4.0]
    assert FeatureRows(least_width=1).complete({}).tolist() == [0.0]
    assert FeatureRows().complete({"a": 1.0}).tolist() == []
