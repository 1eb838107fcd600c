"""Predictions and forecasts over HTTP are those of the key's ``Online``."""

import numpy as np
import pytest

import thalweg as tw
from tests.serve.in_process import ask, get, post, rows_of

ROWS = rows_of(np.random.default_rng(7), "k", 60)
LEARNT = post("/v1/observe", {"rows": ROWS})


def model_of(rows, learner=None):
    model = tw.Online(learner)
    for row in rows:
        model.update(np.array(row["x"]), row["y"])
    return model


@pytest.fixture(scope="module")
def tracker_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("serve") / "tracker"
    ask(path, LEARNT, learner=tw.Tracker())
    return path


def ask_tracker(path, *requests):
    return [answer.json() for answer in ask(path, *requests, learner=tw.Tracker())]


def test_predictions_and_intervals_are_those_of_online(tracker_file):
    x, model = [[0.5, -1.0], [2.0, 0.1]], model_of(ROWS)
    one, band, many, bands = ask_tracker(
        tracker_file,
        post("/v1/models/k/predict", {"x": x[0]}),
        post("/v1/models/k/predict", {"x": x[0], "interval": 0.8}),
        post("/v1/models/k/predict", {"x": x}),
        post("/v1/models/k/predict", {"x": x, "interval": 0.8}),
    )
    expected = [model.predict(np.array(row), 0.8) for row in x]
    assert one == {"prediction": float(expected[0].mean)}
    assert band == {
        "prediction": float(expected[0].mean),
        "low": float(expected[0].low),
        "high": float(expected[0].high),
    }
    assert many == {"prediction": [float(e.mean) for e in expected]}
    assert bands["low"] == [float(e.low) for e in expected]


def test_a_forecast_is_a_copy_for_which_time_passes_and_its_bands_widen(tracker_file):
    x = np.random.default_rng(1).normal(size=(20, 2))
    forecast, again = ask_tracker(
        tracker_file, *2 * [post("/v1/models/k/forecast", {"x": x.tolist()})]
    )
    model, expected = model_of(ROWS), []
    for row in x:
        band = model.predict(row, 0.9)
        expected.append([float(end) for end in band])
        model.update(row, float(band.mean), 0.0)
    names = ("prediction", "low", "high")
    assert [[forecast[n][t] for n in names] for t in range(20)] == expected
    assert again == forecast  # nothing was learnt
    widths = np.subtract(forecast["high"], forecast["low"])
    assert widths[-1] > widths[0]


def test_the_inference_protocol_gives_the_same_predictions(tracker_file):
    x = [[0.5, -1.0], [2.0, 0.1], [1.0, 1.0]]
    tensor = {"name": "x", "shape": [3, 2], "datatype": "FP64"}
    flat = {**tensor, "data": [value for row in x for value in row]}
    nested = {**tensor, "data": x}
    own, first, second, chosen = ask_tracker(
        tracker_file,
        post("/v1/models/k/predict", {"x": x, "interval": 0.9}),
        post("/v2/models/k/infer", {"id": "7", "inputs": [flat]}),
        post(
            "/v2/models/k/infer",
            {"inputs": [nested], "parameters": {"interval": 0.9}},
        ),
        post(
            "/v2/models/k/infer",
            {"inputs": [nested], "parameters": {"interval": 0.9},
             "outputs": [{"name": "high"}]},
        ),
    )  # fmt: skip
    prediction = {"name": "prediction", "datatype": "FP64", "shape": [3]}
    prediction["data"] = own["prediction"]
    assert first == {"model_name": "k", "id": "7", "outputs": [prediction]}
    assert [output["data"] for output in second["outputs"]] == [
        own["prediction"], own["low"], own["high"],
    ]  # fmt: skip
    assert [output["name"] for output in chosen["outputs"]] == ["high"]


def test_the_inference_protocol_describes_server_and_model(tracker_file):
    server, live, ready, model, is_ready = ask_tracker(
        tracker_file,
        *map(get, ("/v2", "/v2/health/live", "/v2/health/ready")),
        *map(get, ("/v2/models/k", "/v2/models/k/ready")),
    )
    assert server == {"name": "thalweg", "version": tw.__version__, "extensions": []}
    assert live == {"live": True} and ready == {"ready": True}
    assert model["inputs"] == [{"name": "x", "datatype": "FP64", "shape": [-1, 2]}]
    assert [output["name"] for output in model["outputs"]] == [
        "prediction", "low", "high",
    ]  # fmt: skip
    assert is_ready == {"name": "k", "ready": True}


@pytest.mark.parametrize(
    "request_",
    [
        post("/v1/models/nobody/predict", {"x": [1.0]}),
        post("/v1/models/nobody/forecast", {"x": [[1.0]]}),
        get("/v2/models/nobody"),
        get("/v2/models/nobody/ready"),
    ],
)
def test_a_key_without_rows_is_not_found(tracker_file, request_):
    answer = ask(tracker_file, request_, learner=tw.Tracker())[0]
    assert answer.status_code == 404
    assert answer.json() == {"error": "No row of the key 'nobody' has been learnt."}


def test_an_infinite_end_of_a_band_is_null(tmp_path):
    row = {"x": [1.0], "y": 1.0, "seq": 0}
    band = ask(
        tmp_path / "m",
        post("/v1/models/k/observe", {**row, "weight": 0.0}),
        post("/v1/models/k/predict", {"x": [1.0], "interval": 0.9}),
    )[1].json()
    assert band["low"] is None and band["high"] is None


def test_keys_are_listed_in_order(tmp_path):
    rows = [{"key": key, "x": [1.0], "y": 1.0, "seq": 0} for key in ("b", "a/c", "ä")]
    listed = ask(
        tmp_path / "m", post("/v1/observe", {"rows": rows}), get("/v1/models"),
        get("/v1/models?prefix=a"), get("/v1/models?after=a/c"),
    )  # fmt: skip
    assert [answer.json()["keys"] for answer in listed[1:]] == [
        ["a/c", "b", "ä"], ["a/c"], ["b", "ä"],
    ]  # fmt: skip
