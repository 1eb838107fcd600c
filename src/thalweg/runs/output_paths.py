"""The paths of all that a run writes."""

import shlex
from pathlib import Path
from typing import NamedTuple, Self

from thalweg.errors import InvalidParameterError
from thalweg.runs import study_files
from thalweg.runs.checkpoint import RunOrigin
from thalweg.runs.keyed_session import KeyedSession
from thalweg.runs.model_store import MODEL, MODELS, ModelStore, open_models
from thalweg.runs.prediction_file import PredictionFile
from thalweg.runs.settings import PathOptions
from thalweg.runs.source import Source
from thalweg.runs.storage import refuse_overwriting


class OutputPaths(NamedTuple):
    """The paths of all that a run writes."""

    folder: Path
    models: ModelStore
    predictions: PredictionFile | None
    is_new_folder: bool  # whether files in the folder are of other runs

    @classmethod
    def from_options(
        cls, source: Source, models: ModelStore | None, session: KeyedSession,
        origin: RunOrigin, options: PathOptions, is_live: bool,
    ) -> Self:  # fmt: skip
        """The paths that options give; all others are in one folder.

        ``models`` are those of the run that is resumed.
        """
        resume = options.resume
        folder = options.out or (resume.parent if resume else Path("out", source.stem))
        path = _prediction_path(is_live, session, origin, options, folder)
        file = None
        if path is not None:
            file = _prediction_file(path, session, origin, options)
        is_new = resume is None or folder.resolve() != resume.parent.resolve()
        by_key = bool(session.keys)
        model = options.model or (resume if options.out is None else None)
        model = model or folder / (MODELS if by_key else MODEL)
        if models is None:
            models = open_models(model, by_key)
        elif by_key and models.path.resolve() != model.resolve():
            raise InvalidParameterError(
                "A run by key goes on in its own folder. Leave out --out and --model."
            )
        else:
            models.path = model
        return cls(folder, models, file, is_new)

    def refuse_overwriting(self, source: str) -> None:
        """Raise if an output would replace the source or another output."""
        inputs: dict[str, str | Path] = {"source": source}
        outputs = {"model": self.models.path} | study_files.output_files(self.folder)
        if self.predictions is not None:
            outputs |= self.predictions.output_files()
            inputs |= self.predictions.input_files()
        refuse_overwriting(inputs, outputs)


def _prediction_path(
    is_live: bool,
    session: KeyedSession,
    origin: RunOrigin,
    path_options: PathOptions,
    folder: Path,
) -> Path | None:
    """The file for predictions; None if there is to be none."""
    if path_options.predictions is not None:
        return path_options.predictions
    if origin.predictions is not None:
        earlier_file = origin.predictions
        if path_options.out is not None:
            return folder / earlier_file.name
        # A model file from elsewhere may name any file of this computer.
        if earlier_file.parent.resolve() != folder.resolve():
            raise InvalidParameterError(
                f"The run that is resumed wrote its predictions to {earlier_file}, "
                f"which is not in {folder}. Name the file that they go to: "
                f"--predictions {shlex.quote(str(earlier_file))}"
            )
        return earlier_file
    is_new = path_options.out is not None or not session.rows
    return folder / "predictions.csv" if is_new and not is_live else None


def _prediction_file(
    path: Path, session: KeyedSession, origin: RunOrigin, path_options: PathOptions
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
