import numpy as np

from benchmarks.accuracy.accuracy_streams import AccuracyStream, Scales
from benchmarks.accuracy.retrained_model import (
    lag_features,
    retrained_forecasts,
    training_rows,
)

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(1700, 2)), RNG.normal(size=1700).cumsum()
STREAM = AccuracyStream(X, Y, Scales.of_stream(X, Y), season=24)


def train_least_squares(features, targets):
    theta = np.linalg.lstsq(features, targets, rcond=None)[0]
    return lambda rows: rows @ theta


def test_features_are_past_labels_and_changes_besides_the_streams_own():
    features = lag_features(STREAM)
    t = 100
    expected = [
        *X[t], Y[t - 1], Y[t - 2], Y[t - 3], Y[t - 24], Y[t - 1] - Y[t - 2],
        *(X[t] - X[t - 1]),
    ]  # fmt: skip
    np.testing.assert_array_equal(features[t], expected)
    assert lag_features(STREAM._replace(season=1)).shape == (1700, 8)


def test_it_is_trained_every_500_rows_and_a_few_times_before():
    assert training_rows(1700) == [100, 200, 300, 400, 500, 1000, 1500]
    assert training_rows(500) == [100, 200, 300, 400]


def test_every_forecast_is_by_the_model_of_the_last_training():
    features = lag_features(STREAM)
    fast = retrained_forecasts(STREAM, train_least_squares)
    for t, trained in ((150, 100), (999, 500), (1000, 1000), (1699, 1500)):
        forecast = train_least_squares(features[:trained], Y[:trained])
        np.testing.assert_allclose(fast[t], forecast(features[t]), rtol=1e-9)
    np.testing.assert_array_equal(fast[1:100], Y[:99])


def test_no_forecast_depends_on_its_own_label_or_later_ones():
    later = STREAM._replace(y=np.append(Y[:1200], Y[1200:] + 5))
    before = retrained_forecasts(STREAM, train_least_squares)
    after = retrained_forecasts(later, train_least_squares)
    np.testing.assert_array_equal(before[:1201], after[:1201])
    assert before[1201] != after[1201]


def test_a_window_leaves_out_older_rows_and_changes_are_added_to_the_last_label():
    sizes = []

    def train(features, targets):
        sizes.append((len(features), targets[-1]))
        return lambda rows: np.full(len(rows), 0.5)

    forecasts = retrained_forecasts(STREAM, train, window=600, of_changes=True)
    assert [size for size, _ in sizes] == [100, 200, 300, 400, 500, 600, 600]
    assert sizes[-1][1] == Y[1499] - Y[1498]
    np.testing.assert_array_equal(forecasts[100:], Y[99:-1] + 0.5)
