import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.evaluation.run_record import PAST_VALUES, FeatureEffects

NAMES = ("a", "b", "c")


def rows(count, seed=0):
    rng = np.random.default_rng(seed)
    x, theta = rng.normal(size=(2, count, len(NAMES)))
    y, prediction = rng.normal(size=(2, count))
    y[rng.random(count) < 0.2] = np.nan
    is_scored = ~np.isnan(y) & (np.arange(count) >= 5)
    return x, y, theta, prediction, is_scored


def definition(x, y, theta, prediction, is_scored):
    """Row by row: coefficient times distance from the mean so far; then the rest."""
    sizes = []
    for t in np.flatnonzero(is_scored):
        known = y[:t][~np.isnan(y[:t])]
        effects = [
            theta[t, k] * (x[t, k] - x[: t + 1, k].mean()) for k in range(len(NAMES))
        ]
        rest = prediction[t] - known.mean() - sum(effects)
        sizes.append([abs(size) for size in (*effects, rest)])
    means = np.mean(sizes, axis=0)
    return dict(zip((*NAMES, PAST_VALUES), means, strict=True))


def test_effects_are_those_of_the_definition():
    stream = rows(80)
    made = FeatureEffects(len(NAMES))
    made.add(*stream)
    # The sums differ in the order of their terms only.
    assert made.effects(NAMES) == pytest.approx(definition(*stream), rel=1e-12)


@given(st.lists(st.integers(0, 80), max_size=6))
def test_however_a_stream_is_cut_the_effects_are_the_same_to_the_last_bit(cuts):
    stream = rows(80)
    whole, pieces = FeatureEffects(len(NAMES)), FeatureEffects(len(NAMES))
    whole.add(*stream)
    for piece in zip(*(np.split(part, sorted(cuts)) for part in stream), strict=True):
        pieces.add(*piece)
        resumed = FeatureEffects(len(NAMES))
        resumed.restore(pieces.snapshot())
        pieces = resumed
    assert pieces.effects(NAMES) == whole.effects(NAMES)


def test_a_forecast_that_repeats_the_last_value_owes_nothing_to_features():
    x, y, theta, _, is_scored = rows(50)
    y = np.arange(50.0)
    made = FeatureEffects(len(NAMES))
    made.add(x, y, 0 * theta, y - 1, is_scored)
    effects = made.effects(NAMES)
    assert [effects[name] for name in NAMES] == [0.0, 0.0, 0.0]
    assert effects[PAST_VALUES] > 1


def test_numbers_that_overflow_leave_out_their_rows_only():
    x, y, theta, prediction, is_scored = rows(50)
    theta[20] = 1e308
    x[20] = 1e308
    made = FeatureEffects(len(NAMES))
    made.add(x, y, theta, prediction, is_scored)
    assert np.isfinite(list(made.effects(NAMES).values())).all()


def test_without_a_scored_row_there_is_no_effect():
    assert FeatureEffects(2).effects(("a", "b")) == {}
