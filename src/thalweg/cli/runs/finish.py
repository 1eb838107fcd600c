"""How a run ends: what is shown, what is saved, and what the shell is told."""

import json as to_json
import shlex
import time
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console

from thalweg.cli.console import print_saved_files, progress, remarks, results
from thalweg.cli.options import Wanted
from thalweg.cli.runs import study_files
from thalweg.cli.runs.run_loop import Running
from thalweg.cli.runs.signals import Stop
from thalweg.cli.saying import say
from thalweg.cli.study_tables import print_study, study_as_json
from thalweg.evaluation.study import Study


@dataclass(frozen=True)
class Ending:
    """A run, and what is wanted of it."""

    running: Running
    source: str
    wanted: Wanted

    def reach(self) -> None:
        """Run to the end, or until stopped, and say what came of it."""
        running, session = self.running, self.running.session
        if session.rows:
            remarks().print(f"Goes on after row {session.rows:,}.")
        began = time.perf_counter()
        total = None if running.table.is_live else 1.0
        with Stop() as stop, progress(running.table.name, total) as bar:
            running.go(stop, bar)
        seconds = time.perf_counter() - began
        studies = session.studies(running.table.name) if session.scored else []
        # Who presses Ctrl-C does not wait for a page: thalweg report makes it later.
        complete = studies if stop.by is None else []
        saved = self._saved(complete)
        if not self.wanted.json:
            self._show(studies, seconds)
        if complete:
            saved += study_files.drawn(complete, running.places.folder, self.wanted)
        if self.wanted.json:
            self._print_json(studies, saved, seconds)
        else:
            replaced = running.model if running.replaces else None
            print_saved_files(self._console(), saved, replaced)
        if stop.by is not None:
            self._say_how_to_go_on()
            raise typer.Exit(stop.code)

    def _saved(self, studies: list[Study]) -> list[Path]:
        saved = [self.running.model] if self.running.session.players else []
        if self.running.file is not None and self.running.file.size:
            saved.append(self.running.file.path)
        if studies:
            saved.append(study_files.save(studies, self.running.places.folder))
        return saved

    def _console(self) -> Console:
        return remarks() if self.running.echo else results()

    def _show(self, studies: list[Study], seconds: float) -> None:
        console = self._console()
        for study in studies:
            print_study(console, study)
        if not studies:
            say(console, self._too_few())
        for note in self.running.session.encoder.notes():
            say(remarks(), note)
        say(console, self._speed(seconds))

    def _speed(self, seconds: float) -> str:
        """How fast it was from the first row to the last one saved, without a page."""
        running, session = self.running, self.running.session
        if not running.rows:
            name, seen = running.table.name, session.rows - session.before
            came = (
                "came"
                if running.table.is_live
                else f"in {name}: all {seen:,} were seen"
            )
            return f"No new row {came}."
        rate = float(f"{running.rows / seconds:.2g}")  # as exact as the seconds allow
        return (
            f"{running.rows:,} rows in {_three_digits(seconds)} s: about {rate:,.0f} "
            f"rows a second."
        )

    def _too_few(self) -> str:
        players = self.running.session.players
        if not players:
            return "No row came."
        labels = players[0].burn_in
        return f"Too few rows to score: the first {labels} labels only warm up."

    def _print_json(
        self, studies: list[Study], saved: list[Path], seconds: float
    ) -> None:
        found = {
            "source": self.running.table.name,
            "rows": self.running.session.rows,
            "new_rows": self.running.rows,
            "seconds": seconds,
            "rows_per_second": self.running.rows / seconds,
            "studies": [study_as_json(study) for study in studies],
            "files": [str(path) for path in saved],
        }
        typer.echo(to_json.dumps(found, allow_nan=False))

    def _say_how_to_go_on(self) -> None:
        running = self.running
        if not running.session.players:
            return
        rows, command = running.session.rows, f"thalweg run {shlex.quote(self.source)}"
        say(remarks(), f"Stopped after row {rows:,}. Go on with:")
        command += f" --resume {shlex.quote(str(running.model))}"
        remarks().print(f"  {command}", markup=False, soft_wrap=True)


def _three_digits(seconds: float) -> str:
    """As 0.13, 1.31, 13.1 or 131."""
    places = 2 if seconds < 10 else 1 if seconds < 100 else 0
    return f"{seconds:,.{places}f}"
