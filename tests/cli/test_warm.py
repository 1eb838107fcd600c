"""``thalweg warm``, the calls that it makes, and the archive of their kernels."""

import os
import subprocess
import sys
import zipfile

import pytest

from tests.cli.streams import thalweg
from thalweg import cli
from thalweg.cli import user_calls
from thalweg.cli.user_calls import CALLS, MadeCall
from thalweg.kernels.compiler.jit import ANNOUNCEMENT, COMPILED
from thalweg.kernels.compiler.kernel_cache import SHIPPED_VARIABLE

USE = """
import numpy as np
from thalweg import Online
model = Online()
model.update(np.ones(3), 1.0)
print(model.predict(np.ones(3)))
"""


def made_calls(native=False):
    return iter([MadeCall("Online", {"kernel"}, 12.34)] * len(CALLS))


def test_warm_prints_each_call_and_where_kernels_are(monkeypatch, tmp_path):
    monkeypatch.setattr(cli, "make_calls", made_calls)
    monkeypatch.setattr(cli, "compiled_folder", lambda: tmp_path)
    lines = thalweg("warm").stdout.splitlines()
    assert lines[0] == f" 1 of {len(CALLS)}   12.3 s  Online"
    assert lines[len(CALLS) :] == [f"Compiled kernels are in {tmp_path}."]
    monkeypatch.setattr(cli, "compiled_folder", lambda: None)
    assert "is safe" in thalweg("warm").stdout.splitlines()[-1]


def test_native_kernels_are_compiled_although_there_are_shipped_ones(monkeypatch):
    seen = []

    def processes(*arguments, **options):
        seen.append(os.environ.get(SHIPPED_VARIABLE))
        raise InterruptedError

    monkeypatch.setattr(user_calls, "ProcessPoolExecutor", processes)
    monkeypatch.setenv(SHIPPED_VARIABLE, "1")
    for native in (False, True):
        with pytest.raises(InterruptedError):
            next(user_calls.make_calls(native))
    assert seen == ["1", "0"]


@pytest.mark.parametrize("name", ["Online", "RecursiveLeastSquares"])
def test_a_call_runs_in_a_folder_that_is_removed(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    made = user_calls._make(name)
    assert made.name == name
    assert made.seconds > 0
    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr().out == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_every_call_runs(name):
    user_calls._make(name)


@pytest.mark.nightly
@pytest.mark.skipif(not COMPILED, reason="Nothing is compiled.")
def test_what_a_wheel_ships_is_used_where_it_fits(tmp_path, monkeypatch):
    """From an archive: no compilation, the same bits; without features: compiled."""
    archive = tmp_path / "shipped_kernels.zip"
    script = tmp_path / "ship.py"
    script.write_text(
        "import sys; from pathlib import Path\n"
        "from thalweg.cli.user_calls import ship_kernels\n"
        "if __name__ == '__main__': ship_kernels(Path(sys.argv[1]))\n"
    )
    subprocess.run([sys.executable, str(script), str(archive)], check=True)
    with zipfile.ZipFile(archive) as kernels:
        assert any("tracker.entry" in name for name in kernels.namelist())

    def use(cache, **environment):
        code = (
            "from pathlib import Path\n"
            "from thalweg.kernels.compiler import kernel_cache\n"
            f"kernel_cache.SHIPPED = Path({str(archive)!r})\n" + USE
        )
        return subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True,
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / cache)} | environment,
        )  # fmt: skip

    shipped = use("one")
    assert shipped.stderr == ""
    for name, change in (
        ("two", {SHIPPED_VARIABLE: "0"}),
        ("three", {"NUMBA_CPU_FEATURES": "+sse2,+cx8"}),
    ):
        compiled = use(name, **change)
        assert compiled.stderr == f"{ANNOUNCEMENT}\n"
        assert compiled.stdout == shipped.stdout
