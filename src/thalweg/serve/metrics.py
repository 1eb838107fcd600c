"""Counters of a server, in the text format of Prometheus.

The format is a few lines of text, so that no library is needed for it.
"""

from collections import Counter
from collections.abc import Iterator

from thalweg.serve.row_outcomes import OUTCOMES

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
COMMIT_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
"""Upper ends of the buckets of the histogram of commits."""


class Metrics:
    """Counters of a server since its start. Only one thread changes them."""

    def __init__(self) -> None:
        self.responses: Counter[tuple[str, int]] = Counter()  # by endpoint and status
        self.rows: Counter[str] = Counter()  # by outcome
        self.predictions = 0
        self.failed_commits = 0
        self.commits: Counter[float] = Counter()  # by bucket
        self.commit_seconds = 0.0
        self.waiting_rows = 0
        self.watchers = 0

    def add_commit(self, seconds: float) -> None:
        """Count a transaction."""
        bucket = next((end for end in COMMIT_SECONDS if seconds <= end), float("inf"))
        self.commits[bucket] += 1
        self.commit_seconds += seconds

    def as_text(self) -> str:
        """All of them, as Prometheus reads them."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield from _head(
            "responses_total", "counter", "Responses by endpoint and status."
        )
        for (endpoint, status), count in sorted(self.responses.items()):
            labels = f'endpoint="{endpoint}",status="{status}"'
            yield f"thalweg_responses_total{{{labels}}} {count}"
        yield from _head(
            "rows_total", "counter", "Rows to learn, by what became of them."
        )
        for outcome in OUTCOMES:
            yield f'thalweg_rows_total{{outcome="{outcome}"}} {self.rows[outcome]}'
        numbers = (
            ("predictions_total", "counter", "Rows predicted.", self.predictions),
            ("failed_commits_total", "counter", "Failed commits.", self.failed_commits),
            (
                "waiting_rows",
                "gauge",
                "Rows that wait for a commit.",
                self.waiting_rows,
            ),
            ("watchers", "gauge", "Live pages that are open.", self.watchers),
        )
        for name, kind, text, value in numbers:
            yield from _head(name, kind, text)
            yield f"thalweg_{name} {value}"
        yield from _head("commit_seconds", "histogram", "Duration of a group commit.")
        total = 0
        for end in (*COMMIT_SECONDS, float("inf")):
            total += self.commits[end]
            label = "+Inf" if end == float("inf") else f"{end:g}"
            yield f'thalweg_commit_seconds_bucket{{le="{label}"}} {total}'
        yield f"thalweg_commit_seconds_sum {self.commit_seconds:.6f}"
        yield f"thalweg_commit_seconds_count {total}"


def _head(name: str, kind: str, text: str) -> Iterator[str]:
    yield f"# HELP thalweg_{name} {text}"
    yield f"# TYPE thalweg_{name} {kind}"
