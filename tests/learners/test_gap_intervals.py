"""Prediction intervals of the Tracker in a gap, where labels stay away."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import thalweg as tw
from thalweg import persistence
from thalweg.errors import InvalidParameterError
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners import Tracker
from thalweg.learners.tracker import definition, gap_intervals
from thalweg.losses import SquaredError
from thalweg.models import Online
from thalweg.types import Block

LOSS = SquaredError()
LINEAR = Tracker(curvature=False)


def random_walk(rounds, seed=0):
    """Labels that are a random walk, and features that say a little about them.

    Features are small whole numbers: the state remembers them as they are.
    """
    rng = np.random.default_rng(seed)
    x = rng.integers(-3, 4, size=(rounds, 2)).astype(float)
    x[0], x[1] = 0.0, 1.0
    return x, np.cumsum(rng.normal(size=rounds)) + 0.3 * x[:, 0]


def play(tracker, x, y, weight=None, state=None, record=()):
    state = tracker.init(np.zeros(x.shape[1])) if state is None else state
    return tracker.run(state, LOSS, Block(x, y, weight), record)


def state_in_gap(tracker, x, y, last, gap):
    """The state after ``last`` labels, the delay and then so many rounds without."""
    rows = slice(last, last + gap + tracker.delay)
    state, _ = play(tracker, x[:last], y[:last])
    return play(tracker, x[rows], y[rows], np.zeros(len(y[rows])), state)[0]


def growth_of(tracker, packed, n=2):
    return gap_intervals.error_growth(tracker, layout.views(packed, n))


def slow_growth(tracker, x, y, last, gap):
    """The growth of errors, by the public calls, from the whole stream."""
    delay, passed = tracker.delay, last + gap
    end = last // 96 * 96
    remembered = next(t for t in range(0, passed, 96) if t >= passed - 512)
    begin = max(end - 352, remembered)
    x, y = x[begin:end], y[begin:end]
    first = int(0.4 * len(y)) + delay
    _, whole = play(tracker, x, y)
    usual = abs(whole.prediction - y)
    longest = min(64, (len(y) - first - delay) // 2)
    late = {g: [] for g in range(longest + 4)}
    prompt = {g: [] for g in range(longest + 4)}
    for origin in range(first, len(y), 11):
        state, _ = play(tracker, x[:origin], y[:origin])
        rest = slice(origin, origin + delay + longest + 4)
        _, blind = play(tracker, x[rest], y[rest], np.zeros(len(y[rest])), state)
        for g in late:
            if origin + delay + g < len(y):
                t = origin + delay + g
                late[g].append(abs(blind.prediction[delay + g] - y[t]))
                prompt[g].append(usual[t])
    growth = [1.0]
    for g in range(1, longest + 1):
        reach = min(g // 3, 3)
        near = range(g - reach, g + reach + 1)
        ratio = sum(sum(late[k]) for k in near) / sum(sum(prompt[k]) for k in near)
        growth.append(max(ratio, growth[-1]))
    if gap <= longest:
        return growth[gap]
    half = longest // 2
    power = np.log(growth[longest] / growth[half]) / np.log(longest / half)
    return growth[longest] * (gap / longest) ** min(power, 1.0)


@pytest.mark.parametrize(
    "tracker, last, gap",
    [
        (LINEAR, 700, 1), (LINEAR, 700, 5), (LINEAR, 700, 20), (LINEAR, 700, 64),
        (LINEAR, 700, 90), (LINEAR, 704, 150), (LINEAR, 150, 30), (Tracker(), 640, 8),
        (Tracker(delay=3, seed=2), 600, 12), (Tracker(information="features"), 500, 6),
    ],
)  # fmt: skip
def test_the_growth_of_errors_is_that_of_a_fresh_tracker_without_labels(
    tracker, last, gap
):
    x, y = random_walk(900)
    packed = state_in_gap(tracker, x, y, last, gap).packed
    expected = slow_growth(tracker, x, y, last, gap)
    assert expected > 1
    assert growth_of(tracker, packed) == pytest.approx(expected, rel=1e-12)


def test_an_interval_in_a_gap_is_that_of_the_last_label_times_the_growth():
    x, y = random_walk(700)
    state = state_in_gap(LINEAR, x, y, 600, 10)
    mean, low, high = LINEAR.interval(state, x[610], 0.8)
    down, up = definition.interval_offsets(layout.views(state.packed, 2), 0.8)
    growth = growth_of(LINEAR, state.packed)
    assert growth > 1.5
    np.testing.assert_allclose([low, high], [mean + growth * down, mean + growth * up])


def test_where_no_label_is_missing_intervals_are_the_bits_they_were():
    x, y = random_walk(700)
    state, trace = play(LINEAR, x, y, record=("interval",))
    before = LINEAR.interval(state, x[0])
    views = layout.views(state.packed, 2)
    down, up = definition.interval_offsets(views, 0.9)
    assert before[1:] == (before.mean + down, before.mean + up)
    # A question takes no time: no round has passed.
    question = Block(x[:3], y[:3], np.zeros(3), np.zeros(3))
    asked, answers = LINEAR.run(state, LOSS, question, ("interval",))
    assert LINEAR.interval(asked, x[0]) == before
    assert tuple(answers.extras["interval"][0]) == before[1:]
    # Nor is one missing once the next has come.
    weight = np.ones(700)
    weight[500:520] = 0
    _, gapped = play(LINEAR, x, y, weight, record=("interval",))
    later = gapped.extras["interval"][521:] - gapped.prediction[521:, None]
    assert (np.ptp(later, axis=1) < 3 * np.ptp(np.array(before[1:]))).all()
    np.testing.assert_array_equal(
        gapped.extras["interval"][:501], trace.extras["interval"][:501]
    )


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10_000), last=st.integers(2, 700))
def test_intervals_are_finite_and_do_not_become_narrower_for_64_rounds(seed, last):
    x, y = random_walk(last + 500, seed)
    before, _ = play(LINEAR, x[:last], y[:last])
    _, trace = play(LINEAR, x[last:], y[last:], np.zeros(500), before, ("interval",))
    low, high = trace.extras["interval"].T
    assert np.isfinite(low).all() and np.isfinite(high).all()
    assert (low <= trace.prediction).all() and (trace.prediction <= high).all()
    width = (high - low)[:65]
    assert (np.diff(width) >= -1e-9 * width[:-1]).all()
    assert (high - low >= width[0] * (1 - 1e-9)).all()


@pytest.mark.parametrize("tracker", [Tracker(), Tracker(delay=2, curvature=False)])
def test_recorded_intervals_are_those_that_are_asked_for_round_by_round(tracker):
    x, y = random_walk(420)
    weight = np.ones(420)
    weight[[130, 131, 200, 204, 205, 206]] = weight[300:330] = weight[400:] = 0
    _, trace = play(tracker, x, y, weight, record=("interval",))
    model = Online(tracker)
    for t in range(420):
        asked = t < 3 or t in range(128, 210) or t in range(298, 336) or t > 396
        if asked:
            interval = model.predict(x[t], interval=0.9)
            assert interval[1:] == tuple(trace.extras["interval"][t]), t
        model.update(x[t], y[t], weight=weight[t])


@pytest.mark.parametrize("tracker", [Tracker(), Tracker(delay=20, curvature=False)])
def test_one_run_records_the_intervals_of_a_run_at_each_level(tracker):
    x, y = random_walk(700)
    weight = np.ones(700)
    weight[100] = weight[630:655] = 0
    state, trace = play(tracker, x, y, weight, record=("interval", "intervals"))
    intervals = trace.extras["intervals"]
    assert intervals.shape == (700, 5, 2)
    for k, level in enumerate(layout.INTERVAL_LEVELS):
        alone = replace(tracker, coverage=level)
        after, one = play(alone, x, y, weight, record=("interval",))
        np.testing.assert_array_equal(intervals[:, k], one.extras["interval"])
        np.testing.assert_array_equal(after.packed, state.packed)
    np.testing.assert_array_equal(intervals[:, 2], trace.extras["interval"])


def test_a_gap_may_be_cut_anywhere():
    x, y = random_walk(1200)
    weight = np.where(np.arange(1200) < 1000, 1.0, 0.0)
    weight[500:520] = 0
    whole, trace = play(LINEAR, x, y, weight, record=("interval",))
    state, parts = None, []
    for start, end in ((0, 505), (505, 1001), (1001, 1002), (1002, 1200)):
        rows = slice(start, end)
        state, part = play(LINEAR, x[rows], y[rows], weight[rows], state, ("interval",))
        parts.append(part.extras["interval"])
    np.testing.assert_array_equal(np.concatenate(parts), trace.extras["interval"])
    np.testing.assert_array_equal(state.packed, whole.packed)


def test_recording_intervals_changes_no_forecast_and_no_state():
    x, y = random_walk(900)
    weight = np.where(np.random.default_rng(0).random(900) < 0.8, 1.0, 0.0)
    plain, trace = play(LINEAR, x, y, weight)
    recorded, same = play(LINEAR, x, y, weight, record=("interval",))
    np.testing.assert_array_equal(same.prediction, trace.prediction)
    np.testing.assert_array_equal(recorded.packed, plain.packed)


def test_a_saved_state_gives_the_same_interval_in_a_gap(tmp_path):
    tracker, (x, y) = Tracker(seed=5), random_walk(500)
    rng = np.random.default_rng(1)
    x += rng.normal(size=x.shape)
    state = state_in_gap(tracker, x, y, 450, 17)
    expected = tracker.interval(state, x[0], 0.7)
    saved = persistence.SavedModel(tracker, LOSS, state)
    persistence.save(tmp_path / "gap.thalweg", saved)
    gap_intervals._growth_curve.cache_clear()
    loaded = persistence.load(tmp_path / "gap.thalweg").state
    assert tracker.interval(loaded, x[0], 0.7) == expected


def test_features_that_came_later_are_played_again_with_their_hinges():
    x, y = random_walk(520)
    tracker = Tracker()
    state, _ = play(tracker, x[:450, :1].copy(), y[:450])
    state = tracker.add_features(state, [1])
    state, _ = play(tracker, x[450:500], y[450:500], state=state)
    state, _ = play(tracker, x[500:], y[500:], np.zeros(20), state)
    growth = growth_of(tracker, state.packed)
    drawn = layout.views(tracker.init(np.zeros(2)).packed, 2).curvature
    own = layout.views(state.packed, 2).curvature
    assert (drawn.coordinates != own.coordinates).any()
    own.coordinates[:], own.directions[:] = drawn.coordinates, drawn.directions
    own.biases[:] = drawn.biases
    assert 1 < growth_of(tracker, state.packed) != growth


def test_every_target_has_an_interval_of_its_own_in_a_gap():
    x, walk = random_walk(500)
    noise = np.random.default_rng(3).normal(size=500)
    weight = np.where(np.arange(500) < 480, 1.0, 0.0)
    both = np.column_stack([walk, noise])
    joint, trace = LINEAR.run(
        LINEAR.init(np.zeros((2, 2))), LOSS, Block(x, both, weight), ("interval",)
    )
    for j, y in enumerate((walk, noise)):
        state, own = play(LINEAR, x, y, weight, record=("interval",))
        np.testing.assert_array_equal(
            trace.extras["interval"][:, j], own.extras["interval"]
        )
        interval = LINEAR.interval(joint, x[0])
        assert (interval.low[j], interval.high[j]) == LINEAR.interval(state, x[0])[1:]
    wide, narrow = np.ptp(trace.extras["interval"][-1], axis=1)
    assert wide > 3 * narrow


def test_rows_asked_of_one_state_are_at_the_same_distance():
    x, y = random_walk(500)
    model = Online(LINEAR)
    model.run(x, y, weight=np.where(np.arange(500) < 490, 1.0, 0.0))
    rows = model.predict(x[:5], interval=0.9)
    for t in range(5):
        one = model.predict(x[t], interval=0.9)
        assert (one.low, one.high) == (rows.low[t], rows.high[t])


def test_errors_grow_as_those_of_a_random_walk_where_little_is_known():
    x, y = random_walk(60)
    state = state_in_gap(LINEAR, x, y, 40, 8)
    assert growth_of(LINEAR, state.packed) == 3.0
    late = Tracker(delay=3, curvature=False)
    state = state_in_gap(late, x, y, 40, 12)
    assert growth_of(late, state.packed) == 2.0


def test_after_a_very_long_gap_the_spread_of_labels_limits_the_interval():
    rng = np.random.default_rng(0)
    x, y = np.zeros((1400, 1)), np.sin(np.arange(1400) / 5)
    y += 0.1 * rng.normal(size=1400)
    state = state_in_gap(LINEAR, x, y, 800, 600)
    _, low, high = LINEAR.interval(state, x[0])
    scale = state.packed[layout.ERROR_SCALE]
    growth = growth_of(LINEAR, state.packed, 1)
    assert growth == pytest.approx(np.sqrt(2) * y[:799].std() / scale, rel=0.02)
    assert 2 < high - low < 12


def test_intervals_hold_as_often_as_they_say_at_every_step():
    """Of a random walk, whose errors grow as the root of the steps."""
    steps = np.array([1, 2, 6, 12, 24])
    inside = []
    for seed in range(4):
        x, y = random_walk(3000, seed)
        state = LINEAR.init(np.zeros(2))
        state, _ = play(LINEAR, x[:800], y[:800], state=state)
        for start in range(800, 2900, 60):
            gap, labels = slice(start, start + 24), slice(start, start + 60)
            _, trace = play(LINEAR, x[gap], y[gap], np.zeros(24), state, ("interval",))
            low, high = trace.extras["interval"].T
            inside.append(((low <= y[gap]) & (y[gap] <= high))[steps - 1])
            state, _ = play(LINEAR, x[labels], y[labels], state=state)
    covered = np.mean(inside, axis=0)
    # 140 gaps: two deviations are 5 %.
    assert (abs(covered - 0.9) < 0.06).all(), covered


def test_a_state_counts_the_rounds_since_its_last_label():
    x, y = random_walk(20)
    weight, elapsed = np.ones(20), np.ones(20)
    weight[[0, 5, 6, 9, 10, 11]] = 0
    elapsed[10] = 0
    expected = [0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 1, 1, 2, 0]
    for delay in (0, 2):
        tracker = Tracker(delay=delay)
        fast = slow = tracker.init(np.zeros(2))
        counts = []
        for t in range(20):
            f = tw.losses.Round(LOSS, x[t], y[t], weight[t], elapsed[t])
            counts.append(fast.packed[layout.GAP_ROUNDS])
            assert slow.packed[layout.GAP_ROUNDS] == fast.packed[layout.GAP_ROUNDS]
            rows = slice(t, t + 1)
            block = Block(x[rows], y[rows], weight[rows], elapsed[rows])
            fast, slow = tracker.run(fast, LOSS, block)[0], tracker.update(slow, f)
        assert counts[delay : delay + 14] == expected


def test_a_state_with_an_impossible_gap_is_refused():
    x, y = random_walk(40)
    state, _ = play(LINEAR, x, y)
    for gap in (-1.0, np.nan, 1e300):
        state.packed[layout.GAP_ROUNDS] = gap
        with pytest.raises(InvalidParameterError, match="whole numbers from 0 to"):
            LINEAR.interval(state, x[0])
    # One that is only wrong says nothing of use, and harms nobody.
    state.packed[layout.GAP_ROUNDS] = 1e15
    assert np.isfinite(LINEAR.interval(state, x[0])).all()
