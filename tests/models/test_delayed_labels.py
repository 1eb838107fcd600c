import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thalweg as tw
from thalweg.models.delayed_labels import DelayedLabels

RNG = np.random.default_rng(0)
T = 40
X, Y = RNG.normal(size=(T, 2)), RNG.normal(size=T)
Y[RNG.random(T) < 0.2] = np.nan
WEIGHT = RNG.choice([0.0, 1.0, 2.5], size=T)
ELAPSED = RNG.choice([0.0, 1.0, 0.5], size=T)
DELAYS = [0, 1, 7, T - 1, T, T + 5]


@pytest.mark.parametrize("delay", DELAYS)
def test_a_row_is_due_so_many_questions_after_its_own(delay):
    due = DelayedLabels(delay, 2).push(X, Y, WEIGHT, ELAPSED)
    for t in range(T):
        if t < delay:
            assert np.isnan(due.y[t]) and not due.learnable[t]
            assert due.weight[t] == due.elapsed[t] == 0
            continue
        row = t - delay
        np.testing.assert_array_equal(due.x[t], X[row])
        np.testing.assert_array_equal(due.y[t], Y[row])
        assert (due.weight[t], due.elapsed[t]) == (WEIGHT[row], ELAPSED[row])
        assert due.learnable[t] == (WEIGHT[row] > 0 and not np.isnan(Y[row]))


@given(cuts=st.lists(st.integers(0, T), max_size=5), delay=st.sampled_from(DELAYS))
def test_questions_can_be_cut_anywhere(cuts, delay):
    whole, cut = DelayedLabels(delay, 2), DelayedLabels(delay, 2)
    expected = whole.push(X, Y, WEIGHT, ELAPSED)
    edges = sorted({0, T, *cuts})
    parts = [
        cut.push(X[a:b], Y[a:b], WEIGHT[a:b], ELAPSED[a:b])
        for a, b in zip(edges, edges[1:], strict=False)
    ]
    for name in expected._fields:
        all_rows = np.concatenate([getattr(part, name) for part in parts])
        np.testing.assert_array_equal(all_rows, getattr(expected, name))
    for mine, others in zip(cut.state, whole.state, strict=True):
        np.testing.assert_array_equal(mine, others)
        assert len(mine) == min(T, delay) and mine.base is None


def tracked(delay, x=X, y=Y, weight=WEIGHT, elapsed=ELAPSED):
    """State and predictions of a Tracker; where no label came the weight is zero."""
    tracker, known = tw.Tracker(delay=delay), ~np.isnan(y)
    block = tw.Block(x, np.where(known, y, 0.0), np.where(known, weight, 0.0), elapsed)
    state, trace = tracker.run(tracker.init(np.zeros(2)), tw.SquaredError(), block)
    return state, trace.prediction


@pytest.mark.parametrize("delay", [0, 1, 7, T])
def test_the_tracker_has_learnt_as_many_rows_as_were_due(delay):
    """Of the compiled ring behind ``Tracker(delay)``, after every question."""
    due = DelayedLabels(delay, 2).push(X, Y, WEIGHT, ELAPSED)
    for end in range(1, T + 1):
        parts = (part[:end] for part in (X, Y, WEIGHT, ELAPSED))
        assert tracked(delay, *parts)[0].rounds == due.learnable[:end].sum()


@pytest.mark.parametrize("delay", [0, 1, 2, 7])
@pytest.mark.parametrize("name", ["x", "y", "weight", "elapsed"])
def test_the_tracker_learns_each_row_in_the_round_in_which_it_is_due(delay, name):
    """The ring releases features, label, weight and time of a row as the queue does.

    A change in any of them changes no prediction between its own question and the
    question after the one it is due at, and changes that one.
    """
    place = np.arange(float(T))[:, None]
    due = DelayedLabels(delay, 1).push(place, Y, WEIGHT, ELAPSED)
    given = {"x": X, "y": Y, "weight": WEIGHT, "elapsed": ELAPSED}
    _, before = tracked(delay, **given)
    # Before a few rows are learnt every forecast is the last label whatever the rest.
    rows = np.flatnonzero((WEIGHT > 0) & ~np.isnan(Y))[6:]
    for row in rows[rows < T - delay - 1]:
        changed = given[name].copy()
        changed[row] += 0.75
        _, after = tracked(delay, **{**given, name: changed})
        (known_after,) = np.flatnonzero(due.learnable & (due.x[:, 0] == row))
        differ = np.flatnonzero(after != before)
        assert differ[differ > row][0] == known_after + 1
        assert (differ >= row).all() if name == "x" else (differ > row).all()
