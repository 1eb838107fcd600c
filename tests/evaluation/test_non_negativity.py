"""Predictions of labels that begin at 0 are not below it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thalweg.evaluation.tracker_run import NonNegativity, TrackerRun
from thalweg.learners import Tracker
from thalweg.losses import SquaredError
from thalweg.types import Block

ROWS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 1.0, 3.0, -1.0, np.nan]),
        st.booleans(),  # whether it is a round
    ),
    max_size=30,
)


@given(rows=ROWS, delay=st.integers(0, 4), cuts=st.lists(st.integers(0, 30)))
def test_the_limit_is_zero_while_zero_is_the_least_label_known(rows, delay, cuts):
    y = np.array([label for label, _ in rows])
    is_round = np.array([given for _, given in rows], bool)
    expected, rounds = [], []
    for label, is_one in rows:
        known = rounds[: max(len(rounds) - delay, 0)]
        known = [one for one in known if one == one]
        expected.append(0.0 if known and min(known) == 0 else -np.inf)
        if is_one:
            rounds.append(label)
    limit, found = NonNegativity(delay), []
    for part in np.split(np.arange(len(y)), sorted(cuts)):
        found += limit.limits(y[part], is_round[part]).tolist()
        again = NonNegativity(delay)
        again.restore(limit.snapshot(), "limit")
        limit = again
    assert found == expected


def test_a_run_of_counts_is_the_tracker_cut_off_at_zero():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    y = np.maximum(np.round(x @ [2.0, -1.0] + rng.normal(size=300)), 0.0)
    run, tracker = TrackerRun(2), Tracker()
    prediction, interval = run.play(x, y)
    alone = tracker.run(
        tracker.init(np.zeros(2)), SquaredError(), Block(x, y), ("interval",)
    )[1]
    first = int(np.flatnonzero(y == 0)[0]) + 1
    limit = np.where(np.arange(300) >= first, 0.0, -np.inf)
    np.testing.assert_array_equal(prediction, np.maximum(alone.prediction, limit))
    np.testing.assert_array_equal(
        interval, np.maximum(alone.extras["interval"], limit[:, None])
    )
    assert (alone.prediction[first:] < 0).any()
    errors = run.study("counts", "y", ("a", "b")).entries[0]
    scored = run.statistics.first_scored_round - 1
    assert np.isclose(errors.squared, np.mean((prediction - y)[scored:] ** 2))
