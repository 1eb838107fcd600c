"""How a run ends: what is shown, what is saved, and what the shell is told."""

import json as to_json
import time
from dataclasses import dataclass
from pathlib import Path

import typer

from thalweg.cli.console import progress, remarks, results
from thalweg.cli.options import Wanted
from thalweg.cli.work import outputs
from thalweg.cli.work.running import Running
from thalweg.cli.work.show import as_json, listed, show
from thalweg.cli.work.stop import Stop
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
        total = None if running.table.live else 1.0
        with Stop() as stop, progress(running.table.name, total) as bar:
            running.go(stop, bar)
        seconds = time.perf_counter() - began
        rate = running.rate(seconds)
        studies = session.studies(running.table.name) if session.scored else []
        saved = self._saved(studies, whole=stop.by is None)
        if self.wanted.json:
            self._print_json(studies, saved, (seconds, rate))
        else:
            self._show(studies, saved, (seconds, rate))
        if stop.by is not None:
            self._say_how_to_go_on()
            raise typer.Exit(stop.code)

    def _saved(self, studies: list[Study], whole: bool) -> list[Path]:
        saved = [self.running.model] if self.running.session.players else []
        if self.running.file is not None and self.running.file.size:
            saved.append(self.running.file.path)
        # Who presses Ctrl-C does not wait for a page: thalweg report makes it later.
        if studies and whole:
            saved += outputs.save(studies, self.running.places.folder, self.wanted)
        return saved

    def _show(
        self, studies: list[Study], saved: list[Path], speed: tuple[float, float]
    ) -> None:
        console = remarks() if self.running.echo else results()
        for study in studies:
            show(console, study)
        if not studies:
            console.print(self._too_few(), markup=False)
        for note in self.running.session.encoder.notes:
            remarks().print(note, markup=False)
        rows, (seconds, rate) = self.running.rows, speed
        console.print(f"{rows:,} rows in {seconds:.1f} s: {rate:,.0f} rows a second.")
        listed(console, saved, self.running.model if self.running.replaces else None)

    def _too_few(self) -> str:
        players = self.running.session.players
        if not players:
            return "No row came."
        labels = players[0].burn_in
        return f"Too few rows to score: the first {labels} labels only warm up."

    def _print_json(
        self, studies: list[Study], saved: list[Path], speed: tuple[float, float]
    ) -> None:
        found = {
            "source": self.running.table.name,
            "rows": self.running.session.rows,
            "seconds": speed[0],
            "rows_per_second": speed[1],
            "studies": [as_json(study) for study in studies],
            "files": [str(path) for path in saved],
        }
        typer.echo(to_json.dumps(found, allow_nan=False))

    def _say_how_to_go_on(self) -> None:
        running = self.running
        if not running.session.players:
            return
        remarks().print(
            f"Stopped after row {running.session.rows:,}. Go on with: thalweg run "
            f"{self.source} --resume {running.model}",
            markup=False, soft_wrap=True,
        )  # fmt: skip
