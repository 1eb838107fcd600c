"""Memory that a run will need: what does not fit is refused before it is allocated."""

import os
from collections.abc import Sequence
from pathlib import Path

from thalweg.errors import InvalidParameterError
from thalweg.evaluation.classifier_run import PAST_CLASSES
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners.logistic_tracker import DISCOUNTS
from thalweg.tables.class_labels import ClassLabels

NUMBER_BYTES = 8
FILE_COPIES = 2
"""A checkpoint is put together in memory, its parts beside the whole."""
KEY_BYTES = 1_000_000
"""Bytes that the curves and scores of one key take at most, beside its Tracker."""
UNITS = ("bytes", "KB", "MB", "GB", "TB", "PB", "EB")
MEMORY_FILES = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current")
"""What this process and its siblings may use and do use, where that is limited."""


def require_memory(source: str, features: int, delay: int, targets: int) -> None:
    """Raise unless Trackers of these features and targets fit in the free memory."""
    free = free_memory()
    if free is None or _run_bytes(features, delay, targets) <= free:
        return
    if _run_bytes(features, 0, targets) <= free:
        needed = format_bytes(_run_bytes(features, delay, targets))
        raise InvalidParameterError(
            f"A delay of {delay:,} rows would need {needed} of memory, and "
            f"{format_bytes(free)} are free. Give a smaller --delay."
        )
    needed = format_bytes(_run_bytes(features, 0, targets))
    raise InvalidParameterError(
        f"{source} gives {features:,} features, for which the Tracker would need "
        f"{needed} of memory, and {format_bytes(free)} are free. Use fewer: "
        f"--features, --lags, --categories."
    )


def require_class_memory(
    source: str, features: int, classes: Sequence[ClassLabels]
) -> None:
    """Raise unless logistic Trackers of this number of features fit in free memory."""
    free, needed = free_memory(), _class_bytes(features, classes)
    if free is None or needed <= free:
        return
    raise InvalidParameterError(
        f"{source} gives {features:,} features, for which the models of the classes "
        f"would need {format_bytes(needed)} of memory, and {format_bytes(free)} are "
        f"free. Use fewer: --features, --lags, --categories."
    )


def require_keyed_memory(
    source: str, features: int, delay: int, keys: int, classes: Sequence[ClassLabels]
) -> None:
    """Raise unless a model for each of the keys fits in the free memory."""
    own = NUMBER_BYTES * layout.state_size(features, delay)
    if classes:
        own = _class_bytes(features, classes)
    free, needed = free_memory(), keys * (KEY_BYTES + own)
    if free is not None and needed > free:
        raise InvalidParameterError(
            f"The {keys:,} keys in the first rows of {source} would need "
            f"{format_bytes(needed)} of memory, and {format_bytes(free)} are free. "
            f"Split the file, or use fewer columns: --features."
        )


def _class_bytes(features: int, classes: Sequence[ClassLabels]) -> int:
    """Bytes that logistic Trackers of these classes and a checkpoint need at most."""
    models = sum(one.first_classes + 1 for one in classes)
    states = models * (1 + FILE_COPIES) + FILE_COPIES
    matrix = (features + PAST_CLASSES + 4) ** 2
    return NUMBER_BYTES * states * len(DISCOUNTS) * matrix


def _run_bytes(features: int, delay: int, targets: int) -> int:
    """Bytes that are needed at most: the states, and a checkpoint, which has one more.

    Measured at 700 features and one target: 5.5 states, of which this gives 5.
    """
    states = targets + FILE_COPIES * (targets + 1)
    return NUMBER_BYTES * states * layout.state_size(features, delay)


def free_memory() -> int | None:
    """Bytes that the system can give this process; None where that is not known."""
    limits = [_available_bytes(), _cgroup_bytes()]
    return min((limit for limit in limits if limit is not None), default=None)


def _available_bytes() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        fields = dict(line.split(":", 1) for line in lines)
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, ValueError, KeyError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):  # a system without these names
        return None


def _cgroup_bytes() -> int | None:
    try:
        limit, used = (int(Path(name).read_text("ascii")) for name in MEMORY_FILES)
        return limit - used
    except (OSError, ValueError):  # there is no such limit
        return None


def format_bytes(count: int) -> str:
    """As 640 MB or 2.9 TB."""
    size, unit = float(count), 0
    while size >= 1000 and unit < len(UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.2g} {UNITS[unit]}" if size < 10 else f"{size:,.0f} {UNITS[unit]}"
