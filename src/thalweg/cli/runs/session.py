"""A run over a stream: the encoder, and the Tracker of every target."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, Self

from thalweg.cli.runs.checkpoint_check import check_told
from thalweg.cli.runs.predictions import Layout, Said, times
from thalweg.errors import InvalidParameterError, PersistenceError
from thalweg.evaluation.kept import parts
from thalweg.evaluation.prequential import Prequential
from thalweg.evaluation.study import Study
from thalweg.evaluation.summary import PAST_LABELS
from thalweg.learners import Learner
from thalweg.persistence.state_check import check_state
from thalweg.preprocessing.imputer import POLICY_RULES
from thalweg.tables import Chunk, Encoder, EncoderState, Recipe
from thalweg.tables.one_hot import TextColumn
from thalweg.tables.schema import InputColumn, Schema


class Session:
    """All that changes while a stream is run; a checkpoint holds it."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.encoder = Encoder(recipe)
        self.players: list[Prequential] = []  # one a target, once features are known
        self.rows = 0  # of the whole stream, seen so far
        self.before = 0  # of those, the rows that came before this source
        self.asking = False  # whether a row without its target asks for it
        self.start: str | None = None  # time of the first round

    @property
    def layout(self) -> Layout:
        """The columns of the predictions."""
        recipe = self.recipe
        return Layout(recipe.targets, recipe.time is not None)

    def take(self, chunk: Chunk) -> Said:
        """Predict and learn the next rows."""
        x, y, time, rows = self.encoder.encode(chunk)
        if not self.players:
            self._begin(x.shape[1])
        self.rows = self.before + chunk.first_row + len(chunk)
        forecasts = [
            player.play(x, y[:, k], self.asking)
            for k, player in enumerate(self.players)
        ]
        if time is not None and len(time):
            self.start = self.start or times(time[:1])[0]
        return Said(rows + self.before + 1, time, forecasts, y)

    def _begin(self, features: int) -> None:
        recipe = self.recipe
        self.players = [
            Prequential(features, recipe.delay, recipe.missing) for _ in recipe.targets
        ]

    @property
    def end(self) -> str | None:
        """The time of the last round."""
        latest = self.encoder.last_time()
        return None if latest is None else times(latest)[0]

    @property
    def scored(self) -> int:
        """Rounds that were scored, of the target with the fewest."""
        return min((player.books.scores.scored for player in self.players), default=0)

    def studies(self, title: str, notes: Sequence[str] = ()) -> list[Study]:
        """What was found so far, of every target."""
        several = len(self.players) > 1
        if self.before:
            title = f"{title} and the {self.before:,} rows before it"
        unlike = () if self.recipe.lags else (PAST_LABELS,)
        pairs = zip(self.recipe.targets, self.players, strict=True)
        return [
            replace(
                player.study(
                    f"{title}, {target}" if several else title, target,
                    self.encoder.feature_names(),
                    (*self.encoder.notes(), *notes, *unlike, *_notes(player)),
                    self.start, self.end,
                ),
                features=self.encoder.used_feature_names(),
            )
            for target, player in pairs
        ]  # fmt: skip

    @property
    def told(self) -> dict[str, Any]:
        """What a checkpoint holds of it as JSON; ``players`` hold the rest."""
        kept = {"rows": self.rows, "before": self.before, "start": self.start}
        features = self.players[0].features if self.players else 0
        return {**kept, "features": features, "recipe": asdict(self.recipe)}

    @classmethod
    def resumed(
        cls, told: dict[str, Any], encoder: Any, players: Any, **given: Any
    ) -> Self:
        """The session of a checkpoint; options ``given`` again must be the same."""
        before = _recipe(told["recipe"])
        recipe = _recipe(told["recipe"] | given)
        recipe.refuse_changes(before)
        session = cls(recipe)
        session.encoder = Encoder.restore(recipe, encoder_state(encoder))
        check_told(told, session.encoder)
        session.rows, session.before = told["rows"], told["before"]
        session.start = told["start"]
        settings = (told["features"], recipe.delay, recipe.missing)
        session.players = [
            Prequential.resumed(kept, _check_state, *settings)
            for kept in parts("players", players, len(recipe.targets))
        ]
        return session


def as_tuples(state: Any) -> Any:
    """A NamedTuple and those inside as plain tuples, which a file can hold."""
    return tuple(map(as_tuples, state)) if isinstance(state, tuple) else state


def encoder_state(values: Any) -> EncoderState:
    """The state that ``as_tuples`` gave as plain tuples."""
    schema, text_columns, *others = values
    if schema is not None:
        inputs, time, notes = schema
        schema = Schema(tuple(InputColumn(*column) for column in inputs), time, notes)
    return EncoderState(
        schema, tuple(TextColumn(*column) for column in text_columns), *others
    )


def _recipe(parts: dict[str, Any]) -> Recipe:
    """A recipe from JSON, which has no tuples."""
    settings: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in parts.items()
    }
    return Recipe(**settings)


def _check_state(learner: Learner[Any], state: Any) -> None:
    try:
        check_state(learner, state)
    except InvalidParameterError as error:
        raise PersistenceError(str(error).rstrip(".")) from None


def _notes(player: Prequential) -> list[str]:
    """What a reader should know of how it was scored."""
    notes = [
        f"The first {player.burn_in} labels only warm up and are not scored. Fixed "
        f"settings get features and target in units of these, and a constant feature; "
        f"the Tracker gets the raw numbers."
    ]
    if player.delay:
        notes.append(
            f"Labels come {player.delay:,} rounds late, for persistence as well."
        )
    imputed = player.imputer.state.imputed
    if imputed:
        learns = POLICY_RULES[player.imputer.policy].learns
        learnt = "learnt from as well" if learns else "not learnt"
        notes.append(
            f"{imputed:,} missing numbers were filled with means so far; "
            f"rounds with one are {learnt}."
        )
    alarms = player.books.insight.alarms
    if alarms.count > len(alarms.alarms):
        shown = len(alarms.alarms)
        notes.append(f"Of {alarms.count:,} alarms the last {shown:,} are shown.")
    return notes
