"""``reproduce``: a row for every claim, with exponents, constants and reasons."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from thalweg import bounds, discounts
from thalweg.paper import (
    Reproduction,
    count_steps,
    coverage_sentence,
    csv_table,
    markdown_table,
    paper_streams,
)
from thalweg.paper.claim_result import GrowthRate, claim_result
from thalweg.paper.experiment import HORIZONS, Measurement, Remark
from thalweg.paper.paper_figures import exponents_chart
from thalweg.paper.paper_streams import expected_regret, newton_steps
from thalweg.paper.path_length_claims import best_constant, mix_gradient
from thalweg.paper.reproduction import CLAIMS, experiments
from thalweg.paper.rival_regrets import RivalRegrets

SMALL = 400


@pytest.fixture
def results(quick_reproduction):
    return quick_reproduction[0].results


def test_every_claim_of_the_paper_has_a_row(results):
    assert {result.claim for result in results} == set(CLAIMS)
    theorems = {f"Thm. {k}" for k in range(2, 11)} | {"Thm. 1(1)", "Thm. 1(2)"}
    others = {"Cor. 1", "Cor. 2", "Cor. 3", "Lemma 3", "Prop. 1"}
    assert theorems | others <= set(CLAIMS)
    assert len(results) == len(experiments())


def test_every_bound_holds_and_the_lower_ones_from_below(results):
    for result in results:
        assert result.holds(), (result.claim, result.learner)
        if not result.is_lower_bound:
            assert 0 < result.ratio_to_bound() <= 1


@pytest.mark.parametrize("index", range(len(experiments())))
def test_every_bound_holds_on_short_streams(index):
    experiment = experiments()[index]
    runs = [experiment.measure(SMALL, seed) for seed in range(4)]
    regret, bound, rate = np.array(runs).T
    assert (rate > 0).all()
    if experiment.is_lower_bound:
        error = regret.std(ddof=1) / 2
        assert regret.mean() >= bound.mean() - 4 * error
    else:
        assert (regret <= bound).all()


def test_only_longer_horizons_are_fitted_where_three_are_left():
    """A power law from 16,000 on, and something else before."""
    experiment = replace(experiments()[0], mean_regret=None)
    runs = [(T, seed) for T in HORIZONS for seed in range(2)]
    measured = [
        Measurement((1 + seed) * (T**0.3 if T >= 16_000 else 1.0), 1e9, T**0.3)
        for T, seed in runs
    ]
    long = claim_result(experiment, runs, measured)
    assert long.fit_from == 16_000 and long.theory_fits()
    assert long.growth.exponent == pytest.approx(0.3)
    assert long.growth.high - long.growth.low < 1e-6
    assert not long.theory_fits_all_horizons()
    assert not long.fits_all_horizons()
    short = claim_result(experiment, runs[:6], measured[:6])
    assert short.fit_from == 1000 and short.fits_all_horizons()


def test_the_theory_s_exponent_is_that_of_its_larger_term(results):
    """T^(1-β) where nothing moves, else max{1-β, β}; ¾ where V grows like √T."""
    for result in results:
        beta = result.tradeoff
        if result.claim in ("Cor. 1", "Thm. 6") and result.comparator == "moving":
            assert result.theory_exponent == pytest.approx(max(1 - beta, beta))
        elif result.claim in ("Thm. 2", "Thm. 4"):
            assert result.theory_exponent == pytest.approx(beta)
        elif beta is not None:
            assert result.theory_exponent == pytest.approx(1 - beta)
        elif result.stream == "coins, √T/4 jumps":
            # Jumps are whole: their number is T^½/4 to half a jump of the first 8.
            assert result.theory_exponent == pytest.approx(0.75, abs=0.01)


def test_exponents_outside_their_interval_have_a_reason_and_others_none(results):
    for result in results:
        outside = result.growth is not None and not result.theory_fits()
        assert bool(result.reason()) == outside
    outlier = next(result for result in results if result.expected_exponent)
    moved = replace(outlier, growth=GrowthRate(2.0, 1.9, 2.1))
    assert f"slope {outlier.expected_exponent:.2f}" in moved.reason()
    assert "leading term is" in moved.reason()
    assert f"{outlier.expected_exponent:.2f} over these T, outside" in moved.reason()
    unknown = replace(moved, constant=None, expected_exponent=None)
    assert unknown.reason() == unknown.ratio_trend() != ""


def result_with_ratios(ratios, constant, explains):
    """Regret over T^¾ at T = 1,000, 4,000, ..., of which all are fitted."""
    runs = [(T, 0) for T in HORIZONS[: len(ratios)]]
    measured = [
        Measurement(ratio * T**0.75, 1e9, T**0.75)
        for ratio, (T, _) in zip(ratios, runs, strict=True)
    ]
    experiment = replace(
        experiments()[0],
        mean_regret=None,
        constant=constant,
        remark=Remark("A reason.", explains),
    )
    return claim_result(experiment, runs, measured)


@pytest.mark.parametrize(
    ("ratios", "explains", "expected"),
    [
        ((4.0, 2.0, 1.1), "slower", "A reason."),
        ((4.0, 2.0, 1.1), "either", "A reason."),
        ((4.0, 2.0, 1.1), "faster", ""),
        ((0.2, 0.5, 0.9), "faster", "A reason."),
        ((0.2, 0.5, 0.9), "slower", ""),
        ((1.1, 2.0, 4.0), "faster", ""),  # away from the limit
    ],
)
def test_a_reason_is_given_only_where_the_measurements_agree_with_it(
    ratios, explains, expected
):
    result = result_with_ratios(ratios, 1.0, explains)
    assert result.explanation() == expected
    outlier = replace(result, growth=result.growth._replace(low=9.0, high=9.0))
    assert ("A reason." in outlier.reason()) == bool(expected)


@pytest.mark.parametrize(
    ("ratios", "end"),
    [
        ((0.8, 1.25, 1.625), "0.8, 1.25, 1.62 from T = 1,000 on, and still rises"),
        ((1.5, 1.25, 1.0), "1.5, 1.25, 1 from T = 1,000 on, largest at the shortest"),
        ((0.8, 1.6, 1.2), "largest at T = 4,000: the exponent depends on the T"),
    ],
)
def test_without_a_leading_term_regret_over_the_rate_is_told_instead(ratios, end):
    result = result_with_ratios(ratios, None, "slower")
    assert result.explanation() == ""
    assert end in result.ratio_trend()


def test_no_reason_is_given_for_flh(results):
    (result,) = (result for result in results if result.claim == "FLH")
    assert result.explanation() == "" and result.tightness == "none known"
    assert result.growth.low > result.theory_exponent
    assert "still rises at the longest" in result.reason()


def test_the_rows_whose_interval_covers_the_theory_are_counted(quick_reproduction):
    reproduction = quick_reproduction[0]
    rows = len(reproduction.results)
    covered = sum(result.theory_fits() for result in reproduction.results)
    widths = [r.growth.high - r.growth.exponent for r in reproduction.results]
    # A quick run has three horizons, all of which are fitted.
    assert coverage_sentence(reproduction) == (
        f"The theory's exponent lies in the interval in {covered} of {rows} rows. Half "
        f"of the intervals are wider than ±{np.median(widths):.2f}: few seeds and few "
        "T make them wide."
    )
    late = replace(reproduction.results[0], fit_from=4000)
    longer = replace(reproduction, results=[late, *reproduction.results[1:]])
    assert f"; fitted to all T from 1,000 on, in {covered}." in coverage_sentence(
        longer
    )


def test_where_regret_is_computed_exactly_the_fit_agrees_with_it(results):
    """Half of the interval beyond it: luck of three seeds at three horizons."""
    for result in results:
        if result.expected_exponent is not None:
            low, high = result.growth.low, result.growth.high
            slack = 0.5 * (high - low) + 1e-9
            assert low - slack <= result.expected_exponent <= high + slack


def test_the_tight_stream_settles_where_the_best_expert_and_mixing_put_it():
    """At T = 16,000: between the best expert's expected regret, computed exactly,
    and that plus what Lemma 3 allows for mixing; ½σ√Δ is below both."""
    T, seeds = 16_000, 6
    jumps = paper_streams.many_jumps(T)
    runs = [mix_gradient(paper_streams.coin_noise(T, jumps, s)) for s in range(seeds)]
    ratios = [run.regret / run.rate for run in runs]
    means = paper_streams.coin_noise(T, jumps, 0).truth[:, 0]
    grid = discounts.grid(T, 1.0)
    alone = [expected_regret(newton_steps(g, T), means, 0.6) for g in grid]
    best = int(np.argmin(alone))
    low = alone[best] / runs[0].rate
    high = low + bounds.mixing_cost(0.25, best + 1, len(grid)) / runs[0].rate
    error = np.std(ratios, ddof=1) / np.sqrt(seeds)
    assert best_constant() == pytest.approx(0.268, abs=5e-4)
    assert best_constant() < low < high < 1.2 * best_constant()
    assert low - 2 * error <= np.mean(ratios) <= high + 2 * error


def test_static_and_dynamic_regret_of_one_run_differ_by_the_comparators(
    quick_reproduction,
):
    still, few, many = quick_reproduction[0].tradeoff
    for curve in (still, few, many):
        difference = np.subtract(curve.dynamic, curve.static)
        np.testing.assert_allclose(difference, difference[0], rtol=1e-9, atol=1e-9)
        assert (np.array(curve.static) <= curve.static_bound).all()
        assert (np.array(curve.dynamic) <= curve.dynamic_bound).all()
    assert still.path_length == 0 < few.path_length < many.path_length
    best = [int(np.argmin(curve.dynamic)) for curve in (many, few, still)]
    assert best == sorted(set(best))  # the less moves, the longer the best memory


def test_progress_is_reported_as_often_as_announced(quick_reproduction):
    assert len(quick_reproduction[1]) == count_steps(True)


def test_numbers_survive_json(quick_reproduction):
    reproduction = quick_reproduction[0]
    text = json.dumps(reproduction.as_dict(), allow_nan=False)
    assert Reproduction.from_dict(json.loads(text)) == reproduction


def test_rivals_stay_below_their_own_bounds_and_the_winners_are_named(
    quick_reproduction,
):
    rivals = quick_reproduction[0].rivals
    for row, limits in zip(rivals.regret, rivals.bound, strict=True):
        for regret, bound in zip(row, limits, strict=True):
            assert bound is None or regret <= bound
    mixture = rivals.learners.index("mixture")
    rule, *lines = rivals.sentences()
    assert "at least 2 % less" in rule
    sentences = dict(zip(rivals.kinds, lines, strict=True))
    for kind, row in zip(rivals.kinds, rivals.regret, strict=True):
        winners = sentences[kind].split("; a tie: ")[0]
        for name, regret in list(zip(rivals.learners, row, strict=True))[mixture + 1 :]:
            assert (f"{name} (" in winners) == (regret <= 0.98 * row[mixture])
    for kind in ("gradual", "random walk", "mixed"):
        assert "ONS" in sentences[kind] and "Ader" in sentences[kind]


def test_regrets_within_two_percent_are_a_tie():
    rivals = RivalRegrets(
        500, ["abrupt", "mixed"], ["best γ", "mixture", "ONS", "OGD", "Ader"],
        [[1.0, 100.0, 101.9, 102.1, 98.1], [1.0, 100.0, 97.9, 50.0, 99.0]],
        [[None] * 5] * 2, [0.9, 0.9],
    )  # fmt: skip
    assert rivals.sentences()[1:] == [
        "On the abrupt stream no rival beats the paper's mixture; a tie: "
        "ONS (1.02 of its regret) and Ader (0.98 of its regret).",
        "On the mixed stream ONS (0.98 of its regret) and OGD (0.50 of its regret) "
        "beat the paper's mixture; a tie: Ader (0.99 of its regret).",
    ]


def test_the_axis_of_the_exponents_holds_every_interval(quick_reproduction):
    reproduction = quick_reproduction[0]
    wide = replace(reproduction.results[0], growth=GrowthRate(0.5, -0.63, 1.58))
    results = [wide, *reproduction.results[1:]]
    chart = exponents_chart(replace(reproduction, results=results)).to_dict()
    scale = chart["layer"][0]["encoding"]["x"]["scale"]
    low, high = scale["domain"]
    assert low <= -0.63 and high >= 1.58 and not scale.get("clamp")
    for result in results:
        assert low <= result.growth.low and result.growth.high <= high


def test_the_tables_have_a_line_for_every_row(quick_reproduction):
    reproduction = quick_reproduction[0]
    lines = markdown_table(reproduction).splitlines()
    rows = [line for line in lines if line.startswith("| ")]
    assert len(rows) == 2 + len(reproduction.results)  # names and rule above them
    assert {line.count(" | ") for line in rows[2:]} == {11}
    table = list(csv.DictReader(io.StringIO(csv_table(reproduction))))
    assert [row["claim"] for row in table] == [r.claim for r in reproduction.results]
    fitted = reproduction.results[0].growth.exponent
    assert float(table[0]["fitted_exponent"]) == fitted
