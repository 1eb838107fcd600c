"""Fuzz every learner: random options, hostile streams, and slow oracles.

    PYTHONPATH=src:. python tools/fuzz.py                       # an hour on two cores
    PYTHONPATH=src:. python tools/fuzz.py --streams 200 --learner Tracker
    PYTHONPATH=src:. python tools/fuzz.py --replay Tracker:17   # one case, in words

Every stream follows from the learner's name and its seed. What is drawn is in
tests/fuzz/random_settings.py, hostile_streams.py and fuzz_cases.py, what is checked and
when an answer counts as wrong in fuzz_checks.py. Prints a table by learner, the options
that occurred least, and every failing case with the command that replays it; the exit
status is 1 if there is any.
"""

import argparse
import multiprocessing
import os
import sys
import time
from collections import Counter
from typing import NamedTuple

from tests.fuzz.fuzz_cases import make_case
from tests.fuzz.fuzz_checks import CATEGORIES, Failure, check_case
from tests.fuzz.random_settings import NAMES

CHUNK = 100
"""Streams that a process plays before it reports."""
REQUIRED_COUNT = 0.05
"""Every option shall occur in this part of a learner's streams."""
MIN_COUNTED = 1000
"""With fewer streams, options are not expected to occur as often as they should."""
MAX_PRINTED = 20
"""Failures that are printed of each learner."""


class Report(NamedTuple):
    """What came of some streams of one learner."""

    name: str
    streams: int
    options: Counter  # how often each (option, value) occurred
    judged: int  # streams in which an oracle judged at least one round
    failures: list[tuple[int, Failure]]  # by seed
    seconds: float  # of processor time


def play_streams(job):
    """The report of the streams of one learner with seeds first to last - 1."""
    name, first, last = job
    options, judged, failures, begin = Counter(), 0, [], time.process_time()
    for seed in range(first, last):
        case = make_case(name, seed)
        options.update(case.options.items())
        failure, rounds = check_case(case)
        judged += rounds > 0
        if failure is not None:
            failures.append((seed, failure))
    seconds = time.process_time() - begin
    return Report(name, last - first, options, judged, failures, seconds)


def merge(reports):
    """One report of several of the same learner."""
    options, failures = Counter(), []
    for report in reports:
        options.update(report.options)
        failures += report.failures
    sums = {
        field: sum(getattr(report, field) for report in reports)
        for field in ("streams", "judged", "seconds")
    }
    return Report(reports[0].name, options=options, failures=failures, **sums)


def print_table(reports):
    """A row for each learner."""
    print(
        f"{'learner':<24}{'streams':>8}{'least option':>13}{'oracle':>8}"
        f"{'non-finite':>11}{'bare error':>11}{'wrong':>7}{'seconds':>9}{'per s':>7}"
    )
    for report in reports:
        counts = Counter(failure.category for _, failure in report.failures)
        nonfinite, errors, wrong = (counts[category] for category in CATEGORIES)
        least = min(report.options.values())
        print(
            f"{report.name:<24}{report.streams:>8}{least:>13}{report.judged:>8}"
            f"{nonfinite:>11}{errors:>11}{wrong:>7}{report.seconds:>9.0f}"
            f"{report.streams / report.seconds:>7.0f}"
        )


def print_failures(report):
    """The first failing cases, each with the command that replays it."""
    for seed, failure in sorted(report.failures)[:MAX_PRINTED]:
        print(f"{failure.category}: {failure.message}")
        print(f"    python tools/fuzz.py --replay {report.name}:{seed}")
    hidden = len(report.failures) - MAX_PRINTED
    if hidden > 0:
        print(f"    and {hidden} more of {report.name}")


def print_rare_options(report):
    """The options that occurred too seldom."""
    if report.streams < MIN_COUNTED:
        return
    for (option, value), count in sorted(report.options.items(), key=lambda i: i[1]):
        if count < REQUIRED_COUNT * report.streams:
            print(f"{report.name}: {option} = {value} occurred {count} times only")


def replay(text):
    """Print one case in words, and play it."""
    name, seed = text.split(":")
    case = make_case(name, int(seed))
    print(case.describe())
    failure, judged = check_case(case)
    print(f"  {judged} rounds were judged by the oracle" if case.with_oracle else "")
    print("all promises hold" if failure is None else ": ".join(failure))
    return failure is not None


def play_campaign(names, first, streams, processes):
    """Play the streams of all learners in several processes; whether any failed."""
    jobs = [
        (name, seed, min(seed + CHUNK, first + streams))
        for name in names
        for seed in range(first, first + streams, CHUNK)
    ]
    collected = {name: [] for name in names}
    # New processes, since a fork of one that has compiled kernels may hold a lock.
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for report in pool.imap_unordered(play_streams, jobs):
            collected[report.name].append(report)
            parts = collected[report.name]
            if len(parts) * CHUNK >= streams:
                found = sum(len(part.failures) for part in parts)
                print(f"{report.name}: {found} failed", file=sys.stderr, flush=True)
    reports = [merge(parts) for parts in collected.values()]
    for report in reports:
        print_failures(report)
        print_rare_options(report)
    print_table(reports)
    return any(report.failures for report in reports)


def main():
    """Parse the arguments; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=10_000, help="for each learner")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--learner", nargs="*", choices=NAMES, default=list(NAMES))
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--replay", metavar="LEARNER:SEED")
    given = parser.parse_args()
    if given.replay:
        return replay(given.replay)
    return play_campaign(given.learner, given.first, given.streams, given.processes)


if __name__ == "__main__":
    sys.exit(main())
