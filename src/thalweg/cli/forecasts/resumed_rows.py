"""What a forecast that goes on from a model says of the rows of its file."""

from thalweg.cli.forecasts.forecast_loop import ForecastLoop
from thalweg.cli.runs.repeated_rows import repeated_sentence


def resumed_notes(loop: ForecastLoop) -> list[str]:
    """How many rows were learnt after those before, and how many passed over."""
    before, new = loop.earlier_rows, loop.new_rows
    if not before:
        return []
    if not new:
        return [f"No new row in {loop.source}: the model has learnt {before:,} before."]
    rows = "1 new row" if new == 1 else f"{new:,} new rows"
    were = "was" if new == 1 else "were"
    notes = [f"{rows} of {loop.source} {were} learnt, after {before:,} before."]
    if loop.passed_over:
        notes.append(repeated_sentence(loop.passed_over, loop.source))
    return notes
