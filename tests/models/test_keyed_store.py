"""The file under ``KeyedModels``: one writer, whole commits, damage that is named."""

import os
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from tests.models.test_keyed import RLS, X, feed
from thalweg.errors import PersistenceError, StorageError
from thalweg.losses import SquaredError
from thalweg.models import KeyedModels
from thalweg.models.keyed_store import KeyedStore
from thalweg.persistence import SavedModel, dumps, loads


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
            "import sys; from thalweg.models import KeyedModels\n"
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
    with pytest.raises(PersistenceError, match="damaged or no database"):
        KeyedModels(path, RLS)
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
        ("UPDATE models SET model = 'text'", "holds a model that is no model"),
        ("UPDATE source SET value = 'x' WHERE name = 'offset'", "offset that is no"),
        ("DELETE FROM source", "cannot be loaded"),
        ("PRAGMA user_version = 2", "has layout 2, and this thalweg reads 1. Open it"),
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


def test_a_model_with_impossible_fields_is_refused(path):
    with KeyedModels(path, RLS) as models:
        feed(models, 0, 4)
    sound = {"intercept": True, "rounds": 0, "seq": -1, "prediction": None}
    wrong = [
        ({}, "made with"),
        ({"intercept": True}, "no model of KeyedModels: its 'rounds' must be one of 0"),
        ({**sound, "seq": "x"}, "no model of KeyedModels: its 'seq' must be one of -1"),
        ({**sound, "rounds": 3}, "no model of KeyedModels: its 'rounds' must be"),
        ({**sound, "prediction": 0.5}, "no model of KeyedModels: its 'prediction'"),
    ]
    for extra, words in wrong:
        blob = dumps(SavedModel(RLS, SquaredError(), None, extra))
        with sqlite3.connect(path) as other:
            other.execute("UPDATE models SET model = ?", (blob,))
        other.close()
        with pytest.raises(PersistenceError, match=words):
            with KeyedModels(path, RLS) as models:
                models.predict("k0", X[0])


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


def test_a_row_of_the_table_is_a_model_file_of_its_own(path):
    with KeyedModels(path, RLS) as models:
        feed(models, 0, 40)
        prediction = models.predict("k0", X[50])
    other = sqlite3.connect(path)
    (blob,) = other.execute("SELECT model FROM models WHERE key = 'k0'").fetchone()
    other.close()
    learner, _, state, extra = loads(blob)
    assert extra["rounds"] == 10 and extra["seq"] == 36
    assert learner.predict(state, np.append(X[50], 1.0)) == prediction


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
