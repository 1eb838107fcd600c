"""Advice on keys that do not tell the series of a table apart."""

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from thalweg.cli.forecasts.key_detection import (
    MIN_REPEATS,
    FoundKey,
    TimeOrder,
    find_key,
    first_time,
    times_as_numbers,
)
from thalweg.cli.forecasts.newest_first import OrderOptions
from thalweg.cli.forecasts.row_keys import Key, split_by_key
from thalweg.errors import StreamError
from thalweg.tables import Table
from thalweg.tables.format_detection import detect_formats

LOOK_ROWS = 100_000
"""Rows that are looked at before a run: series that are not told apart show early."""


def unordered_sentence(
    rows: int, order: TimeOrder, keys: tuple[str, ...], time: str,
    found: FoundKey | None, is_clock: bool,
) -> str:  # fmt: skip
    """What is wrong with rows whose times repeat or go back, and what to do.

    ``order`` is that of all rows, ``found`` a key within which times rise, and
    ``is_clock`` says whether times are nanoseconds since 1970.
    """
    count = f"{rows:,} of {order.rows:,} rows are not later than a row before"
    if keys:
        count += f" of their series, by {time!r} and --key {','.join(keys)}"
    else:
        count += f", by {time!r}"
    if found is not None and found.columns != keys:
        names = " and ".join(repr(name) for name in found.columns)
        tell = "tells" if len(found.columns) == 1 else "tell"
        return (
            f"{count}: {names} {tell} {found.series:,} series apart: --key "
            f"{','.join(found.columns)}."
        )
    series = (
        f"If one is several series, name all columns that tell them apart, not "
        f"only {','.join(keys)}: --key."
        if keys
        else "If they are several series, name the columns that tell them apart: --key."
    )
    if order.longest_back > 0 and not keys:
        place = _step_back_clause(order, time, is_clock)
        if order.has_broken_dates():
            return (
                f"{place}. So long a step is most often a wrong date, or rows of "
                f"different years put together: --time none --horizon ROWS takes the "
                f"rows in their order. {series}"
            )
        return f"{count}: {place}. Sort the rows by {time!r} first. {series}"
    if order.longest_back > 0:
        return f"{count}. Sort the rows by {time!r} first. {series}"
    # The rows are sorted, and times only repeat.
    if keys or order.first_repeat is None:
        return f"{count}: times repeat. Keep one row for each time. {series}"
    return (
        f"{rows:,} of {order.rows:,} rows have the same {time!r} as the row before, "
        f"the first of them row {order.first_repeat:,}. Keep one row for each time. "
        f"{series}"
    )


def _step_back_clause(order: TimeOrder, time: str, is_clock: bool) -> str:
    """How often times go back, and where first."""
    step, count = order.first_back, order.steps_back
    assert step is not None
    before, after = _time_texts([step.before, step.time], is_clock)
    times = "goes back once" if count == 1 else f"goes back {count:,} times"
    first = "" if count == 1 else "first "
    return f"{time!r} {times}, {first}in row {step.row:,}, from {before} to {after}"


def _time_texts(values: list[float], is_clock: bool) -> list[str]:
    """Times as text: to the day if all are midnights, else to the minute or second."""
    if not is_clock:
        return [f"{value:,.15g}" for value in values]
    moments = np.array([round(value / 1e9) for value in values]).astype("datetime64[s]")
    for unit in ("D", "m"):
        if (moments == moments.astype(f"datetime64[{unit}]")).all():
            moments = moments.astype(f"datetime64[{unit}]")
            break
    return [str(moment).replace("T", " ") for moment in moments]


def advise_on_key(open_table: Callable[[], Table], options: OrderOptions) -> str | None:
    """A sentence if rows of a key repeat a time or go back; None if they are in order.

    The first rows are looked at; then, if they are not, all of them.
    """
    advice = None
    with suppress(StreamError):  # What is wrong with a row, its reader says.
        advice = _advise_on_key(open_table, options)
    return advice


def _advise_on_key(
    open_table: Callable[[], Table], options: OrderOptions
) -> str | None:
    keys, time, formats = options.keys or (), options.time, options.formats
    order, unordered = TimeOrder(), 0
    latest: dict[Key, float] = {}
    is_clock = False
    with open_table() as table:
        for chunk in table.chunks():
            if formats is None:
                names = list(chunk.cells)
                formats = detect_formats(chunk, names, options.settings).formats
            chunk = chunk.with_formats(formats)
            time = time or first_time(chunk, (*options.targets, *keys))
            if time is None or not {time, *keys} <= {*chunk.cells}:
                return None
            is_clock = chunk.kind(time) != "number"
            times = times_as_numbers(chunk, time)
            if np.isnan(times).any():
                return None
            order.add(times)
            for key, rows in split_by_key(chunk, keys):
                before = latest.get(key, -np.inf)
                highest = np.maximum.accumulate(np.append(before, times[rows]))
                unordered += int((times[rows] <= highest[:-1]).sum())
                latest[key] = float(highest[-1])
            if order.rows >= LOOK_ROWS and unordered <= MIN_REPEATS * order.rows:
                return None
    if time is None or unordered <= MIN_REPEATS * order.rows:
        return None
    with open_table() as table:
        chunks = (chunk.with_formats(formats or ()) for chunk in table.chunks())
        found = find_key(chunks, options.targets, time, order)
    return unordered_sentence(unordered, order, keys, time, found, is_clock)
