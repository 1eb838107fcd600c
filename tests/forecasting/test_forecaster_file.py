"""Forecasters in files: they go on to the last bit, and damage is refused."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg import Forecaster, persistence
from thalweg.errors import PersistenceError
from thalweg.forecasting.forecaster_file import FIELD
from thalweg.kernels import exponential_smoothing
from thalweg.kernels.forecaster import analogues
from thalweg.kernels.forecaster import forecaster_layout as layout
from thalweg.kernels.forecaster.candidates import PADDED_CANDIDATES
from thalweg.kernels.tracker import tracker_layout
from thalweg.learners import LastValue
from thalweg.losses import SquaredError

ROWS = 620


def rows(seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(ROWS, 2))
    y = 10 + 3 * np.sin(np.arange(ROWS) * 2 * np.pi / 12) + x[:, 0]
    y += 0.5 * rng.normal(size=ROWS)
    y[rng.random(ROWS) < 0.05] = np.nan
    return y, x


FUTURE = np.ones((4, 1))


def assert_same(first, second):
    for part in ("mean", "low", "high"):
        np.testing.assert_array_equal(getattr(first, part), getattr(second, part))
    np.testing.assert_array_equal(first.totals, second.totals)


def through_file(forecaster, path):
    forecaster.save(path)
    return Forecaster.load(path)


COPIES = {
    "file": through_file,
    "pickle": lambda forecaster, path: pickle.loads(pickle.dumps(forecaster)),
    "clone": lambda forecaster, path: forecaster.clone(),
}


@settings(max_examples=12)
@given(
    cut=st.integers(0, 200),
    season=st.sampled_from([None, 12, (4, 12)]),
    kind=st.sampled_from(list(COPIES)),
)
def test_a_copy_made_anywhere_goes_on_to_the_last_bit(
    tmp_path_factory, cut, season, kind
):
    y, x = (part[:200] for part in rows())
    whole = Forecaster(4, season, lags=(5,), known=(1,)).update(y, x)
    first = Forecaster(4, season, lags=(5,), known=(1,))
    if cut:
        first.update(y[:cut], x[:cut])
    before = first.clone()
    path = tmp_path_factory.mktemp("cut") / "forecaster.thalweg"
    copy = COPIES[kind](first, path)
    if cut < len(y):
        copy.update(y[cut:], x[cut:])
    assert_same(copy.forecast(future=FUTURE), whole.forecast(future=FUTURE))
    # The original is as it was.
    assert first.rounds == before.rounds
    if first.rounds:
        assert_same(first.forecast(future=FUTURE), before.forecast(future=FUTURE))


def test_times_names_and_settings_are_in_the_file(tmp_path):
    times = np.datetime64("2026-01-01", "ns") + np.arange(60) * np.timedelta64(1, "D")
    first = Forecaster(3, lags=[4], known=["heat"], season=(2, 7), calendar=False)
    for t in range(60):
        first.update(float(t % 7), {"heat": t, "wind": 1.0}, times[t])
    second = through_file(first, tmp_path / "forecaster.thalweg")
    assert repr(second) == repr(first) and second.feature_names == ("heat", "wind")
    future = {"heat": [1, 2, 3]}
    assert_same(second.forecast(future=future), first.forecast(future=future))
    np.testing.assert_array_equal(
        second.forecast(future=future).times, first.forecast(future=future).times
    )


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """What a file of a forecaster holds, as a mapping of its fields."""
    y, x = rows()
    path = tmp_path_factory.mktemp("record") / "forecaster.thalweg"
    Forecaster(4, known=(1,), lags=(2,)).update(y, x).save(path)
    return persistence.load(path)


def damaged(record, path, change):
    """Save what ``change`` makes of the fields, and load it."""
    fields = dict(record.extra[FIELD])
    fields["packed"] = fields["packed"].copy()
    fields["progress"] = dict(fields["progress"])
    change(fields)
    saved = persistence.SavedModel(record.learner, record.loss, None, {FIELD: fields})
    persistence.save(path, saved)
    return Forecaster.load(path)


def views_of(fields):
    season, cycle = fields["progress"]["search"]["seasons"].values()
    past = max(2 * cycle * -(-4 // cycle) + season, 3) + 6
    terms = layout.SERIES_TERMS + layout.FEATURE_TERMS
    sizes = (layout.OWN_FEATURES + 1, 2, 4, 4, season, cycle, past)
    nonlinear = layout.OWN_FEATURES + 3 + layout.DERIVED_FEATURES + layout.HINGES
    sizes += (1, terms, max(cycle, 2) + 1, 1, 4, -(-nonlinear // 8) * 8)
    sizes += tuple(analogues.dimensions(4, season).values())
    sizes += (0, 0, 0)  # without times there are no days
    smoothing = exponential_smoothing.dimensions(season, has_products=False)
    models = smoothing["models"]
    sizes += (1, exponential_smoothing.STATE.size(**smoothing), models)
    sizes += (PADDED_CANDIDATES,)
    by_name = dict(zip(layout.DIMENSIONS, sizes, strict=True))
    assert layout.STATE.size(**by_name) == len(fields["packed"])
    return layout.STATE.views(fields["packed"], **by_name)


def test_an_undamaged_record_is_loaded(record, tmp_path):
    loaded = damaged(record, tmp_path / "same.thalweg", lambda fields: None)
    assert np.isfinite(loaded.forecast(future=FUTURE).mean).all()


def test_a_record_of_hostile_numbers_is_refused_or_gives_finite_forecasts(
    record, tmp_path
):
    rng, loaded = np.random.default_rng(0), 0
    hostile = [1e308, -1e308, 1e200, -1e150, 1e75, 1e-300, 0.0, -1.0]
    for _ in range(60):

        def change(fields):
            packed = fields["packed"]
            packed[rng.integers(0, len(packed), 4)] = rng.choice(hostile, 4)
            first = rng.integers(0, len(packed) - 20)
            packed[first : first + rng.integers(0, 20)] = rng.choice(hostile)

        try:
            forecaster = damaged(record, tmp_path / "hostile.thalweg", change)
        except PersistenceError:
            continue
        loaded += 1
        for _ in range(2):
            assert np.isfinite(forecaster.forecast(future=FUTURE).mean).all()
            forecaster.update(1.0, [[0.5, 1.0]])
    assert loaded > 5


@pytest.mark.parametrize("value", [-1.0, 0.5, 2.0**60, -1e300, 1e300])
@pytest.mark.parametrize(
    "place",
    ["rounds", "step_errors", "total_errors", "step_delay", "total_delay"]
    + ["error_counts", "group_counts", "profile", "value_count", "effect_count"]
    + ["origin_count", "is_frozen", "history_start", "phase_means", "smoothing"],
)
def test_a_count_that_no_state_has_is_refused(record, tmp_path, place, value):
    def change(fields):
        views = views_of(fields)
        targets = {
            "rounds": views.counters[layout.ROUNDS :],
            "value_count": views.counters[layout.VALUE_COUNT :],
            "step_errors": views.step_counters[2, tracker_layout.ERROR_COUNT :],
            "total_errors": views.total_counters[0, tracker_layout.ERROR_COUNT :],
            "step_delay": views.step_counters[1, tracker_layout.DELAY :],
            "total_delay": views.total_counters[3, tracker_layout.DELAY :],
            "error_counts": views.error_counts,
            "group_counts": views.group_counts,
            "origin_count": views.counters[layout.ORIGIN_COUNT :],
            "history_start": views.counters[layout.HISTORY_START :],
            "profile": views.profile[1],
            "phase_means": views.phase_means[1],
            "smoothing": views.smoothing[exponential_smoothing.ROUNDS :],
            "effect_count": views.counters[layout.EFFECT_COUNT :],
            "is_frozen": views.counters[layout.IS_FROZEN :],
        }
        targets[place][0] = value

    with pytest.raises(PersistenceError, match=r"cannot be loaded: its 'forecaster"):
        damaged(record, tmp_path / "damaged.thalweg", change)


NOT_NEGATIVE = {
    "deviation": lambda views: views.counters[layout.DEVIATION :],
    "losses": lambda views: views.losses[1],
    "smoothing_values": lambda views: views.smoothing[exponential_smoothing.VALUES :],
    "smoothing_weight": lambda views: views.smoothing[exponential_smoothing.WEIGHT :],
    "largest_errors": lambda views: views.largest_errors[0],
}


@pytest.mark.parametrize("place", NOT_NEGATIVE)
def test_a_negative_size_is_refused_as_it_would_lead_to_nan(record, tmp_path, place):
    def change(fields):
        NOT_NEGATIVE[place](views_of(fields))[0] = -1e308

    with pytest.raises(
        PersistenceError, match=r"'forecaster.packed.* must be .* from 0"
    ):
        damaged(record, tmp_path / "damaged.thalweg", change)


def set_packed(fields, value):
    fields["packed"][7] = value


def set_history(fields, value):
    views_of(fields).history.view(np.float32)[0] = value


def unsort(fields):
    errors = views_of(fields).step_errors
    errors[0, 0, 3] = 1e6


def set_seasons(season, cycle):
    search = {"seasons": {"season": season, "cycle": cycle}}
    return set_progress("search", search)


def set_progress(name, value):
    return lambda fields: fields["progress"].update({name: value})


@pytest.mark.parametrize(
    "change",
    [
        lambda fields: set_packed(fields, np.nan),
        lambda fields: set_packed(fields, np.inf),
        lambda fields: set_history(fields, np.nan),
        lambda fields: set_history(fields, 1e38),
        unsort,
        lambda fields: fields.update(packed=fields["packed"][:-1]),
        lambda fields: fields.update(layout=99),
        lambda fields: fields.update(horizon=5),
        lambda fields: fields.update(horizon=0),
        lambda fields: fields.update(horizon="4"),
        lambda fields: fields.update(lags=(10**9,)),
        lambda fields: fields.update(lags=7),
        lambda fields: fields.update(season="ab"),
        lambda fields: fields.update(known=("absent",)),
        lambda fields: fields.update(known=3.5),
        set_progress("given", 3),
        set_progress("given", 10**9),
        set_progress("names", ("a",)),
        set_progress("names", ("a", "a")),
        set_seasons(0, 1),
        set_seasons(2**40, 2**41),
        set_progress("history", np.zeros((3, 3))),
        set_progress("history", np.full((ROWS, 3), 1e200)),
        set_progress("first_time", 0.5),
        set_progress("first_time", 2**70),
        set_progress("grid", {"first": 0, "step": 0, "months": 0, "day": 0}),
        set_progress("grid", {"first": 0, "step": 5, "months": 0, "day": 77}),
        set_progress("grid", {"first": 0, "day": 5}),
        set_progress("grid", 3),
    ],
    ids=range(29),
)
def test_a_damaged_record_is_refused(record, tmp_path, change):
    with pytest.raises(PersistenceError):
        damaged(record, tmp_path / "damaged.thalweg", change)


def test_a_file_of_another_model_is_refused(tmp_path):
    saved = persistence.SavedModel(LastValue(), SquaredError(), None, {})
    persistence.save(tmp_path / "other.thalweg", saved)
    with pytest.raises(PersistenceError, match="holds no Forecaster"):
        Forecaster.load(tmp_path / "other.thalweg")
