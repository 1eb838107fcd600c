"""The process: exit codes, and packages that are not installed."""

import os
import subprocess
import sys
import zipfile

import pytest

from tests.cli.streams import RUNNER, rows, written
from thalweg.cli.main import app

WITHOUT = """
import sys
class Absent:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, *others):
        if name.partition(".")[0] in {names!r}:
            return None
        return self.finder.find_spec(name, *others)
    def __getattr__(self, name):
        return getattr(self.finder, name)
sys.meta_path[:] = [Absent(finder) for finder in sys.meta_path]
from thalweg.cli.program import main
main()
"""


def run_without(names, *arguments, cwd):
    """The outcome of the program where these packages are not installed."""
    program = WITHOUT.format(names=set(names))
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=cwd, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_run_without_the_packages_of_pages_has_no_page(tmp_path):
    written(tmp_path / "s.csv", rows(60))
    done = run_without(
        ["altair", "vl_convert", "jinja2"], "run", "s.csv", "-t", "y", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    remarks = " ".join(done.stderr.split())
    assert "There will be no page, as altair is not installed: pip install" in remarks
    assert "'thalweg[report]'" in remarks
    assert not (tmp_path / "out/s/report.html").exists()
    assert (tmp_path / "out/s/predictions.csv").exists()


@pytest.mark.slow
def test_text_is_run_without_pyarrow_and_other_files_name_the_extra(tmp_path):
    written(tmp_path / "s.csv", rows(60))
    absent = ["pyarrow", "narwhals", "openpyxl"]
    done = run_without(absent, "run", "s.csv", "-t", "y", "--no-report", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "s.parquet").write_bytes(b"PAR1")
    done = run_without(absent, "run", "s.parquet", "-t", "y", cwd=tmp_path)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        2,
        "Reading s.parquet needs pyarrow: pip install 'thalweg[io]'.",
    )
    with zipfile.ZipFile(tmp_path / "s.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "")
    done = run_without(absent, "run", "s.xlsx", "-t", "y", cwd=tmp_path)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        2,
        "Reading s.xlsx needs openpyxl: pip install 'thalweg[xlsx]'.",
    )


END = """
import atexit, sys, threading, time
from thalweg.cli.program import end_process
atexit.register(lambda: print("registered"))
threading.Thread(target=lambda: (time.sleep(0.1), print("thread"))).start()
class Library:
    def __del__(self):
        print("unloaded")
library = Library()
sys.stdout.write("unflushed ")
end_process({code!r})
"""


@pytest.mark.parametrize(
    ("code", "status", "remarks"),
    [(None, 0, ""), (0, 0, ""), (2, 2, ""), (130, 130, ""), ("Why.", 1, "Why.\n")],
)
def test_the_process_ends_in_order_with_its_code(code, status, remarks):
    done = subprocess.run(
        [sys.executable, "-c", END.format(code=code)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (status, remarks)
    assert done.stdout == "unflushed thread\nregistered\n"


def test_a_closed_pipe_does_not_change_the_code():
    read, write = os.pipe()
    os.close(read)
    program = "from thalweg.cli.program import end_process; print(1); end_process(2)"
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
    done = subprocess.run(
        [sys.executable, "-c", program], stdout=write, stderr=subprocess.PIPE,
        check=False, env=buffered,
    )  # fmt: skip
    os.close(write)
    assert done.returncode == 2


def test_help_offers_no_installation_of_completions():
    assert "completion" not in RUNNER.invoke(app, ["run", "--help"]).output
