"""The file under ``KeyedModels``: one writer, whole commits, damage that is named."""

import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.keyed.test_keyed import RLS, X, feed
from thalweg.errors import PersistenceError, StorageError
from thalweg.imputer import ImputerState
from thalweg.keyed import KeyedModels
from thalweg.keyed.codec import KeyedRecord, KeyedSettings
from thalweg.keyed.store import SCHEMA, SCHEMA_VERSION, SET_ASIDE, KeyedStore
from thalweg.learners import Tracker
from thalweg.models.clock import ClockState

RLS_NAME = "RecursiveLeastSquares"


def test_a_second_writer_is_refused_at_once(path):
    with KeyedModels(path, RLS) as models:
        feed(models, 0, 4)
        with pytest.raises(StorageError, match=f"writing in process {os.getpid()}. A"):
            KeyedModels(path, RLS)
        link = path.with_name("link.db")
        models.flush()
        link.symlink_to(path)
        with pytest.raises(StorageError, match="one writer at a time"):
            KeyedModels(link, RLS)
        code = (
            "import sys; from thalweg.keyed import KeyedModels\n"
            "from thalweg.learners import RecursiveLeastSquares\n"
            "KeyedModels(sys.argv[1], RecursiveLeastSquares())"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)], capture_output=True, text=True
        )
        assert "StorageError" in done.stderr and "one writer at a time" in done.stderr
        feed(models, 4, 8)
    KeyedModels(path, RLS).close()


def test_other_files_are_refused(path):
    path.write_bytes(b"no database at all, but a text that is long enough" * 9)
    with pytest.raises(PersistenceError, match="is no SQLite file.*b'no database"):
        KeyedModels(path, RLS)
    assert [file.name for file in path.parent.iterdir()] == [path.name]  # no lock
    with pytest.raises(StorageError, match="there is no folder"):
        KeyedModels(path.parent / "nowhere" / "a.db", RLS)
    path.unlink()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE t (a)")
    other.close()
    with pytest.raises(PersistenceError, match="not one of KeyedModels"):
        KeyedModels(path, RLS)
    with pytest.raises(StorageError, match="cannot be opened"):
        KeyedModels(path / "below", RLS)


@pytest.mark.parametrize(
    "statement, words",
    [
        ("UPDATE models SET model = x'00'", "'k0' in .* cannot be loaded"),
        ("UPDATE models SET model = 'text'", "holds a model of 'k0' that is no model"),
        ("UPDATE models SET layout = 99", "holds a model of 'k0' that is no model"),
        ("UPDATE layouts SET layout = x'00'", "holds a model of 'k0' that is no model"),
        ("UPDATE layouts SET layout = 'X ' || layout", "learnt by X, not by Recursive"),
        (f"UPDATE layouts SET layout = '{RLS_NAME} [1'", "and its bytes do not fit"),
        (f"UPDATE layouts SET layout = '{RLS_NAME} \"int\"'", "of which 8 are used"),
        ("DELETE FROM source", "cannot be loaded"),
        ("PRAGMA user_version = 4", "has layout 4, and this thalweg reads 1 to 3. Ope"),
    ],
)
def test_damage_within_the_file_is_named(path, statement, words):
    with KeyedModels(path, RLS) as models:
        feed(models, 0, 4)
    with sqlite3.connect(path) as other:
        other.execute(statement)
    other.close()
    with pytest.raises(PersistenceError, match=words), KeyedModels(path, RLS) as models:
        models.predict("k0", X[0])


BROKEN = RLS.init(np.zeros(4))._replace(theta=np.full(4, np.nan))
WRONG_FIELDS = {
    "seq": (-1, "its 'seq' must be"),
    "prediction": ("x", "its 'prediction' must be"),
    "rounds": (-3, "its 'rounds' must be"),
    "unexcited_rounds": (np.ones(2), "its 'unexcited_rounds' must be"),
    "errors": (np.ones((99, 1)), "its 'errors' must be"),
    "imputer": (ImputerState.initial(4), "its 'imputer' must be"),
    "clock": (ClockState("x", None), "its 'clock.unit' must be"),
    "columns": (3, "its 'columns' must be"),
    "state": (BROKEN, "theta of RecursiveLeastSquares is not finite"),
}


@pytest.mark.parametrize("field", WRONG_FIELDS)
def test_a_model_with_impossible_fields_is_refused(path, field):
    value, words = WRONG_FIELDS[field]
    with KeyedModels(path, RLS) as models:
        feed(models, 0, 4)
        settings = models._cache.settings
        raw = settings.encode(models._cache.find("k0"))
    record = KeyedRecord(**{
        "clock": ClockState(), "errors": None, "imputer": None, "columns": None,
        "seq": 0, "prediction": 0.0, "rounds": 1, "unexcited_rounds": np.zeros(4),
        "state": RLS.init(np.zeros(4)),
    })  # fmt: skip
    assert settings.decode(settings._to_raw(record), "k").seq == 0
    assert settings.decode(raw, "k").seq == 0
    wrong = settings._to_raw(record._replace(**{field: value}))
    with pytest.raises(
        PersistenceError, match=f"model of k cannot be loaded: .*{words}"
    ):
        settings.decode(wrong, "k")


def test_a_model_of_another_learner_is_refused(path):
    settings, others = KeyedSettings.of(RLS), KeyedSettings.of(Tracker())
    raw = {}
    for own in (settings, others):
        model = own.new_model()
        model.online.update(X[0], 1.0)
        model.last = (0, 0.0, 1)
        raw[own] = own.encode(model)
    with pytest.raises(PersistenceError, match="by Tracker, not by RecursiveLeast"):
        settings.decode(raw[others], "k")
    with pytest.raises(PersistenceError, match="by RecursiveLeastSquares, not by Trac"):
        others.decode(raw[settings], "k")


def test_a_failed_flush_can_be_repeated(path, monkeypatch):
    models = KeyedModels(path, RLS)
    feed(models, 0, 8)
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN IMMEDIATE")  # stands for a disk that will not take it
    models._store._connection.execute("PRAGMA busy_timeout = 0")
    with pytest.raises(StorageError, match="models.db cannot be used"):
        models.flush()
    assert models.offset is None
    reader.execute("ROLLBACK")
    reader.close()
    models.flush()
    assert models.offset == 7
    models.close()


def test_a_full_disk_loses_nothing_that_was_acknowledged(path):
    models = KeyedModels(path, RLS)
    feed(models, 0, 8)
    models.flush()
    pages = models._store._read_one("PRAGMA page_count")
    models._store._connection.execute(f"PRAGMA max_page_count = {pages}")
    feed(models, 8, 120, keys=60)
    with pytest.raises(StorageError, match="full"):
        models.flush()
    models._release()
    with KeyedModels(path, RLS) as models:
        assert models.offset == 7 and models.keys() == ["k0", "k1", "k2", "k3"]


def test_a_file_is_not_used_across_a_fork(path):
    file = KeyedStore(path, b"settings")
    file._process += 1
    with pytest.raises(StorageError, match="before a fork"):
        file.keys()
    file._process -= 1
    file.close()


def test_layouts_are_stored_once(path):
    with KeyedModels(path, RLS) as models:
        feed(models, 0, 40)
        models.flush()
        feed(models, 40, 80)
    other = sqlite3.connect(path)
    assert other.execute("SELECT count(*) FROM layouts").fetchone() == (1,)
    rows = other.execute("SELECT layout FROM models").fetchall()
    other.close()
    assert rows == [(1,)] * 4


def test_every_commit_reaches_the_disk(path):
    with KeyedModels(path, RLS) as models:
        assert models._store._read_one("PRAGMA journal_mode") == "wal"
        assert models._store._read_one("PRAGMA synchronous") == 2  # FULL


def test_functions_in_the_schema_of_a_foreign_file_are_not_called(path, monkeypatch):
    with KeyedModels(path, RLS) as models:
        feed(models, 0, 4)
    foreign = sqlite3.connect(path)
    foreign.execute(
        "CREATE TRIGGER spy AFTER INSERT ON models BEGIN SELECT spy(new.key); END"
    )
    foreign.close()
    calls, connect = [], sqlite3.connect

    def connect_with_function(*given, **options):
        connection = connect(*given, **options)
        connection.create_function("spy", 1, calls.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", connect_with_function)
    models = KeyedModels(path, RLS)
    feed(models, 4, 8)
    with pytest.raises(StorageError, match=r"unsafe use of spy"):
        models.flush()
    assert calls == []
    models._release()


def test_a_model_that_is_not_finite_is_never_flushed(path):
    models = KeyedModels(path, RLS)
    feed(models, 0, 8)
    models.flush()
    feed(models, 8, 12)
    live = models._cache.models["k1"].online._live
    live.live_buffer()._theta[0] = np.nan
    with pytest.raises(PersistenceError, match="theta of RecursiveLeastSquares is not"):
        models.close()
    models._release()
    with KeyedModels(path) as models:
        assert models.offset == 7 and models["k1"].rounds == 2


def test_the_page_of_the_format_has_the_tables_of_the_code():
    page = Path(__file__).parents[2] / "docs" / "file-format.md"
    text = " ".join(page.read_text().split())
    assert f"`user_version` {SCHEMA_VERSION}," in text
    tables = [one for one in (*SCHEMA, SET_ASIDE) if one.startswith("CREATE")]
    assert len(tables) == 5
    for statement in tables:
        declared = re.sub("CREATE TABLE (IF NOT EXISTS )?", "", statement)
        assert declared.replace(" (", "(") in text
