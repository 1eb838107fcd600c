"""What a command was asked to read, resume, write and print."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from thalweg.runs.source import Source
    from thalweg.tables.class_labels import Task


class PathOptions(NamedTuple):
    """The files that a command writes, and the model that it resumes."""

    out: Path | None = None
    predictions: Path | None = None
    model: Path | None = None
    resume: Path | None = None


class OutputOptions(NamedTuple):
    """What to write and print besides the tables."""

    report: bool = True
    figures: bool = False
    json: bool = False

    @property
    def has_page(self) -> bool:
        """Whether anything is drawn."""
        return self.report or self.figures


class RunSettings(NamedTuple):
    """What the command line says of a run."""

    source: "Source"
    recipe: dict[str, Any]  # settings of the Recipe
    keys: tuple[str, ...] | None = None  # None: to be found, (): one series
    task: "Task" = "auto"
    paths: PathOptions = PathOptions()
    is_next: bool | None = None  # whether rows come after those of the run resumed
    outputs: OutputOptions = OutputOptions()
    horizon: int | None = None  # rows to forecast in the end
