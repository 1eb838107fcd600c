"""Run every mutant that has no result yet, two at a time, and keep the results."""

import difflib
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from tools.mutants.baseline import (
    COMPILED,
    PLAIN,
    Baseline,
    digest,
    mode_environment,
)
from tools.mutants.named import named_mutations
from tools.mutants.selection import (
    MAX_PLAIN_SECONDS,
    PLAIN_TESTS,
    TESTS,
    TIER_OPTIONS,
    SurveyedTest,
    load_survey,
    select_by_imports,
    select_tests,
)
from tools.mutants.sites import Mutation, draw, mutations

SEED = 12
MUTANTS_PER_PACKAGE = 42
COMPILATION_SECONDS = 300
"""Processor time that a mutated kernel may take for compilation."""
CONTROL_TESTS = 30
"""Tests that each server runs first on the unchanged tree, where they have to pass."""
EQUIVALENT = Path(__file__).with_name("equivalent.toml")


def all_mutants(texts: dict[str, str]) -> list[Mutation]:
    """The named mutants, then those drawn from each package."""
    mutants = named_mutations(texts)
    for package in TESTS:
        candidates = [
            mutation
            for file, text in texts.items()
            if file.startswith(f"{package}/")
            for mutation in mutations(file, text, SEED)
        ]
        mutants += draw(candidates, MUTANTS_PER_PACKAGE, SEED)
    return mutants


def package_of(mutation: Mutation) -> str:
    """The package that a mutant changes."""
    return mutation.file.split("/")[0]


class Results:
    """A file of results, one line of JSON each; the last line of a mutant counts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = threading.Lock()
        self.lines: dict[tuple[str, str], dict[str, Any]] = {}
        for line in path.read_text().splitlines() if path.exists() else []:
            fields = json.loads(line)
            self.lines[fields["name"], fields["text"]] = fields

    def get(self, mutation: Mutation, text: str) -> dict[str, Any] | None:
        """The result of a mutant of this very text of its file."""
        return self.lines.get((mutation.name, digest(text)))

    def add(self, mutation: Mutation, text: str, answer: dict[str, Any]) -> None:
        """Keep the result of a mutant."""
        fields = {"name": mutation.name, "text": digest(text), **answer}
        with self.lock:
            self.lines[fields["name"], fields["text"]] = fields
            with self.path.open("a") as file:
                file.write(json.dumps(fields) + "\n")


class Worker(threading.Thread):
    """Takes mutants from a queue and runs them in servers of its own."""

    def __init__(
        self,
        number: int,
        baseline: Baseline,
        surveys: dict[str, list[SurveyedTest]],
        waiting: "queue.Queue[Mutation]",
        results: Results,
        modes: list[str],
        tier: str,
    ) -> None:
        super().__init__()
        self.baseline = baseline
        # Two campaigns at once do not share their mutants.
        self.place = baseline.folder / f"mutant-{os.getpid()}-{number}"
        self.surveys = surveys
        self.waiting = waiting
        self.results = results
        self.modes = modes  # of kernels, one after the other
        self.tier = tier
        self.servers: dict[str, subprocess.Popen[str]] = {}

    def run(self) -> None:
        """Work until no mutant waits."""
        for mode in self.modes:
            self.check_server(mode, self.surveys[mode])
        while True:
            try:
                mutation = self.waiting.get_nowait()
            except queue.Empty:
                break
            answer = self.try_mutant(mutation)
            self.results.add(mutation, self.baseline.texts[mutation.file], answer)
            left = self.waiting.qsize()
            print(
                f"{answer['status']:<10} {answer['seconds']:6.1f} s  {mutation.name}"
                f"  {answer['by']}  ({left} left)",
                flush=True,
            )
        for server in self.servers.values():
            server.stdin.close()  # type: ignore[union-attr]
            server.wait()
        shutil.rmtree(self.place, ignore_errors=True)

    def check_server(self, mode: str, tests: list[SurveyedTest]) -> None:
        """Raise unless tests pass in a server of this mode where nothing is mutated."""
        quick = sorted(tests, key=lambda test: test.seconds)[:CONTROL_TESTS]
        if quick:
            answer = self.ask(mode, self.baseline.source, quick, True)
            if answer["status"] != "survived":
                raise RuntimeError(f"Tests fail without any mutation: {answer}")

    def try_mutant(self, mutation: Mutation) -> dict[str, Any]:
        """Run the mutant's tests; for kernels first as plain Python."""
        folder = self.place
        source = self.baseline.write_mutant(mutation, folder)
        package = package_of(mutation)
        answer: dict[str, Any] = {"status": "survived", "by": "", "seconds": 0.0}
        spent = 0.0
        for mode in self.modes if package == "kernels" else [COMPILED]:
            tests = self.choose(mutation, mode)
            if tests:
                answer = self.ask(mode, source, tests, package == "kernels")
                spent += answer["seconds"]
            if answer["status"] != "survived":
                break
        return {**answer, "mode": mode, "seconds": spent}

    def choose(self, mutation: Mutation, mode: str) -> list[SurveyedTest]:
        """The tests of a mutant in their order."""
        folders = PLAIN_TESTS if mode == PLAIN else TESTS[package_of(mutation)]
        tests = self.surveys[mode]
        if mode == PLAIN:  # what is slow, or starts processes, runs compiled
            tests = [
                test
                for test in tests
                if test.seconds <= MAX_PLAIN_SECONDS and not test.starts_processes
            ]
        chosen = select_tests(tests, mutation.file, mutation.function, folders)
        if package_of(mutation) == "kernels" and mode == COMPILED:
            more = select_by_imports(
                tests, mutation.file, self.baseline.closures, folders
            )
            chosen = list(dict.fromkeys([*chosen, *more]))
        return chosen

    def ask(
        self, mode: str, source: Path, tests: list[SurveyedTest], compiles: bool
    ) -> dict[str, Any]:
        """Send a job to the server of this mode; its answer."""
        extra = COMPILATION_SECONDS if compiles and mode == COMPILED else 0
        seconds = 20 + 3 * sum(test.seconds for test in tests) + extra
        job = {
            "source": str(source),
            "options": TIER_OPTIONS[self.tier],
            "tests": [test.name for test in tests],
            "files": list(dict.fromkeys(test.file for test in tests)),
            "limits": {test.name: 30 + 15 * test.seconds + extra for test in tests},
            "seconds": seconds,
            "wall_seconds": 4 * seconds,
            "log": f"{self.place}.log",
        }
        server = self.server(mode)
        print(json.dumps(job), file=server.stdin, flush=True)
        line = server.stdout.readline()  # type: ignore[union-attr]
        shutil.rmtree(f"{job['log']}.tmp", ignore_errors=True)
        answer: dict[str, Any] = json.loads(line)
        return answer

    def server(self, mode: str) -> "subprocess.Popen[str]":
        """The running server of this mode."""
        if mode not in self.servers:
            self.servers[mode] = subprocess.Popen(
                [sys.executable, "-m", "tools.mutants.server"],
                cwd=self.baseline.root,
                env=mode_environment(mode, self.baseline.root, self.baseline.root),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        return self.servers[mode]


def run_campaign(
    baseline: Baseline,
    mutants: list[Mutation],
    results: Results,
    workers: int,
    modes: list[str],
    tier: str,
) -> None:
    """Run the mutants; what is interrupted goes on with the next call."""
    surveys = {}
    for mode in (PLAIN, COMPILED):
        surveys[mode], failed = load_survey(baseline.survey_path(mode))
        for name in failed:
            print(f"fails without any mutation ({mode} kernels): {name}")
    waiting: queue.Queue[Mutation] = queue.Queue()
    for mutation in mutants:
        waiting.put(mutation)
    crew = [
        Worker(number, baseline, surveys, waiting, results, modes, tier)
        for number in range(workers)
    ]
    for worker in crew:
        worker.start()
    for worker in crew:
        worker.join()


def load_equivalents() -> dict[str, str]:
    """Why a mutant changes nothing that anyone could notice, by its name."""
    return tomllib.loads(EQUIVALENT.read_text()) if EQUIVALENT.exists() else {}


def table(mutants: list[Mutation], texts: dict[str, str], results: Results) -> str:
    """The counts of each package, and the share of killed ones."""
    equivalents = load_equivalents()
    columns = ("mutants", "killed", "timed out", "survived", "equivalent", "not run")
    lines = [f"{'':<12}" + "".join(f"{name:>12}" for name in (*columns, "killed %"))]
    total: Counter[str] = Counter()
    for group in ("named", *TESTS):
        counts: Counter[str] = Counter()
        for mutation in mutants:
            name = "named" if mutation.kind == "named" else package_of(mutation)
            if name == group:
                result = results.get(mutation, texts[mutation.file]) or {}
                status = result.get("status", "not run")
                if status == "survived" and mutation.name in equivalents:
                    status = "equivalent"
                counts[status] += 1
                counts["mutants"] += 1
        total += counts
        lines.append(_row(group, counts, columns))
    return "\n".join([*lines, _row("all", total, columns)])


def _row(name: str, counts: Counter[str], columns: tuple[str, ...]) -> str:
    detected = counts["killed"] + counts["timed out"]
    tried = counts["mutants"] - counts["equivalent"] - counts["not run"]
    share = f"{100 * detected / tried:.1f}" if tried else "-"
    return f"{name:<12}" + "".join(f"{counts[c]:>12}" for c in columns) + f"{share:>12}"


def mutant_diff(mutation: Mutation, text: str) -> str:
    """A unified diff of a mutant."""
    lines = difflib.unified_diff(
        text.splitlines(),
        mutation.apply(text).splitlines(),
        mutation.file,
        mutation.name,
        lineterm="",
        n=2,
    )
    return "\n".join(lines)
