"""The results of the bench as tables for the terminal."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from benchmarks.bench import roofline
from benchmarks.bench.bench_plan import SECTIONS
from benchmarks.bench.bench_results import (
    Agreement,
    BenchResults,
    Timing,
    relative_timings,
)
from benchmarks.bench.implementations import RLS_CALLS, RLS_RUN
from benchmarks.bench.scaling import (
    exponent_in_experts,
    exponent_in_features,
    exponent_in_rounds,
)
from benchmarks.bench.speed_targets import speed_targets

MATRICES = {"call": RLS_CALLS, "array": RLS_RUN, "tracker": None, "blocks": None}
"""Sections that are tables of names by n, and the name that others are divided by."""
LIMITS_TEXT = """\
  below: how many times below the ceilings of fused multiply-adds and of the cache.
  The limits: dots waits for its own sums, four at a time; pivots divides once per
  coordinate; in sweeps each row waits for the stores of the row before, and from
  n = 64 on the stores themselves are the limit.
"""
VERDICT_TEXTS = {True: ("holds", "green"), False: ("DOES NOT HOLD", "bold red")}


def result_tables(results: BenchResults) -> Iterator[Group | Text]:
    """All tables and texts in the order of the sections; the promises come last."""
    yield Text(
        ", ".join(f"{name} {value}" for name, value in results.environment.items())
        + ".\n"
    )
    if results.missing:
        yield Text(
            f"Not here, so not timed: {', '.join(results.missing)}. `make bench-env` "
            "installs what is missing.\n",
            "yellow",
        )
    yield from _agreement_texts(results.agreements)
    for section, base in MATRICES.items():
        if timings := results.in_section(section):
            yield _size_table(
                f"{SECTIONS[section]}: µs a round", timings, 1e-3, grows=True
            )
            if ratios := _ratios(timings, base):
                yield _size_table(f"... over {base}", ratios, 1.0)
    yield from _growth_tables(results)
    yield from _roofline_table(results)
    yield from _startup_table(results)
    yield from _memory_table(results)
    yield _target_table(results)


def comparison_tables(new: BenchResults, old: BenchResults) -> Iterator[Group]:
    """The times of this run divided by those of an earlier one."""
    shared = relative_timings(new, old)
    # Where T grows, each learner has its own T.
    for (section, _), timings in groupby(
        shared, lambda timing: (timing[0], timing.size and timing[1])
    ):
        title = f"{SECTIONS[section]}: this run over the earlier one"
        yield _size_table(title, list(timings), 1.0)


def _agreement_texts(agreements: Sequence[Agreement]) -> Iterator[Text]:
    by_name: dict[str, list[Agreement]] = {}
    for agreement in agreements:
        by_name.setdefault(agreement.name, []).append(agreement)
    agree = [
        name
        for name, own in by_name.items()
        if all(agreement.outcome == "agrees" for agreement in own)
    ]
    if agree:
        difference = max(
            agreement.difference for agreement in agreements if agreement.name in agree
        )
        yield Text(
            f"Same predictions, to {difference:.0e} of y's spread: {', '.join(agree)}."
        )
    for name, own in by_name.items():
        if name not in agree:
            worst = max(own, key=lambda agreement: agreement.difference)
            by = f", by {worst.difference:.1g}" if np.isfinite(worst.difference) else ""
            style = "yellow" if worst.outcome == "another algorithm" else "red"
            yield Text(f"{name}: {worst.outcome}{by} at n = {worst.n}.", style)
    yield Text("")


def _size_table(
    title: str, timings: Sequence[Timing], unit: float, grows: bool = False
) -> Group:
    """Names by n, or by size where that is what grows; the last column is the spread.

    The spread is half the distance of the quartiles divided by the median; of those at
    all n the median is shown.
    """
    sizes = list(dict.fromkeys(timing.size or timing.n for timing in timings))
    table = _new_table()
    table.add_column("", no_wrap=True)
    for size in sizes:
        header = f"{size:,}" if size else ""
        table.add_column(header, justify="right", no_wrap=True)
    if grows:
        table.add_column("n^", justify="right", no_wrap=True)
    table.add_column("±", justify="right", no_wrap=True)
    for name in dict.fromkeys(timing.name for timing in timings):
        by_size = {
            timing.size or timing.n: timing for timing in timings if timing.name == name
        }
        cells = [
            _number(by_size[size].ns * unit) if size in by_size else ""
            for size in sizes
        ]
        if grows:
            cells.append(_exponent(exponent_in_features(list(by_size.values()))))
        spread = np.median(
            [(timing.high - timing.low) / 2 / timing.ns for timing in by_size.values()]
        )
        table.add_row(name, *cells, f"{spread:.0%}")
    return _with_title(title, table)


def _ratios(timings: Sequence[Timing], base: str | None) -> list[Timing]:
    base_ns = {timing.n: timing.ns for timing in timings if timing.name == base}
    return [
        timing.relative_to(base_ns[timing.n])
        for timing in timings
        if timing.n in base_ns and timing.name != base
    ]


def _growth_tables(results: BenchResults) -> Iterator[Group | Text]:
    if timings := results.in_section("bank"):
        yield _size_table("N experts, n = 8: µs a round", timings, 1e-3)
        yield Text(f"  A round costs N^{_exponent(exponent_in_experts(timings))}.\n")
    if timings := results.in_section("rounds"):
        for name, group in groupby(timings, lambda timing: timing.name):
            same = list(group)
            yield _size_table("T rounds, n = 8: µs a round", same, 1e-3)
            power = _exponent(exponent_in_rounds(same))
            yield Text(f"  All of {name}'s rounds together cost T^{power}.\n")


def _roofline_table(results: BenchResults) -> Iterator[Group | Text]:
    timings = {
        (timing.name, timing.n): timing.ns
        for timing in results.in_section("roofline")
        if timing.n
    }
    if not timings:
        return
    ceilings = roofline.measured_ceilings(results)
    yield Text(
        f"One core: {ceilings['fused']:.0f} GFLOP/s with fused multiply-adds, "
        f"{ceilings['separate']:.0f} with separate ones;\n"
        f"{ceilings['cache']:.0f} GB/s from the first-level cache, "
        f"{ceilings['memory']:.0f} from memory; "
        f"{ceilings['addition']:.2f} ns for\nan addition that is waited for, "
        f"{ceilings['pass']:.1f} ns for a number that is stored and loaded again."
    )
    table = _new_table()
    whole = "n", "ns", "GFLOP/s", "below", "GB/s", "below"
    for name in (*whole, "dots", "model", "pivots", "sweeps", "model"):
        table.add_column(name, justify="right", no_wrap=True)
    for n in sorted({n for _, n in timings}):
        ns, needed = timings[roofline.ROUND, n], roofline.predicted_times(n, ceilings)
        rate, flow = roofline.flops(n) / ns, roofline.bytes_moved(n) / ns
        dots, pivots, sweeps = (timings[part, n] for part in roofline.PARTS)
        parts = dots, needed["dots"], pivots, sweeps, needed["sweeps"]
        numbers = (
            ns,
            rate,
            ceilings["fused"] / rate,
            flow,
            ceilings["cache"] / flow,
            *parts,
        )
        table.add_row(str(n), *map(_number, numbers))
    title = "One round of RLS in ns, and its parts next to a model of their limits"
    yield _with_title(title, table)
    yield Text(LIMITS_TEXT)


def _startup_table(results: BenchResults) -> Iterator[Group]:
    if not (timings := results.in_section("startup")):
        return
    table = _new_table()
    table.add_column("", no_wrap=True)
    table.add_column("seconds", justify="right")
    for timing in timings:
        table.add_row(timing.name, f"{timing.ns / 1e9:.3f}")
    yield _with_title("Until the first prediction", table)


def _memory_table(results: BenchResults) -> Iterator[Group]:
    if not results.memory_use:
        return
    table = _new_table()
    for name in ("", "rounds", "peak resident", "own"):
        table.add_column(name, justify="right" if name else "left")
    for learner, rounds, peak, own in results.memory_use:
        table.add_row(learner, f"{rounds:,}", f"{peak:.1f}", f"{own:.1f}")
    title = "A memory-mapped stream of 8 features, 100,000 rounds at a time: MiB"
    yield _with_title(title, table)


def _target_table(results: BenchResults) -> Group:
    table = _new_table()
    table.add_column("ratio", no_wrap=True)
    for name in ("target", "measured", ""):
        table.add_column(name, justify="right", no_wrap=True)
    for target in speed_targets(results):
        if target.measured is None or target.is_met is None:
            table.add_row(
                target.description,
                f"{target.sign} {target.limit:g}",
                "",
                "not measured",
            )
            continue
        verdict, style = VERDICT_TEXTS[target.is_met]
        limit = f"{target.sign} {target.limit:g}"
        table.add_row(
            target.description, limit, _number(target.measured), Text(verdict, style)
        )
    return _with_title("What we promise", table)


def _number(value: float) -> str:
    """Three significant digits, and all digits before the point."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value < 10 else f"{value:.1f}"


def _exponent(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _new_table() -> Table:
    return Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))


def _with_title(title: str, table: Table) -> Group:
    """The title above the table: rich would wrap a table's own title to its width."""
    return Group(Text(title, "bold"), table)
