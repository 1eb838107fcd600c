import os
import resource
import subprocess
import sys

import pytest

CASES = int(os.environ.get("THALWEG_DAMAGED_FILES", "200"))


def limit_memory():
    """A number of rows that was made up may ask for any amount of it."""
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))


@pytest.mark.parametrize("suffix", ["feather", "parquet"])
@pytest.mark.slow
def test_a_damaged_file_is_refused_or_read(tmp_path, suffix):
    pytest.importorskip("pyarrow")
    command = [sys.executable, "-m", "tests.tables.damaged_arrow"]
    done = subprocess.run(
        [*command, str(tmp_path), suffix, "0", str(CASES)],
        capture_output=True, text=True, preexec_fn=limit_memory,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert "'refused': 0" not in done.stdout and "'read': 0" not in done.stdout
