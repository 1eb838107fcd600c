"""Malformed lines that are skipped: reported, and counted."""

from collections.abc import Callable

MAX_REPORTS = 20
"""So many are reported one by one; later ones are counted."""

SKIP_HINT = "To skip such lines, say --on-error skip."

HEADER_HINT = "If a line further down names the columns, say which: --header LINE."
"""What may be wrong where the first row already has another number of cells."""


class LineErrors:
    """The malformed lines of a source so far."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self.count = 0
        self._report = report

    def notes(self) -> tuple[str, ...]:
        """A sentence that says how many there were, if any."""
        if not self.count:
            return ()
        lines = "line was" if self.count == 1 else "lines were"
        return (f"{self.count:,} malformed {lines} skipped.",)

    def add(self, sentence: str) -> None:
        """Count a line, of which the sentence says what is wrong."""
        self.count += 1
        if self.count <= MAX_REPORTS:
            self._report(f"Skipped: {sentence}")
        if self.count == MAX_REPORTS:
            self._report("Further malformed lines are counted, not shown.")
