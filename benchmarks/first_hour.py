"""The first hour: twelve files of strangers, each run with no option but the target.

    python -m benchmarks.first_hour --root FOLDER [--only NAME]
    python -m benchmarks.first_hour --root FOLDER --before asked --source OLD_SRC

Each file of first_hour_files.toml is given to ``thalweg run FILE -t TARGET`` and
nothing else. Printed is its mean squared error over that of the best simple baseline,
of ETS or boosting, and of two defaults before features were made without asking: that
of the time when the files were asked for (commit c788977), and the first one with a
correction for curvature. Their errors are saved in first_hour_before.json (--before
makes them again, with the source tree of that time). All are of the same rows: after
the first 40 labels, without the first of another series, where times go back. Six files
those defaults refused (marked *): they were given times in ISO 8601, decimal points,
``--missing impute``, and a constant column where there is no other.

FOLDER holds the packages unpacked, one folder each; without it they are those that are
installed. benchmarks/first_hour_rivals.py says what the baselines and rivals are.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.first_hour_rivals import baselines, rivals

BURN_IN = 40
TIME_FORMATS = {"co2": "%Y%m%d", "stocks": "%b %d %Y"}
"""How times are written in files where pandas cannot know it."""
BEFORE_FILE = Path(__file__).with_name("first_hour_before.json")
"""Squared errors of the defaults before, by default and name of the file."""
DEFAULTS = ("asked", "curvature")


def find_file(path: str, root: Path | None) -> Path:
    """A file of a package, in the folder given or where it is installed."""
    package = path.split("/")[0]
    if root is not None:
        return root / package / path
    spec = find_spec(package)
    assert spec is not None and spec.origin is not None, package
    return Path(spec.origin).parents[1] / path


def rewrite_german(path: Path, folder: Path, target: str) -> Path:
    """The file as a German spreadsheet writes it."""
    frame = pd.read_csv(path)
    times = pd.to_datetime(frame.iloc[:, 0]).dt.strftime("%d.%m.%Y %H:%M")
    values = frame.iloc[:, 1].map(lambda value: f"{value}".replace(".", ","))
    lines = [
        f"Zeit;{target}",
        *(f"{t};{y}" for t, y in zip(times, values, strict=True)),
    ]
    out = folder / "wind.csv"
    out.write_bytes("\r\n".join([*lines, ""]).encode("latin-1"))
    return out


def read_rows(name: str, path: Path, target: str) -> tuple[pd.DataFrame, str | None]:
    """The rows as numbers and times, and the name of the column of times."""
    is_german = path.name == "wind.csv"
    style = {"sep": ";", "decimal": ",", "encoding": "latin-1"} if is_german else {}
    frame = pd.read_csv(path, na_values=["?", "-"], **style)
    for column in frame.columns:
        if column == target or (
            pd.api.types.is_numeric_dtype(frame[column]) and name not in TIME_FORMATS
        ):
            continue
        form = "%d.%m.%Y %H:%M" if is_german else TIME_FORMATS.get(name)
        try:
            frame[column] = pd.to_datetime(frame[column].astype(str), format=form)
        except (ValueError, TypeError):
            continue
        return frame, column
    return frame, None


def run_thalweg(
    path: Path, target: str, folder: Path, source: str | None = None, *options: str
) -> tuple[np.ndarray, float] | None:
    """The predictions of ``thalweg run``, by row, and its seconds; None if refused."""
    environment = dict(os.environ)
    if source is not None:
        environment["PYTHONPATH"] = source
    folder = Path(tempfile.mkdtemp(dir=folder))
    command = [sys.executable, "-m", "thalweg.cli", "run", str(path), "-t", target]
    began = time.perf_counter()
    done = subprocess.run(
        [*command, *options],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - began
    if done.returncode:
        print(f"  refused: {done.stderr.strip()[-200:]}", file=sys.stderr)
        return None
    (file,) = folder.glob("out/*/predictions.csv")
    with file.open() as lines:
        rows = list(csv.DictReader(lines))
    # A run that classifies 0 and 1 gives the probability of 1.
    column = "p 1" if "p 1" in rows[0] else "prediction"
    made = {int(row["row"]): float(row[column]) for row in rows}
    return np.array([made.get(row + 1, np.nan) for row in range(max(made))]), seconds


def run_before(
    name: str, path: Path, target: str, folder: Path, source: str
) -> np.ndarray | None:
    """The predictions of an earlier source tree, on a plainer file if it refuses."""
    outcome = run_thalweg(path, target, folder, source, "--no-report")
    if outcome is not None:
        return outcome[0]
    frame, when = read_rows(name, path, target)
    if when is not None:
        frame[when] = frame[when].dt.strftime("%Y-%m-%dT%H:%M:%S")
    if len(frame.columns) == 1 + (when is not None):
        frame["constant"] = 1
    plain = folder / "plain.csv"
    frame.to_csv(plain, index=False)
    options = ("--no-report", "--missing", "impute")
    outcome = run_thalweg(plain, target, folder, source, *options)
    return None if outcome is None else outcome[0]


def squared_error(prediction: np.ndarray, y: np.ndarray, scored: np.ndarray) -> float:
    """The mean squared error of the rows that are scored."""
    return float(np.mean((prediction[scored] - y[scored]) ** 2))


def measure(
    file: dict, root: Path | None, before: str | None, source: str | None, saved: dict
) -> dict:
    """The errors of one file; those of the default ``before`` are made again."""
    name, target = file["name"], file["target"]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        path = find_file(file["path"], root)
        if "rewritten" in file:
            path = rewrite_german(path, folder, target)
        frame, when = read_rows(name, path, target)
        y = pd.to_numeric(frame[target]).to_numpy(float)
        times = None if when is None else frame[when].to_numpy("datetime64[ns]")
        outcome = run_thalweg(path, target, folder)
        scored = (np.cumsum(~np.isnan(y)) > BURN_IN) & ~np.isnan(y)
        if times is not None:  # nobody knows the first row of another series
            scored[1:] &= ~(np.diff(times) < np.timedelta64(0))
        others = frame.drop(columns=[target]).select_dtypes("number").to_numpy(float)
        errors = {
            key: squared_error(made, y, scored)
            for key, made in baselines(y, times).items()
        }
        models = {
            key: squared_error(made, y, scored)
            for key, made in rivals(y, times, others).items()
        }
        if before is not None:
            made = run_before(name, path, target, folder, source)
            if made is not None:
                saved[before][name] = squared_error(made, y, scored)
    after = np.nan if outcome is None else squared_error(outcome[0], y, scored)
    seconds = np.nan if outcome is None else outcome[1]
    return {
        "name": name, "rows": len(y), "after": after, "seconds": seconds,
        "has_time": when is not None, "baselines": errors, "rivals": models,
        "before": [saved[default].get(name, np.nan) for default in DEFAULTS],
        "was_refused": name in saved["refused"],
    }  # fmt: skip


def print_header() -> None:
    """The names of the columns."""
    print(
        f"{'file':26}{'rows':>8}{'/ baseline':>12}  {'best baseline':26}{'/ model':>9}"
        f"  {'model':10}{'/ asked':>9}{'/ dec. 18':>11}{'seconds':>9}",
        flush=True,
    )


def print_line(one: dict) -> np.ndarray:
    """The ratios of one file; returns those over the defaults before."""
    baseline = min(one["baselines"], key=one["baselines"].get)
    model = min(one["rivals"], key=one["rivals"].get, default="-")
    over_baseline = one["after"] / one["baselines"][baseline]
    over_model = one["after"] / one["rivals"].get(model, np.nan)
    over_before = one["after"] / np.array(one["before"])
    mark = "*" if one["was_refused"] else " "
    print(
        f"{one['name']:26}{one['rows']:8,}{over_baseline:12.3f}  {baseline:26}"
        f"{over_model:9.3f}  {model:10}{over_before[0]:8.3f}{mark}"
        f"{over_before[1]:10.3f}{mark}{one['seconds']:9.1f}",
        flush=True,
    )
    return over_before


def print_means(ratios: list[np.ndarray], was_refused: list[bool]) -> None:
    """Geometric means over files with times, and the worst of them."""
    for k, default in enumerate(DEFAULTS):
        values = np.array([ratio[k] for ratio in ratios])
        ran = values[~np.array(was_refused)]
        print(
            f"Over the default before ({default}), {len(values)} files with times: "
            f"geometric mean {np.exp(np.log(values).mean()):.3f}, worst "
            f"{values.max():.3f}; {len(ran)} that it ran as they are: "
            f"{np.exp(np.log(ran).mean()):.3f}, worst {ran.max():.3f}."
        )


def main() -> None:
    """Run every file, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path)
    parser.add_argument("--before", choices=DEFAULTS)
    parser.add_argument("--source", metavar="OLD_SRC")
    parser.add_argument("--only", metavar="NAME")
    arguments = parser.parse_args()
    listed = tomllib.loads(
        Path(__file__).with_name("first_hour_files.toml").read_text()
    )
    saved = json.loads(BEFORE_FILE.read_text())
    ratios, was_refused, best = [], [], 0
    print_header()
    for file in listed["file"]:
        if arguments.only not in (None, file["name"]):
            continue
        one = measure(file, arguments.root, arguments.before, arguments.source, saved)
        ratio = print_line(one)
        best += one["after"] <= min(one["baselines"].values())
        if one["has_time"]:
            ratios.append(ratio)
            was_refused.append(one["was_refused"])
        if arguments.before is not None:
            BEFORE_FILE.write_text(json.dumps(saved, indent=1) + "\n")
    print(f"\nAt most the best baseline's error: {best} files.")
    if ratios and not all(was_refused):
        print_means(ratios, was_refused)


if __name__ == "__main__":
    main()
