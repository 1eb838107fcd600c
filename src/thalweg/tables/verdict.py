"""Whether the rows of a table were enough to learn anything from."""

from thalweg.errors import StreamError
from thalweg.tables.progress import Progress
from thalweg.tables.recipe import Recipe


def check_targets(recipe: Recipe, progress: Progress, source: str) -> None:
    """Raise if the rows were too few, or if a target never changed."""
    _check_rows(recipe, progress.rows, source)
    for i, target in enumerate(recipe.targets):
        low, known = float(progress.low[i]), int(progress.known[i])
        if not known:
            raise StreamError(f"The target {target!r} of {source} is always missing.")
        if low == progress.high[i]:
            raise StreamError(
                f"The target {target!r} of {source} is {low!r} in all {known:,} rows: "
                f"there is nothing to learn."
            )


def _check_rows(recipe: Recipe, rows: int, source: str) -> None:
    needed = recipe.past + 2
    if rows >= needed:
        return
    has = "one row" if rows == 1 else f"{rows:,} rows"
    if not recipe.lags:
        raise StreamError(f"{source} has {has}; at least two are needed.")
    raise StreamError(
        f"{source} has {has}; with lags up to {recipe.past:,}, at least {needed:,} are "
        f"needed."
    )
