"""A run over the rows of one series: their encoder, and the run of every target."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, NamedTuple, Self

from thalweg.changes.timed_change_detector import TimedChangeDetector, TimedSnapshot
from thalweg.errors import StreamError
from thalweg.evaluation.classification_study import AnyStudy
from thalweg.evaluation.classifier_run import ClassifierRun, ClassifierRunSnapshot
from thalweg.evaluation.tracker_run import TrackerRun, TrackerRunSnapshot
from thalweg.imputer import POLICY_RULES
from thalweg.persistence.snapshots import Component
from thalweg.report.study_sections import PAST_LABELS
from thalweg.rules import Condition, Count, require, restore_snapshot
from thalweg.runs.memory import require_class_memory, require_memory
from thalweg.runs.observed_rows import ObservedRows, add_alarms, given_columns
from thalweg.runs.prediction_columns import PredictedRows, format_times
from thalweg.runs.row_digest import RowDigestState, SourceDigest
from thalweg.tables import (
    Chunk,
    EncodedRows,
    Encoder,
    EncoderState,
    Recipe,
    Timestamps,
)
from thalweg.tables.class_labels import (
    ClassLabels,
    Task,
    decide_task,
    encode_classes,
    validate_class_labels,
)
from thalweg.tables.encoder_state import check_row_count, feature_count
from thalweg.tables.recipe import AUTO
from thalweg.tables.schema import Schema
from thalweg.tables.timestamps import CALENDAR_FEATURES, YEAR_FEATURES


def missing_notes(
    recipe: Recipe, states: Iterable[EncoderState], runs: Iterable[Any]
) -> list[str]:
    """Sentences on the rows so far, of one series or of several together.

    ``runs`` are those of one target: features are the same for all.
    """
    notes, states = [], list(states)
    rows = sum(state.rows for state in states)
    for k, target in enumerate(recipe.targets):
        gaps = rows - int(sum(state.known_targets[k] for state in states))
        if gaps:
            are = "is missing: it is" if gaps == 1 else "are missing: they are"
            notes.append(
                f"{gaps:,} of {rows:,} values of {target!r} {are} predicted and "
                f"not learnt."
            )
    imputers = [run.imputer for run in runs]
    filled = sum(imputer.state.imputed for imputer in imputers)
    if filled:
        rule = POLICY_RULES[recipe.missing]
        learning = "learnt as well" if rule.learns else "not learnt"
        notes.append(
            f"{filled:,} missing {'value' if filled == 1 else 'values'} of features "
            f"were filled with {rule.fill_name}; rows with one are {learning}."
        )
    absent = sum(state.clock.absent_rows() for state in states)
    if absent:
        times = "1 time has" if absent == 1 else f"{absent:,} times have"
        notes.append(
            f"{times} no row, of those that the other rows show to be evenly spaced."
        )
    return notes


class SessionSnapshot(NamedTuple):
    """All that changes in a session."""

    # Of the whole stream, seen so far.
    rows: Annotated[int, Count("encoder.rows", "encoder.rows")]
    # Of those, the rows that came before this source.
    earlier_rows: Annotated[int, Count("rows")]
    start: str | None  # time of the first round
    encoder: EncoderState
    # Tuple of TrackerRunSnapshot or ClassifierRunSnapshot.
    runs: Annotated[
        Any, Condition("len(runs) == len(recipe.targets)", "a run of each target")
    ]
    digest: RowDigestState | None = None  # of the rows of this source, where known
    classes: tuple[ClassLabels, ...] = ()  # of each target; none: they are numbers
    changes: tuple[TimedSnapshot, ...] = ()  # of each target, where it is a number


class Session(Component):
    """All that changes while the rows of one series are run; a checkpoint holds it."""

    Snapshot: ClassVar[Any] = SessionSnapshot

    def __init__(self, recipe: Recipe, task: Task = "auto") -> None:
        self.recipe = recipe
        self.encoder = Encoder(recipe)
        self.task: Task = task
        self.classes: tuple[ClassLabels, ...] = ()
        # One a target, once features are known.
        self.runs: list[TrackerRun | ClassifierRun] = []
        self.changes: list[
            TimedChangeDetector
        ] = []  # one a target, unless it has classes
        self.rows = 0
        self.earlier_rows = 0
        self.start: str | None = None
        self.digest = SourceDigest(recipe, self.encoder.state)
        self.rows_are_questions = False  # where a row lacks its target
        self._is_decided = False  # what the columns hold, by the rows of all series

    def play(self, chunk: Chunk) -> PredictedRows:
        """Predict and learn the next rows."""
        x, y, time, rows, _ = self.read(chunk)
        if not self.runs:
            self.runs = self._new_runs(x.shape[1])
        times = time.local_times() if isinstance(time, Timestamps) else None
        forecasts: Any = [
            run.play(x, y[:, k], self.rows_are_questions, times)
            for k, run in enumerate(self.runs)
        ]
        numbers = rows + self.earlier_rows + 1
        return PredictedRows(numbers, time, forecasts, y, self.classes)

    def read(self, chunk: Chunk) -> EncodedRows:
        """The next rows as numbers, in which changes are looked for."""
        is_first = not self.encoder.state.rows
        classes = self.classes
        if is_first and not self._is_decided:
            classes = self.decide_classes(chunk)
        classes, numbered = encode_classes(classes, chunk)
        encoded = self.encoder.encode(numbered, self.rows_are_questions)
        self.classes, time = classes, encoded.time
        if is_first:
            self.changes = self._new_detectors()
        self.rows = self.earlier_rows + chunk.first_row + len(chunk)
        self.digest.update(encoded)
        if self.changes:
            given = ObservedRows.of(encoded, self.rows - len(chunk))
            for k, detector in enumerate(self.changes):
                given.add_to(detector, k, self.rows_are_questions)
        if time is not None and len(time):
            self.start = self.start or format_times(time[:1])[0] or None
        return encoded

    def decide_columns(self, first: Chunk) -> tuple[ClassLabels, ...]:
        """Decide what columns hold by the first rows of all series, and play none.

        Returns the classes, with the labels that were found.
        """
        self.classes, numbered = encode_classes(self.decide_classes(first), first)
        schema = Schema.from_first_chunk(self.recipe, numbered)
        self.encoder.state = self.encoder.state.with_schema(schema)
        return self.classes

    def sibling(self) -> "Session":
        """The session of another series, whose columns hold the same."""
        assert self.encoder.state.schema is not None
        other = Session(self.recipe, self.task)
        start = other.encoder.state.with_schema(self.encoder.state.schema)
        other.encoder.state = start
        other.digest = SourceDigest(self.recipe, start)
        # Each series numbers its classes by itself, as they appear in it.
        other.classes = tuple(
            one if one.is_binary else one._replace(labels=(), first_classes=0)
            for one in self.classes
        )
        other.rows_are_questions, other._is_decided = self.rows_are_questions, True
        return other

    def text_targets(self, chunk: Chunk) -> tuple[str, ...]:
        """The targets whose cells are text, before any row as this chunk decides."""
        classes = self.classes
        if self.encoder.state.schema is None:
            classes = decide_task(chunk, self.recipe.targets, self.task)
        return tuple(one.target for one in classes)

    def decide_classes(self, chunk: Chunk) -> tuple[ClassLabels, ...]:
        """The classes of the targets, none where they are numbers, if all is legal."""
        features, recipe = self.encoder.count_features(chunk), self.recipe
        classes = decide_task(chunk, recipe.targets, self.task)
        if not classes:
            targets = len(recipe.targets)
            require_memory(chunk.source, features, recipe.delay, targets)
            return classes
        if recipe.has_past_features and not all(one.is_binary for one in classes):
            features = self._use_calendar(chunk)  # lags and means are of numbers
        require_class_memory(chunk.source, features, classes)
        for one in classes:
            if recipe.fixed_lags and not one.is_binary:
                raise StreamError(
                    f"{one.target!r} of {chunk.source} holds classes, which have no "
                    f"lags: the last known class is a feature without asking. Leave "
                    f"out --lags."
                )
        return classes

    def _use_calendar(self, chunk: Chunk) -> int:
        """Take the calendar, where rows have times, in place of past values."""
        recipe, schema = self.recipe, self.encoder.schema(chunk)
        has_times = schema.time == "time" and recipe.calendar == AUTO
        calendar = schema.time_column if has_times else recipe.given_calendar
        if not (schema.inputs or calendar):
            raise StreamError(
                f"{chunk.source} has no column to predict {recipe.targets[0]!r} from."
            )
        self._use_recipe(replace(recipe, lags=(), calendar=calendar))
        return self.encoder.count_features(chunk)

    def _past_columns(self) -> int:
        """Features, the last ones, of past labels or of a calendar nobody asked for."""
        recipe, schema = self.recipe, self.encoder.state.schema
        assert schema is not None
        if recipe.has_past_features:
            year = len(YEAR_FEATURES) * schema.has_year_features(recipe)
            return year + 2 * len(recipe.targets)
        is_calendar = not recipe.lags and recipe.given_calendar == schema.time_column
        return len(CALENDAR_FEATURES) if is_calendar and recipe.given_calendar else 0

    def _use_recipe(self, recipe: Recipe) -> None:
        """Begin with another recipe, before the first row."""
        self.recipe, self.encoder = recipe, Encoder(recipe)
        self.digest = SourceDigest(recipe, self.encoder.state)

    def _new_runs(self, features: int) -> Any:
        """The run of each target, before its first row."""
        delay, missing = self.recipe.delay, self.recipe.missing
        if self.classes:
            return [
                ClassifierRun(
                    features, delay, missing, one.is_binary, self._past_columns()
                )
                for one in self.classes
            ]
        given = self.encoder.past_forecasts() or (None,) * len(self.recipe.targets)
        return [TrackerRun(features, delay, missing, one) for one in given]

    def _new_detectors(self) -> list[TimedChangeDetector]:
        """The change detector of each target, before its first row."""
        columns = len(given_columns(self.encoder.state.schema))
        targets = () if self.classes else self.recipe.targets
        return [TimedChangeDetector(columns) for _ in targets]

    def check_targets(self) -> None:
        """Raise if the rows so far are too few, or if a target never changes."""
        for one, known in zip(
            self.classes, self.encoder.state.known_targets, strict=False
        ):
            if len(one.labels) == 1:
                raise StreamError(
                    f"The target {one.target!r} is {one.labels[0]!r} in all "
                    f"{int(known):,} rows: there is nothing to learn."
                )
        self.encoder.check_targets()

    def notes(self) -> tuple[str, ...]:
        """Sentences about what was decided of the columns."""
        classes = (one.sentence() for one in self.classes)
        missing = missing_notes(self.recipe, [self.encoder.state], self.runs[:1])
        return (*classes, *self.encoder.notes(), *missing)

    def check_row_count(self, last: Chunk) -> None:
        """Raise if the rows until the last chunk are too few for a first round."""
        rows = self.encoder.state.rows + len(last)
        check_row_count(rows, self.recipe, last.source)

    def start_source(self) -> None:
        """Go on with a source whose rows all come after those seen."""
        self.earlier_rows = self.rows
        self.digest = SourceDigest(self.recipe, self.encoder.state)

    def seen_rows(self) -> int:
        """The rows of this source that were seen."""
        return self.rows - self.earlier_rows

    def verify_rows(self, chunk: Chunk) -> None:
        """Take rows that were seen before; after the last one raise if any changed."""
        numbered = encode_classes(self.classes, chunk)[1]
        self.digest.verify_rows(numbered, self.rows_are_questions)
        if chunk.first_row + len(chunk) == self.seen_rows():
            self.digest.finish_verification(chunk.source, self.seen_rows())

    def scored_rounds(self) -> int:
        """Rounds that were scored, of the target with the fewest."""
        return min((run.scored_rounds() for run in self.runs), default=0)

    def studies(self, title: str, notes: Sequence[str] | None = None) -> list[AnyStudy]:
        """The results so far, of every target; ``notes`` are its own if not given."""
        has_several = len(self.runs) > 1
        if self.earlier_rows:
            title = f"{title} and the {self.earlier_rows:,} rows before it"
        latest = self.encoder.last_time()
        end = None if latest is None else format_times(latest)[0]
        has_no_past = self.recipe.lags == () and not self.classes
        lag_notes = (PAST_LABELS,) if has_no_past else ()
        names, studies = self.encoder.feature_names(), list[AnyStudy]()
        used = self.encoder.used_feature_names()
        common = self.notes() if notes is None else notes
        for k, run in enumerate(self.runs):
            target = self.recipe.targets[k]
            name = f"{title}, {target}" if has_several else title
            if isinstance(run, ClassifierRun):
                one_notes = (*common, *run.scoring_notes())
                study: AnyStudy = run.study(
                    name, self.classes[k], names, one_notes, self.start, end
                ).without_identifiers(self._identifiers())
            else:
                one_notes = (*common, *lag_notes, *_scoring_notes(run))
                made = run.study(name, target, names, one_notes, self.start, end)
                made = replace(made, column_features=self.encoder.column_features())
                study = add_alarms(made, self.changes[k], self.encoder)
            studies.append(replace(study, features=used))
        return studies

    def _identifiers(self) -> dict[str, tuple[str, ...]]:
        """The columns that look like identifiers, with the names of their features."""
        return {
            column.name: column.feature_names(self.recipe.categories)
            for column in self.encoder.state.text_columns
            if column.looks_like_identifiers()
        }

    @classmethod
    def from_snapshot(cls, snapshot: SessionSnapshot, recipe: Recipe) -> Self:
        """The session of this recipe that a snapshot was taken of."""
        session, name = cls(recipe), "session"
        state, schema = snapshot.encoder, snapshot.encoder.schema
        session.encoder = Encoder.restore(recipe, state)
        require(schema is not None, f"{name}.encoder.schema", "a schema", schema)
        assert schema is not None
        features = feature_count(schema, recipe)
        validate_class_labels(snapshot.classes, recipe.targets, f"{name}.classes")
        require(type(snapshot.runs) is tuple, f"{name}.runs", "a tuple", snapshot.runs)
        session.classes = snapshot.classes
        kind = ClassifierRunSnapshot if snapshot.classes else TrackerRunSnapshot
        snapshots = [
            run if isinstance(run, kind) else restore_snapshot(kind, run, f"runs[{k}]")
            for k, run in enumerate(snapshot.runs[: len(recipe.targets)])
        ]
        snapshot = snapshot._replace(runs=tuple(snapshots))
        # One at a time: each is checked before the next one is made.
        session.runs = [
            session._restore_run(run, features, k) for k, run in enumerate(snapshots)
        ]
        session.changes = session._new_detectors()
        session.restore(snapshot, name)
        session.digest.use_schema(schema)
        if snapshot.digest is None and snapshot.earlier_rows:
            session.digest.forget()
        return session

    def _restore_run(self, snapshot: Any, features: int, target: int) -> Any:
        settings = (features, self.recipe.delay, self.recipe.missing)
        name = f"session.runs[{target}]"
        if not self.classes:
            return TrackerRun.from_snapshot(snapshot, *settings, name)
        is_binary = self.classes[target].is_binary
        past = self._past_columns()
        return ClassifierRun.from_snapshot(snapshot, *settings, is_binary, name, past)


def _scoring_notes(run: TrackerRun) -> list[str]:
    """What a reader should know about how the learners were scored."""
    notes = [
        f"The first {run.burn_in} labels only warm up and are not scored. Fixed "
        f"settings get features and target in units of these, and a constant feature; "
        f"the Tracker gets the raw numbers."
    ]
    if run.delay:
        notes.append(f"Labels come {run.delay:,} rounds late, for baselines as well.")
    return notes
