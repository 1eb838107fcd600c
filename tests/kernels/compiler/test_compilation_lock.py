"""Processes that start together compile a kernel once."""

import os
import subprocess
import sys
import time

import pytest

from thalweg.kernels.compiler import compilation_lock
from thalweg.kernels.compiler.compilation_lock import (
    FILE_NAME,
    lock_kernel,
    unlock_kernel,
)
from thalweg.kernels.compiler.jit import ANNOUNCEMENT, COMPILED

pytest.importorskip("fcntl", reason="There are no record locks on this system.")
USE = """
import numpy as np
from thalweg import RecursiveLeastSquares, Online
model = Online(RecursiveLeastSquares())
model.update(np.ones(3), 1.0)
print(model.predict(np.ones(3)))
"""
HOLD = """
import sys
from thalweg.kernels.compiler.compilation_lock import lock_kernel
lock_kernel(sys.argv[1], "kernel")
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.mark.nightly
@pytest.mark.skipif(not COMPILED, reason="Nothing is compiled.")
def test_processes_that_start_together_compile_once(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", USE], env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for _ in range(3)
    ]  # fmt: skip
    outputs = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert len({out for out, _ in outputs}) == 1
    assert sum(ANNOUNCEMENT in errors for _, errors in outputs) == 1


def test_a_lock_is_waited_for_until_its_process_ends(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    holder = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "locked\n"
    lock_kernel(str(tmp_path), "another kernel")  # at once
    unlock_kernel(str(tmp_path), "another kernel")
    waiter = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    time.sleep(0.2)
    assert waiter.poll() is None
    holder.kill()
    assert waiter.stdout.readline() == "locked\n"
    for process in (holder, waiter):
        process.communicate()


def test_nobody_waits_for_ever(tmp_path, monkeypatch):
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    holder = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "locked\n"
    monkeypatch.setattr(compilation_lock, "MAX_WAIT_S", 0.2)
    lock_kernel(str(tmp_path), "kernel")
    holder.communicate()


def test_a_folder_that_cannot_be_written_is_no_obstacle(tmp_path):
    (tmp_path / FILE_NAME).mkdir()
    lock_kernel(str(tmp_path), "kernel")
    unlock_kernel(str(tmp_path), "kernel")
    (tmp_path / "file").write_text("")
    lock_kernel(str(tmp_path / "file" / "folder"), "kernel")
