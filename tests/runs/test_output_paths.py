"""Where a run writes its predictions."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from thalweg.runs.output_paths import _prediction_path


@pytest.mark.parametrize(
    ("given", "out", "rows", "earlier", "live", "expected"),
    [
        ("own.csv", None, 0, None, False, "own.csv"),
        (None, None, 0, None, False, "folder/predictions.csv"),
        (None, None, 0, None, True, None),
        # A model that has seen rows goes on as it was told before.
        (None, None, 7, None, False, None),
        (None, "folder", 7, None, False, "folder/predictions.csv"),
        (None, None, 7, "folder/p.csv", False, "folder/p.csv"),
        (None, "folder", 7, "before/p.csv", False, "folder/p.csv"),
    ],
)
def test_where_predictions_are_written(given, out, rows, earlier, live, expected):
    def path(text):
        return None if text is None else Path(text)

    chosen = _prediction_path(
        live,
        SimpleNamespace(rows=rows),
        SimpleNamespace(predictions=path(earlier)),
        SimpleNamespace(predictions=path(given), out=path(out)),
        Path("folder"),
    )
    assert chosen == path(expected)
