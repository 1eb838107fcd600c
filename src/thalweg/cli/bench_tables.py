"""The bench as tables for a terminal."""

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from thalweg.lab.bench import SECTIONS, Found, Row, exponents, roofline
from thalweg.lab.bench.found import Verdict, against
from thalweg.lab.bench.ours import CALL, RUN
from thalweg.lab.bench.promises import promises

MATRICES = {"call": CALL, "array": RUN, "tracker": None, "blocks": None}
"""Sections that are tables of names by n, and whose times others are divided by."""
WHAT_BINDS = """\
  below: how many times below the ceilings of fused multiply-adds and of the cache.
  What binds: dots waits for its own sums, four side by side; pivots divides once a
  coordinate; in sweeps each row waits for what the row before stored, and from n = 64
  on the stores are the limit.
"""
WORDS = {True: ("holds", "green"), False: ("DOES NOT HOLD", "bold red")}


def tables(found: Found) -> Iterator[Group | Text]:
    """Everything, in the order of the sections; what is promised last."""
    yield Text(", ".join(f"{name} {is_}" for name, is_ in found.about.items()) + ".\n")
    if found.missing:
        yield Text(
            f"Not here, so not timed: {', '.join(found.missing)}. In a checkout of the "
            "repository `make bench-env` installs what is missing.\n",
            "yellow",
        )
    yield from _agreement(found.verdicts)
    for section, base in MATRICES.items():
        if rows := found.of(section):
            yield _matrix(f"{SECTIONS[section]}: µs a round", rows, 1e-3, grows=True)
            if over := _over(rows, base):
                yield _matrix(f"... over {base}", over, 1.0)
    yield from _grown(found)
    yield from _roofline(found)
    yield from _startup(found)
    yield from _memory(found)
    yield _promised(found)


def comparison(new: Found, old: Found) -> Iterator[Group]:
    """This run over an earlier one, row by row."""
    shared = against(new, old)
    # Where T grows, each learner has its own T.
    for (section, _), rows in groupby(
        shared, lambda row: (row[0], row.size and row[1])
    ):
        title = f"{SECTIONS[section]}: this run over the earlier one"
        yield _matrix(title, list(rows), 1.0)


def _agreement(verdicts: Sequence[Verdict]) -> Iterator[Text]:
    by_name: dict[str, list[Verdict]] = {}
    for one in verdicts:
        by_name.setdefault(one.name, []).append(one)
    agree = [
        name for name, said in by_name.items() if all(v.word == "agrees" for v in said)
    ]
    if agree:
        gap = max(one.gap for one in verdicts if one.name in agree)
        yield Text(f"Same predictions, to {gap:.0e} of y's spread: {', '.join(agree)}.")
    for name, said in by_name.items():
        if name not in agree:
            worst = max(said, key=lambda one: one.gap)
            by = f", by {worst.gap:.1g}" if np.isfinite(worst.gap) else ""
            style = "yellow" if worst.word == "another algorithm" else "red"
            yield Text(f"{name}: {worst.word}{by} at n = {worst.n}.", style)
    yield Text("")


def _matrix(title: str, rows: Sequence[Row], unit: float, grows: bool = False) -> Group:
    """Names by n, or by size where that is what grows; the spread in the last column.

    It is half the distance of the quartiles over the median, the middle one over n.
    """
    sizes = list(dict.fromkeys(row.size or row.n for row in rows))
    table = _table()
    table.add_column("", no_wrap=True)
    for size in sizes:
        head = f"{size:,}" if size else ""
        table.add_column(head, justify="right", no_wrap=True)
    if grows:
        table.add_column("n^", justify="right", no_wrap=True)
    table.add_column("±", justify="right", no_wrap=True)
    for name in dict.fromkeys(row.name for row in rows):
        mine = {row.size or row.n: row for row in rows if row.name == name}
        cells = [_number(mine[s].ns * unit) if s in mine else "" for s in sizes]
        if grows:
            cells.append(_power(exponents.in_features(list(mine.values()))))
        spread = np.median([(r.high - r.low) / 2 / r.ns for r in mine.values()])
        table.add_row(name, *cells, f"{spread:.0%}")
    return _titled(title, table)


def _over(rows: Sequence[Row], base: str | None) -> list[Row]:
    per = {row.n: row.ns for row in rows if row.name == base}
    return [row.over(per[row.n]) for row in rows if row.n in per and row.name != base]


def _grown(found: Found) -> Iterator[Group | Text]:
    if rows := found.of("bank"):
        yield _matrix("N experts, n = 8: µs a round", rows, 1e-3)
        yield Text(f"  A round costs N^{_power(exponents.in_experts(rows))}.\n")
    if rows := found.of("rounds"):
        for name, mine in groupby(rows, lambda row: row.name):
            same = list(mine)
            yield _matrix("T rounds, n = 8: µs a round", same, 1e-3)
            power = _power(exponents.in_rounds(same))
            yield Text(f"  All of {name}'s rounds together cost T^{power}.\n")


def _roofline(found: Found) -> Iterator[Group | Text]:
    rows = {(row.name, row.n): row.ns for row in found.of("roofline") if row.n}
    if not rows:
        return
    tops = roofline.tops(found)
    yield Text(
        f"One core: {tops['fused']:.0f} GFLOP/s with fused multiply-adds, "
        f"{tops['separate']:.0f} with separate ones;\n"
        f"{tops['cache']:.0f} GB/s from the first-level cache, "
        f"{tops['memory']:.0f} from memory; "
        f"{tops['addition']:.2f} ns for\nan addition that is waited for, "
        f"{tops['pass']:.1f} ns for a number that is stored and loaded again."
    )
    table = _table()
    whole = "n", "ns", "GFLOP/s", "below", "GB/s", "below"
    for name in (*whole, "dots", "model", "pivots", "sweeps", "model"):
        table.add_column(name, justify="right", no_wrap=True)
    for n in sorted({n for _, n in rows}):
        ns, needed = rows[roofline.ROUND, n], roofline.model(n, tops)
        rate, flow = roofline.flops(n) / ns, roofline.moved(n) / ns
        dots, pivots, sweeps = (rows[part, n] for part in roofline.PARTS)
        parts = dots, needed["dots"], pivots, sweeps, needed["sweeps"]
        numbers = ns, rate, tops["fused"] / rate, flow, tops["cache"] / flow, *parts
        table.add_row(str(n), *map(_number, numbers))
    title = "One round of RLS in ns, and its parts beside a model of what binds them"
    yield _titled(title, table)
    yield Text(WHAT_BINDS)


def _startup(found: Found) -> Iterator[Group]:
    if not (rows := found.of("startup")):
        return
    table = _table()
    table.add_column("", no_wrap=True)
    table.add_column("seconds", justify="right")
    for row in rows:
        table.add_row(row.name, f"{row.ns / 1e9:.3f}")
    yield _titled("Until the first prediction", table)


def _memory(found: Found) -> Iterator[Group]:
    if not found.memory:
        return
    table = _table()
    for name in ("", "rounds", "peak resident", "own"):
        table.add_column(name, justify="right" if name else "left")
    for learner, rounds, peak, own in found.memory:
        table.add_row(learner, f"{rounds:,}", f"{peak:.1f}", f"{own:.1f}")
    title = "A memory-mapped stream of 8 features, 100,000 rounds at a time: MiB"
    yield _titled(title, table)


def _promised(found: Found) -> Group:
    table = _table()
    table.add_column("ratio", no_wrap=True)
    for name in ("target", "measured", ""):
        table.add_column(name, justify="right", no_wrap=True)
    for one in promises(found):
        if one.measured is None or one.holds is None:
            table.add_row(one.what, f"{one.sign} {one.target:g}", "", "not measured")
            continue
        word, style = WORDS[one.holds]
        limit = f"{one.sign} {one.target:g}"
        table.add_row(one.what, limit, _number(one.measured), Text(word, style))
    return _titled("What we promise", table)


def _number(value: float) -> str:
    """Three digits, and all before the point."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value < 10 else f"{value:.1f}"


def _power(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _table() -> Table:
    return Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))


def _titled(title: str, table: Table) -> Group:
    """A table's own title would be broken to its width."""
    return Group(Text(title, "bold"), table)
