"""``KeyedModels.observe_many`` equals the loop of ``observe``, or learns nothing."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import thalweg as tw
from tests.keyed.test_keyed import RLS, X, Y, model_bytes
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.keyed import KeyedModels
from thalweg.learners import Experts, Tracker

KEYS = [f"k{k}" for k in np.random.default_rng(1).integers(5, size=120)]
SEQ = list(range(120))
WEIGHT = np.random.default_rng(2).uniform(0, 2, 120)


def same(one, other):
    return np.array_equal(one, other, equal_nan=True)


@pytest.mark.parametrize(
    "learner, targets",
    [(RLS, 1), (RLS, 2), (Tracker(), 1), (Tracker(), 2), (Experts(), 1)],
)
def test_a_batch_equals_the_loop(path, learner, targets):
    y = Y if targets == 1 else np.column_stack([Y, X[:, 0]])
    loop = KeyedModels(path.with_name("loop.db"), learner)
    rows = zip(KEYS, X, y, SEQ, WEIGHT, WEIGHT[::-1], strict=True)
    expected = [loop.observe(*row) for row in rows]
    with KeyedModels(path, learner) as models:
        parts = [slice(0, 1), slice(1, 70), slice(70, 70), slice(70, 120)]
        predictions = np.concatenate(
            [
                models.observe_many(
                    KEYS[p], X[p], y[p], SEQ[p], WEIGHT[p], WEIGHT[::-1][p]
                )
                for p in parts
            ]
        )
        assert predictions.tolist() == np.array(expected).tolist()
        assert model_bytes(models, models.keys()) == model_bytes(loop, loop.keys())
    loop.close()


def test_rows_that_are_late_or_come_twice_are_not_learnt(path):
    with KeyedModels(path, RLS) as models:
        first = models.observe_many(["a", "b", "a", "a"], X[:4], Y[:4], [3, 1, 5, 4])
        assert np.isnan(first).tolist() == [False, False, False, True]
        before = model_bytes(models, ["a", "b"])
        again = models.observe_many(["a", "b", "a", "a"], X[:4], Y[:4], [3, 1, 5, 4])
        assert same(again, [np.nan, first[1], first[2], np.nan])
        assert model_bytes(models, ["a", "b"]) == before
        assert models.last_seq("a") == 5 and models.last_seq("c") is None


@pytest.mark.parametrize("missing", ["refuse", "skip", "impute"])
def test_rows_without_a_target_are_predicted_and_counted(path, missing):
    y = np.where(np.arange(120) % 3 == 1, np.nan, Y)
    with KeyedModels(path, RLS, missing=missing) as models:
        loop = KeyedModels(path.with_name("loop.db"), RLS, missing=missing)
        labels = [None if np.isnan(v) else v for v in y]
        expected = [loop.observe(*r) for r in zip(KEYS, X, labels, SEQ, strict=True)]
        assert same(models.observe_many(KEYS, X, y, SEQ), expected)
        assert model_bytes(models, models.keys()) == model_bytes(loop, loop.keys())
        assert models.last_seq(KEYS[118]) >= 118
        loop.close()
        assert models.observe_many(["a"], X[:1], None, [0]).tolist() == [0.0]


BAD = {
    "an infinite feature": ({"x": (2, np.inf)}, StreamError, "Row 2 .*key 'k2', seq 2"),
    "NaN among features": ({"x": (3, np.nan)}, StreamError, "Row 3 .*key 'k0', seq 3"),
    "an infinite target": ({"y": (1, np.inf)}, StreamError, "Row 1 .*key 'k1', seq 1"),
    "a negative weight": ({"weight": (4, -1.0)}, StreamError, "Row 4 of the batch"),
    "a key that is none": ({"keys": (5, "")}, InvalidParameterError, "Row 5 .*key ''"),
    "a seq that is none": ({"seq": (0, 0.5)}, InvalidParameterError, "Row 0 .*seq 0.5"),
}


@pytest.mark.parametrize("change, error, words", BAD.values(), ids=BAD)
def test_a_batch_with_a_bad_row_is_refused_as_a_whole(path, change, error, words):
    batch = {
        "keys": [f"k{t % 3}" for t in range(6)], "x": X[:6].copy(), "y": Y[:6].copy(),
        "seq": list(range(6)), "weight": np.ones(6),
    }  # fmt: skip
    ((name, (row, value)),) = change.items()
    batch[name][row] = value
    with KeyedModels(path, RLS) as models:
        models.observe("k1", X[9], Y[9], 0)
        before = model_bytes(models, ["k1"])
        with pytest.raises(error, match=words):
            models.observe_many(**batch)
        assert models.keys() == ["k1"] and model_bytes(models, ["k1"]) == before


def test_a_batch_of_other_lengths_or_widths_is_refused(path):
    with KeyedModels(path, RLS) as models:
        models.observe("b", [1.0, 2.0], 1.0, 0)
        with pytest.raises(StreamError, match="Row 1 .*'b', seq 3.* from 2 features"):
            models.observe_many(["a", "b"], X[:2], Y[:2], [2, 3])
        with pytest.raises(StreamError, match="as many rows of y as keys. Got 3 and 2"):
            models.observe_many(["a", "b"], X[:2], Y[:3], [2, 3])
        with pytest.raises(StreamError, match="one value for each row"):
            models.observe_many(["a", "b"], X[:2], Y[:2], 7)
        with pytest.raises(StreamError, match="several rows"):
            models.observe_many("ab", X[:2], Y[:2], [2, 3])
        assert models.keys() == ["b"]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, list], ids=repr)
def test_rows_with_names_equal_a_dict_of_models(path, library):
    rows = [
        {"a": X[t, 0], "b": X[t, 1], "day": ["mon", "tue"][t % 2]} for t in range(30)
    ]
    alone = {key: tw.Online(RLS) for key in KEYS[:30]}
    expected = []
    for key, row, y in zip(KEYS, rows, Y, strict=False):
        expected.append(float(alone[key].predict(row)))
        alone[key].update(row, y)
    with KeyedModels(path, RLS) as models:
        predictions = models.observe_many(KEYS[:30], library(rows), Y[:30], SEQ[:30])
        assert predictions.tolist() == expected
        before = model_bytes(models, models.keys())
        bad = [*rows[:3], {"a": 1.0, "c": 2.0, "day": "mon"}]
        with pytest.raises(StreamError, match="Row 3 of the batch"):
            models.observe_many(["k0"] * 4, bad, Y[:4], [40, 41, 42, 43])
        assert model_bytes(models, models.keys()) == before
    with KeyedModels(path) as models:
        for key in alone:
            assert models[key].feature_names == alone[key].feature_names
            assert models.predict(key, rows[0]) == alone[key].predict(rows[0])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_of_one_row_is_a_row(tmp_path, library):
    frames = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
    rows = [{"a": float(x[0]), "b": float(x[1])} for x in X[:20]]
    frame = frames[library]
    with (
        KeyedModels(tmp_path / "frames", RLS) as models,
        KeyedModels(tmp_path / "dicts", RLS) as others,
    ):
        for seq, row in enumerate(rows):
            given = frame({name: [value] for name, value in row.items()})
            found = models.observe("k", given, Y[seq], seq)
            assert found == others.observe("k", row, Y[seq], seq)
        assert list(models["k"].state[0]) == list(others["k"].state[0])
        with pytest.raises(StreamError, match="has one row. Got 2"):
            models.observe("k", frame({"a": [1.0, 2.0], "b": [1.0, 2.0]}), 1.0, 99)
