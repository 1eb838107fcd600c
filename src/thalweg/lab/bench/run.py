"""``bench``: all sections of one run."""

import platform
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from importlib import import_module, metadata
from typing import Any

from thalweg.lab.bench import sections
from thalweg.lab.bench.contender import PEERS, Field, Wrap, assemble
from thalweg.lab.bench.found import Found
from thalweg.lab.bench.memory import memory
from thalweg.lab.bench.plan import Plan
from thalweg.lab.bench.roofline import roofline
from thalweg.lab.bench.startup import startup

Advance = Callable[[str], None]
"""Called after every piece of work with a word on what was done."""
TIMED: dict[str, sections.Section] = {
    "call": sections.call,
    "array": sections.array,
    "tracker": sections.tracker,
    "bank": sections.bank,
    "blocks": sections.blocks,
    "rounds": sections.rounds,
}
LONG_RUN, SHORT_RUN = 10_000_000, 1_000_000


def bench(plan: Plan, wrap: Wrap, advance: Advance = lambda _: None) -> Found:
    """Measure what the plan names; ``wrap`` makes of a learner the model people call.

    Everything runs on one thread, other libraries' algebra too where threadpoolctl is
    there to hold it.
    """
    field = assemble()
    found = Found(missing=list(field.missing), about=_about())
    with _one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what other libraries warn of is theirs
        for word in _measured(plan, field, wrap, found):
            advance(word)
    return found


def _measured(plan: Plan, field: Field, wrap: Wrap, found: Found) -> Iterator[str]:
    for name in plan.only:
        if name in TIMED:
            for word, rows, verdicts in TIMED[name](field, wrap, plan):
                found.rows.extend(rows)
                found.verdicts.extend(verdicts)
                yield word
        elif name == "roofline":
            found.rows.extend(roofline(plan))
            yield name
        elif name == "startup":
            for word, rows in startup(plan):
                found.rows.extend(rows)
                yield f"start-up, {word}"
        elif name == "memory":
            rounds = SHORT_RUN if plan.quick else LONG_RUN
            found.memory.extend(memory("RecursiveLeastSquares", rounds))
            yield name


def _one_thread() -> AbstractContextManager[Any]:
    try:
        return import_module("threadpoolctl").threadpool_limits(1)  # type: ignore[no-any-return]
    except ImportError:
        return nullcontext()


def _about() -> dict[str, str]:
    said = {
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "on": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
    }
    for package in ("thalweg", "numba", *(peer.package for peer in PEERS)):
        try:
            said[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return said
