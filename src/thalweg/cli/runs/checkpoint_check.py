"""What a checkpoint tells as JSON, held to what a run could have told."""

from typing import Any

import numpy as np

from thalweg.evaluation.kept import need, whole
from thalweg.tables import Recipe
from thalweg.tables.calendar import NAMES as CALENDAR

DAY = 24 * 3600 * 10**9
"""In nanoseconds: more than any offset from UTC."""


def check_told(told: dict[str, Any], recipe: Recipe) -> None:
    """Raise unless a session of this recipe could go on from it."""
    need(all(isinstance(name, str) for name in recipe.columns), "columns")
    encoder, rows = told["encoder"], whole("rows", told["rows"])
    whole("rows", told["before"], rows)
    need(told["start"] is None or isinstance(told["start"], str), "start")
    _check_plan(encoder["plan"], recipe, told["features"])
    need(encoder["progress"]["rows"] == rows, "rows")
    _check_progress(encoder["progress"], recipe)
    _check_times(encoder["progress"], encoder["plan"]["time"])


def _check_plan(plan: dict[str, Any], recipe: Recipe, features: Any) -> None:
    """The columns that become features: as many as there are.

    Counted, not made: a file may claim any number of categories.
    """
    width = len(recipe.lags) * len(recipe.targets)
    if recipe.calendar is not None:
        width += len(CALENDAR)
    for name, kind in plan["inputs"]:
        need(isinstance(name, str) and kind in ("number", "text"), "columns")
        width += recipe.categories + 1 if kind == "text" else 1
    need(len(dict(plan["inputs"])) == len(plan["inputs"]), "columns")
    need(type(features) is int and features == width > 0, "features")
    timed = (None,) if recipe.time is None else ("number", "time")
    need(plan["time"] in timed, "times")
    need(_are_strings(plan["notes"]), "notes")


def _check_progress(progress: dict[str, Any], recipe: Recipe) -> None:
    """What the rows so far have left behind."""
    for name, levels in progress["levels"].items():
        need(isinstance(name, str) and _are_strings(levels), "levels")
        need(len(levels) <= recipe.categories, "levels")
    need(_are_strings(progress["crowded"]), "levels")
    need(len(progress["crowds"]) == len(progress["crowded"]), "levels")
    for cells, back in progress["crowds"]:
        whole("levels", back, whole("levels", cells, progress["rows"]))
    targets, past = len(recipe.targets), progress["past"]
    need(len(past) == min(progress["rows"], recipe.past), "lags")
    need(all(_are_strings(row) and len(row) == targets for row in past), "lags")
    for name in ("known", "low", "high"):
        need(_are_strings(progress[name]) and len(progress[name]) == targets, "targets")
    known = [float.fromhex(text) for text in progress["known"]]
    need(all(0 <= count <= progress["rows"] for count in known), "targets")


def _check_times(progress: dict[str, Any], kind: str | None) -> None:
    """The time of the last row, and which columns of times have offsets."""
    latest, ahead, zoned = progress["latest"], progress["ahead"], progress["zoned"]
    need(all(type(one) is bool for one in zoned.values()), "times")
    need(ahead is None or (type(ahead) is int and abs(ahead) < DAY), "times")
    if kind == "time":
        # The least of all is NaT, and no time.
        need(type(latest) is int and abs(latest) <= np.iinfo(np.int64).max, "times")
    else:
        need(isinstance(latest, str) if kind == "number" else latest is None, "times")


def _are_strings(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(one, str) for one in values)
