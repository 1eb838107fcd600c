import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.errors import InvalidParameterError
from thalweg.evaluation.downsampling import Curve, Downsampler

NUMBERS = st.one_of(st.floats(-1e6, 1e6), st.just(math.nan))
STREAMS = st.lists(NUMBERS, min_size=1, max_size=200)
FEW = st.integers(1, 6)


def downsampler(values, points, cuts=()):
    made = Downsampler(points)
    for piece in np.split(np.array(values, float), cuts):
        made.add(piece)
    return made


def width(rounds, points):
    """Of a bucket: the least power of two that makes no more than twice the points."""
    rounds_a_bucket = 1
    while rounds // rounds_a_bucket > 2 * points:
        rounds_a_bucket *= 2
    return rounds_a_bucket


def assert_same(one: Curve, other: Curve):
    for part in ("last_round", "mean", "low", "high"):
        np.testing.assert_array_equal(getattr(one, part), getattr(other, part))


@given(STREAMS, FEW, st.data())
def test_however_a_stream_is_cut_the_curves_are_the_same_to_the_last_bit(
    values, points, data
):
    places = st.lists(st.integers(0, len(values)), max_size=20)
    cuts = sorted(data.draw(places))
    whole, pieces = downsampler(values, points), downsampler(values, points, cuts)
    assert_same(whole.curve(), pieces.curve())
    assert_same(whole.cumulative(), pieces.cumulative())
    assert (whole.count(), whole.rounds) == (pieces.count(), pieces.rounds)
    assert whole.total() == pieces.total()


@given(STREAMS, FEW)
def test_each_bucket_has_the_mean_and_the_extremes_of_its_rounds(values, points):
    result = downsampler(values, points).curve()
    wide = width(len(values), points)
    buckets = [values[start : start + wide] for start in range(0, len(values), wide)]
    ends = np.cumsum([len(bucket) for bucket in buckets])
    np.testing.assert_array_equal(result.last_round, ends)
    for k, bucket in enumerate(buckets):
        known = [value for value in bucket if not math.isnan(value)]
        if not known:
            assert np.isnan([result.mean[k], result.low[k], result.high[k]]).all()
            continue
        assert (result.low[k], result.high[k]) == (min(known), max(known))
        assert result.low[k] <= result.mean[k] <= result.high[k]
        # Pairwise sums of at most 200 numbers of size 1e6, each rounded to 1e-10.
        assert result.mean[k] == pytest.approx(math.fsum(known) / len(known), abs=1e-8)


@given(st.lists(st.integers(0, 2**40), min_size=1, max_size=200), FEW)
def test_a_running_sum_is_exact_at_every_end_where_the_sums_are(values, points):
    result = downsampler(values, points).cumulative()
    assert result.mean.tolist() == [
        float(sum(values[:end])) for end in result.last_round
    ]
    assert result.mean.tolist() == result.high.tolist()
    assert result.low.tolist() == [0.0, *result.mean[:-1].tolist()]


@given(STREAMS, FEW, st.data())
def test_what_is_restored_from_a_snapshot_continues_to_the_last_bit(
    values, points, data
):
    cut = data.draw(st.integers(0, len(values)))
    first = downsampler(values[:cut], points)
    second = Downsampler(points)
    second.restore(first.snapshot())
    second.add(values[cut:])
    whole = downsampler(values, points)
    assert_same(second.curve(), whole.curve())
    assert_same(second.cumulative(), whole.cumulative())
    assert second.rounds == whole.rounds


def test_memory_does_not_grow_with_the_stream():
    rng = np.random.default_rng(0)
    result, sizes = Downsampler(points=50), []
    for _ in range(200):
        result.add(rng.normal(size=10_000))
        sizes.append(sum(map(np.size, result.snapshot())))
        assert 50 <= len(result.curve()) <= 101
    assert max(sizes) <= 4 * (100 + 1 + 32)
    assert result.buckets.base is None and result.pending.base is None


def test_a_single_spike_in_a_million_rounds_is_not_lost():
    values = np.zeros(1_000_000)
    values[123_456] = 7.0
    result = Downsampler()
    for piece in np.split(values, 100):
        result.add(piece)
    curve = result.curve()
    assert curve.high.max() == 7.0 and curve.low.max() == 0.0
    bucket = int(curve.high.argmax())
    assert curve.last_round[bucket - 1] < 123_457 <= curve.last_round[bucket]


def test_rounds_without_a_number_do_not_count():
    result = Downsampler(points=2)
    result.add([np.nan, 1.0, np.nan, 3.0])
    assert (result.rounds, result.count(), result.total()) == (4, 2, 4.0)
    assert result.average() == 2.0


def test_nothing_added_is_a_curve_without_points():
    result = Downsampler()
    assert len(result.curve()) == len(result.cumulative()) == 0
    assert result.total() == 0.0 and math.isnan(result.average())


def test_points_below_one_are_refused():
    with pytest.raises(
        InvalidParameterError, match="'points' parameter of Downsampler"
    ):
        Downsampler(points=0)
