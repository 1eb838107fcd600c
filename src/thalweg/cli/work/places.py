"""Where a run goes on from, and where it leaves what it makes."""

from pathlib import Path
from typing import Any, NamedTuple, Self

from thalweg.cli.options import Where
from thalweg.cli.work import checkpoint
from thalweg.cli.work.checkpoint import Kept
from thalweg.cli.work.predictions import PredictionFile
from thalweg.cli.work.session import Session
from thalweg.errors import InvalidParameterError
from thalweg.streams.tables import Recipe, Table

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
    if next is None and not table.live and table.name != kept.source:
        raise InvalidParameterError(
            f"The run to be resumed was on {kept.source}. Got {table.name} instead: "
            f"say --next if its rows come after those, --from-start if it begins with "
            f"them."
        )
    if table.live if next is None else next:
        session.before = session.rows


class Places(NamedTuple):
    """What is saved where."""

    folder: Path
    model: Path
    predictions: PredictionFile | None

    @classmethod
    def of(
        cls, table: Table, session: Session, kept: Kept, where: Where
    ) -> Self:  # fmt: skip
        """As the options say, and where they do not, in one folder."""
        resume = where.resume
        folder = where.out or (resume.parent if resume else Path("out", stem(table)))
        path = where.predictions or kept.predictions
        if path is None and not session.rows and not table.live:
            path = folder / "predictions.csv"
        same = (
            kept.predictions and path and path.resolve() == kept.predictions.resolve()
        )
        size = kept.written if same else 0
        file = None if path is None else PredictionFile(path, session.layout, size)
        return cls(folder, where.model or resume or folder / "model.thalweg", file)


def stem(table: Table) -> str:
    """What a file is called, without what says its format."""
    if table.live:
        return "stdin"
    return table.name.lstrip(".").split(".")[0] or "stream"
