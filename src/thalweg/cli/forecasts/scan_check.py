"""Whether a table that was scanned can be forecast; what to do about it if not."""

from thalweg.cli.forecasts.file_scan import OpenTable, TableScan, is_ordered
from thalweg.cli.forecasts.key_advice import unordered_sentence
from thalweg.cli.forecasts.key_detection import FoundKey, find_key
from thalweg.errors import StreamError

MIN_VALUES = 2
"""Known targets that a series needs."""


def check_scan(scan: TableScan, source: str, open_table: OpenTable) -> None:
    """Raise unless the series have values, in order of time."""
    columns, totals = scan.columns, list(scan.series.values())
    known = sum(one.known for one in totals)
    if not known:
        raise StreamError(
            f"The target {columns.target!r} of {source} is always missing."
        )
    if not columns.keys and known == 1:
        raise StreamError(
            f"{source} has one value of {columns.target!r}. A forecast takes two at "
            f"least, and its error is known from about ten on."
        )
    if not is_ordered(scan):
        unordered = sum(one.out_of_order for one in totals)
        found = _find_key(scan, open_table)
        assert columns.time is not None
        sentence = unordered_sentence(
            unordered, scan.order, columns.keys, columns.time, found,
            scan.first_times is not None,
        )  # fmt: skip
        raise StreamError(f"{source}: {sentence}")
    if columns.keys and all(one.known < MIN_VALUES for one in totals):
        raise StreamError(short_series_sentence(columns.keys, columns.target))


def short_series_sentence(keys: tuple[str, ...], target: str) -> str:
    """What to say where no series of a key has values enough."""
    return (
        f"Every series that --key {','.join(keys)} tells apart has fewer than two "
        f"values of {target!r}. Name the columns that say which series a row belongs "
        f"to, not which row it is."
    )


def _find_key(scan: TableScan, open_table: OpenTable) -> FoundKey | None:
    """A key within which times rise."""
    columns = scan.columns
    if columns.time is None or not scan.order.looks_like_several_series():
        return None
    with open_table() as table:
        chunks = (chunk.with_formats(columns.formats) for chunk in table.chunks())
        return find_key(chunks, (columns.target,), columns.time, scan.order)
