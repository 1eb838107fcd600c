"""When the last rounds are played again, by whom, and what is retained after that."""

import numpy as np
import pytest

from thalweg.kernels.compiler.layout import by_name
from thalweg.kernels.tracker import replay
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners import Tracker
from thalweg.learners.tracker import definition_replay

N, RECENT = 3, 2.0


def judged_state(delay=0, rounds=2048):
    """A state at the end of a block; all blocks so far have lost ``RECENT``."""
    return layout.views(judged_array(delay, rounds), N)


def judged_array(delay, rounds=2048):
    """The same as a packed array."""
    packed = Tracker(delay=delay).init(np.zeros(N)).packed
    s, rng = layout.views(packed, N), np.random.default_rng(0)
    s.counters[layout.ROUNDS] = s.counters[layout.PASSED_ROUNDS] = rounds
    s.past_x[:] = rng.normal(size=s.past_x.shape)
    s.past_y[:] = np.tile(rng.normal(size=layout.MAX_SEASON), 2)
    s.max_feature_steps[:] = recent_steps(s)
    s.rules.meta[layout.BLOCK_LOSS : layout.EARLIER_LOSS + 1] = RECENT
    return packed


def recent_steps(s):
    return abs(np.diff(definition_replay.past_features(s), axis=0)).max(axis=0)


def due_by_kernel(s):
    return replay.is_replay_due(s, recent_steps(s))


@pytest.fixture(params=[due_by_kernel, definition_replay.is_replay_due])
def is_due(request):
    return request.param


@pytest.mark.parametrize("slot", [layout.BLOCK_LOSS, layout.PREVIOUS_LOSS])
def test_a_replay_is_due_where_losses_have_fallen_by_twenty(is_due, slot):
    for ratio, expected in ((15, False), (25, True), (1000, True)):
        s = judged_state()
        s.rules.meta[layout.EARLIER_LOSS] = ratio * RECENT
        assert is_due(s) == expected
    s.rules.meta[layout.EARLIER_LOSS] = 25 * RECENT
    s.rules.meta[slot] = 2 * RECENT  # both of the last blocks must have lost little
    assert not is_due(s)


def test_a_replay_is_due_where_steps_of_a_feature_have_fallen_by_twelve(is_due):
    for ratio, expected in ((9, False), (16, True)):
        s = judged_state()
        s.max_feature_steps[1] *= ratio
        assert is_due(s) == expected


def test_a_feature_at_rest_may_move_again(is_due):
    s = judged_state()
    s.past_x[:, 1] = 4.0
    assert not is_due(s)


@pytest.mark.parametrize("rounds", [768, 2047, 2049])
def test_no_replay_is_due_in_other_rounds(is_due, rounds):
    s = judged_state(rounds=rounds)
    s.rules.meta[layout.EARLIER_LOSS] = 1e3 * RECENT
    assert not is_due(s)


def test_no_replay_is_due_where_labels_are_missing_or_very_late(is_due):
    for skipped, delay, expected in ((0, 0, True), (1, 0, False), (0, 129, False)):
        s = judged_state(delay)
        s.rules.meta[layout.EARLIER_LOSS] = 1e3 * RECENT
        s.counters[layout.PASSED_ROUNDS] += skipped
        assert is_due(s) == expected


def test_a_third_replay_waits_until_one_is_paid_off(is_due):
    for debt, expected in ((0.0, True), (1.0, True), (1.1, False), (2.0, False)):
        s = judged_state()
        s.rules.meta[layout.EARLIER_LOSS] = 1e3 * RECENT
        s.rules.meta[layout.REPLAY_DEBT] = debt
        assert is_due(s) == expected
        paid = max(0.0, debt - 1 / 32)
        assert s.rules.meta[layout.REPLAY_DEBT] == pytest.approx(paid)


def test_a_block_that_ends_becomes_the_one_before(is_due):
    s = judged_state()
    s.rules.meta[layout.BLOCK_LOSS : layout.EARLIER_LOSS + 1] = 3.0, 5.0, 2.0
    assert not is_due(s)
    blocks = s.rules.meta[layout.BLOCK_LOSS : layout.EARLIER_LOSS + 1]
    np.testing.assert_array_equal(blocks, [0.0, 3.0, 5.0])


RETAINED = {
    "ROUNDS", "MAX_LOSS", "LOWEST_LABEL", "HIGHEST_LABEL", "MAX_LABEL_STEP",
}  # fmt: skip


@pytest.mark.parametrize("gain, taken", [(1.2, False), (1.4, True)])
def test_a_fresh_state_takes_over_where_it_loses_less_by_a_third(gain, taken):
    packed, copy = judged_array(delay=2), judged_array(delay=2)
    s, former = layout.views(packed, N), layout.views(copy, N)
    for array in by_name(s).values():
        array[array == 0] = 7.0
    s.counters[layout.ROUNDS] = s.counters[layout.PASSED_ROUNDS] = 512
    s.max_feature_steps[:] = 0.5
    former.rules.meta[layout.BLOCK_LOSS] = gain
    fresh = {name: array.copy() for name, array in by_name(s).items()}
    replay.end_replay(s, former, packed, copy, 1.0)
    retained_in_part = {
        "rules.adashare", "rules.meta", "counters", "pending", "max_feature_steps",
    }  # fmt: skip
    for name, array in by_name(s).items():
        if name not in retained_in_part:
            expected = fresh[name] if taken else by_name(former)[name]
            np.testing.assert_array_equal(array, expected, name)
    steady = s.rules.adashare[0]
    np.testing.assert_array_equal(steady, former.rules.adashare[0])
    own = layout.PADDED_RULES + 2
    np.testing.assert_array_equal(s.rules.meta[:own], former.rules.meta[:own])
    assert (s.max_feature_steps == 0.5).all()
    assert s.rules.meta[layout.EARLIER_LOSS] == 0
    assert s.rules.meta[layout.REPLAY_DEBT] == 1
    assert (s.pending[:, layout.HAS_PREDICTION] == 0).all()
    retained = [getattr(layout, name) for name in RETAINED]
    np.testing.assert_array_equal(s.counters[retained], former.counters[retained])


@pytest.mark.parametrize("settings", [{}, {"curvature": False}, {"delay": 2}])
@pytest.mark.parametrize("information", ["all", "features"])
def test_a_replay_begins_with_a_fresh_state_of_the_same_hinges(settings, information):
    learner = Tracker(information=information, seed=3, **settings)
    fresh = learner.with_external_forecast(learner.init(np.zeros(N)), (1,)).packed
    packed, former = fresh.copy(), np.empty_like(fresh)
    s = layout.views(packed, N)
    rng, sizes = np.random.default_rng(0), [layout.DELAY, layout.HINGE_COUNT]
    lasting = {"active_from", "curvature.coordinates", "curvature.directions"}
    for name, array in by_name(s).items():
        if name not in lasting | {"curvature.biases", "counters"}:
            array[:] = rng.normal(size=array.shape)
    kept = [*sizes, layout.STEP_LIMIT, layout.EXTERNAL_FORECAST]
    s.counters[np.setdiff1d(np.arange(layout.COUNTERS), kept)] = 2.0
    before = packed.copy()
    former[sizes] = packed[sizes]
    count = replay.begin_replay(s, layout.views(former, N), packed, former)
    assert count == layout.MAX_SEASON + 2  # two rounds wait for their labels
    np.testing.assert_array_equal(former, before)
    np.testing.assert_array_equal(packed, fresh)


def test_rounds_are_played_again_in_their_order():
    former = judged_state(delay=2, rounds=700)
    former.counters[layout.PENDING_COUNT], former.counters[layout.OLDEST_PENDING] = 2, 2
    former.pending[:] = np.arange(former.pending.size).reshape(former.pending.shape)
    row = np.empty(N + layout.ROW_TAIL)
    x, y = definition_replay.past_features(former)[::-1], former.past_y
    newest = -700 % layout.MAX_SEASON
    for i in (0, 1, 300, 511):
        replay.set_replay_row(former, i, row, N)
        expected = [*x[i], y[newest + 511 - i], 1.0, 1.0]
        np.testing.assert_array_equal(row, expected)
    for i, slot in ((512, 2), (513, 0)):
        replay.set_replay_row(former, i, row, N)
        pending, first = former.pending[slot], layout.PENDING_FEATURES
        tail = [layout.PENDING_Y, layout.PENDING_WEIGHT, layout.PENDING_ELAPSED]
        expected = [*pending[first : first + N], *pending[tail]]
        np.testing.assert_array_equal(row, expected)
