import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg import imputer
from thalweg.imputer import Imputer, ImputerState
from thalweg.types import Block

RNG = np.random.default_rng(0)
T = 60
X = RNG.normal(size=(T, 3)) + [0.0, 5.0, -2.0]
Y = RNG.normal(size=T)
MISSING = RNG.random((T, 3)) < 0.2
UNKNOWN = RNG.random(T) < 0.2
X_MISSING, Y_UNKNOWN = np.where(MISSING, np.nan, X), np.where(UNKNOWN, np.nan, Y)


def means_before(x):
    """Each missing value as the mean of its column before it, by plain loops."""
    out = x.copy()
    for t, k in zip(*np.nonzero(np.isnan(x)), strict=True):
        observed = x[:t, k][~np.isnan(x[:t, k])]
        out[t, k] = observed.mean() if len(observed) else 0.0
    return out


@pytest.mark.parametrize("policy", ["skip", "impute"])
def test_missing_features_become_the_means_of_the_values_before(policy):
    imputed = Imputer(policy).impute(X_MISSING, Y)
    np.testing.assert_allclose(imputed.x, means_before(X_MISSING), rtol=1e-12)
    expected = ~MISSING.any(axis=1) if policy == "skip" else np.ones(T, bool)
    np.testing.assert_array_equal(imputed.learnable, expected)


@pytest.mark.parametrize("policy", imputer.POLICIES)
def test_a_row_without_any_of_its_targets_is_never_learnable(policy):
    model = Imputer(policy)
    several = np.column_stack([Y, Y_UNKNOWN])
    for targets in (Y_UNKNOWN, several):
        np.testing.assert_array_equal(model.impute(X, targets).learnable, ~UNKNOWN)
    assert model.state.skipped == 2 * UNKNOWN.sum()
    assert model.impute(X[:0], several[:0]).learnable.shape == (0,)


def test_refuse_leaves_missing_features_to_be_refused_by_others():
    model = Imputer("refuse")
    np.testing.assert_array_equal(model.impute(X_MISSING, Y).x, X_MISSING)
    assert model.state == ImputerState.initial()


@given(
    cuts=st.lists(st.integers(0, T), max_size=4),
    policy=st.sampled_from(imputer.POLICIES),
)
def test_rows_can_be_cut_anywhere(cuts, policy):
    whole, cut = Imputer(policy), Imputer(policy)
    block = Block(X_MISSING, Y_UNKNOWN, None, np.arange(T) + 0.5)
    expected, learnable = whole.impute_block(block)
    edges = sorted({0, T, *cuts})
    parts = [
        cut.impute_block(block[start:end])
        for start, end in zip(edges, edges[1:], strict=False)
    ]
    for name in ("x", "y", "elapsed"):
        all_rows = np.concatenate([getattr(part, name) for part, _ in parts])
        np.testing.assert_array_equal(all_rows, getattr(expected, name))
    np.testing.assert_array_equal(np.concatenate([p for _, p in parts]), learnable)
    for mine, others in zip(cut.state, whole.state, strict=True):
        np.testing.assert_array_equal(mine, others)


def test_the_time_of_skipped_rows_goes_to_the_next_row_learnt():
    model = Imputer("skip")
    y = np.array([1.0, np.nan, np.nan, 1.0, np.nan])
    block, _ = model.impute_block(Block(np.ones((5, 1)), y))
    np.testing.assert_array_equal(block.elapsed, [1.0, 1.0, 1.0, 3.0, 1.0])
    assert model.state.waited == 1.0 and model.state.skipped == 3


def test_single_rows_leave_the_state_that_a_block_leaves():
    single, whole = Imputer("impute"), Imputer("impute")
    whole.impute_block(Block(X, Y))
    for x in X:
        single.observe(x)
    for mine, others in zip(single.state, whole.state, strict=True):
        np.testing.assert_array_equal(mine, others)


def test_completing_a_row_counts_nothing():
    model = Imputer("skip")
    model.impute(X[:2], Y[:2])
    before = model.state
    row = model.complete(np.array([[np.nan, 7.0, np.nan]]))
    np.testing.assert_array_equal(row, [[X[:2, 0].mean(), 7.0, X[:2, 2].mean()]])
    assert model.state is before
    np.testing.assert_array_equal(
        Imputer("skip").complete(np.array([np.nan, 1.0])), [0.0, 1.0]
    )


def test_a_snapshot_stays_as_it_was_and_keeps_nothing_else_in_memory():
    model = Imputer("impute")
    model.impute(X_MISSING, Y)
    taken = model.state
    assert taken.sums.base is None and taken.counts.base is None
    sums = taken.sums.copy()
    model.impute(X_MISSING, Y)
    model.observe(X[0])
    np.testing.assert_array_equal(taken.sums, sums)


def fill_with_count(statistics):
    """A fill rule for tests: how often the feature was observed before the row."""
    return statistics.counts + 0.0


def test_a_new_policy_needs_an_entry_with_its_fill_rule_and_nothing_else(monkeypatch):
    rule = imputer.PolicyRule(
        accepts=True, learns=True, summary="counts", fill=fill_with_count
    )
    monkeypatch.setitem(imputer.POLICY_RULES, "count", rule)
    whole, cut = Imputer("count"), Imputer("count")
    rows = whole.impute(X_MISSING, Y)
    counts_before = np.cumsum(~np.isnan(X_MISSING), axis=0) - ~np.isnan(X_MISSING)
    is_missing = np.isnan(X_MISSING)
    np.testing.assert_array_equal(rows.x[is_missing], counts_before[is_missing])
    np.testing.assert_array_equal(rows.x[~is_missing], X_MISSING[~is_missing])
    assert rows.learnable.all()
    pieces = [cut.impute(X_MISSING[k : k + 7], Y[k : k + 7]) for k in range(0, T, 7)]
    np.testing.assert_array_equal(np.concatenate([rows.x for rows in pieces]), rows.x)
    completed = whole.complete(np.full(X.shape[1], np.nan))
    np.testing.assert_array_equal(completed, whole.state.counts)


def test_the_first_row_observed_settles_the_number_of_features():
    model = Imputer("impute")
    model.observe(X[0])
    assert model.state.sums.shape == model.state.counts.shape == X[0].shape


def test_the_help_of_the_command_line_names_every_policy():
    assert set(imputer.POLICY_RULES) == set(imputer.POLICIES)
    for policy in imputer.POLICIES:
        assert policy in imputer.POLICY_HELP
