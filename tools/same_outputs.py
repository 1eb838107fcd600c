"""Compare what the commands print and write in two trees, on files of all shapes.

    python tools/same_outputs.py --before OTHER/src         all cases
    python tools/same_outputs.py --before OTHER/src keyed   those with this in the name
    python tools/same_outputs.py --list                     the cases and their commands

Every case makes its files from a seed and runs its commands in a folder of its own,
once with the modules of each tree. Exit codes, CSV files (all bytes), the numbers of
JSON files and of ``--json`` (to the last bit) have to be equal. Text may differ: the
table counts the lines that do, and ``--words`` prints them. ``opened`` says how many
times the commands opened their source with Python's ``open``. Differences that are
meant stand in ``EXPECTED``, with a reason. The results of the other tree are kept in
out/same_outputs, so that a second comparison takes half the time.
"""

import argparse
import bz2
import csv
import difflib
import gzip
import hashlib
import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

TREE = Path(__file__).resolve().parent.parent
KEPT = TREE / "out" / "same_outputs"

EXPECTED = [
    ("classes by key", "*", "classes by key were refused, and are learnt now"),
]
"""Differences that are meant: patterns of case and difference, and the reason."""

VOLATILE = frozenset({"seconds", "rows_per_second"})
"""Keys of JSON whose numbers are times."""
SPEED = re.compile(r"\d[\d,.]* s\b|about [\d,]+ rows\s+a second")
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")

PROGRAM = """
import atexit, os, sys
opened, folder = {}, os.getcwd()
def note(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        mode = arguments[1] or "r"
        if "r" in mode:
            name = os.path.abspath(os.fsdecode(arguments[0]))
            opened[name] = opened.get(name, 0) + 1
def report():
    with open(os.environ["OPENED"], "w") as file:
        for name, count in opened.items():
            if os.path.dirname(name) == folder:
                print(count, os.path.basename(name), file=file)
sys.addaudithook(note)
atexit.register(report)
from thalweg.cli.program import main
main()
"""


# --- Files -------------------------------------------------------------------------


def noise(seed: int, count: int, scale: float = 1.0) -> np.ndarray:
    """Normal numbers of a seed."""
    return scale * np.random.default_rng(seed).normal(size=count)


def times(start: str, count: int, step: timedelta) -> list[str]:
    """Times that are equally far apart, as they are written in most files."""
    first = datetime.fromisoformat(start)
    pattern = "%Y-%m-%d" if step % timedelta(days=1) == timedelta() else None
    moments = [first + step * t for t in range(count)]
    return [m.strftime(pattern or "%Y-%m-%d %H:%M") for m in moments]


def months(start: int, count: int, step: int = 1) -> list[str]:
    """First days of months."""
    return [
        f"{start + t // 12}-{t % 12 + 1:02d}-01" for t in range(0, count * step, step)
    ]


def wave(count: int, period: float, seed: int, level: float = 20.0) -> np.ndarray:
    """A season, a slow trend and noise."""
    t = np.arange(count)
    return (
        level + 4 * np.sin(2 * np.pi * t / period) + 0.003 * t + noise(seed, count, 0.4)
    )


def cells(values: Any, digits: int = 3) -> list[str]:
    """Numbers as text; NaN is blank."""
    return ["" if v != v else f"{v:.{digits}f}" for v in values]


def text(columns: dict[str, list[str]], mark: str = ",") -> str:
    """Lines of CSV."""
    rows = [mark.join(row) for row in zip(*columns.values(), strict=True)]
    return "\n".join([mark.join(columns), *rows, ""])


def series(
    stamps: list[str], period: float, seed: int, target: str = "load"
) -> dict[str, list[str]]:
    """Columns ``time``, ``temp`` and the target."""
    temp = wave(len(stamps), period, seed + 100, 10.0)
    y = wave(len(stamps), period, seed) + 0.7 * temp
    return {"time": stamps, "temp": cells(temp), target: cells(y)}


HOUR, DAY, WEEK = timedelta(hours=1), timedelta(days=1), timedelta(weeks=1)
HOURLY = series(times("2024-01-01", 1500, HOUR), 24, 1)
DAILY = series(times("2022-01-01", 500, DAY), 7, 2)


def regression(count: int, seed: int = 3) -> dict[str, list[str]]:
    """Two features and a target whose slopes change half-way; no times."""
    a, b = noise(seed, count), noise(seed + 1, count)
    late = np.arange(count) >= count // 2
    y = np.where(late, 3 * b - a, 2 * a) + 5 + noise(seed + 2, count, 0.1)
    return {"a": cells(a, 4), "b": cells(b, 4), "y": cells(y, 4)}


def head(columns: dict[str, list[str]], stop: int) -> dict[str, list[str]]:
    """The first rows."""
    return {name: column[:stop] for name, column in columns.items()}


def tail(columns: dict[str, list[str]], start: int) -> dict[str, list[str]]:
    """The last rows."""
    return {name: column[start:] for name, column in columns.items()}


def pick(columns: dict[str, list[str]], rows: Any) -> dict[str, list[str]]:
    """The rows of these numbers, in this order."""
    return {name: [column[int(t)] for t in rows] for name, column in columns.items()}


def shops(count: int, glued: bool, start: int = 0) -> dict[str, list[str]]:
    """Three series of days, one below the other or day by day."""
    days = times("2024-01-01", start + count, DAY)[start:]
    rows = []
    for number, shop in enumerate(("north", "south", "west"), 1):
        a = noise(number, start + count)[start:]
        y = wave(start + count, 7, number + 10, 10.0 * number)[start:] + 3 * a
        rows += [
            (t, *row) for t, row in enumerate(zip(cells(a), cells(y), strict=True))
        ]
        rows[-count:] = [(shop, days[t], u, v) for t, u, v in rows[-count:]]
    if not glued:
        rows.sort(key=lambda row: row[1])
    return dict(
        zip(
            ("shop", "when", "a", "sales"),
            map(list, zip(*rows, strict=True)),
            strict=True,
        )
    )


def blank(column: list[str], seed: int, share: float) -> list[str]:
    """Some cells become blank."""
    keep = np.random.default_rng(seed).random(len(column)) >= share
    return [cell if one else "" for cell, one in zip(column, keep, strict=True)]


def comma(column: list[str]) -> list[str]:
    """Decimal commas."""
    return [cell.replace(".", ",") for cell in column]


def classes(count: int, names: tuple[str, ...], seed: int = 8) -> dict[str, list[str]]:
    """Two features, and a class that follows from them."""
    a, b = noise(seed, count), noise(seed + 1, count)
    score = np.digitize(a + 0.5 * b + noise(seed + 2, count, 0.3), [-0.4, 0.9])
    label = [names[min(int(s), len(names) - 1)] for s in score]
    return {"a": cells(a), "b": cells(b), "label": label}


def parquet(columns: dict[str, Any]) -> bytes:
    """A file of Parquet."""
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def workbook(columns: dict[str, list[str]]) -> bytes:
    """A workbook whose cells are times and numbers."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(list(columns))
    for stamp, *numbers in zip(*columns.values(), strict=True):
        sheet.append([datetime.fromisoformat(stamp), *map(float, numbers)])
    book.properties.created = book.properties.modified = datetime(2024, 1, 1)
    sink = io.BytesIO()
    book.save(sink)
    return sink.getvalue()


def records(columns: dict[str, list[str]], numbers: tuple[str, ...]) -> list[dict]:
    """Rows as objects."""
    rows = [
        dict(zip(columns, row, strict=True))
        for row in zip(*columns.values(), strict=True)
    ]
    return [
        {k: float(v) if k in numbers else v for k, v in row.items()} for row in rows
    ]


def future(
    columns: dict[str, list[str]], target: str, count: int
) -> dict[str, list[str]]:
    """The targets of the last rows are blank."""
    column = columns[target]
    return columns | {target: column[:-count] + [""] * count}


def with_noise(columns: dict[str, list[str]]) -> str:
    """A title above, and a sum below."""
    total = f"Total,,{sum(map(float, columns['load'])):.3f}\n"
    return "Load of the works,,\nSource: meter 7,,\n" + text(columns) + total


def with_units(columns: dict[str, list[str]]) -> str:
    """A row of units below the names."""
    first, rest = text(columns).split("\n", 1)
    return f"{first}\n,°C,kW\n{rest}"


def malformed(lines: str) -> str:
    """Lines with too few cells, and with text in a column of numbers."""
    rows = lines.splitlines(True)
    rows[30:30] = ["1.0,oops,2\n"]
    rows[60:60] = ["1.0\n"]
    return "".join(rows)


def shifted(count: int) -> dict[str, list[str]]:
    """Hours with two changes of level."""
    columns = series(times("2024-03-01", count, HOUR), 24, 21)
    y = np.array(columns["load"], float)
    y[count // 3 :] += 15
    y[2 * count // 3 :] -= 25
    return columns | {"load": cells(y)}


def parts(columns: dict[str, list[str]]) -> dict[str, list[str]]:
    """The time in columns of year, month, day and hour."""
    stamps = [datetime.fromisoformat(stamp) for stamp in columns["time"]]
    split = {
        name: [str(getattr(stamp, name)) for stamp in stamps]
        for name in ("year", "month", "day", "hour")
    }
    return split | {name: columns[name] for name in columns if name != "time"}


def german(columns: dict[str, list[str]]) -> str:
    """Semicolons, decimal commas, days first."""
    stamps = [
        datetime.fromisoformat(s).strftime("%d.%m.%Y %H:%M") for s in columns["time"]
    ]
    numbers = {name: comma(columns[name]) for name in columns if name != "time"}
    return text({"Zeit": stamps, **numbers}, ";")


def thousands(columns: dict[str, list[str]]) -> str:
    """Quoted numbers with a mark between thousands."""
    numbers = [f'"{1000 * float(cell):,.2f}"' for cell in columns["load"]]
    return text(columns | {"load": numbers})


def coded(columns: dict[str, list[str]]) -> dict[str, list[str]]:
    """-999 for missing numbers."""
    bad = {name: blank(columns[name], 5, 0.03) for name in ("temp", "load")}
    return columns | {name: [cell or "-999" for cell in bad[name]] for name in bad}


# --- Cases -------------------------------------------------------------------------


@dataclass
class Command:
    """One command, what it reads from a pipe, and the signal that ends it."""

    line: str
    lines: list[str] | None = None
    number: signal.Signals | None = None

    @property
    def arguments(self) -> list[str]:
        """What stands behind ``thalweg``."""
        return shlex.split(self.line)


@dataclass
class Case:
    """Files, and the commands that are run on them one after the other."""

    name: str
    commands: list[Command]
    files: dict[str, Callable[[], str | bytes]] = field(default_factory=dict)


def one(name: str, file: str, make: Callable[[], str | bytes], *lines: str) -> Case:
    """A case of commands on one file, which replaces ``FILE`` in them."""
    return Case(
        name, [Command(line.replace("FILE", file)) for line in lines], {file: make}
    )


def pipe(lines: str, start: int = 0, stop: int | None = None) -> list[str]:
    """The header, and some of the rows below it."""
    header, *rows = lines.splitlines(True)
    return [header, *rows[start:stop]]


def all_cases() -> Iterator[Case]:
    """Every case; a run, a forecast and now and then a comparison on each file."""
    run, page = "run FILE -t load --no-report", "run FILE -t load --horizon 24"
    forecast = "forecast FILE -t load --no-report"
    ahead = f"{forecast} --horizon 12 --json"
    yield one("hourly", "hourly.csv", lambda: text(HOURLY), page, forecast)
    yield one(
        "hourly, JSON", "hourly.csv", lambda: text(HOURLY), f"{run} --json", ahead
    )
    compare = "compare FILE -t load --rows 400 --no-report"
    yield one("hourly, compared", "h.csv", lambda: text(HOURLY), f"{compare} --json")
    yield one("daily", "daily.csv", lambda: text(DAILY), run, forecast)
    daily_future = future(DAILY, "load", 14)
    lines = ("forecast FILE -t load", f"{run} --delay 2")
    yield one("daily, future rows", "daily.csv", lambda: text(daily_future), *lines)
    weekly = series(times("2018-01-01", 220, WEEK), 52, 4)
    yield one("weekly", "weekly.csv", lambda: text(weekly), run, ahead)
    monthly = series(months(2000, 240), 12, 5)
    yield one("monthly", "monthly.csv", lambda: text(monthly), run, forecast)
    quarterly = series(months(1990, 100, 3), 4, 6)
    yield one("quarterly", "quarters.csv", lambda: text(quarterly), run, ahead)
    quarters = [f"{1990 + t // 4}Q{t % 4 + 1}" for t in range(100)]
    named = quarterly | {"time": quarters}
    yield one("quarters by name", "quarters.csv", lambda: text(named), run, ahead)
    yearly = series([str(1900 + t) for t in range(110)], 11, 7)
    years = {"year": yearly.pop("time"), **yearly}
    yield one("yearly", "years.csv", lambda: text(years), run, ahead)
    gaps = pick(HOURLY, [t for t in range(1500) if t % 97 > 4 and not 400 < t < 460])
    yield one("gaps", "gaps.csv", lambda: text(gaps), run, forecast)
    back = pick(HOURLY, range(1499, -1, -1))
    yield one("newest first", "back.csv", lambda: text(back), run, ahead)
    yield one("decimal commas", "de.csv", lambda: german(HOURLY), run, forecast)
    points = head(HOURLY, 600)
    yield one("semicolons", "s.csv", lambda: text(points, ";"), run)
    yield one("tabs", "t.tsv", lambda: text(points, "\t"), run)
    yield one("thousands", "k.csv", lambda: thousands(points), run)
    yield one("codes", "codes.csv", lambda: text(coded(HOURLY)), run, ahead)
    titled = head(DAILY, 300)
    yield one(
        "titles and total", "titled.csv", lambda: with_noise(titled), run, forecast
    )
    yield one("units", "units.csv", lambda: with_units(titled), run, forecast)
    repeated = pick(DAILY, sorted([*range(400), 50, 51, 200]))
    yield one("repeated rows", "r.csv", lambda: text(repeated), run, forecast)
    split = parts(points)
    yield one("parts of times", "parts.csv", lambda: text(split), run, ahead)
    latin = {"Zeit": points["time"], "Öl": points["temp"], "load": points["load"]}
    encoded = text(latin).encode("cp1252")
    yield one("Windows-1252", "w.csv", lambda: encoded, run)
    yield one("UTF-16", "u.csv", lambda: text(latin).encode("utf-16"), run)
    yield one("level shifts", "shifts.csv", lambda: text(shifted(900)), page, forecast)
    missing = HOURLY | {name: blank(HOURLY[name], 6, 0.1) for name in ("temp", "load")}
    lines = (run, f"{run} --missing skip", forecast, compare)
    yield one("missing labels", "missing.csv", lambda: text(missing), *lines)
    yield one("late labels", "late.csv", lambda: text(HOURLY), f"{run} --delay 12")
    two = HOURLY | {"heat": cells(wave(1500, 24, 31, 5.0))}
    both = "run FILE -t load -t heat --lags 1,24 --no-report"
    yield one("two targets", "two.csv", lambda: text(two), both, f"{both} --json")
    plain = regression(700)
    run_y = "run FILE -t y --no-report"
    lines = (run_y, "forecast FILE -t y --horizon 5 --no-report", f"{run_y} --json")
    yield one("no times", "plain.csv", lambda: text(plain), *lines)
    compare_y = "compare FILE -t y --rows 500"
    yield one("no times, compared", "plain.csv", lambda: text(plain), compare_y)
    sites = plain | {"site": ["north" if t % 3 else "south" for t in range(700)]}
    yield one("text feature", "sites.csv", lambda: text(sites), run_y)
    by_class = "run FILE -t label"
    animals = classes(700, ("cat", "dog", "owl"))
    lines = (by_class, f"{by_class} --no-report --json")
    yield one("text target", "animals.csv", lambda: text(animals), *lines)
    binary = classes(700, ("0", "1"))
    lines = (f"{by_class} --no-report", f"{by_class} --regress --no-report")
    yield one("0/1 target", "binary.csv", lambda: text(binary), *lines)
    gold = animals | {"label": blank(animals["label"], 7, 0.1)}
    late = f"{by_class} --delay 3 --no-report"
    yield one("text target, late", "gold.csv", lambda: text(gold), late)
    numbers = ("temp", "load")
    objects = records(points, numbers)
    jsonl = "".join(json.dumps(row) + "\n" for row in objects)
    yield one("JSON lines", "rows.jsonl", lambda: jsonl, run, ahead)
    yield one("JSON array", "rows.json", lambda: json.dumps(objects), run)
    stamps = [datetime.fromisoformat(stamp) for stamp in points["time"]]
    table = {"time": stamps} | {n: [float(v) for v in points[n]] for n in numbers}
    yield one("Parquet", "rows.parquet", lambda: parquet(table), run, forecast)
    yield one("workbook", "rows.xlsx", lambda: workbook(points), run, ahead)
    squeezed = gzip.compress(text(points).encode(), mtime=0)
    yield one("gz", "rows.csv.gz", lambda: squeezed, run, forecast)
    yield one("bz2", "rows.csv.bz2", lambda: bz2.compress(text(points).encode()), run)
    keyed = "run FILE -t sales --key shop"
    keyed_ahead = "forecast FILE -t sales --key shop --horizon 7 --no-report"
    mixed, glued = text(shops(200, False)), text(shops(200, True))
    lines = (keyed, f"{keyed_ahead} --json", keyed_ahead.replace("--no-report", ""))
    yield one("keyed", "mixed.csv", lambda: mixed, *lines)
    found = "run FILE -t sales --no-report"
    lines = (found, f"{found} --json", "forecast FILE -t sales --no-report")
    yield one("glued", "glued.csv", lambda: glued, *lines)
    bought = shops(150, False)
    bought = bought | {"bought": ["yes" if float(a) > 0 else "no" for a in bought["a"]]}
    by_key = "run FILE -t bought --key shop --no-report"
    yield one("classes by key", "bought.csv", lambda: text(bought), by_key)
    yield from refusals()
    yield from pipes()
    yield from resumed()


def refusals() -> Iterator[Case]:
    """What is wrong with the input is said, and the exit code is 2."""
    plain = regression(60)
    lines = tuple(f"{c} FILE -t z --no-report" for c in ("run", "forecast", "compare"))
    yield one("no such target", "plain.csv", lambda: text(plain), *lines)
    run = "run FILE -t y --no-report"
    yield one("empty file", "empty.csv", lambda: "", run)
    yield one("malformed file", "bad.csv", lambda: malformed(text(plain)), run)
    yield one(
        "skipped lines",
        "bad.csv",
        lambda: malformed(text(plain)),
        f"{run} --on-error skip",
    )


def pipes() -> Iterator[Case]:
    """Rows from standard input: to the end, and cut by signals."""
    lines = text(regression(200))
    run = "run - -t y --no-report --out out"
    yield Case("pipe", [Command(run, pipe(lines))])
    yield Case("pipe, malformed lines", [Command(run, pipe(malformed(lines)))])
    objects = records(regression(120), ("a", "b", "y"))
    jsonl = [json.dumps(row) + "\n" for row in objects]
    yield Case("pipe of JSON lines", [Command(f"{run} --format jsonl", jsonl)])
    label = pipe(text(classes(200, ("cat", "dog", "owl"))))
    yield Case(
        "pipe of classes", [Command("run - -t label --no-report --out out", label)]
    )
    on = "run - --resume out/model.thalweg --no-report --out out"
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGINT):
        cut = Command(run, pipe(lines, 0, 80), number)
        rest = Command(on, pipe(lines, 80))
        yield Case(f"pipe, {number.name}, resumed", [cut, rest])
    again = Command(f"{on} --from-start", pipe(lines))
    cut = Command(run, pipe(lines, 0, 80), signal.SIGTERM)
    yield Case("pipe, SIGTERM, from the start", [cut, again])
    mixed = text(shops(60, False))
    run = "run - -t sales --key shop --no-report --out out"
    on = "run - --resume out/models.db --no-report --out out"
    yield Case("pipe by key", [Command(run, pipe(mixed))])
    for number in (signal.SIGTERM, signal.SIGKILL):
        cut = Command(run, pipe(mixed, 0, 81), number)
        rest = Command(on, pipe(mixed, 81))
        yield Case(f"pipe by key, {number.name}, resumed", [cut, rest])


def resumed() -> Iterator[Case]:
    """Models that go on with later rows."""
    rows = {
        "part.csv": lambda: text(head(HOURLY, 1000)),
        "all.csv": lambda: text(HOURLY),
    }
    part = Command("run part.csv -t load --no-report --out out")
    on = Command("run all.csv --resume out/model.thalweg --no-report --out out")
    yield Case("resumed", [part, on], rows)
    model = "--resume out/model.thalweg --no-report --out out"
    plain = regression(600)
    days = {
        "1.csv": lambda: text(head(plain, 350)),
        "2.csv": lambda: text(tail(plain, 350)),
    }
    first = Command("run 1.csv -t y --no-report --out out")
    yield Case("resumed --next", [first, Command(f"run 2.csv {model} --next")], days)
    yield Case("resumed, unclear", [first, Command(f"run 2.csv {model}")], days)
    animals = classes(500, ("cat", "dog", "owl"))
    halves = {
        "1.csv": lambda: text(head(animals, 250)),
        "2.csv": lambda: text(tail(animals, 250)),
    }
    first = Command("run 1.csv -t label --no-report --out out")
    second = Command(f"run 2.csv {model} --next")
    yield Case("classes, resumed --next", [first, second], halves)
    keys = {
        "part.csv": lambda: text(shops(120, False)),
        "all.csv": lambda: text(shops(200, False)),
        "later.csv": lambda: text(shops(80, False, 120)),
    }
    first = Command("run part.csv -t sales --key shop --no-report --out out")
    model = "--resume out/models.db --no-report --out out"
    yield Case("keyed, resumed", [first, Command(f"run all.csv {model}")], keys)
    yield Case(
        "keyed, later rows", [first, Command(f"run later.csv {model} --next")], keys
    )
    first = Command("forecast part.csv -t load --no-report --horizon 12 --out out")
    model = "--resume out/model.thalweg --no-report --out out"
    later = {**rows, "later.csv": lambda: text(tail(HOURLY, 1000))}
    on = [Command(f"forecast {name}.csv {model}") for name in ("all", "later")]
    yield Case("forecast, resumed", [first, on[0]], later)
    yield Case("forecast, later rows", [first, on[1]], later)
    first = Command(
        "forecast part.csv -t sales --key shop --horizon 7 --no-report --out out"
    )
    model = "--resume out/models.db --no-report --out out"
    yield Case(
        "forecast by key, resumed", [first, Command(f"forecast all.csv {model}")], keys
    )
    yield Case(
        "forecast by key, later", [first, Command(f"forecast later.csv {model}")], keys
    )


# --- Running -----------------------------------------------------------------------


def run_case(case: Case, source: Path, folder: Path) -> list[dict[str, Any]]:
    """Exit code, streams and what was opened, of every command; files are left."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, make in case.files.items():
        content = make()
        data = content.encode() if isinstance(content, str) else content
        (folder / name).write_bytes(data)
    return [run_command(command, source, folder) for command in case.commands]


def run_command(command: Command, source: Path, folder: Path) -> dict[str, Any]:
    """One command of a case."""
    opened = folder / "opened.txt"
    opened.unlink(missing_ok=True)
    one_thread = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS")}
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *command.arguments],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={
            **os.environ,
            **one_thread,
            "PYTHONPATH": str(source),
            "PYTHONSAFEPATH": "1",
            "COLUMNS": "80",
            "TERM": "dumb",
            "OPENED": str(opened),
        },
    )
    assert process.stdin and process.stdout
    given = "".join(command.lines or []).encode()
    answers = b""
    if command.number is not None:
        process.stdin.write(given)
        process.stdin.flush()
        # A line for each: the header's, then a prediction's.
        answers = b"".join(process.stdout.readline() for _ in command.lines or [])
        if command.number is signal.SIGKILL:
            time.sleep(4)  # A pipe that is quiet for two seconds is saved.
        process.send_signal(command.number)
        given = b""
    out, remarks = process.communicate(given)
    found = opened.read_text().splitlines() if opened.exists() else []
    counts = dict(reversed(line.split(" ", 1)) for line in found)
    source_name = command.arguments[1]
    return {
        "exit": process.returncode,
        "stdout": (answers + out).decode(),
        "stderr": remarks.decode(),
        "opened": int(counts.get(source_name, 0)),
    }


def kept_results(case: Case, source: Path, stamp: str) -> tuple[list[dict], Path]:
    """The results of a tree that does not change, from the last time or from now."""
    made = hashlib.sha256(
        repr([(c.line, c.lines, c.number) for c in case.commands]).encode()
    )
    made.update(PROGRAM.encode())
    for name, make in case.files.items():
        made.update(repr((name, make())).encode())
    place = KEPT / "before" / stamp / made.hexdigest()[:20]
    results = place / "results.json"
    if not results.exists():
        found = run_case(case, source, place)
        results.write_text(json.dumps(found))
    return json.loads(results.read_text()), place


def tree_stamp(source: Path) -> str:
    """A name for the modules of a tree."""
    total = hashlib.sha256()
    for path in sorted(source.rglob("*.py")):
        total.update(str(path.relative_to(source)).encode() + path.read_bytes())
    return total.hexdigest()[:16]


def warm(source: Path) -> None:
    """Compile what the cases need, so that nothing says that it compiles."""
    folder = KEPT / "warm"
    command = "from thalweg.cli.program import main; main()"
    for line in (
        "run x.csv -t y",
        "forecast x.csv -t y",
        "compare x.csv -t y --rows 100",
    ):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "x.csv").write_text(text(regression(120)))
        subprocess.run(
            [sys.executable, "-c", command, *shlex.split(line), "--no-report"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(source)},
            capture_output=True,
            check=True,
        )


# --- Comparing ---------------------------------------------------------------------


@dataclass
class Outcome:
    """How the results of a case differ."""

    numbers: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    opened: list[tuple[int, int]] = field(default_factory=list)
    reason: str = ""


def compare_case(case: Case, before: Path, stamp: str, after: Path) -> Outcome:
    """Run a case with both trees."""
    old_results, old_folder = kept_results(case, before, stamp)
    name = re.sub(r"\W+", "-", case.name)
    new_folder = KEPT / "after" / name
    new_results = run_case(case, after, new_folder)
    outcome = Outcome()
    pairs = zip(case.commands, old_results, new_results, strict=True)
    for command, old, new in pairs:
        verb = command.arguments[0]
        outcome.opened.append((old["opened"], new["opened"]))
        if old["exit"] != new["exit"]:
            codes = f"{verb}: exit code {old['exit']} is {new['exit']}"
            outcome.numbers.append(codes)
        for stream in ("stdout", "stderr"):
            compare_text(f"{verb} {stream}", old[stream], new[stream], outcome)
    compare_files(old_folder, new_folder, outcome)
    if outcome.numbers:
        for pattern, difference, reason in EXPECTED:
            if fnmatch(case.name, pattern) and all(
                fnmatch(line, difference) for line in outcome.numbers
            ):
                outcome.reason = reason
    return outcome


def compare_text(name: str, old: str, new: str, outcome: Outcome) -> None:
    """Printed text: JSON by its numbers, predictions by their bytes, else by lines."""
    if old.startswith("{") and new.startswith("{"):
        compare_json(name, json.loads(old), json.loads(new), outcome)
    elif old.startswith("row,") or new.startswith("row,"):
        compare_csv(name, old, new, outcome)
    else:
        compare_lines(name, old, new, outcome)


def compare_lines(name: str, old: str, new: str, outcome: Outcome) -> None:
    """Lines that are not equal, but for seconds."""
    old_words, new_words = (
        SPEED.sub("…", " ".join(text.split())) for text in (old, new)
    )
    if old_words == new_words:
        return
    old_lines, new_lines = (SPEED.sub("…", text).splitlines() for text in (old, new))
    changed = [
        line
        for line in difflib.unified_diff(old_lines, new_lines, lineterm="", n=0)
        if line[:1] in "+-" and line[:3] not in ("---", "+++") and line[1:].strip()
    ]
    other = sorted(NUMBER.findall(old_words)) != sorted(NUMBER.findall(new_words))
    label = f"{name} (other numbers)" if other else name
    outcome.words += [f"{label}: {line}" for line in changed]


def compare_csv(name: str, old: str, new: str, outcome: Outcome) -> None:
    """All bytes."""
    if old == new:
        return
    pairs = zip(
        csv.reader(old.splitlines()), csv.reader(new.splitlines()), strict=False
    )
    first = next((f"{a} is {b}" for a, b in pairs if a != b), "one is longer")
    outcome.numbers.append(f"{name}: {first}")


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every number and text of JSON, with its path."""
    if isinstance(value, dict):
        for key in value:
            if key not in VOLATILE:
                yield from leaves(value[key], f"{path}.{key}")
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from leaves(item, f"{path}[{place}]")
    else:
        yield path, value


def compare_json(name: str, old: Any, new: Any, outcome: Outcome) -> None:
    """Numbers to the last bit; text and additions are words."""
    before, after = dict(leaves(old)), dict(leaves(new))
    for path, value in before.items():
        found = after.get(path, "gone")
        if repr(value) == repr(found):
            continue
        line = f"{name}{path}: {value!r} is {found!r}"
        number = isinstance(value, int | float) or isinstance(found, int | float)
        (outcome.numbers if number else outcome.words).append(line)
    added = [path for path in after if path not in before]
    outcome.words += [f"{name}{path}: is new" for path in added]


def compare_files(old: Path, new: Path, outcome: Outcome) -> None:
    """The files that the commands left in their folders ``out``."""
    names = [
        {str(path.relative_to(f)) for path in (f / "out").rglob("*") if path.is_file()}
        for f in (old, new)
    ]
    for name in sorted(names[0] | names[1]):
        if name not in names[1] or name not in names[0]:
            state = "gone" if name in names[0] else "new"
            outcome.numbers.append(f"{name}: the file is {state}")
        elif name.endswith(".csv"):
            compare_csv(
                name, (old / name).read_text(), (new / name).read_text(), outcome
            )
        elif name.endswith(".json"):
            values = (json.loads((f / name).read_text()) for f in (old, new))
            compare_json(name, *values, outcome)
        elif name.endswith(".html") and "</html>" not in (new / name).read_text():
            outcome.numbers.append(f"{name}: the page is cut off")


def print_row(case: Case, outcome: Outcome, words: bool) -> None:
    """A line of the table, and the differences below it."""
    equal = "yes" if not outcome.numbers else "expected" if outcome.reason else "NO"
    opened = " ".join(
        str(new) if old == new else f"{old}→{new}" for old, new in outcome.opened
    )
    verbs = " ".join(command.arguments[0] for command in case.commands)
    print(f"{case.name:<32}{verbs:<34}{equal:<10}{len(outcome.words):>5}  {opened}")
    lines = outcome.numbers if outcome.numbers else []
    for line in lines[:5]:
        print(f"    {line[:300]}")
    if len(lines) > 5:
        print(f"    and {len(lines) - 5} more")
    if outcome.reason:
        print(f"    expected: {outcome.reason}")
    for line in outcome.words if words else []:
        print(f"    {line}")


def main() -> None:
    """Compare, and end with 1 where numbers differ that should not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="only cases with this in the name")
    parser.add_argument("--before", type=Path, help="the other tree's src")
    parser.add_argument("--words", action="store_true", help="print lines that differ")
    parser.add_argument("--list", action="store_true", help="print the cases")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    cases = [
        case
        for case in all_cases()
        if not options.names or any(name in case.name for name in options.names)
    ]
    if options.list or options.before is None:
        for case in cases:
            print(case.name, *(command.line for command in case.commands), sep="\n    ")
        return
    started = time.perf_counter()
    before, after = options.before.resolve(), TREE / "src"
    for source in (before, after):
        warm(source)
    stamp = tree_stamp(before)
    print(f"{'case':<32}{'commands':<34}{'numbers':<10}{'words':>5}  opened")
    failed = total = 0
    with ThreadPoolExecutor(options.workers) as pool:
        outcomes = pool.map(
            lambda case: compare_case(case, before, stamp, after), cases
        )
        for case, outcome in zip(cases, outcomes, strict=True):
            print_row(case, outcome, options.words)
            failed += bool(outcome.numbers) and not outcome.reason
            total += len(outcome.words)
    seconds = time.perf_counter() - started
    print(
        f"\n{len(cases)} cases in {seconds:.0f} s: {failed} with other numbers, "
        f"{total} lines with other words."
    )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
