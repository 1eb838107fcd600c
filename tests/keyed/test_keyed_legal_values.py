"""Whatever ``KeyedModels`` accepts is there after a crash and after a close.

The values come from the whole range of their types, not from examples.
"""

import math
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import thalweg as tw
from tests.legal_values import KEYS, NUMBERS, ROWS, SEQS, VECTORS, bits
from thalweg.errors import InvalidParameterError, ThalwegError
from thalweg.keyed import KeyedModels
from thalweg.learners import RecursiveLeastSquares

RLS = RecursiveLeastSquares(0.9)
NOW = 1_763_575_270_123_456_789  # of time.time_ns(), above 2⁵³
CALLS = st.lists(
    st.one_of(
        st.tuples(KEYS, ROWS, NUMBERS, SEQS, NUMBERS, NUMBERS),
        st.tuples(
            st.sampled_from(["a", "b"]),
            VECTORS,
            NUMBERS,
            SEQS,
            st.just(1.0),
            st.just(1),
        ),
        st.just("flush"),
    ),
    max_size=12,
)


def open_copy(path, copy):
    """The file as it is after a crash, under another name."""
    for suffix in ("", "-wal"):
        Path(f"{copy}{suffix}").unlink(missing_ok=True)
        if Path(f"{path}{suffix}").exists():
            shutil.copy(f"{path}{suffix}", f"{copy}{suffix}")
    return KeyedModels(copy)


@pytest.fixture
def crashed(path):
    """A function that opens the file as it is after a crash."""
    opened = []

    def reopen(models):
        opened.append(open_copy(path, path.with_name(f"copy-{len(opened)}.db")))
        return opened[-1]

    yield reopen
    for models in opened:
        models._release()


def assert_same(found, models, keys, x):
    assert found.keys() == models.keys()
    for key in keys:
        assert found.last_seq(key) == models.last_seq(key)
        assert found[key].rounds == models[key].rounds
        assert bits(found.predict(key, x)) == bits(models.predict(key, x))


@pytest.mark.parametrize("is_batch", [False, True], ids=["rows", "batch"])
def test_rows_without_features_are_there_after_a_crash(path, crashed, is_batch):
    with KeyedModels(path, RLS, intercept=True) as models:
        for seq in range(4):
            if is_batch:
                models.observe_many(["k", "l"], np.empty((2, 0)), [1.0, 2.0], [seq] * 2)
            else:
                models.observe("k", np.empty(0), 1.0, seq)
                models.observe("l", np.empty(0), 2.0, seq)
            models.observe("other", np.ones(2), 1.0, seq)
            models.flush()
        found = crashed(models)
        assert_same(found, models, ["k", "l"], np.empty(0))
        assert_same(found, models, ["other"], np.ones(2))


def test_rows_without_features_need_an_intercept(path):
    with KeyedModels(path, RLS, intercept=False) as models:
        for observe in (
            lambda: models.observe("k", np.empty(0), 1.0, 0),
            lambda: models.observe_many(["k"], np.empty((1, 0)), [1.0], [0]),
        ):
            with pytest.raises(ThalwegError, match="shape"):
                observe()
        assert models.keys() == []


@pytest.mark.parametrize("learner", [RLS, tw.Tracker(), tw.Experts()], ids=repr)
@pytest.mark.parametrize("seq", [2**53, NOW, 2**63 - 1])
def test_a_seq_may_be_as_large_as_promised(path, crashed, learner, seq):
    with KeyedModels(path, learner) as models:
        models.observe("k", np.ones(2), 1.0, seq)
        models.flush()
        assert_same(crashed(models), models, ["k"], np.ones(2))
        expected = models.predict("k", np.ones(2))
    with KeyedModels(path) as models:
        assert (models.last_seq("k"), models.offset) == (seq, seq)
        assert models.predict("k", np.ones(2)) == expected


@pytest.mark.parametrize(
    "kind", [np.int64, np.int32, np.uint64, np.float32, np.float64, int], ids=repr
)
def test_a_clock_may_return_any_kind_of_number(path, crashed, kind):
    now = 100
    models = KeyedModels(path, RLS, clock=lambda: kind(now), ttl=kind(60))
    for seq in range(3):
        now += 40
        models.observe("k", np.ones(2), 1.0, seq)
        models.flush()
    assert_same(crashed(models), models, ["k"], np.ones(2))
    models.close()


@pytest.mark.parametrize("now", [math.nan, None, 2**70, math.inf, "1", True], ids=repr)
def test_a_clock_that_returns_no_time_is_refused_by_name(path, now):
    with pytest.raises(InvalidParameterError, match=r"'clock' of KeyedModels.*Got"):
        KeyedModels(path, RLS, clock=lambda: now)
    times = [1.0, now, 2.0]
    with KeyedModels(path, RLS, clock=lambda: times.pop(0)) as models:
        models.observe("k", np.ones(2), 1.0, 0)
        with pytest.raises(InvalidParameterError, match=r"'clock' of KeyedModels.*Got"):
            models.flush()
    with KeyedModels(path) as models:
        assert models.last_seq("k") == 0


@pytest.mark.parametrize("row", [{"\ud800": 1.0}, {"text": "\udfff", "x": 1.0}])
def test_half_of_a_pair_of_surrogates_may_stand_in_names_and_text(path, crashed, row):
    with KeyedModels(path, RLS) as models:
        models.observe("other", {"x": 1.0}, 1.0, 0)
        for seq in range(3):
            models.observe("k", row, 1.0, seq)
        models.flush()
        found = crashed(models)
        assert_same(found, models, ["k"], row)
        assert_same(found, models, ["other"], {"x": 1.0})
    with KeyedModels(path) as models:
        assert models.last_seq("k") == 2


@settings(
    max_examples=60, deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)  # fmt: skip
@given(
    calls=CALLS,
    missing=st.sampled_from(["refuse", "skip", "impute"]),
    memory=st.sampled_from([1, 2**30]),
)
@example(
    calls=[("a", np.empty(0), 1.0, 2**62, 1.0, 1.0)] * 2, missing="refuse", memory=1
)
def test_whatever_is_accepted_is_there_after_a_crash_and_a_close(
    calls, missing, memory, tmp_path_factory
):
    folder, rows = tmp_path_factory.mktemp("crash"), {}
    path, copy = folder / "models.db", folder / "copy.db"
    models = KeyedModels(path, RLS, None, True, missing, memory=memory)
    for call in [*calls, "flush"]:
        if call == "flush":
            models.flush()
            found = open_copy(path, copy)
            for key, x in rows.items():
                assert_same(found, models, [key], x)
            found._release()
            continue
        key, x, y, seq, weight, elapsed = call
        before = models.last_seq(key) if key in rows else None
        with suppress(ThalwegError):
            if type(seq) is range:
                models.observe_many([key] * 3, [x] * 3, [y] * 3, seq, elapsed=[1] * 3)
            else:
                models.observe(key, x, y, seq, weight, elapsed)
            if models.last_seq(key) != before:  # else it was late or repeated
                rows[key] = x
    models.close()
    found, copied = KeyedModels(path), open_copy(path, copy)
    for key, x in rows.items():
        assert_same(found, copied, [key], x)
    assert found.keys() == sorted(rows)
    found._release()
    copied._release()
    shutil.rmtree(folder)
