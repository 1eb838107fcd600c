"""Where a run goes on from, and where it leaves what it makes."""

from pathlib import Path
from typing import Any, NamedTuple, Self

from thalweg.cli.options import Where
from thalweg.cli.runs import checkpoint, study_files
from thalweg.cli.runs.checkpoint import Kept
from thalweg.cli.runs.overwriting import refuse_overwriting
from thalweg.cli.runs.predictions import PredictionFile
from thalweg.cli.runs.session import Session
from thalweg.errors import InvalidParameterError
from thalweg.tables import Recipe, Table

NOTHING = Kept("", None, 0)


def begun(
    resume: Path | None, recipe: dict[str, Any], live: bool
) -> tuple[Session, Kept]:
    """A new session of this recipe, or the one to be resumed.

    What comes as it happens may have gaps: a row without its target asks for it.
    """
    if resume is not None:
        return checkpoint.load(resume, **recipe)
    if "targets" not in recipe:
        raise InvalidParameterError("Say which column to predict: --target NAME.")
    if live:
        recipe = {"missing": "skip"} | recipe
    return Session(Recipe(**recipe)), NOTHING


def continued(
    session: Session, kept: Kept, table: Table, next: bool | None
) -> None:  # fmt: skip
    """Settle whether the table's rows come after those seen, or begin with them."""
    if not session.rows:
        return
    if next is None and not table.is_live and table.name != kept.source:
        raise InvalidParameterError(
            f"The run to be resumed was on {kept.source}. Got {table.name} instead: "
            f"say --next if its rows come after those, --from-start if it begins with "
            f"them."
        )
    if table.is_live if next is None else next:
        session.before = session.rows


class Places(NamedTuple):
    """What is saved where."""

    folder: Path
    model: Path
    predictions: PredictionFile | None
    fresh: bool  # whether what lies there is of other runs

    @classmethod
    def of(
        cls, table: Table, session: Session, kept: Kept, where: Where
    ) -> Self:  # fmt: skip
        """As the options say, and where they do not, in one folder."""
        resume = where.resume
        folder = where.out or (resume.parent if resume else Path("out", stem(table)))
        model = resume if where.out is None else None
        path = _predictions(table, session, kept, where, folder)
        file = None if path is None else _file(path, session, kept, where)
        fresh = resume is None or folder.resolve() != resume.parent.resolve()
        saved = where.model or model or folder / "model.thalweg"
        return cls(folder, saved, file, fresh)

    def check(self, source: str) -> None:
        """Raise if something would be written over the source, or over another."""
        read: dict[str, str | Path] = {"source": source}
        written = {"model": self.model} | study_files.written(self.folder)
        if self.predictions is not None:
            written |= self.predictions.written
            read |= self.predictions.read
        refuse_overwriting(read, written)


def _predictions(
    table: Table, session: Session, kept: Kept, where: Where, folder: Path
) -> Path | None:
    """The file for predictions; None if there is to be none."""
    if where.predictions is not None:
        return where.predictions
    if kept.predictions is not None:
        before = kept.predictions
        return before if where.out is None else folder / before.name
    new = where.out is not None or not session.rows
    return folder / "predictions.csv" if new and not table.is_live else None


def _file(path: Path, session: Session, kept: Kept, where: Where) -> PredictionFile:
    """One that goes on where the run before stopped, or that is new.

    A run that goes on in another folder leaves the first one as it is. Where its source
    begins with the rows seen before, their predictions are copied.
    """
    before = kept.predictions
    if before is None:
        return PredictionFile(path, session.layout)
    if path.resolve() == before.resolve():
        return PredictionFile(path, session.layout, kept.written)
    if where.out is None or session.before == session.rows:
        return PredictionFile(path, session.layout)
    return PredictionFile(path, session.layout, kept.written, before)


def stem(table: Table) -> str:
    """What a file is called, without what says its format."""
    if table.is_live:
        return "stdin"
    return table.name.lstrip(".").split(".")[0] or "stream"
