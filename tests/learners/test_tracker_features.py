"""A Tracker whose features come and go, held to zeros and to slow definitions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.learners.test_feature_changes import feature_changes, with_zeros
from tests.learners.tracker_arrays import assert_states_agree, named_arrays
from thalweg.kernels.compiler.layout import by_name
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners import Tracker
from thalweg.learners.tracker import TrackerState, hinges
from thalweg.learners.tracker.definition_curvature import dense_gram
from thalweg.learners.tracker.feature_axes import feature_runs
from thalweg.losses import Round, SquaredError
from thalweg.types import Block

LOSS = SquaredError()
FLAT = Tracker(curvature=False)


def seasonal_stream(rounds, n, seed=0):
    """Labels with a season of seven rounds and a drifting, curved part in x."""
    rng, t = np.random.default_rng(seed), np.arange(rounds)
    x = rng.normal(size=(rounds, n))
    weights = rng.normal(size=n)
    y = x @ weights + np.sin(2 * np.pi * t / 7) + abs(x[:, 0]) * (1 + t / rounds)
    return Block(x, y + 0.1 * rng.normal(size=rounds))


def play(learner, block, state=None):
    state = learner.init(np.zeros(block.x.shape[1])) if state is None else state
    return learner.run(state, LOSS, block)


def stored(state):
    """The state after it was saved and loaded."""
    return TrackerState.from_stored(state.to_stored())


def unchanged(state):
    return state


def without(block, columns):
    return Block(np.delete(block.x, columns, axis=1), block.y)


# Cuts: after the first round, in the first season, in the middle of a season.
@pytest.mark.parametrize("cut", [0, 1, 5, 123])
@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("copy", [unchanged, stored])
def test_a_new_feature_is_one_that_was_zero(cut, delay, copy):
    learner, added = Tracker(curvature=False, delay=delay), [1, 3]
    early, late = seasonal_stream(300, 2)[:cut], seasonal_stream(300, 4, 1)[cut:]
    start = learner.init(np.zeros(2))
    narrow = play(learner, early, start)[0] if cut else start
    wide = learner.init(np.zeros(4))
    wide = play(learner, with_zeros(early, added), wide)[0] if cut else wide
    state = learner.add_features(copy(narrow), added)
    assert_states_agree(state.packed, wide.packed, 4, rtol=1e-10)
    np.testing.assert_allclose(state.theta, wide.theta, rtol=1e-10, atol=1e-10)
    ours, theirs = play(learner, late, copy(state)), play(learner, late, wide)
    scale = abs(late.y).max()
    difference = abs(ours[1].prediction - theirs[1].prediction).max()
    assert difference <= 1e-10 * scale


def test_shocks_after_a_feature_came_are_met_as_if_it_had_been_zero():
    """A restart and a replay go over all features, and over the rounds remembered."""
    block = seasonal_stream(2400, 2)
    block.y[700], block.y[1300] = 1e9, 60.0
    late = with_zeros(block, [0])
    late.x[900:, 0] = np.random.default_rng(9).normal(size=1500)
    narrow, _ = play(FLAT, block[:600])
    wide, _ = play(FLAT, late[:600])
    _, ours = play(FLAT, late[600:], FLAT.add_features(narrow, [0]))
    _, theirs = play(FLAT, late[600:], wide)
    errors = abs(ours.prediction - theirs.prediction)
    assert errors[:100].max() <= 1e-10 * 10  # before the shock
    assert errors[800:].max() <= 1e-8 * 10  # 1e9 has cost digits until the restart


FEATURE_ENTRIES = {
    "past_x": lambda a, n, k: a[:, k],
    "experts.mean": lambda a, n, k: a[k],
    "experts.moments": lambda a, n, k: (a[k], a[:, k]),
    "experts.anchored": lambda a, n, k: a[k],
    "experts.overall_mean": lambda a, n, k: a[k : k + 1],
    "experts.spread": lambda a, n, k: a[:, k],
    "lags.moments": lambda a, n, k: a[:, k],
    "distributed_lag.mean": lambda a, n, k: (a[k], a[n + k]),
    "distributed_lag.moments": lambda a, n, k: (a[k], a[n + k], a[:, k], a[:, n + k]),
    "distributed_lag.theta": lambda a, n, k: (a[k], a[n + k]),
    "max_feature_steps": lambda a, n, k: a[k : k + 1],
    "pending": lambda a, n, k: (
        a[:, layout.PENDING_FEATURES + k],
        a[:, layout.PENDING_FEATURES + n + k],
    ),
}
"""What each field of a state of n features holds of feature k, written out by hand."""


def clear_feature(state, k):
    """The state in which feature k was always zero: all of its entries are 0."""
    n, packed = len(state.theta), state.packed.copy()
    arrays = by_name(layout.views(packed, n))
    for name, entries in FEATURE_ENTRIES.items():
        parts = entries(arrays[name], n, k)
        for part in parts if isinstance(parts, tuple) else (parts,):
            part[:] = 0
    return FLAT.state_from(state.theta, packed)


def test_the_fields_of_features_are_all_that_depend_on_their_number():
    """A new field has to say above what it holds of a feature."""
    growing = {name for name, runs in feature_runs().items() if any(runs)}
    assert growing == set(FEATURE_ENTRIES)


@settings(max_examples=20)
@given(
    changes=feature_changes(),
    delay=st.sampled_from([0, 2]),
    seed=st.integers(0, 2**32 - 1),
    per_change=st.integers(1, 40),
)
def test_any_order_of_coming_and_going_is_that_of_zeros(
    changes, delay, seed, per_change
):
    """Against a Tracker with a place for every feature that ever comes: zeros are fed
    while it is absent, and its entries are cleared when it goes.
    """
    start, steps = changes
    places, free = list(range(start)), start
    for kind, indices in steps:
        free += len(indices) if kind == "add" else 0
    learner = Tracker(curvature=False, delay=delay)
    state, slow = learner.init(np.zeros(start)), learner.init(np.zeros(free))
    free = start
    for i, (kind, indices) in enumerate([*steps, ("add", [])]):
        block = seasonal_stream(per_change, len(places), seed + i)
        x = np.zeros((per_change, len(slow.theta)))
        x[:, places] = block.x
        state, ours = play(learner, block, state)
        slow, theirs = play(learner, Block(x, block.y), slow)
        difference = abs(ours.prediction - theirs.prediction).max()
        assert difference <= 1e-10 * max(abs(block.y).max(), 1)
        for index in sorted(indices, reverse=kind == "remove"):
            if kind == "remove":
                slow = clear_feature(slow, places.pop(index))
            else:
                places.insert(index, free)
                free += 1
        state = getattr(learner, f"{kind}_features")(state, indices)
        # Places in the slow Tracker are in another order: sums are rounded otherwise.
        np.testing.assert_allclose(
            state.theta, slow.theta[places], rtol=1e-9, atol=1e-9
        )


def test_moments_without_a_feature_are_those_of_a_tracker_that_never_saw_it():
    block = seasonal_stream(200, 4)
    state, _ = play(FLAT, block)
    never, _ = play(FLAT, without(block, [2]))
    ours = named_arrays(FLAT.remove_features(state, [2]).packed, 3)
    theirs = named_arrays(never.packed, 3)
    for name in ours:
        is_moment = name.split(".")[0] in ("experts", "lags", "distributed_lag")
        is_memory = name in ("past_x", "max_feature_steps")
        solved = ("experts.anchored", "distributed_lag.theta")
        leverage = "distributed_lag.last_leverage"
        if is_memory or (is_moment and name not in (*solved, leverage)):
            np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)


def expected_hinges(learner, state, change, indices):
    """The rule of learners/tracker/hinges.py, on lists and dense matrices."""
    n = len(state.theta)
    s, size = layout.views(state.packed.copy(), n), n + len(indices)
    seen = [list(map(int, pair)) for pair in s.curvature.coordinates.T]
    is_new = [False] * len(seen)
    if change == "add":
        stay = [i for i in range(size) if i not in indices]
        seen = [[stay[c] if c < n else c + len(indices) for c in p] for p in seen]
    else:
        size = n - len(indices)
        stay = [i for i in range(n) if i not in indices]
        place = {c: i for i, c in enumerate([*stay, n, n + 1])}
        seen = [[place.get(c, -1) for c in p] for p in seen]
    rng = np.random.default_rng([learner.seed, state.rounds, size])
    directions, biases = s.curvature.directions.copy(), s.curvature.biases.copy()
    gram = dense_gram(s.curvature)
    if change == "add":
        known = [*stay, size, size + 1]
        for feature in sorted(indices):
            chosen = rng.random(len(seen)) < 2 / (len(known) + 1)
            old = [k for k in range(len(seen)) if not is_new[k]]
            count = sum(chosen[k] for k in old)
            old.sort(key=lambda k: s.curvature.theta[k] ** 2 * gram[k, k])
            anew = {k for k in range(len(seen)) if is_new[k] and chosen[k]}
            anew |= set(old[:count])
            for k in range(len(seen)):
                if k in anew:
                    seen[k] = [feature, int(rng.choice(known))]
                    directions[:, k] = 1.5 / math.sqrt(2) * rng.normal(size=2)
                    biases[k], is_new[k] = rng.normal(), True
            known.append(feature)
    else:
        for k in range(len(seen)):
            if -1 in seen[k]:
                seen[k] = rng.choice(size + 2, 2, replace=False).tolist()
                directions[:, k] = 1.5 / math.sqrt(2) * rng.normal(size=2)
                biases[k], is_new[k] = rng.normal(), True
    scale = s.counters[layout.GRAM_SCALE]
    gram, target = scale * gram, scale * s.curvature.target
    gram[is_new], gram[:, is_new], target[is_new] = 0, 0, 0
    theta = np.linalg.solve(gram + 0.01 * np.eye(len(gram)), target)
    return np.array(seen).T, directions, biases, gram, target, theta, np.array(is_new)


@pytest.mark.parametrize("change, indices", [("add", [0, 3]), ("remove", [1])])
@pytest.mark.parametrize("delay", [0, 4])
@pytest.mark.parametrize("copy", [unchanged, stored])
def test_hinges_follow_their_rule(change, indices, delay, copy):
    learner = Tracker(seed=5, delay=delay)
    state, _ = play(learner, seasonal_stream(333, 3))
    after = getattr(learner, f"{change}_features")(copy(state), indices)
    ours = layout.views(after.packed, len(after.theta)).curvature
    expected = expected_hinges(learner, state, change, indices)
    *drawn, gram, target, theta, is_new = expected
    assert 0 < is_new.sum() < len(is_new)
    np.testing.assert_array_equal(ours.coordinates, drawn[0])
    np.testing.assert_array_equal(ours.directions, drawn[1])
    np.testing.assert_array_equal(ours.biases, drawn[2])
    np.testing.assert_allclose(dense_gram(ours), gram, rtol=1e-12)
    np.testing.assert_allclose(ours.target, target, rtol=1e-12)
    np.testing.assert_allclose(ours.theta, theta, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("change, indices", [("add", [0, 3]), ("remove", [1])])
@pytest.mark.parametrize("delay", [0, 4])
def test_a_changed_tracker_goes_on_as_its_definition(change, indices, delay):
    """With curvature: the definition, in plain NumPy, from a state that has zeros in
    place of the features and hinges by the slow rule.
    """
    learner, flat = Tracker(seed=5, delay=delay), Tracker(curvature=False, delay=delay)
    state, _ = play(learner, seasonal_stream(333, 3))
    n = len(state.theta)
    size = n + (len(indices) if change == "add" else -len(indices))
    slow = learner.init(np.zeros(size))
    before, views = layout.views(state.packed, n), layout.views(slow.packed, size)
    # All but the correction is that of a Tracker without curvature, tested above.
    without_hinges = flat.init(np.zeros(n))
    copy_fields(before, layout.views(without_hinges.packed, n))
    changed = getattr(flat, f"{change}_features")(without_hinges, indices)
    copy_fields(layout.views(changed.packed, size), views)
    seen, directions, biases, gram, target, theta, _ = expected_hinges(
        learner, state, change, indices
    )
    curvature = views.curvature
    curvature.coordinates[:], curvature.directions[:] = seen, directions
    curvature.biases[:], curvature.target[:] = biases, target
    curvature.theta[:] = theta
    for i in range(len(gram)):
        first = hinges.row_start(i, len(gram))
        curvature.gram[first + i : first + len(gram)] = gram[i, i:]
    views.counters[layout.GRAM_SCALE] = 1.0
    block = seasonal_stream(70, size, 3)
    fast = getattr(learner, f"{change}_features")(state, indices)
    _, trace = play(learner, block, fast)
    predictions = []
    for x, y, *_ in block.rounds():
        predictions.append(learner.predict(slow, x))
        slow = learner.update(slow, Round(LOSS, x, y))
    scale = abs(block.y).max()
    assert abs(trace.prediction - predictions).max() <= 1e-10 * scale


def copy_fields(source, target):
    """Copy all fields that have the same shape in two states, but for the counters of
    what they hold.
    """
    ours, theirs = by_name(source), by_name(target)
    retained = theirs["counters"][[layout.HINGE_COUNT, layout.DELAY]].copy()
    for name, array in ours.items():
        if array.shape == theirs[name].shape:
            theirs[name][:] = array
    theirs["counters"][[layout.HINGE_COUNT, layout.DELAY]] = retained


def test_after_features_came_and_went_hinges_see_all_pairs_alike():
    """Two features, then four, then three: five coordinates, with the labels."""
    counts, seeds = np.zeros((5, 5)), 50
    for seed in range(seeds):
        state = Tracker(seed=seed).init(np.zeros(2))
        views = layout.views(state.packed, 2)
        rng, seen = np.random.default_rng([seed, 1]), views.curvature.coordinates
        seen[:] = np.array([0, 2, 4, 5])[seen.astype(int)]
        hinges.draw_for_added(views, np.array([1, 3]), 6, rng)
        seen[:] = np.array([0, -1, 1, 2, 3, 4])[seen.astype(int)]
        hinges.draw_for_removed(views, 5, rng)
        for first, second in seen.astype(int).T:
            counts[first, second] += 1
            counts[second, first] += 1
    assert (np.diagonal(counts) == 0).all()
    pairs = counts[np.triu_indices(5, 1)]
    expected = seeds * layout.HINGES / len(pairs)
    assert abs(pairs - expected).max() <= 5 * math.sqrt(expected)


def test_a_tracker_of_features_alone_draws_hinges_on_features_alone():
    learner = Tracker("features", seed=1)
    state, _ = play(learner, seasonal_stream(100, 1))
    wide = learner.add_features(state, [0, 2])
    seen = layout.views(wide.packed, 3).curvature.coordinates
    assert (seen < 3).all() and (seen[0] != seen[1]).all()
    narrow = learner.remove_features(wide, [1, 2])
    curvature = layout.views(narrow.packed, 1).curvature
    assert (curvature.coordinates == 0).all() and (curvature.directions[1] == 0).all()
    play(learner, seasonal_stream(100, 1), narrow)


def test_features_that_come_late_cost_little_of_the_accuracy_of_zeros():
    """Curvature in features that come after 400 of 3,000 rounds."""
    ratios = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(3000, 4))
        y = abs(x[:, 0]) + np.maximum(x[:, 1], x[:, 2]) + x[:, 3]
        late = x.copy()
        late[:400, 1:3] = 0
        block = Block(late, y + 0.3 * rng.normal(size=3000))
        learner = Tracker(seed=seed)
        _, zeros = play(learner, block)
        state, _ = play(learner, without(block[:400], [1, 2]))
        state = learner.add_features(state, [1, 2])
        _, trace = play(learner, block[400:], state)
        theirs = ((zeros.prediction - block.y)[400:] ** 2).mean()
        ratios.append(((trace.prediction - block.y[400:]) ** 2).mean() / theirs)
    assert np.exp(np.mean(np.log(ratios))) <= 1.01
