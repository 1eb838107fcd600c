"""Where a run starts or continues, and the paths of all that it writes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Self

from thalweg.cli.forecasts.newest_first import OrderOptions, newest_first_time
from thalweg.cli.options import PathOptions
from thalweg.cli.runs import study_files
from thalweg.cli.runs.checkpoint import RunOrigin, load_checkpoint
from thalweg.cli.runs.predictions import PredictionFile
from thalweg.cli.runs.session import Session
from thalweg.cli.runs.storage import refuse_overwriting
from thalweg.errors import InvalidParameterError
from thalweg.tables import Recipe, Table
from thalweg.tables.class_labels import Task
from thalweg.tables.format_detection import FormatSettings
from thalweg.tables.schema import Schema
from thalweg.tables.time_parts import split_joined

NEW_RUN = RunOrigin("", None, 0)


def open_session(
    resume: Path | None, recipe: dict[str, Any], task: Task = "auto"
) -> tuple[Session, RunOrigin]:
    """A new session of this recipe, or the one to be resumed."""
    if resume is not None:
        session, origin = load_checkpoint(resume, **recipe)
        _refuse_other_task(session, task)
        return session, origin
    if "targets" not in recipe:
        raise InvalidParameterError("Say which column to predict: --target NAME.")
    return Session(new_recipe(recipe), task), NEW_RUN


def new_recipe(settings: dict[str, Any]) -> Recipe:
    """The recipe of a new run: missing values are imputed unless it says otherwise.

    Codes for missing values are missing, but where a missing value is refused: that
    would name a cell that holds a number.
    """
    codes = "keep" if settings.get("missing") == "refuse" else "missing"
    return Recipe(**({"missing": "impute", "codes": codes} | settings))


def _refuse_other_task(session: Session, task: Task) -> None:
    """Raise if the run before has predicted classes and this is not to, or reversed."""
    before = "classify" if session.classes else "regress"
    if task not in ("auto", before):
        names = ", ".join(map(repr, session.recipe.targets))
        what = "classes" if session.classes else "numbers"
        raise InvalidParameterError(
            f"The run before predicts {names} as {what}. Got --{task} instead: start "
            f"anew, without --resume."
        )


def set_earlier_rows(
    session: Session, origin: RunOrigin, table: Table, next: bool | None
) -> None:
    """Decide whether the table's rows come after those seen, or begin with them."""
    if not session.rows:
        return
    if next is None and not table.is_live and table.name != origin.source:
        raise InvalidParameterError(
            f"The run to be resumed was on {origin.source}. Got {table.name} instead: "
            f"say --next if its rows come after those, --from-start if it begins with "
            f"them."
        )
    if table.is_live if next is None else next:
        session.start_source()


def order_oldest_first(
    table: Table, recipe: Recipe, schema: Schema | None, keys: tuple[str, ...],
    open_table: Callable[[], Table],
) -> None:  # fmt: skip
    """Let the table begin with its oldest row, where its newest one comes first.

    ``schema`` is that of a run that is resumed, which says which column has the times.
    """
    if table.is_live or recipe.time is None:
        return
    time = None if schema is None else schema.time_column
    formats = None if schema is None else schema.formats
    settings = FormatSettings(recipe.dayfirst, recipe.decimal)
    order = OrderOptions(recipe.targets, time, keys, settings, formats)
    parts = split_joined(recipe.time)
    found = newest_first_time(lambda: open_table().join_times(parts), order)
    if found is not None:
        table.reverse_rows(found)


class OutputPaths(NamedTuple):
    """The paths of all that a run writes."""

    folder: Path
    model: Path
    predictions: PredictionFile | None
    is_new_folder: bool  # whether files in the folder are of other runs

    @classmethod
    def from_options(
        cls,
        table: Table,
        session: Session,
        origin: RunOrigin,
        path_options: PathOptions,
    ) -> Self:
        """The paths that options give; all others are in one folder."""
        resume = path_options.resume
        folder = path_options.out or (
            resume.parent if resume else Path("out", source_stem(table))
        )
        resumed_model = resume if path_options.out is None else None
        path = _prediction_path(table, session, origin, path_options, folder)
        file = (
            None
            if path is None
            else _prediction_file(path, session, origin, path_options)
        )
        is_new = resume is None or folder.resolve() != resume.parent.resolve()
        model = path_options.model or resumed_model or folder / "model.thalweg"
        return cls(folder, model, file, is_new)

    def refuse_overwriting(self, source: str) -> None:
        """Raise if an output would replace the source or another output."""
        inputs: dict[str, str | Path] = {"source": source}
        outputs = {"model": self.model} | study_files.output_files(self.folder)
        if self.predictions is not None:
            outputs |= self.predictions.output_files()
            inputs |= self.predictions.input_files()
        refuse_overwriting(inputs, outputs)


def _prediction_path(
    table: Table,
    session: Session,
    origin: RunOrigin,
    path_options: PathOptions,
    folder: Path,
) -> Path | None:
    """The file for predictions; None if there is to be none."""
    if path_options.predictions is not None:
        return path_options.predictions
    if origin.predictions is not None:
        earlier_file = origin.predictions
        return earlier_file if path_options.out is None else folder / earlier_file.name
    is_new = path_options.out is not None or not session.rows
    return folder / "predictions.csv" if is_new and not table.is_live else None


def _prediction_file(
    path: Path, session: Session, origin: RunOrigin, path_options: PathOptions
) -> PredictionFile:
    """A new file, or one that continues where the run before stopped.

    A run that continues in another folder leaves the first one as it is. Where its
    source begins with the rows seen before, their predictions are copied.
    """
    columns, earlier_file = session.columns(), origin.predictions
    if earlier_file is None:
        return PredictionFile(path, columns)
    if path.resolve() == earlier_file.resolve():
        return PredictionFile(path, columns, origin.written_bytes)
    if path_options.out is None or session.earlier_rows == session.rows:
        return PredictionFile(path, columns)
    return PredictionFile(path, columns, origin.written_bytes, earlier_file)


def source_stem(table: Table) -> str:
    """The name of a source without what says its format."""
    if table.is_live:
        return "stdin"
    return table.name.lstrip(".").split(".")[0] or "stream"
