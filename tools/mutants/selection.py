"""Which tests a mutant runs, and in which order: from a survey of all of them.

A survey says what each test costs and which functions it calls. A mutant runs the tests
of its package and the contracts that call the mutated function: those of the file of
tests that mirrors its own first, then by their cost. Tests that start processes, in
which calls are not seen, come last.
"""

import ast
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

TESTS = {
    "kernels": [
        "tests/kernels",
        "tests/learners",
        "tests/contracts",
        "tests/regret",
        "tests/bandits",
    ],
    "learners": [
        "tests/learners",
        "tests/contracts",
        "tests/test_refusals.py",
        "tests/kernels/tracker/test_replay.py",
        "tests/kernels/tracker/test_restart.py",
    ],
    "persistence": ["tests/persistence", "tests/models", "tests/contracts"],
    "models": ["tests/models", "tests/contracts"],
    "forecasting": ["tests/forecasting"],
    "calendar": ["tests/calendar", "tests/forecasting", "tests/tables"],
    "evaluation": ["tests/evaluation", "tests/report", "tests/cli"],
    "keyed": ["tests/keyed", "tests/test_accepted_is_readable.py"],
    "tables": ["tests/tables", "tests/models", "tests/forecasting", "tests/cli"],
    "serve": ["tests/serve", "tests/test_accepted_is_readable.py"],
    "runs": ["tests/cli", "tests/test_accepted_is_readable.py"],
    "cli": ["tests/cli"],
}
"""The tests of each package. Comparators in hindsight, which are kernels, are tested
with regret, saved models with models, and some of the Tracker's definition beside its
kernels."""
PLAIN_TESTS = [
    "tests/kernels",
    "tests/contracts/test_every_learner.py::test_the_kernel_equals_update",
]
"""Tests that also run with kernels as plain Python, where no mutant is compiled."""
TIER_OPTIONS = {"all": ["-m", "not nightly"], "fast": ["--tier", "fast"]}
"""Options of pytest that leave the tests which may notice a mutant: those of ``make
test`` and ``make test-all``, or those of ``make test`` alone."""
MAX_PLAIN_SECONDS = 30.0
"""Tests that take longer as plain Python wait for the compiled kernels."""


class SurveyedTest(NamedTuple):
    """One line of a survey."""

    name: str  # pytest's node id
    seconds: float  # of processor time, its child processes included
    starts_processes: bool
    functions: frozenset[tuple[str, str]]  # file below src/thalweg, and qualified name

    @property
    def file(self) -> str:
        """The file that the test stands in."""
        return self.name.split("::")[0]


def load_survey(path: Path) -> tuple[list[SurveyedTest], list[str]]:
    """The tests of a survey that passed, and the names of those that failed."""
    tests: dict[str, SurveyedTest] = {}
    failed = []
    for line in path.read_text().splitlines() if path.exists() else []:
        fields = json.loads(line)
        name = fields["test"]
        tests.pop(name, None)
        if fields["outcome"] == "failed":
            failed.append(name)
        elif fields["outcome"] == "passed":
            functions = frozenset(
                (file, function_name(function))
                for file, function in fields["functions"]
            )
            processes = bool(fields["processes"])
            tests[name] = SurveyedTest(name, fields["seconds"], processes, functions)
    return list(tests.values()), [name for name in failed if name not in tests]


def function_name(qualified: str) -> str:
    """The function that a piece of code belongs to, without comprehensions."""
    name = qualified.replace(".<locals>", "")
    return re.sub(r"(\.<\w+>)+$", "", name)


def select_tests(
    tests: Iterable[SurveyedTest], file: str, function: str, folders: list[str]
) -> list[SurveyedTest]:
    """The tests below ``folders`` that call the function, likely killers first."""
    own = [test for test in tests if _lies_below(test, folders)]
    callers = [test for test in own if (file, function) in test.functions]
    if not callers:  # code that runs at import, or that no test calls
        callers = [test for test in own if file in {name for name, _ in test.functions}]
    mirror = mirror_name(file)
    chosen = set(callers)
    others = [
        test
        for test in own
        if test not in chosen
        and (test.starts_processes or Path(test.file).name == mirror)
    ]
    return sorted(callers, key=lambda test: _rank(test, mirror)) + sorted(
        others, key=lambda test: _rank(test, mirror)
    )


def select_by_imports(
    tests: Iterable[SurveyedTest],
    file: str,
    closure: dict[str, set[str]],
    folders: list[str],
) -> list[SurveyedTest]:
    """Tests that call a module whose kernels are made, among others, of ``file``.

    Compiled kernels call each other unseen, so what they call is taken from their
    imports; ``closure`` has for each module the kernel files that it depends on.
    """
    users = {module for module, kernels in closure.items() if file in kernels}
    chosen = [
        test
        for test in tests
        if _lies_below(test, folders)
        and users & {module for module, _ in test.functions}
    ]
    mirror = mirror_name(file)
    return sorted(chosen, key=lambda test: _rank(test, mirror))


def mirror_name(file: str) -> str:
    """The name of the test file that mirrors a source file."""
    return f"test_{Path(file).stem}.py"


def kernel_closures(texts: dict[str, str]) -> dict[str, set[str]]:
    """For each file, the kernel files it imports, and those that these import.

    A file outside of kernels answers for what it imports itself.
    """
    imports = {file: _kernel_imports(text, texts) for file, text in texts.items()}
    closures = {}
    for file in texts:
        reached, waiting = set(), [file]
        while waiting:
            for name in imports[waiting.pop()]:
                if name not in reached:
                    reached.add(name)
                    waiting.append(name)
        closures[file] = reached | ({file} if file.startswith("kernels/") else set())
    return closures


def _kernel_imports(text: str, texts: dict[str, str]) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    files = {name.removeprefix("thalweg.").replace(".", "/") for name in names}
    candidates = {f"{name}.py" for name in files} | {
        f"{name}/__init__.py" for name in files
    }
    return {name for name in candidates & set(texts) if name.startswith("kernels/")}


def _lies_below(test: SurveyedTest, folders: list[str]) -> bool:
    """Whether a test is in one of the folders or files, or is one of the functions."""
    return any(
        test.name.startswith((f"{folder}/", f"{folder}::", f"{folder}["))
        or test.name == folder
        for folder in folders
    )


def _rank(test: SurveyedTest, mirror: str) -> tuple[bool, bool, float]:
    return test.starts_processes, Path(test.file).name != mirror, test.seconds
