"""Kernels that take many live buffers of RLS at once equal the calls of each."""

import numpy as np
import pytest

import thalweg as tw
from thalweg.kernels import rls_live
from thalweg.kernels.call_header import COUNT, IS_OPEN
from thalweg.kernels.error_intervals import ERROR_WINDOW
from thalweg.learners.rls import BATCH

RNG = np.random.default_rng(7)
LEARNERS = {
    "plain": tw.RecursiveLeastSquares(0.97),
    "floor": tw.RecursiveLeastSquares(0.9, floor=0.1),
    "leaky": tw.RecursiveLeastSquares(0.9, floor=0.1, leaky=True),
}


def live_buffers(learner, sizes):
    """Buffers of so many features, the last of which is constant."""
    states = [learner.init(RNG.normal(size=n)) for n in sizes]
    return [learner.live_buffer(state, tw.SquaredError(), 1) for state in states]


def made_up_rows(rows, n):
    columns = RNG.normal(size=(rows, n)), RNG.normal(size=rows)
    return *columns, RNG.uniform(0, 2, rows), RNG.uniform(0, 3, rows)


def learn_together(buffers, groups, rows):
    """Rows of each buffer: predictions, and how many each has learnt."""
    addresses = np.array([live.address for live in buffers])
    starts = np.cumsum([0, *map(len, groups)])
    order = np.concatenate([np.array(group, np.int64) for group in groups])
    predictions, learnt = np.full(len(rows[1]), np.nan), np.empty(len(buffers), int)
    BATCH.learn_rows(addresses, starts, order, *rows, predictions, learnt)
    return predictions, learnt.tolist()


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
@pytest.mark.slow
def test_rows_of_many_buffers_are_learnt_as_by_calls(learner):
    together, alone = live_buffers(learner, [4] * 3), []
    for live in together:
        alone.append(learner.live_buffer(live.copy_state(), tw.SquaredError(), 1))
    rows = made_up_rows(40, 3)
    groups = [list(range(0, 40, 2)), [], list(range(39, 0, -2))]
    predictions, learnt = learn_together(together, groups, rows)
    assert learnt == [20, 0, 20]
    for live, other, group in zip(together, alone, groups, strict=True):
        x, y, weight, elapsed = rows
        expected = [
            other.call(other.buffer, x[t], y[t], weight[t], elapsed[t], True)
            for t in group
        ]
        assert predictions[group].tolist() == expected
        assert live.buffer.tobytes() == other.buffer.tobytes()


def test_a_row_that_is_refused_stops_its_own_buffer_only():
    buffers = live_buffers(LEARNERS["plain"], [3] * 3)
    x, y, weight, elapsed = made_up_rows(6, 2)
    y[1] = np.nan
    buffers[2].buffer[IS_OPEN] = 0
    before = buffers[2].buffer.tobytes()
    rows, groups = (x, y, weight, elapsed), [[0, 1, 2], [3], [4, 5]]
    predictions, learnt = learn_together(buffers, groups, rows)
    assert learnt == [1, 1, 0]
    assert np.isnan(predictions).tolist() == [False, True, True, False, True, True]
    assert [live.buffer[COUNT] for live in buffers] == [1, 1, 0]
    assert buffers[2].buffer.tobytes() == before


def test_gathered_states_are_the_raw_states():
    """Of buffers of several sizes, with few errors and with more than are stored."""
    buffers = live_buffers(LEARNERS["plain"], [2, 5, 2, 1])
    for live, count in zip(
        buffers, (0, 3, ERROR_WINDOW + 5, ERROR_WINDOW), strict=True
    ):
        n = len(live.unexcited_rounds) - 1
        for _ in range(count):
            x = RNG.normal(size=n)
            live.call(live.buffer, x, RNG.normal(), 1.0, 1.0, True)
    addresses = np.array([live.address for live in buffers])
    features, errors, sizes = np.empty((3, 4), np.int64)
    BATCH.measure_states(addresses, features, errors, sizes)
    starts = np.cumsum(sizes + 3) - sizes
    numbers, has_nan = np.zeros(starts[-1] + sizes[-1]), np.empty(4, np.bool_)
    BATCH.gather_states(addresses, starts, numbers, has_nan)
    assert not has_nan.any()
    for k, live in enumerate(buffers):
        raw = live.raw_state()
        assert (raw.layout, raw.features, raw.errors, len(raw.numbers)) == (
            BATCH.layout, features[k], errors[k], sizes[k],
        )  # fmt: skip
        part = numbers[starts[k] : starts[k] + sizes[k]]
        assert part.tobytes() == raw.numbers.tobytes()


@pytest.mark.parametrize("field", ["theta", "factor", "errors"])
def test_a_nan_in_a_state_is_seen(field):
    (live,) = buffers = live_buffers(LEARNERS["plain"], [3])
    learn_together(buffers, [[0, 1]], made_up_rows(2, 2))
    views = rls_live.LAYOUT.views(live.buffer, n=3, k=1)
    getattr(views, field).reshape(-1)[0] = np.nan
    addresses, has_nan = np.array([live.address]), np.empty(1, np.bool_)
    BATCH.gather_states(addresses, np.zeros(1, np.int64), np.zeros(99), has_nan)
    assert has_nan.all()


def test_the_address_of_a_live_buffer_is_that_of_its_first_number():
    (live,) = live_buffers(LEARNERS["plain"], [3])
    assert live.buffer.flags.c_contiguous
    assert live.address == live.buffer.__array_interface__["data"][0]
