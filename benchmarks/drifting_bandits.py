"""Regret of LinUCB and UCB, with and without forgetting, where rewards drift.

    python -m benchmarks.drifting_bandits [--seeds 20] [--figure FILE]

Linear: θ on the unit circle, 50 fresh actions a round, noise 1, T = 6,000. Abrupt: θ
turns by half, a quarter and half a turn after rounds 1,000, 2,000 and 3,000. Slow: a
quarter turn over all rounds. T, the turns, λ = 0.1, δ = 0.01, S = L = 1 and the rule
for γ are those of the public code of Russac, Vernade & Cappé (2019). Arms: three that
take turns, T = 10,000; the numbers are ours.

Prints the mean pseudo-regret over seeds with its 95 % interval (Student's t), each
policy's difference from the one that forgets nothing on the same rounds, its largest
regret and its bound, which is at most what can be lost at all.
"""

import argparse
import time
from typing import NamedTuple

import altair as alt
import numpy as np
from scipy import stats

from thalweg import bandits
from thalweg.bandits import regret_bounds
from thalweg.report.charts.theme import LIGHT

RIDGE = 0.1
EVERY = 25
"""Rounds between two points of the figure."""
COLOURS = {
    "LinUCB": LIGHT.series[1],
    "D-LinUCB": LIGHT.warm,
    "TrackerLinUCB": LIGHT.accent,
    "AdaptiveLinUCB": LIGHT.series[3],
}


class Entry(NamedTuple):
    """A policy in an environment."""

    name: str
    given: str  # what it is given beyond λ, δ, S and L
    policy: bandits.Policy
    bound: float  # of the expected regret; NaN where none is proven


class Study(NamedTuple):
    """The runs of several policies on the same rounds."""

    title: str
    environment: bandits.LinearEnvironment | bandits.ArmEnvironment
    entries: list[Entry]
    regret: np.ndarray  # (policies, seeds, T)


def linear_entries(environment):
    """The four policies for a linear environment."""
    T, path = len(environment), environment.path_length
    gamma = bandits.discount_for_drift(path, environment.size, T)
    problem = regret_bounds.LinearBandit(environment.size, RIDGE)
    changes = environment.changes if environment.changes < T / 100 else None

    def bound(discount):
        return regret_bounds.discounted_lin_ucb(problem, discount, T, path, changes)

    plain = bandits.DiscountedLinUCB(1.0, RIDGE)
    discounted = bandits.DiscountedLinUCB(gamma, RIDGE)
    return [
        Entry("LinUCB", "σ", plain, bound(1.0)),
        Entry("D-LinUCB", f"σ, drift: γ = {gamma:.4f}", discounted, bound(gamma)),
        Entry("TrackerLinUCB", "", bandits.TrackerLinUCB(RIDGE), np.nan),
        Entry("AdaptiveLinUCB", "σ", bandits.AdaptiveLinUCB(RIDGE), np.nan),
    ]


def arm_entries(environment):
    """UCB that forgets nothing, discounted and over a window."""
    T, changes = len(environment), environment.changes
    gaps = environment.smallest_gaps, environment.largest_gaps
    gamma = bandits.discount_for_changes(changes, T)
    window = bandits.window_for_changes(changes, T)
    return [
        Entry(
            "UCB",
            "",
            bandits.SlidingWindowUCB(T),
            regret_bounds.sliding_window_ucb(T, T, changes, *gaps),
        ),
        Entry(
            "D-UCB",
            f"changes: γ = {gamma:.4f}",
            bandits.DiscountedUCB(gamma),
            regret_bounds.discounted_ucb(gamma, T, changes, *gaps),
        ),
        Entry(
            "SW-UCB",
            f"changes: τ = {window}",
            bandits.SlidingWindowUCB(window),
            regret_bounds.sliding_window_ucb(window, T, changes, *gaps),
        ),
    ]


def run_study(title, environment, entries, seeds):
    """Play every policy in the environment, once for each seed."""
    regret = np.array(
        [
            [
                bandits.simulate(entry.policy, environment, seed=seed).regret
                for seed in range(seeds)
            ]
            for entry in entries
        ]
    )
    return Study(title, environment, entries, regret)


def studies(seeds, rounds=6000):
    """The two linear environments, and the arms."""
    scale = rounds / 6000
    changes = [round(scale * change) for change in (1000, 2000, 3000)]
    abrupt = bandits.abrupt_environment(rounds, changes)
    slow = bandits.rotating_environment(rounds)
    arms = bandits.switching_arms()
    return [
        run_study("θ turns at once", abrupt, linear_entries(abrupt), seeds),
        run_study("θ turns slowly", slow, linear_entries(slow), seeds),
        run_study("arms change at once", arms, arm_entries(arms), seeds),
    ]


def mean_interval(values):
    """The mean over the first axis, and half of its 95 % interval."""
    count = values.shape[0]
    quantile = stats.t.ppf(0.975, count - 1)
    return values.mean(axis=0), quantile * values.std(axis=0, ddof=1) / np.sqrt(count)


def print_study(study):
    """The table of a study."""
    seeds, rounds = study.regret.shape[1:]
    print(f"\n{study.title}, T = {rounds}, {seeds} seeds")
    print(f"{'policy':15} {'is given':25} {'regret':>14} {'less plain':>15}", end="")
    print(f" {'largest':>8} {'bound':>8}")
    totals = study.regret.sum(axis=2)
    for entry, own in zip(study.entries, totals, strict=True):
        mean, half = mean_interval(own)
        gain, gain_half = mean_interval(own - totals[0])
        is_plain = entry is study.entries[0]
        compared = "" if is_plain else f"{gain:+8.0f} ± {gain_half:3.0f}"
        bound = "none" if np.isnan(entry.bound) else f"{entry.bound:.0f}"
        print(
            f"{entry.name:15} {entry.given:25} {mean:8.0f} ± {half:3.0f} "
            f"{compared:>15} {own.max():8.0f} {bound:>8}"
        )


def print_long_runs(seeds=2):
    """Where the bound of D-LinUCB says something: longer runs, and the γ that it asks.

    At T = 6,000 it exceeds 2T, which is all that can be lost.
    """
    problem = regret_bounds.LinearBandit(2, RIDGE)
    print("\nD-LinUCB with the γ of the least bound, θ turning at once")
    print(f"{'T':>9} {'γ':>8} {'regret':>8} {'bound':>8} {'ratio':>6} {'2T':>8}")
    for rounds in (10**5, 3 * 10**5):
        changes = [rounds // 6, rounds // 3, rounds // 2]
        environment = bandits.abrupt_environment(rounds, changes)
        path = environment.path_length
        bound, gamma = min(
            (regret_bounds.discounted_lin_ucb(problem, g, rounds, path, 3), g)
            for g in 1 - np.geomspace(1e-4, 1e-2, 30)
        )
        policy = bandits.DiscountedLinUCB(float(gamma), RIDGE)
        regret = np.mean(
            [bandits.simulate(policy, environment, seed=s).total for s in range(seeds)]
        )
        print(
            f"{rounds:9} {gamma:8.5f} {regret:8.0f} {bound:8.0f} {regret / bound:6.3f} "
            f"{2 * rounds:8}"
        )


def figure(linear_studies):
    """Cumulative regret with intervals, one panel an environment."""
    panels = [panel(study) for study in linear_studies]
    seeds = linear_studies[0].regret.shape[1]
    title = alt.Title(
        "LinUCB cannot forget, and pays for it",
        subtitle="Mean pseudo-regret so far and its 95 % interval over "
        f"{seeds} seeds; d = 2, 50 actions a round, noise 1",
        fontSize=17, subtitleFontSize=12, anchor="start", color=LIGHT.ink,
        subtitleColor=LIGHT.muted, offset=14,
    )  # fmt: skip
    return (
        alt.hconcat(*panels, spacing=34)
        .resolve_scale(y="independent")
        .properties(title=title)
        .configure(background="white", font="Helvetica, Arial, sans-serif", padding=16)
        .configure_axis(
            gridColor=LIGHT.grid, domainColor="#9aa5b1", labelColor=LIGHT.ink,
            titleColor=LIGHT.muted, titleFontWeight="normal", labelFontSize=11,
        )
        .configure_view(stroke=None)
    )  # fmt: skip


def panel(study):
    """The lines of one environment, each named at its end."""
    rows, ends = [], []
    rounds = study.regret.shape[2]
    places = np.append(np.arange(0, rounds, EVERY), rounds - 1)
    for entry, own in zip(study.entries, study.regret, strict=True):
        mean, half = mean_interval(own.cumsum(axis=1)[:, places])
        series = zip(places, mean, half, strict=True)
        rows += [
            {"policy": entry.name, "t": int(t), "mean": m, "low": m - h, "high": m + h}
            for t, m, h in series
        ]
        ends.append({"policy": entry.name, "t": rounds, "mean": float(mean[-1])})
    spread_labels(ends, gap=0.055 * max(end["mean"] for end in ends))
    colour = alt.Color("policy:N", legend=None).scale(
        domain=list(COLOURS), range=list(COLOURS.values())
    )
    x = alt.X("t:Q", title="round").scale(domain=[0, rounds], nice=False)
    x = x.axis(grid=False, tickCount=6)
    base = alt.Chart(alt.Data(values=rows)).encode(x=x, color=colour)
    layers = [
        *turn_marks(study),
        base.mark_area(opacity=0.18).encode(
            y=alt.Y("low:Q", title="regret so far"), y2="high:Q"
        ),
        base.mark_line(strokeWidth=2.4).encode(y="mean:Q"),
        alt.Chart(alt.Data(values=ends))
        .mark_text(align="left", dx=7, fontSize=12, fontWeight="bold", clip=False)
        .encode(x="t:Q", y="at:Q", text="label:N", color=colour),
    ]
    heading = alt.Title(study.title, fontSize=13, color=LIGHT.ink, anchor="start")
    return alt.layer(*layers).properties(width=330, height=300, title=heading)


def turn_marks(study):
    """A rule where θ turns at once, with the part of a full turn."""
    theta = study.environment.theta
    jumps = np.flatnonzero((np.diff(theta, axis=0) != 0).any(axis=1))
    if len(jumps) > 10:
        return []
    rows = []
    for t in jumps:
        cosine = theta[t] @ theta[t + 1]
        name = {-1: "½ turn", 0: "¼ turn"}.get(round(cosine), "turn")
        rows.append({"t": int(t) + 1, "name": name})
    base = alt.Chart(alt.Data(values=rows)).encode(x="t:Q")
    return [
        base.mark_rule(strokeDash=[3, 3], color="#9aa5b1"),
        base.mark_text(align="left", dx=5, fontSize=11, color=LIGHT.muted).encode(
            y=alt.value(8), text="name:N"
        ),
    ]


def spread_labels(ends, gap):
    """Set ``at`` and ``label`` of every end so that no two names overlap."""
    lowest = -np.inf
    for end in sorted(ends, key=lambda one: one["mean"]):
        lowest = end["at"] = max(end["mean"], lowest + gap)
        end["label"] = f"{end['policy']}  {end['mean']:,.0f}"


def main():
    """Print the tables and draw the figure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--figure", default="docs/images/bandits.png")
    options = parser.parse_args()
    start = time.perf_counter()
    results = studies(options.seeds)
    for study in results:
        print_study(study)
    print_long_runs()
    figure(results[:2]).save(options.figure, scale_factor=2)
    print(f"\n{options.figure}; {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
