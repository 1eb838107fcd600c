import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.accuracy.accuracy_streams import (
    DURATIONS,
    STRIPPED_STREAMS,
    AccuracyStream,
    Scales,
    add_to_lags,
    as_published,
    burn_in,
    draw_shocks,
    shocked_streams,
    stripped_streams,
    with_shocks,
    without_label_lags,
)
from benchmarks.public_streams import PUBLIC_STREAMS, build_stream

RNG = np.random.default_rng(0)
TARGET = RNG.normal(size=600).cumsum()
WEATHER = {"temperature": RNG.normal(size=600), "constant": np.ones(600)}
STREAM = build_stream("made up", "", TARGET, WEATHER, (1, 2, 24), season=24)


def test_a_stream_knows_which_of_its_columns_are_past_labels():
    assert STREAM.lag_columns == {1: 1, 2: 2, 24: 3} and STREAM.season == 24
    for lag, column in STREAM.lag_columns.items():
        assert (STREAM.x[lag:, column] == STREAM.y[:-lag]).all()
    assert build_stream("made up", "", TARGET, WEATHER).lag_columns == {}


def test_a_stripped_stream_has_its_other_features_only():
    x, y, _, season = without_label_lags(STREAM, 300)
    assert (x == STREAM.x[:300, :1]).all() and (y == STREAM.y[:300]).all()
    assert season == 24


def test_a_stripped_stream_of_nothing_but_past_labels_keeps_the_last_one():
    alone = build_stream("alone", "", TARGET, None, (1, 2))
    assert (without_label_lags(alone).x == TARGET[1:-1, None]).all()


def test_scales_are_those_of_the_whole_stream_and_know_no_shocks():
    for stream in (as_published(STREAM, 300), with_shocks(STREAM, 300)):
        x, y = stream.standardise()
        np.testing.assert_allclose(
            x * STREAM.x.std(axis=0) + STREAM.x.mean(axis=0), stream.x
        )
        np.testing.assert_allclose(y * STREAM.y.std() + STREAM.y.mean(), stream.y)


def test_a_constant_column_is_standardised_to_zeros():
    x = np.column_stack([TARGET, np.full(600, 7.0)])
    scaled, _ = AccuracyStream(x, TARGET, Scales.of_stream(x, TARGET)).standardise()
    assert not scaled[:, 1].any() and scaled[:, 0].std() == pytest.approx(1)


@given(seed=st.integers(0, 2**32), first=st.integers(0, 580))
def test_four_shocks_of_8_to_20_deviations_come_after_the_burn_in(seed, first):
    added = draw_shocks(TARGET, first, np.random.default_rng(seed))
    assert not added[:first].any()
    sizes = np.abs(added[added != 0]) / TARGET.std()
    assert len(sizes) == sum(DURATIONS) and 8 <= sizes.min() <= sizes.max() <= 20
    values, durations = np.unique(added[added != 0], return_counts=True)
    assert sorted(durations) == sorted(DURATIONS)
    for value in values:  # each lasts for rounds in a row
        assert np.ptp(np.flatnonzero(added == value)) == (added == value).sum() - 1


def test_past_labels_show_a_shock_as_if_it_had_been_in_the_data():
    added = np.zeros(len(TARGET))
    added[[200, 201, 450]] = 50.0, 50.0, -30.0
    known = slice(len(TARGET) - len(STREAM.y), None)
    rebuilt = build_stream("made up", "", TARGET + added, WEATHER, (1, 2, 24))
    shocked = add_to_lags(STREAM.x, STREAM.lag_columns, added[known])
    np.testing.assert_array_equal(shocked, rebuilt.x)
    np.testing.assert_array_equal(STREAM.y + added[known], rebuilt.y)


def test_a_shocked_stream_is_the_same_in_every_run_and_leaves_the_original_alone():
    before = STREAM.x.copy(), STREAM.y.copy()
    first, second = with_shocks(STREAM, 500), with_shocks(STREAM, 500)
    assert (first.x == second.x).all() and (first.y == second.y).all()
    assert (STREAM.x == before[0]).all() and (STREAM.y == before[1]).all()
    (shocked,) = np.nonzero(first.y != STREAM.y[:500])
    assert len(shocked) == sum(DURATIONS) and shocked[0] >= burn_in(500)


@pytest.mark.parametrize("name", ["trump", "waterflow"])
def test_streams_that_ship_with_river_are_shocked_and_stripped(name):
    x, y, *_ = shocked_streams(900)[name]()
    assert len(x) == len(y) == 900 and np.isfinite(x).all()
    if name in STRIPPED_STREAMS:
        stripped = stripped_streams(900)[name]()  # it has nothing but past labels
        assert (stripped.x[1:, 0] == stripped.y[:-1]).all()


def test_stripped_streams_are_the_eleven_with_past_labels():
    assert len(STRIPPED_STREAMS) == 11 and set(STRIPPED_STREAMS) < set(PUBLIC_STREAMS)
    assert list(shocked_streams()) == list(PUBLIC_STREAMS)
