"""A run over a table: the encoder of its rows, and the Tracker of every target."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

from thalweg.cli.runs.memory import require_memory
from thalweg.cli.runs.predictions import (
    PredictedRows,
    PredictionColumns,
    format_times,
)
from thalweg.cli.runs.row_digest import MAX_MARKS, RowDigestState, SourceDigest
from thalweg.evaluation.study import Study
from thalweg.evaluation.summary import PAST_LABELS
from thalweg.evaluation.tracker_run import TrackerRun, TrackerRunSnapshot
from thalweg.persistence.snapshots import Component, Condition, Count, OneOf, require
from thalweg.preprocessing.imputer import POLICY_RULES
from thalweg.tables import Chunk, Encoder, EncoderState, Recipe, Timestamps
from thalweg.tables.encoder_state import feature_count


class SessionSnapshot(NamedTuple):
    """All that changes in a session."""

    rows: int  # of the whole stream, seen so far
    earlier_rows: int  # of those, the rows that came before this source
    start: str | None  # time of the first round
    encoder: EncoderState
    runs: tuple[TrackerRunSnapshot, ...]  # one a target
    digest: RowDigestState | None = None  # of the rows of this source, where known


class Session(Component):
    """All that changes while a stream is run; a checkpoint holds it."""

    Snapshot: ClassVar[Any] = SessionSnapshot

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.encoder = Encoder(recipe)
        self.runs: list[TrackerRun] = []  # one a target, once features are known
        self.rows = 0
        self.earlier_rows = 0
        self.start: str | None = None
        self.digest = SourceDigest(recipe, self.encoder.state)
        self.rows_are_questions = False  # where a row lacks its target

    def columns(self) -> PredictionColumns:
        """The columns of the predictions."""
        recipe = self.recipe
        return PredictionColumns(recipe.targets, recipe.time is not None)

    def play(self, chunk: Chunk) -> PredictedRows:
        """Predict and learn the next rows."""
        if not self.runs:
            features, recipe = self.encoder.count_features(chunk), self.recipe
            targets = len(recipe.targets)
            require_memory(chunk.source, features, recipe.delay, targets)
        encoded = self.encoder.encode(chunk)
        x, y, time, rows = encoded
        if not self.runs:
            recipe, features = self.recipe, x.shape[1]
            self.runs = [
                TrackerRun(features, recipe.delay, recipe.missing)
                for _ in recipe.targets
            ]
        self.rows = self.earlier_rows + chunk.first_row + len(chunk)
        self.digest.update(encoded)
        times = time.local_times() if isinstance(time, Timestamps) else None
        forecasts = [
            run.play(x, y[:, k], self.rows_are_questions, times)
            for k, run in enumerate(self.runs)
        ]
        if time is not None and len(time):
            self.start = self.start or format_times(time[:1])[0]
        return PredictedRows(rows + self.earlier_rows + 1, time, forecasts, y)

    def check_row_count(self, last: Chunk) -> None:
        """Raise if the rows until the last chunk are too few for a first round."""
        rows = self.encoder.state.rows + len(last)
        self.encoder.check_row_count(rows, last.source)

    def start_source(self) -> None:
        """Go on with a source whose rows all come after those seen."""
        self.earlier_rows = self.rows
        self.digest = SourceDigest(self.recipe, self.encoder.state)

    def seen_rows(self) -> int:
        """The rows of this source that were seen."""
        return self.rows - self.earlier_rows

    def verify_rows(self, chunk: Chunk) -> None:
        """Take rows that were seen before; after the last one raise if any changed."""
        self.digest.verify_rows(chunk)
        if chunk.first_row + len(chunk) == self.seen_rows():
            self.digest.finish_verification(chunk.source, self.seen_rows())

    def scored_rounds(self) -> int:
        """Rounds that were scored, of the target with the fewest."""
        return min((run.scored_rounds() for run in self.runs), default=0)

    def studies(self, title: str, notes: Sequence[str] = ()) -> list[Study]:
        """The results so far, of every target."""
        has_several = len(self.runs) > 1
        if self.earlier_rows:
            title = f"{title} and the {self.earlier_rows:,} rows before it"
        latest = self.encoder.last_time()
        end = None if latest is None else format_times(latest)[0]
        lag_notes = () if self.recipe.lags else (PAST_LABELS,)
        pairs = zip(self.recipe.targets, self.runs, strict=True)
        return [
            replace(
                run.study(
                    f"{title}, {target}" if has_several else title, target,
                    self.encoder.feature_names(),
                    (*self.encoder.notes(), *notes, *lag_notes, *_scoring_notes(run)),
                    self.start, end,
                ),
                features=self.encoder.used_feature_names(),
            )
            for target, run in pairs
        ]  # fmt: skip

    @classmethod
    def from_snapshot(cls, snapshot: SessionSnapshot, recipe: Recipe) -> Self:
        """The session of this recipe that a snapshot was taken of."""
        session, name = cls(recipe), "session"
        state, schema = snapshot.encoder, snapshot.encoder.schema
        session.encoder = Encoder.restore(recipe, state)
        require(schema is not None, f"{name}.encoder.schema", "a schema", schema)
        assert schema is not None
        features = feature_count(schema, recipe)
        # One at a time: each is checked before the next one is made.
        session.runs = [
            TrackerRun.from_snapshot(
                run, features, recipe.delay, recipe.missing, f"{name}.runs[{k}]"
            )
            for k, run in enumerate(snapshot.runs[: len(recipe.targets)])
        ]
        session.restore(snapshot, name)
        if snapshot.digest is None and snapshot.earlier_rows:
            session.digest.forget()
        return session

    def rules(self, snapshot: SessionSnapshot) -> Iterator[tuple[str, Any]]:
        """There is a run of each target, and all rows are counted alike."""
        k = len(self.recipe.targets)
        yield "runs", Condition(len(snapshot.runs) == k, f"the runs of {k} targets")
        yield "rows", OneOf((snapshot.encoder.rows,))
        yield "earlier_rows", Count(snapshot.rows)
        if snapshot.digest is not None:
            yield "digest", digest_rules(snapshot)


def digest_rules(snapshot: SessionSnapshot) -> dict[str, Any]:
    """The digests are of rows that come after the earlier ones, evenly spaced."""
    digest = snapshot.digest
    assert digest is not None
    spacing, marks = digest.spacing, len(digest.marks)
    right = 0 < spacing and marks == digest.rounds // spacing < MAX_MARKS
    return {
        "start": {"rows": OneOf((snapshot.earlier_rows,))},
        "rounds": Count(snapshot.rows - snapshot.earlier_rows),
        "marks": Condition(right, "as many as the rounds have"),
    }


def _scoring_notes(run: TrackerRun) -> list[str]:
    """What a reader should know about how the learners were scored."""
    notes = [
        f"The first {run.burn_in} labels only warm up and are not scored. Fixed "
        f"settings get features and target in units of these, and a constant feature; "
        f"the Tracker gets the raw numbers."
    ]
    if run.delay:
        notes.append(f"Labels come {run.delay:,} rounds late, for persistence as well.")
    imputer = run.imputer
    if imputer.state.imputed:
        rule = POLICY_RULES[imputer.policy]
        learning = "learnt from as well" if rule.learns else "not learnt"
        notes.append(
            f"{imputer.state.imputed:,} missing numbers were filled with "
            f"{rule.fill_name}; rounds with one are {learning}."
        )
    log = run.statistics.tracker_trace.alarm_log
    listed = len(log.alarm_rounds)
    if log.total > listed:
        notes.append(f"Of {log.total:,} alarms the last {listed:,} are shown.")
    return notes
