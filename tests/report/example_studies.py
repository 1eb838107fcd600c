"""Example studies for the tests of reports: full, bare, crowded and hostile."""

import numpy as np

from thalweg.changes.alarms import ChangeAlarm
from thalweg.evaluation.downsampling import Curve, Downsampler, downsample
from thalweg.evaluation.study import (
    Entry,
    Hindsight,
    Histogram,
    LastRounds,
    Mark,
    PredictionBands,
    RegretEntry,
    Study,
    TrackerHistory,
)

ROUNDS = 3000
FIRST_SCORED = 21
HOSTILE = (
    "</script><b>",
    "a.b[c]",
    "<!--",
    'it\'s "quoted" {{ 7 }} `x`',
    "trailing \\",
    "two\nlines\u2028three",
    "a_long_name_without_any_place_to_break_it_" * 3,
)


def curve(values) -> Curve:
    return downsample(values)


def entry(name, role, scale, seed, discount=None) -> Entry:
    rng = np.random.default_rng(seed)
    errors = scale * rng.normal(size=ROUNDS)
    errors[: FIRST_SCORED - 1] = np.nan
    squares, sizes = Downsampler(), Downsampler()
    squares.add(errors**2)
    sizes.add(np.abs(errors))
    return Entry(
        name, role, squares.average(), sizes.average(), squares.cumulative(), discount,
        absolute_errors=sizes.curve(),
    )  # fmt: skip


def entries() -> tuple[Entry, ...]:
    return (
        entry("Tracker", "tracker", 0.8, 0),
        entry("RLS, γ = 0.98", "fixed", 0.9, 1, 0.98),
        entry("RLS, γ = 1", "fixed", 1.3, 2, 1.0),
        entry("the paper's mixture", "paper", 0.95, 3),
        entry("sliding window", "rival", 1.1, 4),
        entry("another library", "peer", 20.0, 5),
        entry("persistence", "persistence", 1.0, 6),
    )


def alarm(onset: int) -> ChangeAlarm:
    text = "level fell by 90 %, from 100 to 10"
    return ChangeAlarm(onset + 5, onset, "level", text, 100.0, 10.0)


def tracker_history(
    features=("flow", "pressure"), alarms=(700, 1500, 2300)
) -> TrackerHistory:
    rng = np.random.default_rng(7)
    kinds = rng.dirichlet(np.ones(3), size=ROUNDS).T
    slow = rng.normal(size=(len(features), ROUNDS)).cumsum(axis=1) / 50
    return TrackerHistory(
        memory=curve(20 + 15 * np.sin(np.arange(ROUNDS) / 100)),
        alarms=tuple(map(alarm, alarms)),
        weights=dict(zip(("level", "step", "season"), map(curve, kinds), strict=True)),
        coefficients=dict(zip(features, map(curve, slow), strict=True)),
        coverage=((0.5, 0.48), (0.9, 0.91)),
        season=12,
        explanation="After 3,000 rounds, about the last 20 count.",
    )


def hindsight(*others: str) -> Hindsight:
    names = ("Tracker", "RLS, γ = 0.98", "RLS, γ = 1", "persistence", *others)
    lengths = (8.0, 5.0, 0.4, float("nan"), *(2.0 for _ in others))
    losses = (900.0, 1200.0, 2400.0, 1500.0, *(1000.0 for _ in others))
    V = np.array([0.0, 0.5, 2.0, 10.0])
    return Hindsight(
        path_length=V,
        loss=2600.0 / (1 + V),
        lower_bound=2550.0 / (1 + V),
        marks=tuple(map(Mark, names, lengths, losses)),
        rounds=ROUNDS,
    )


REGRETS = (
    RegretEntry("Tracker", "static", -130.0, None),
    RegretEntry("Tracker", "interval", 12.0, 310.0),
    RegretEntry("RLS, γ = 0.98", "dynamic", 45.0, 800.0),
)


def study(**changes) -> Study:
    rng = np.random.default_rng(8)
    level = rng.normal(size=ROUNDS).cumsum()
    given = dict(
        title="A made-up stream",
        target="y",
        rounds=ROUNDS,
        scored_rounds=ROUNDS - FIRST_SCORED + 1,
        first_scored_round=FIRST_SCORED,
        features=("flow", "pressure"),
        seconds=0.05,
        entries=entries(),
        observed=curve(level),
        forecast=curve(level + rng.normal(size=ROUNDS)),
    )
    return Study(**(given | changes))


def bands() -> PredictionBands:
    rng = np.random.default_rng(8)  # as in ``study``, around the same level
    level = rng.normal(size=ROUNDS).cumsum()
    covered = (np.random.default_rng(10).random(ROUNDS) < 0.9).astype(float)
    covered[: FIRST_SCORED - 1] = np.nan
    return PredictionBands(0.9, curve(level - 2), curve(level + 2), curve(covered), 2.0)


def hours() -> Curve:
    """The times of the rows: one an hour, from 1 January 2020 on."""
    return curve(1_577_836_800.0 + 3600.0 * np.arange(ROUNDS))


RESIDUALS = Histogram(
    np.linspace(-4, 4, 81), np.exp(-0.5 * np.linspace(-3.95, 3.95, 80) ** 2)
)


def full(**changes) -> Study:
    """With all that a report can show."""
    parts = dict(
        times=hours(),
        bands=bands(),
        residuals=RESIDUALS,
        effects={"flow": 1.5, "pressure": 0.4, "level and recent values": 2.0},
        history=tracker_history(),
        hindsight=hindsight(),
        regrets=REGRETS,
        notes=("The losses of hindsight are half squares.",),
        start="2020-01-01T00:00:00",
        end="2020-05-04T23:00:00",
        last_rounds=last_rounds(),
    )
    return study(**(parts | changes))


def last_rounds() -> LastRounds:
    observed, forecast = np.random.default_rng(9).normal(size=(2, 200))
    time = 1_577_836_800.0 + 3600.0 * np.arange(ROUNDS - 200, ROUNDS)
    return LastRounds(ROUNDS, observed, forecast, forecast - 1, forecast + 1, time)


def bare() -> Study:
    """With no more than a study needs."""
    return study(
        title="Bare",
        entries=(entries()[0], entries()[-1]),
    )


def crowded() -> Study:
    """Sixty features, and more learners than there are colours."""
    names = tuple(f"sensor {k}" for k in range(60))
    more = tuple(
        entry(f"discount {k}", "fixed", 1.0 + 0.01 * k, 10 + k, 0.9) for k in range(9)
    )
    return full(
        title="Crowded",
        features=names,
        history=tracker_history(names),
        entries=entries() + more,
    )


def hostile() -> Study:
    """Names that would break out of a page, a chart or a template."""
    more = tuple(entry(name, "peer", 1.2, 40 + k) for k, name in enumerate(HOSTILE))
    return full(
        title="</title><script>alert(1)</script>",
        target="</script><b>",
        features=HOSTILE,
        entries=(entries()[0], entries()[1], entries()[-1], *more),
        history=tracker_history(HOSTILE),
        hindsight=hindsight(*HOSTILE),
        regrets=tuple(RegretEntry(name, "static", 3.0, 5.0) for name in HOSTILE),
        notes=("</p><script>alert(2)</script>",),
    )


def poor() -> Study:
    """Two rounds, of which nothing was learnt: zeros and gaps wherever there can be."""
    nothing, gap = curve(np.zeros(2)), curve(np.full(2, np.nan))
    errors = (
        Entry("Tracker", "tracker", 0.0, 0.0, nothing),
        Entry("persistence", "persistence", 0.0, 0.0, nothing),
        Entry("lost", "peer", float("inf"), float("nan"), gap),
    )
    zero = np.zeros(1)
    return study(
        title="Poor",
        rounds=2,
        scored_rounds=2,
        first_scored_round=1,
        features=(),
        entries=errors,
        observed=gap,
        forecast=nothing,
        history=TrackerHistory(nothing, (), {"level": gap}, {}, (), 1, ""),
        hindsight=Hindsight(zero, zero, zero, (Mark("Tracker", 0.0, 0.0),), 2),
        regrets=(RegretEntry("Tracker", "static", 0.0, None),),
    )
