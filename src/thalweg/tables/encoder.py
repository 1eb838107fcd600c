"""Chunks of a table in, features and targets out, however the table is cut."""

from dataclasses import asdict
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from thalweg.errors import InvalidParameterError
from thalweg.tables import checked
from thalweg.tables.calendar import NAMES, calendar
from thalweg.tables.chunk import Chunk
from thalweg.tables.one_hot import one_hot, slot_names
from thalweg.tables.plan import Plan
from thalweg.tables.progress import Progress
from thalweg.tables.recipe import Recipe
from thalweg.tables.verdict import check_targets
from thalweg.types import FloatArray


class Encoded(NamedTuple):
    """Rounds made of the rows of a chunk; none at all while lags lack a past."""

    x: FloatArray  # (T, n)
    y: FloatArray  # (T, k), NaN where not known
    time: Any  # (T,) Moments or float64, or None
    rows: npt.NDArray[np.int64]  # (T,) the data row of each round, from 0


class Encoder:
    """Turns chunks into rounds as a recipe says, and remembers what that needs.

    Column types are decided by the first row, levels of text get their features in
    order of appearance, and lags reach over the edges of chunks: x and y are the same
    to the last bit however the rows are cut. A chunk that is refused leaves the
    encoder as it was.
    """

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self._plan: Plan | None = None
        self._progress = Progress.none(len(recipe.targets))
        self._source = "the stream"

    def encode(self, chunk: Chunk) -> Encoded:
        """The rounds in a chunk, which follows the one before."""
        recipe, before = self.recipe, self._progress
        plan = self._plan or Plan.of(recipe, chunk)
        plan.check(recipe, chunk)
        dropped = min(max(recipe.past - before.rows, 0), len(chunk))
        time = self._time(chunk, plan)
        y = np.column_stack([self._numbers(chunk, name) for name in recipe.targets])
        after, lagged = before.with_targets(y, dropped, recipe.lags)
        after, features = self._features(chunk, plan, after)
        if recipe.time is not None:
            after, time = after.with_time(recipe.time, time), time[dropped:]
        x = np.hstack([*(part[dropped:] for part in features), *lagged])
        self._plan, self._progress, self._source = plan, after, chunk.source
        end = chunk.first_row + len(chunk)
        return Encoded(x, y[dropped:], time, np.arange(chunk.first_row + dropped, end))

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each feature in x; none before the first chunk."""
        if self._plan is None:
            return ()
        names: list[str] = []
        for name, kind in self._plan.inputs.items():
            names += self._slots(name) if kind == "text" else (name,)
        if self.recipe.calendar is not None:
            names += NAMES
        for lag in self.recipe.lags:
            names += (f"{target} lag {lag}" for target in self.recipe.targets)
        return tuple(names)

    @property
    def used_names(self) -> tuple[str, ...]:
        """The names of features that could be other than 0 so far."""
        free: set[str] = set()
        for name, kind in (self._plan.inputs if self._plan else {}).items():
            if kind == "text":
                levels = self._progress.levels.get(name, ())
                free.update(self._slots(name)[len(levels) : self.recipe.categories])
                if name not in self._progress.crowded:
                    free.add(self._slots(name)[-1])
        return tuple(name for name in self.names if name not in free)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about columns that were left out or cut short."""
        if self._plan is None:
            return ()
        crowded, slots = self._progress.crowded, self.recipe.categories
        return self._plan.notes + tuple(
            crowd.note(name, slots) for name, crowd in crowded.items()
        )

    @property
    def latest(self) -> Any:
        """The time of the last row, as in ``Encoded``; None if it has none."""
        return self._progress.latest

    def check_target(self) -> None:
        """Raise if the rows so far are too few, or if a target never changes."""
        check_targets(self.recipe, self._progress, self._source)

    def state(self) -> dict[str, Any]:
        """All that the rows so far have left behind, in types that JSON has."""
        return {
            "recipe": _as_json(self.recipe),
            "plan": None if self._plan is None else self._plan.as_dict(),
            "progress": self._progress.as_dict(),
        }

    @classmethod
    def restore(cls, recipe: Recipe, state: dict[str, Any]) -> Self:
        """An encoder that continues where another of the same recipe was."""
        for name, value in _as_json(recipe).items():
            if value != state["recipe"][name]:
                raise InvalidParameterError(
                    f"The {name!r} of the run before is {state['recipe'][name]!r}. "
                    f"Got {value!r} instead."
                )
        encoder = cls(recipe)
        if state["plan"] is not None:
            encoder._plan = Plan.from_dict(state["plan"])
        encoder._progress = Progress.from_dict(state["progress"])
        return encoder

    def _time(self, chunk: Chunk, plan: Plan) -> Any:
        if self.recipe.time is None:
            return None
        name, before = self.recipe.time, self._progress
        zoned = before.zoned.get(name)
        return checked.ordered(chunk, name, plan.time, before.latest, zoned)

    def _numbers(self, chunk: Chunk, name: str, hint: str = "") -> FloatArray:
        return checked.numbers(chunk, name, self.recipe.missing, hint)

    def _features(
        self, chunk: Chunk, plan: Plan, progress: Progress
    ) -> tuple[Progress, list[FloatArray]]:
        """Columns and calendar for every row, and what was seen of them by then."""
        missing, slots = self.recipe.missing, self.recipe.categories
        parts = []
        for name, kind in plan.inputs.items():
            if kind == "number":
                parts.append(self._numbers(chunk, name, _if_text(name))[:, None])
                continue
            coded = checked.words(chunk, name, missing)
            made = one_hot(coded, progress.levels.get(name, ()), slots)
            parts.append(made.features)
            progress = progress.with_text(name, made)
        if self.recipe.calendar is not None:
            name, zoned = self.recipe.calendar, progress.zoned
            found = checked.times(chunk, name, missing, zoned.get(name))
            parts.append(calendar(found.wall))
            progress = progress.with_zone(name, found)
        return progress, parts

    def _slots(self, name: str) -> tuple[str, ...]:
        levels = self._progress.levels.get(name, ())
        return slot_names(name, levels, self.recipe.categories)


def _if_text(name: str) -> str:
    return f" If the column is text, say so: --text {name}."


def _as_json(recipe: Recipe) -> dict[str, Any]:
    """The recipe in types that JSON has, which knows lists only."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(recipe).items()
    }
