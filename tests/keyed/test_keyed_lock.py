"""A store is locked for as long as someone can write to it, and no longer."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from tests.keyed.test_keyed import RLS, X, feed
from thalweg.errors import StorageError
from thalweg.keyed import KeyedModels
from thalweg.persistence.lock import FileLock


def fork_and_run(function):
    """The exit code of a forked process that calls the function; 0 if it returns."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            function()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def sleeping_child():
    """A forked process that does nothing, and holds what it got."""
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    return child


def end(child):
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


# From Python 3.13 on sqlite3 warns of a connection that nobody has closed.
@pytest.mark.filterwarnings("ignore:unclosed database:ResourceWarning")
def test_a_store_that_was_dropped_can_be_opened_again(path):
    models = KeyedModels(path, RLS)
    feed(models, 0, 4)
    models.flush()
    feed(models, 4, 8)
    with pytest.warns(ResourceWarning, match="not closed: rows of . keys are lost"):
        del models
        gc.collect()
    with KeyedModels(path, RLS) as models:
        assert models.offset == 3  # what was flushed, and no more


def test_a_forked_child_does_not_hold_the_lock(path):
    models = KeyedModels(path, RLS)
    child = sleeping_child()
    try:
        models.close()
        KeyedModels(path, RLS).close()
    finally:
        end(child)


def test_a_killed_writer_frees_the_store_although_its_child_lives(path):
    code = (
        "import os, sys, time; from thalweg.keyed import KeyedModels\n"
        "from thalweg.learners import RecursiveLeastSquares\n"
        "models = KeyedModels(sys.argv[1], RecursiveLeastSquares())\n"
        "if os.fork() == 0: print(os.getpid(), flush=True)\n"
        "time.sleep(60)\n"
    )
    writer = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True
    )
    child = int(writer.stdout.readline())
    try:
        writer.kill()
        writer.wait()
        KeyedModels(path, RLS).close()
    finally:
        os.kill(child, signal.SIGKILL)
        writer.stdout.close()


def test_a_child_that_drops_its_copy_leaves_the_parent_its_lock(path):
    held = [KeyedModels(path, RLS)]

    def drop():
        held.clear()
        gc.collect()

    assert fork_and_run(drop) == 0
    with pytest.raises(StorageError, match="one writer at a time"):
        KeyedModels(path, RLS)
    feed(held[0], 0, 4)
    held[0].close()
    with KeyedModels(path, RLS) as models:
        assert models.offset == 3


def test_a_child_is_told_to_open_the_store_anew_even_while_a_thread_has_it(path):
    with KeyedModels(path, RLS) as models:
        feed(models, 0, 4)
        acquired, done = threading.Event(), threading.Event()

        def hold():
            with models._thread_lock:
                acquired.set()
                done.wait(60)

        thread = threading.Thread(target=hold)
        thread.start()
        acquired.wait()

        def use():
            signal.alarm(10)  # a child that waits for the thread would do so for ever
            for call in (
                models.flush, models.keys, models.close,
                lambda: models.predict("new", X[0]),
                lambda: models.observe("new", X[0], 1.0, 9),
            ):  # fmt: skip
                with pytest.raises(StorageError, match="before a fork. Open it again"):
                    call()

        try:
            assert fork_and_run(use) == 0
        finally:
            done.set()
            thread.join()


def test_a_lock_is_released_once(tmp_path):
    lock = FileLock(tmp_path / "x")
    lock.release()
    other = os.open(tmp_path / "y", os.O_RDWR | os.O_CREAT)  # may get the same number
    lock.release()
    os.fstat(other)
    os.close(other)


def test_who_may_not_write_the_file_may_not_lock_it(tmp_path):
    path = tmp_path / "models"
    lock_path = tmp_path / "models.lock"
    for mode, rights in [(None, 0o600), (0o644, 0o600), (0o664, 0o660), (0o666, 0o666)]:
        if mode is not None:
            path.touch()
            path.chmod(mode)
        FileLock(path).release()
        assert lock_path.stat().st_mode & 0o777 == rights


def test_a_file_with_two_names_is_refused(tmp_path):
    """Each name would have a lock of its own."""
    first, second = tmp_path / "a.db", tmp_path / "b.db"
    KeyedModels(first, RLS).close()
    os.link(first, second)
    for path in (first, second):
        with pytest.raises(StorageError, match="2 names"):
            KeyedModels(path)
    second.unlink()
    KeyedModels(first).close()
