"""A pytest plugin: what each test costs, and which functions of ours it calls.

It writes one line of JSON for each test to the file that MUTANTS_SURVEY names: the
test's node id, its outcome, its seconds of processor time, the functions of ours that
were called in this process, by file and qualified name, and whether it started other
processes, whose calls are not seen.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from numba.core import event

SOURCE = os.environ.get("MUTANTS_SOURCE", "") + "/thalweg/"


class Survey(event.Listener):  # type: ignore[misc]
    """Traces the calls of one test at a time, but for those of the compiler."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("a")
        self.functions: set[tuple[str, str]] = set()
        self.processes = 0
        self.is_running = False
        self.seen: set[Any] = set()

    def note(self, frame: FrameType, event: str, _: object) -> None:
        """A trace function that looks at calls only: local tracing stays off."""
        code = frame.f_code
        if code in self.seen:
            return
        self.seen.add(code)
        if code.co_filename.startswith(SOURCE):
            name = code.co_qualname
            self.functions.add((code.co_filename.removeprefix(SOURCE), name))

    def on_start(self, _: object) -> None:
        """Trace nothing while kernels are compiled, which would take thrice as long."""
        sys.settrace(None)

    def on_end(self, _: object) -> None:
        """Go on with tracing, where a test runs."""
        if self.is_running:
            sys.settrace(self.note)

    def note_process(self, event: str, _: object) -> None:
        """An audit hook that counts the processes which a test starts."""
        if event in ("subprocess.Popen", "os.fork", "os.posix_spawn"):
            self.processes += 1

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        """Run the test under the trace function, and write its line."""
        self.functions, self.seen, self.processes = set(), set(), 0
        self.outcome = "passed"
        start, children = time.process_time(), os.times()
        self.is_running = True
        threading.settrace(self.note)
        sys.settrace(self.note)
        try:
            return (yield)
        finally:
            self.is_running = False
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]
            after = os.times()
            waited = after.children_user - children.children_user
            waited += after.children_system - children.children_system
            line = {
                "test": item.nodeid,
                "outcome": self.outcome,
                "seconds": round(time.process_time() - start + waited, 3),
                "processes": self.processes,
                "functions": sorted(self.functions),
            }
            self.file.write(json.dumps(line) + "\n")
            self.file.flush()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take note of a failure in any phase of the test."""
        if not report.passed:
            self.outcome = report.outcome


def pytest_configure(config: pytest.Config) -> None:
    """Install the survey where a file for it is named."""
    path = os.environ.get("MUTANTS_SURVEY")
    if path:
        survey = Survey(Path(path))
        event.register("numba:compile", survey)
        sys.addaudithook(survey.note_process)
        config.pluginmanager.register(survey, "mutants-survey")
