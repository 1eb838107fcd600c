"""Compilation is announced wherever standard error goes, and its time is measured."""

import os
import subprocess
import sys

import pytest

from thalweg.kernels.compiler.jit import (
    ANNOUNCEMENT,
    COMPILED,
    compilation_seconds,
    count_as_compilation,
)

SMALL_KERNEL = """
import numpy as np
from thalweg.kernels.compiler.jit import compilation_seconds
from thalweg.kernels.predict import dot
before = compilation_seconds()
dot(np.ones(3), np.ones((3, 1)), np.empty(1))
taken = compilation_seconds()
assert taken > before
dot(np.ones(3), np.ones((3, 1)), np.empty(1))
assert compilation_seconds() == taken
"""


def test_a_call_that_compiles_is_counted_as_a_whole():
    before = compilation_seconds()
    with count_as_compilation():
        with count_as_compilation():
            pass
        within = compilation_seconds()
    assert within == before < compilation_seconds()


def standard_error(cache):
    """What a process writes there that calls a kernel, with this cache; no terminal."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", SMALL_KERNEL], env=environment, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    return done.stderr


@pytest.mark.nightly
@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_a_compilation_is_announced_once_and_only_where_there_is_one(tmp_path):
    assert standard_error(tmp_path / "cold") == f"{ANNOUNCEMENT}\n"
    assert standard_error(tmp_path / "cold") == ""
