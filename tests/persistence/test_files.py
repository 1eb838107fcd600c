"""A crash or a full disk leaves the old file or the new one, never half of one."""

import errno
import os
import resource
import signal
import subprocess
import sys

import pytest

from tests.persistence.examples import train_model
from thalweg.errors import StorageError, ThalwegError
from thalweg.learners import RecursiveLeastSquares
from thalweg.losses import SquaredError
from thalweg.persistence import dumps, files, load, save

OLD = train_model(RecursiveLeastSquares(), SquaredError(), 10)
NEW = train_model(RecursiveLeastSquares(), SquaredError(), 20)


@pytest.fixture
def path(tmp_path):
    save(tmp_path / "m.thalweg", OLD)
    return tmp_path / "m.thalweg"


def fail_disk_full(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("step", ["fsync", "replace", "fchmod"])
def test_a_failed_write_leaves_the_old_file(monkeypatch, path, step):
    before = path.read_bytes()
    monkeypatch.setattr(files.os, step, fail_disk_full)
    with pytest.raises(StorageError, match="not saved: No space left.* as it was"):
        save(path, NEW)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_a_disk_that_fills_up_leaves_the_old_file(path):
    before = path.read_bytes()

    def small_files_only():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    code = (
        "import sys; from pathlib import Path; from thalweg.persistence import files\n"
        "files.write(Path(sys.argv[1]), bytes(5000))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True, text=True, preexec_fn=small_files_only,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert done.returncode == 1 and "was not saved: File too large" in done.stderr
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_a_save_that_may_not_survive_a_power_loss_is_reported(monkeypatch, path):
    monkeypatch.setattr(files, "_sync_folder", fail_disk_full)
    with pytest.raises(StorageError, match="was saved, but a loss of power may undo"):
        save(path, NEW)
    assert path.read_bytes() == dumps(NEW)


def test_folder_and_file_are_synced(monkeypatch, path):
    synced, fsync = [], os.fsync
    monkeypatch.setattr(
        files.os, "fsync", lambda f: (synced.append(os.fstat(f).st_mode), fsync(f))
    )
    save(path, NEW)
    assert [oct(mode)[2:-4] for mode in synced] == ["10", "4"]  # a file, then a folder


@pytest.mark.parametrize("place", ["nowhere/m", "m.thalweg/m", "."])
def test_a_place_where_no_file_can_be_is_refused(path, place):
    with pytest.raises(StorageError, match="was not saved") as caught:
        save(path.parent / place, NEW)
    assert isinstance(caught.value, ThalwegError) and isinstance(caught.value, OSError)
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("place", ["nowhere", "m.thalweg/m"])
def test_a_file_that_cannot_be_read_is_named(path, place):
    with pytest.raises(StorageError, match=f"{path.parent}.* cannot be read: "):
        load(path.parent / place)


def test_links_and_permissions_stay_as_they_are(path):
    link = path.with_name("link")
    link.symlink_to(path)
    path.chmod(0o640)
    save(link, NEW)
    assert link.is_symlink() and path.read_bytes() == dumps(NEW)
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_model_that_cannot_be_saved_leaves_the_old_file(path):
    before = path.read_bytes()
    with pytest.raises(ThalwegError):
        save(path, NEW._replace(extra={"f": print}))
    assert path.read_bytes() == before
