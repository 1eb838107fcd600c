"""Streams to run the command line on, and ways to call it."""

import json
import subprocess
import sys

import numpy as np
from typer.testing import CliRunner

from thalweg.cli.main import app

RUNNER = CliRunner(env={"COLUMNS": "80", "TERM": "dumb"})


def thalweg(*arguments):
    """The outcome of a command, in this process."""
    return RUNNER.invoke(app, [str(argument) for argument in arguments])


def started(*arguments, cwd, **pipes):
    """The command in a process of its own; it draws no page."""
    command = [sys.executable, "-m", "thalweg.cli", *map(str, arguments)]
    command += ["--no-report"] * ("--no-report" not in arguments)
    return subprocess.Popen(command, cwd=cwd, **pipes)


def rows(count=300, seed=0):
    """Lines of CSV: a header, then a regression that changes half-way."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 2))
    slopes = np.where(np.arange(count)[:, None] < count // 2, [2.0, 0.0], [-1.0, 3.0])
    y = (x * slopes).sum(axis=1) + 5 + 0.1 * rng.normal(size=count)
    sites = rng.choice(["north", "south"], count)
    hours = np.datetime64("2024-01-01", "h") + np.arange(count)
    lines = ["when,a,b,site,y\n"]
    for hour, (a, b), site, label in zip(hours, x, sites, y, strict=True):
        lines.append(f"{hour}:00,{a:.4f},{b:.4f},{site},{label:.4f}\n")
    return lines


def written(path, lines=None):
    """The path, at which the lines now are."""
    path.write_text("".join(rows() if lines is None else lines))
    return path


def studies_in(path):
    """The studies in a file, but for the seconds they took."""
    return [{**study, "seconds": 0} for study in json.loads(path.read_text())]
