"""A process that has imported all but thalweg, and forks a child for each mutant.

It reads jobs from standard input, one line of JSON each, and answers each with a line:

    {"source": folder, "tests": [node ids in order], "files": [theirs], "log": path,
     "options": of pytest, "limits": {test: s}, "seconds": of processor time,
     "wall_seconds": of the clock}
    {"status": "survived" | "killed" | "timed out", "by": test or reason, "seconds": s}
"""

import contextlib
import faulthandler
import importlib
import json
import os
import resource
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import pytest

PREPARED = (
    "numpy scipy.linalg scipy.optimize scipy.sparse scipy.special scipy.stats numba "
    "llvmlite.ir hypothesis.strategies hypothesis.extra.numpy daqp pandas pyarrow "
    "pyarrow.parquet pyarrow.feather typer.testing rich.table altair sqlite3"
).split()
"""What tests and thalweg import, so that children need not; where it is installed."""
MAX_MEMORY = 8 * 2**30
"""Bytes that a mutant may write to, so that it cannot take the machine's memory. Its
address space is not limited: what draws charts reserves more than there is."""
BROKEN = 70
"""Exit code of a child in which not the tests failed but what runs them."""


class JobPlugin:
    """Keeps the tests of the job in its order, and notes which one fails."""

    def __init__(self, job: dict[str, Any], log: Any) -> None:
        self.places = {test: i for i, test in enumerate(job["tests"])}
        self.limits = job["limits"]
        self.log = log
        self.failed = ""
        self.current = ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Drop the tests that are not asked for, and sort the others."""
        items[:] = [item for item in items if item.nodeid in self.places]
        items.sort(key=lambda item: self.places[item.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        """End the process where one test takes too long, whoever holds the GIL."""
        print("RUNNING", item.nodeid, file=self.log, flush=True)
        limit = self.limits.get(item.nodeid, 120)
        faulthandler.dump_traceback_later(limit, exit=True, file=self.log)
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take note of the first failure."""
        if report.failed and not self.failed:
            self.failed = report.nodeid
            print("FAILED", report.nodeid, file=self.log, flush=True)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A test file that cannot be imported counts as a failure."""
        if report.failed and not self.failed:
            self.failed = f"import of {report.nodeid}"
            print("FAILED", self.failed, file=self.log, flush=True)


def run_child(job: dict[str, Any]) -> int:
    """Run the tests of a job in this process; pytest's exit code."""
    os.setsid()
    log = open(job["log"], "w")
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        mode = os.O_RDONLY if stream is sys.stdin else os.O_WRONLY
        target = os.open(os.devnull, mode) if stream is sys.stdin else log.fileno()
        os.dup2(target, stream.fileno())
    source, root = job["source"], os.getcwd()
    os.environ["PYTHONPATH"] = os.pathsep.join([source, root])
    sys.path[:0] = [source, root]
    seconds = int(job["seconds"])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY, MAX_MEMORY))
    temporary = f"{job['log']}.tmp"
    options = ["-q", "-x", "--no-header", "--tb=short", "-p", "no:cacheprovider"]
    options += [f"--basetemp={temporary}", "--hypothesis-seed=0"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning", *job["options"]]
    code = pytest.main([*options, *job["files"]], plugins=[JobPlugin(job, log)])
    location = getattr(sys.modules.get("thalweg"), "__file__", None) or source
    if not location.startswith(source):
        print("FOREIGN SOURCE", location, file=log, flush=True)
    log.flush()
    return int(code)


def wait_for(child: int, seconds: float) -> int | None:
    """The child's status, or None where it had to be ended after ``seconds``."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def judge(code: int | None, log: str) -> tuple[str, str]:
    """What became of a mutant, and by which test, from the child's end and its log."""
    running = [line[8:] for line in log.splitlines() if line.startswith("RUNNING ")]
    failed = [line[7:] for line in log.splitlines() if line.startswith("FAILED ")]
    last = running[-1] if running else "collection"
    if "FOREIGN SOURCE" in log:
        return "error", "another thalweg was imported"
    if code in (BROKEN, pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR):
        return "error", log[-300:]
    if code == 0:
        return "survived", ""
    if code == pytest.ExitCode.NO_TESTS_COLLECTED:
        return "survived", "no test reaches it"
    if code is None or code == -signal.SIGXCPU or "\nTimeout (" in log:
        return "timed out", last
    if code == -signal.SIGKILL:
        return "timed out", f"{last} (processor time)"
    if failed:
        return "killed", failed[0]
    return "killed", f"{last} (exit code {code})"


def main() -> None:
    """Answer jobs until standard input ends."""
    for name in PREPARED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for line in sys.stdin:
        job = json.loads(line)
        start = time.monotonic()
        child = os.fork()
        if child == 0:
            try:
                code = run_child(job)
            except BaseException:
                with open(job["log"], "a") as log:
                    print("BROKEN", traceback.format_exc(), file=log)
                code = BROKEN
            os._exit(code)
        code = wait_for(child, job["wall_seconds"])
        log = Path(job["log"]).read_text(errors="replace")
        status, by = judge(code, log)
        seconds = round(time.monotonic() - start, 1)
        answer = {"status": status, "by": by, "seconds": seconds}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
