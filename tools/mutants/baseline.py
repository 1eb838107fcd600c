"""The unchanged tree in a folder of its own, its survey, and a copy for each mutant."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools.mutants.selection import PLAIN_TESTS, TESTS, TIER_OPTIONS, kernel_closures
from tools.mutants.sites import Mutation

PLAIN, COMPILED = "plain", "compiled"
"""Kernels as plain Python (NUMBA_DISABLE_JIT=1), and as the compiler makes them."""


def mode_environment(mode: str, source: Path, root: Path) -> dict[str, str]:
    """The environment of a process that runs tests."""
    environment = {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{root}"}
    environment |= {"OPENBLAS_NUM_THREADS": "1", "NUMBA_DISABLE_JIT": "0"}
    # A mutant has the kernels of the unchanged tree, if it changes none of their files.
    environment["NUMBA_CACHE_DIR"] = str(root.parent)
    if mode == PLAIN:
        environment["NUMBA_DISABLE_JIT"] = "1"
    return environment


def digest(text: str) -> str:
    """A short name for the present text of a file."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Baseline:
    """A copy of the tree in which nothing is mutated."""

    def __init__(self, tree: Path, folder: Path) -> None:
        self.tree = tree
        self.folder = folder
        self.root = folder / "baseline"
        self.source = self.root / "src"
        self.texts: dict[str, str] = {}
        self.closures: dict[str, set[str]] = {}

    def refresh(self) -> None:
        """Take over what has changed in the tree."""
        command = ["git", "ls-files", "-co", "--exclude-standard"]
        listing = subprocess.check_output(command, cwd=self.tree, text=True)
        files = {name for name in listing.splitlines() if (self.tree / name).is_file()}
        for path in list(self.root.rglob("*.py")):
            if str(path.relative_to(self.root)) not in files:
                path.unlink()
        for name in files:
            self._copy(name)
        self.texts = {
            str(path.relative_to(self.source / "thalweg")): path.read_text()
            for path in sorted((self.source / "thalweg").rglob("*.py"))
        }
        self.closures = kernel_closures(self.texts)

    def _copy(self, name: str) -> None:
        source, target = self.tree / name, self.root / name
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)

    def write_mutant(self, mutation: Mutation, folder: Path) -> Path:
        """A source tree with the mutation, of hard links."""
        shutil.rmtree(folder, ignore_errors=True)
        package = self.source / "thalweg"
        for path in package.rglob("*"):
            name = path.relative_to(package)
            target = folder / "thalweg" / name
            if path.is_dir():
                target.mkdir(parents=True, exist_ok=True)
            elif str(name) != mutation.file:
                target.parent.mkdir(parents=True, exist_ok=True)
                os.link(path, target)
        text = mutation.apply(self.texts[mutation.file])
        (folder / "thalweg" / mutation.file).write_text(text)
        return folder

    def survey_path(self, mode: str) -> Path:
        """Where the lines of a survey are kept."""
        return self.folder / f"survey-{mode}.jsonl"

    def survey(self, packages: list[str], anew: bool, workers: int) -> None:
        """Run, unchanged, all tests whose files have changed since the last survey."""
        folders = sorted({folder for name in packages for folder in TESTS[name]})
        if "kernels" in packages:
            self._survey(PLAIN, PLAIN_TESTS, anew, workers)
        self._survey(COMPILED, folders, anew, workers)

    def _survey(self, mode: str, folders: list[str], anew: bool, workers: int) -> None:
        stamps_path = self.folder / f"survey-{mode}.json"
        stamps = json.loads(stamps_path.read_text()) if stamps_path.exists() else {}
        stale = []
        for folder in folders:
            path, _, function = folder.partition("::")
            for file in self._test_files(self.root / path):
                name = str(file.relative_to(self.root))
                name += f"::{function}" if function else ""
                stamp = digest(file.read_text())
                if anew or stamps.get(name) != stamp:
                    stale.append(name)
                    stamps[name] = stamp
        if stale:
            print(f"Surveying {len(stale)} files of tests, {mode} kernels.", flush=True)
            parts = [part for i in range(workers) if (part := stale[i::workers])]
            runs = [self._start_survey(mode, i, part) for i, part in enumerate(parts)]
            for run in runs:
                run.wait()
        stamps_path.write_text(json.dumps(stamps))

    @staticmethod
    def _test_files(path: Path) -> list[Path]:
        return [path] if path.is_file() else sorted(path.rglob("test_*.py"))

    def _start_survey(
        self, mode: str, number: int, files: list[str]
    ) -> "subprocess.Popen[bytes]":
        environment = mode_environment(mode, self.source, self.root)
        environment["MUTANTS_SURVEY"] = str(self.survey_path(mode))
        environment["MUTANTS_SOURCE"] = str(self.source)
        name = self.folder / f"survey-{mode}-{number}"
        options = ["-q", "-p", "no:cacheprovider", "-p", "tools.mutants.survey"]
        options += TIER_OPTIONS["all"]
        with Path(f"{name}.log").open("w") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "pytest", *options, f"--basetemp={name}.tmp"]
                + files,
                cwd=self.root,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
