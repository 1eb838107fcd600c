"""A file of ``Online`` holds all that a pickle holds."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import thalweg as tw
from tests.models.test_online import LEARNERS
from tests.persistence.test_round_trip import is_identical
from thalweg import persistence
from thalweg.errors import ThalwegError
from thalweg.imputer import Imputer

POLICIES = ["refuse", "skip", "impute"]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) + [0.0, 5.0, -2.0]
Y = (X @ [1.0, -2.0, 0.5] > 0).astype(float)  # labels that every loss takes
X[10:20, 1] = 0.0  # unexcited
X[20:30] = np.where(RNG.random((10, 3)) < 0.5, np.nan, X[20:30])
Y[28:34] = np.nan
X[34:36] = np.nan
X[36], Y[37] = np.inf, np.inf  # refused by every policy
ROWS = st.integers(0, len(X) - 1)
CALLS = st.lists(
    st.one_of(ROWS, st.lists(ROWS, min_size=1, max_size=6)), min_size=0, max_size=12
)
"""Each a round by itself, or some as a run."""
TIMES = st.sampled_from([1.0, 0.0, 0.3, 7.0])


def play(model, calls, elapsed):
    """The predictions of each call; None where it was refused."""
    predictions = []
    for call in calls:
        rows = np.atleast_1d(call)
        times = np.full(len(rows), elapsed)
        try:
            if isinstance(call, int):
                predictions.append(np.asarray(model.predict(X[call])))
                model.update(X[call], Y[call], elapsed=elapsed)
            else:
                predictions.append(
                    model.run(X[rows], Y[rows], elapsed=times).prediction
                )
        except ThalwegError:
            predictions.append(None)
    return predictions


def parts(value):
    """The value as a tuple that ``same`` can compare, down to each array and number."""
    if isinstance(value, dict):
        return tuple((name, parts(value[name])) for name in sorted(value))
    return parts(vars(value)) if isinstance(value, Imputer) else value


def assert_same(model, expected):
    # All that pickle stores, so that fields added to a model later are compared too.
    assert is_identical(parts(model.__getstate__()), parts(expected.__getstate__()))
    assert repr(model) == repr(expected)
    assert is_identical(parts(vars(model.health())), parts(vars(expected.health())))
    assert str(model.health()) == str(expected.health())


@settings(max_examples=150)
@given(
    example=st.sampled_from(LEARNERS),
    missing=st.sampled_from(POLICIES),
    intercept=st.booleans(),
    before=CALLS,
    after=CALLS,
    elapsed=TIMES,
)
def test_a_saved_model_continues_to_the_last_bit_with_the_same_health(
    tmp_path_factory, example, missing, intercept, before, after, elapsed
):
    path = tmp_path_factory.mktemp("saved") / "m.thalweg"
    model = tw.Online(*example, intercept, missing)
    play(model, before, elapsed)
    model.save(path)
    loaded = tw.Online.load(path)
    assert_same(loaded, model)
    data = path.read_bytes()
    loaded.save(path)
    assert path.read_bytes() == data
    assert is_identical(
        tuple(play(loaded, after, elapsed)), tuple(play(model, after, elapsed))
    )
    assert_same(loaded, model)


@pytest.mark.parametrize("missing", POLICIES)
@pytest.mark.parametrize("learner", [tw.RecursiveLeastSquares(), tw.SlidingWindow(9)])
def test_several_targets_with_missing_values_are_saved(tmp_path, learner, missing):
    model = tw.Online(learner, missing=missing)
    y = np.column_stack([Y, 2 * Y])
    model.run(X[:20], y[:20])
    if missing != "refuse":
        model.run(X[20:36], y[20:36])
    model.save(tmp_path / "m.thalweg")
    loaded = tw.Online.load(tmp_path / "m.thalweg")
    assert_same(loaded, model)
    ends = [one.run(X[38:], y[38:]).prediction for one in (loaded, model)]
    assert is_identical(*ends)


FORMAT_1_FILE = Path(__file__).parents[1] / "persistence" / "format-1.thalweg"


def test_files_with_fewer_fields_load(tmp_path):
    golden = tw.Online.load(FORMAT_1_FILE)
    assert (golden.rounds, golden.intercept, golden.missing) == (30, True, "refuse")
    for learner in (tw.RecursiveLeastSquares(), tw.SlidingWindow(9), tw.Tracker()):
        model = tw.Online(learner, intercept=True)
        model.run(X[:20], Y[:20])
        extra = {"intercept": True, "rounds": 20, "other": "ignored"}
        saved = persistence.SavedModel(learner, model.loss, model.state, extra)
        persistence.save(tmp_path / "m.thalweg", saved)
        loaded = tw.Online.load(tmp_path / "m.thalweg")
        health = loaded.health()
        assert (health.rounds, health.refusals, health.skipped) == (20, 0, 0)
        np.testing.assert_array_equal(health.unexcited_rounds, np.zeros(4))
        loaded.run(X[10:13], Y[10:13])
        np.testing.assert_array_equal(loaded.health().unexcited_rounds, [0, 3, 0, 0])
        assert "feature 1 has been zero for 3 rounds" in str(loaded.health())


def test_the_golden_file_loads():
    """Written once by this thalweg, and never again."""
    loaded = tw.Online.load(Path(__file__).with_name("online-1.thalweg"))
    health = loaded.health()
    assert repr(loaded).endswith("intercept=False, missing='impute')")
    counted = (health.rounds, health.refusals, health.skipped, health.imputed)
    assert counted == (7, 2, 1, 3)
    np.testing.assert_array_equal(health.unexcited_rounds, [0, 4])
    np.testing.assert_array_equal(loaded.coefficients, [0.5, -0.25])
    # The means of what was seen: 3.0 / 6 and -8.0 / 4.
    assert loaded.predict([np.nan, np.nan]) == 0.5 * 0.5 + 0.25 * 2.0
    assert loaded.imputer.state.waited == 1.5
