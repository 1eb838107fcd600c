"""Whatever is accepted can be read again: in every kind of file, of any legal values.

Values come from the whole range of their types. A store may refuse a row with an error
of its own; what it takes is there when the file is read by somebody else. KeyedModels
and its log: tests/keyed/test_keyed_legal_values.py.
"""

import asyncio
import csv
import io
from collections import Counter
from contextlib import suppress
from itertools import islice

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import thalweg as tw
from tests.legal_values import KEYS, NUMBERS, ROWS, SEQS, TEXTS, VECTORS, bits
from tests.serve.in_process import post, running
from thalweg.errors import ThalwegError
from thalweg.integrations.spark.bucket_blob import pack_bucket, unpack_bucket
from thalweg.integrations.spark.key_models import KeyedLearning
from thalweg.integrations.spark.model_cache import ModelCache
from thalweg.integrations.spark.row_learning import KeyedRows, learn_rows
from thalweg.keyed import KeyedModels
from thalweg.keyed.codec import KeyedSettings
from thalweg.learners import RecursiveLeastSquares
from thalweg.runs.checkpoint import RunOrigin, load_checkpoint, save_checkpoint
from thalweg.runs.keyed_session import KeyedSession
from thalweg.runs.model_store import open_models
from thalweg.tables import Recipe, read_table
from tools.store_kills import STORES, WRONG, trial

RLS = RecursiveLeastSquares(0.9)
PROPERTY = settings(
    max_examples=15, deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)  # fmt: skip


@PROPERTY
@given(
    rows=st.lists(st.tuples(ROWS, NUMBERS, NUMBERS, NUMBERS), max_size=8),
    missing=st.sampled_from(["refuse", "skip", "impute"]),
)
def test_a_model_file_holds_what_the_model_has_learnt(rows, missing, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.thalweg"
    model, accepted = tw.Online(RLS, missing=missing), []
    for x, *numbers in rows:
        with suppress(ThalwegError):
            model.update(x, *numbers)
            accepted.append(x)
    model.save(path)
    found = tw.Online.load(path)
    assert found.rounds == model.rounds
    for x in accepted[-2:]:
        assert bits(found.predict(x)) == bits(model.predict(x))


@PROPERTY
@given(rows=st.lists(st.tuples(VECTORS, TEXTS | NUMBERS), max_size=8))
def test_a_file_of_a_classifier_holds_its_classes(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.thalweg"
    model, accepted = tw.Classifier(), []
    for x, label in rows:
        with suppress(ThalwegError):
            model.update(x, label)
            accepted.append(x)
    model.save(path)
    found = tw.Classifier.load(path)
    for x in accepted[-2:]:
        assert found.predict(x) == model.predict(x)


TIMES = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.builds(np.uint64, st.integers(0, 2**64 - 1)),
    st.datetimes(),
    TEXTS,
)
SERIES = st.lists(NUMBERS | st.none(), max_size=4)


@pytest.mark.slow
@PROPERTY
@given(parts=st.lists(st.tuples(SERIES, TIMES, ROWS | st.none()), max_size=6))
def test_a_file_of_a_forecaster_holds_its_series(parts, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.thalweg"
    forecaster = tw.Forecaster(2)
    for y, time, x in parts:
        with suppress(ThalwegError):
            forecaster.update(y, x, time)
    forecaster.save(path)
    found = tw.Forecaster.load(path)
    assert (found.rounds, found.grid) == (forecaster.rounds, forecaster.grid)
    with suppress(ThalwegError):
        ahead = forecaster.forecast()
        again = found.forecast()
        for part in ("mean", "low", "high"):
            assert getattr(again, part).tobytes() == getattr(ahead, part).tobytes()


@PROPERTY
@given(
    rows=st.lists(st.tuples(KEYS, SEQS, NUMBERS, NUMBERS), max_size=12),
    cut=st.integers(0, 12),
)
def test_a_bucket_of_spark_holds_what_its_models_have_learnt(rows, cut):
    learning = KeyedLearning(KeyedSettings.of(RLS), 4)
    cache, models = ModelCache(learning, 0), {}
    for part in (rows[:cut], rows[cut:]):
        seqs = [min(int(seq), 2**63 - 1) for _, seq, _, _ in part]
        columns = KeyedRows(
            np.array([key for key, *_ in part], object),
            np.array(seqs, np.int64),
            np.array([[float(x)] for _, _, x, _ in part]).reshape(-1, 1),
            np.array([float(y) for *_, y in part]),
        )
        changed, results = learn_rows(cache, models, columns)
        models |= changed
        models = unpack_bucket(pack_bucket(b"", models)).models
        for key, seq, _, refusal in zip(*results, strict=True):
            if refusal is None:
                model = learning.decode(models[key], key)
                assert model.seq >= seq
                exported = learning.export(models[key], key)
                assert learning.import_model(exported, key).seq == model.seq


JSON_NUMBERS = st.one_of(
    st.none(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([-0.0, 1e150, 2**53 + 1, 2**70]),
)
JSON_ROWS = st.one_of(
    st.lists(JSON_NUMBERS, max_size=4),
    st.lists(JSON_NUMBERS, min_size=1, max_size=1).map(lambda cells: cells * 256),
    st.dictionaries(TEXTS.map(str), JSON_NUMBERS | TEXTS.map(str), max_size=3),
)
REQUESTS = st.lists(
    st.tuples(
        st.lists(
            st.fixed_dictionaries(
                {"key": KEYS.map(str), "x": JSON_ROWS, "y": JSON_NUMBERS},
                optional={"weight": JSON_NUMBERS, "elapsed": JSON_NUMBERS},
            ),
            min_size=1, max_size=3,
        ),
        st.lists(SEQS.map(int), min_size=3, max_size=3) | TEXTS.map(ascii),
    ),
    max_size=5,
)  # fmt: skip


@pytest.mark.slow
@PROPERTY
@given(requests=REQUESTS)
def test_the_server_has_every_row_that_it_has_answered(requests, tmp_path_factory):
    path = tmp_path_factory.mktemp("server") / "m.db"

    async def run():
        learnt = {}
        async with running(path, RLS) as (client, writer):
            for rows, numbers in requests:
                named, headers = rows, {}
                if isinstance(numbers, list):
                    pairs = zip(rows, numbers, strict=False)
                    named = [row | {"seq": seq} for row, seq in pairs]
                else:
                    headers = {"Idempotency_Key": numbers}
                _, address, fields = post("/v1/observe", {"rows": named}, **headers)
                try:
                    answer = await client.post(address, **fields)
                except UnicodeEncodeError:  # httpx cannot send half of a surrogate
                    continue
                assert answer.status_code < 500, answer.text
                if answer.status_code != 200:
                    continue
                for row, result in zip(rows, answer.json()["results"], strict=True):
                    if result["outcome"] in ("learnt", "predicted"):
                        learnt[result["key"]] = (result["seq"], row["x"])
            predictions = {
                key: bits(writer._models.predict(key, x))
                for key, (_, x) in learnt.items()
                if None not in x and not isinstance(x, dict)
            }
            writer._discard()  # as after a kill
            async with writer.reading() as models:
                for key, (seq, _) in learnt.items():
                    assert models.last_seq(key) == seq
                for key, prediction in predictions.items():
                    assert bits(models.predict(key, learnt[key][1])) == prediction

    asyncio.run(run())


CELLS = st.one_of(
    st.floats().map(repr),
    st.integers(-(2**70), 2**70).map(str),
    st.text(st.characters(codec="utf-8"), max_size=3),
    st.sampled_from(["", "NA", "1e150", "-0.0", "2024-01-01", "\0"]),
)


@pytest.mark.slow
@PROPERTY
@given(
    lines=st.lists(st.tuples(CELLS, CELLS, st.floats(-1e3, 1e3)), min_size=4),
    cut=st.integers(1, 8),
)
def test_a_checkpoint_holds_what_a_run_has_seen(lines, cut, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerows([("key", "a", "y"), *lines])
    (folder / "s.csv").write_text(file.getvalue(), encoding="utf-8", newline="")
    session = KeyedSession(Recipe(targets=("y",), missing="impute"), ("key",))
    try:
        table = read_table(folder / "s.csv", chunk_rows=3)
        for chunk in islice(table.chunks(), cut):
            session.play(chunk)
    except ThalwegError:
        return
    store = open_models(folder / "models.db", by_key=True)
    save_checkpoint(store, session, RunOrigin("s.csv"))
    store.close()
    path = folder / "models.db"
    found, _ = load_checkpoint(open_models(path, True, path))
    assert found.rows == session.rows and set(found.sessions) == set(session.sessions)
    for key, one in session.sessions.items():
        assert found.sessions[key].rows == one.rows


def test_half_of_a_pair_of_surrogates_is_no_key_of_spark():
    learning = KeyedLearning(KeyedSettings.of(RLS), 4)
    rows = KeyedRows(
        np.array(["\ud800", "a"], object), np.arange(2), np.ones((2, 1)), np.ones(2)
    )
    changed, results = learn_rows(ModelCache(learning, 0), {}, rows)
    assert list(changed) == ["a"] and "UTF-8" in results.refusal[1]
    assert unpack_bucket(pack_bucket(b"", changed)).models == changed


def test_a_reader_in_another_process_finds_what_was_flushed(tmp_path):
    path = tmp_path / "m.db"
    with KeyedModels(path, RLS) as models:
        models.observe("k", np.empty(0), 1.0, 2**63 - 1)
    with KeyedModels(path) as models:
        assert models.last_seq("k") == 2**63 - 1


@pytest.mark.nightly
@pytest.mark.parametrize("name", STORES)
def test_kill_9_of_a_writer_loses_nothing(name, tmp_path):
    total = Counter()
    for found in trial(STORES[name], tmp_path / "store.db", 600, 4):
        total += found
    assert total["kills"] == 4
    assert not {*WRONG} & {*total}, total


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["KeyedModels, rows", "model files"])
def test_rows_that_were_acknowledged_too_early_are_counted_as_lost(name, tmp_path):
    total = Counter()
    for found in trial(STORES[name], tmp_path / "store.db", 600, 2, early=10_000):
        total += found
    assert total["lost"] > 0
