"""Rows that clients send are learnt once, in one order, and then answered."""

import asyncio

import numpy as np
import pytest

import thalweg as tw
from tests.serve.in_process import LEARNER, ask, observe, post, rows_of, running
from thalweg.errors import NonFiniteError
from thalweg.keyed import KeyedModels
from thalweg.persistence import SavedModel, dumps


def replay(rows, learner=LEARNER):
    """The predictions of a dict of ``Online``, and the models, after these rows."""
    models, predictions = {}, []
    for key, x, y in rows:
        model = models.setdefault(key, tw.Online(learner))
        predictions.append(float(model.run([x], [y]).prediction[0]))
    return predictions, models


def assert_same_models(path, models, learner=LEARNER):
    with KeyedModels(path, learner) as stored:
        assert set(stored.keys()) == set(models)
        for key, model in models.items():
            found, expected = (
                dumps(SavedModel(learner, tw.SquaredError(), state))
                for state in (stored[key].state, model.state)
            )
            assert found == expected


@pytest.mark.parametrize("learner", [LEARNER, tw.Tracker()], ids=["rls", "tracker"])
def test_rows_one_by_one_give_the_models_of_a_dict_of_online(tmp_path, learner):
    rows = [
        row
        for pair in zip(
            *(rows_of(np.random.default_rng(k), f"k{k}", 12) for k in range(2)),
            strict=True,
        )
        for row in pair
    ]
    path = tmp_path / "models.sqlite"
    asked = [observe(row["key"], row["x"], row["y"], row["seq"]) for row in rows]
    answers = [answer.json() for answer in ask(path, *asked, learner=learner)]
    expected, models = replay([(r["key"], r["x"], r["y"]) for r in rows], learner)
    assert [answer["prediction"] for answer in answers] == expected
    assert {answer["outcome"] for answer in answers} == {"learnt"}
    assert_same_models(path, models, learner)


def test_a_batch_over_many_keys_equals_its_rows_one_by_one(tmp_path):
    rng = np.random.default_rng(3)
    rows = [row for seq in range(20) for k in range(3)
            for row in rows_of(rng, f"k{k}", 1, start=seq)]  # fmt: skip
    batch = ask(tmp_path / "batch", post("/v1/observe", {"rows": rows}))[0].json()
    expected, models = replay([(r["key"], r["x"], r["y"]) for r in rows])
    assert [result["prediction"] for result in batch["results"]] == expected
    assert (batch["learnt"], batch["repeated"], batch["refused"]) == (60, 0, 0)
    assert_same_models(tmp_path / "batch", models)


def test_weight_and_elapsed_count_as_in_online(tmp_path):
    model = tw.Online(LEARNER)
    settings = [(1.0, 1.0), (3.0, 2.0), (0.5, 0.0)]
    rng, asked = np.random.default_rng(5), []
    for seq, (weight, elapsed) in enumerate(settings):
        x, y = rng.normal(size=2), float(rng.normal())
        model.update(x, y, weight, elapsed)
        asked.append(observe("k", x.tolist(), y, seq, weight=weight, elapsed=elapsed))
    ask(tmp_path / "m", *asked)
    assert_same_models(tmp_path / "m", {"k": model})


def test_a_repeated_seq_is_not_learnt_again_also_after_a_restart(tmp_path):
    rows = rows_of(np.random.default_rng(0), "k", 3)
    asked = [observe(row["key"], row["x"], row["y"], row["seq"]) for row in rows]
    first = [answer.json() for answer in ask(tmp_path / "m", *asked)]
    again = [answer.json() for answer in ask(tmp_path / "m", *asked)]
    assert [answer["outcome"] for answer in again] == ["repeated"] * 3
    # Only the last prediction is still known.
    assert [answer["prediction"] for answer in again[:2]] == [None, None]
    assert again[2]["prediction"] == first[2]["prediction"]
    _, models = replay([(r["key"], r["x"], r["y"]) for r in rows])
    assert_same_models(tmp_path / "m", models)


def test_a_row_without_a_target_is_predicted_and_its_seq_counts(tmp_path):
    first, unknown, again, batch = ask(
        tmp_path / "m",
        observe("k", [1.0, 2.0], 3.0, 0),
        observe("k", [1.0, 2.0], None, 1),
        observe("k", [1.0, 2.0], 3.0, 1),
        post("/v1/models/k/observe", {"rows": [{"x": [1, 2], "y": None, "seq": 2}]}),
    )
    assert first.json()["outcome"] == "learnt"
    assert unknown.json()["outcome"] == "predicted"
    assert unknown.json()["prediction"] != 0
    assert again.json()["outcome"] == "repeated"
    assert (batch.json()["learnt"], batch.json()["predicted"]) == (0, 1)
    with KeyedModels(tmp_path / "m") as models:
        assert (models["k"].rounds, models.last_seq("k")) == (1, 2)


def test_a_row_that_the_model_refuses_is_named_and_the_others_are_learnt(tmp_path):
    rows = rows_of(np.random.default_rng(0), "k", 3)
    rows[1]["x"] = [1.0, 2.0, 3.0]
    answer = ask(tmp_path / "m", post("/v1/observe", {"rows": rows}))[0]
    outcomes = [result["outcome"] for result in answer.json()["results"]]
    assert outcomes == ["learnt", "refused", "learnt"]
    assert "2 features" in answer.json()["results"][1]["error"]
    alone = ask(tmp_path / "m", observe("k", [1.0, 2.0, 3.0], 1.0, 9))[0]
    assert alone.status_code == 422 and "2 features" in alone.json()["error"]
    _, models = replay([("k", rows[k]["x"], rows[k]["y"]) for k in (0, 2)])
    assert_same_models(tmp_path / "m", models)


async def _observe_by_many_clients(path, clients, requests):
    """All answers of clients that send rows of the same keys at the same time."""

    async def send(client, number):
        rng, answers = np.random.default_rng(number), []
        for k in range(requests):
            rows = [
                {"key": f"k{rng.integers(3)}", "x": rng.normal(size=2).tolist(),
                 "y": float(rng.normal())}
                for _ in range(rng.integers(1, 4))
            ]  # fmt: skip
            answer = await client.post(
                "/v1/observe",
                json={"rows": rows},
                headers={"Idempotency-Key": f"{number}-{k}"},
            )
            answers += zip(rows, answer.json()["results"], strict=True)
        return answers

    async with running(path) as (client, writer):
        answers = await asyncio.gather(*(send(client, k) for k in range(clients)))
        return [pair for part in answers for pair in part], writer.metrics


def test_concurrent_clients_give_one_serial_order(tmp_path):
    answers, metrics = asyncio.run(
        _observe_by_many_clients(tmp_path / "m", clients=12, requests=15)
    )
    ordered = sorted(answers, key=lambda pair: (pair[1]["key"], pair[1]["seq"]))
    expected, models = replay([(row["key"], row["x"], row["y"]) for row, _ in ordered])
    assert [result["prediction"] for _, result in ordered] == expected
    assert_same_models(tmp_path / "m", models)
    # They waited together, and were committed together.
    assert sum(metrics.commits.values()) < 12 * 15 / 2


def test_a_prediction_sees_every_row_that_was_acknowledged(tmp_path):
    async def run():
        async with running(tmp_path / "m") as (client, _):
            model = tw.Online(LEARNER)
            for row in rows_of(np.random.default_rng(1), "k", 30):
                key = row.pop("key")
                await client.post(f"/v1/models/{key}/observe", json=row)
                model.update(np.array(row["x"]), row["y"])
                answer = await client.post(
                    f"/v1/models/{key}/predict", json={"x": [0.3, -1.0]}
                )
                expected = float(model.predict(np.array([0.3, -1.0])))
                assert answer.json()["prediction"] == expected

    asyncio.run(run())


def test_too_many_waiting_rows_are_refused_and_learnt_later(tmp_path):
    rows = rows_of(np.random.default_rng(0), "k", 40)

    async def run():
        async with running(tmp_path / "m", waiting_rows=10) as (client, _):

            async def send(part):
                return await client.post("/v1/observe", json={"rows": part})

            parts = [rows[k : k + 4] for k in range(0, 40, 4)]
            answers = await asyncio.gather(*map(send, parts))
            for part, answer in zip(parts, answers, strict=True):
                if answer.status_code == 503:
                    assert answer.headers["retry-after"] == "1"
                    assert (await send(part)).status_code == 200
            return [answer.status_code for answer in answers]

    statuses = asyncio.run(run())
    assert set(statuses) == {200, 503}


def test_a_model_that_cannot_be_saved_refuses_its_own_requests_only(
    tmp_path, monkeypatch
):
    flush = KeyedModels.flush

    def flush_unless_bad(models):
        if models.last_seq("bad") is not None:
            raise NonFiniteError("The model of 'bad' is not finite.")
        flush(models)

    monkeypatch.setattr(KeyedModels, "flush", flush_unless_bad)
    keys = ["a", "bad", "b", "bad", "c"]

    async def run():
        async with running(tmp_path / "m") as (client, _):
            return await asyncio.gather(
                *(
                    client.post(
                        f"/v1/models/{key}/observe",
                        json={"x": [1.0], "y": 2.0},
                        headers={"Idempotency-Key": f"{key} {number}"},
                    )
                    for number, key in enumerate(keys)
                )
            )

    statuses = [answer.status_code for answer in asyncio.run(run())]
    assert statuses == [200, 422, 200, 422, 200]
    monkeypatch.undo()
    assert_same_models(tmp_path / "m", replay([(key, [1.0], 2.0) for key in "abc"])[1])


def test_what_was_answered_is_there_after_a_restart_whatever_the_row(tmp_path):
    longest = 2**63 - 2
    observed = ask(
        tmp_path / "m",
        observe("empty", [], 1.0, 1),
        observe("empty", [], 1.0, 2),
        observe("late", [1.0], 1.0, longest),
        post("/v1/models/late/observe", {"x": [1.0], "y": 1.0}, Idempotency_Key="one"),
        observe("other", [1.0], 1.0, 1),
    )
    assert [answer.status_code for answer in observed] == [200] * 5
    assert observed[3].json()["seq"] == longest + 1
    again = ask(
        tmp_path / "m",
        observe("empty", [], 1.0, 2),
        observe("late", [1.0], 1.0, longest + 1),
        observe("other", [1.0], 1.0, 1),
    )
    assert [answer.json()["outcome"] for answer in again] == ["repeated"] * 3
