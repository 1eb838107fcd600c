"""A request under an idempotency key is learnt once, whatever happens in between."""

import asyncio
import sqlite3

import numpy as np
import pytest

from tests.serve.in_process import LEARNER, ask, post, rows_of, running
from tests.serve.test_observe import assert_same_models, replay
from thalweg.keyed import KeyedModels
from thalweg.serve import model_writer
from thalweg.serve.request_journal import RequestJournal

KEYED = "/v1/models/k/observe"


def unnumbered(rows):
    return [{name: row[name] for name in row if name != "seq"} for row in rows]


def batch(rows, name):
    return post("/v1/observe", {"rows": unnumbered(rows)}, Idempotency_Key=name)


def test_a_repeated_request_is_learnt_once_also_after_a_restart(tmp_path):
    rows = rows_of(np.random.default_rng(0), "a", 2) + rows_of(
        np.random.default_rng(1), "b", 1
    )
    first, again = ask(tmp_path / "m", batch(rows, "one"), batch(rows, "one"))
    later = ask(tmp_path / "m", batch(rows, "one"))[0]
    assert first.json()["learnt"] == 3
    for repeated in (again, later):
        results = repeated.json()["results"]
        assert repeated.json()["repeated"] == 3
        seqs = [result["seq"] for result in first.json()["results"]]
        assert [result["seq"] for result in results] == seqs == [0, 1, 0]
    _, models = replay([(row["key"], row["x"], row["y"]) for row in rows])
    assert_same_models(tmp_path / "m", models)


def test_two_equal_requests_at_the_same_time_are_learnt_once(tmp_path):
    async def run():
        async with running(tmp_path / "m") as (client, _):
            send = (
                client.post(
                    KEYED, json={"x": [1.0], "y": 2.0}, headers={"Idempotency-Key": "o"}
                )
                for _ in range(8)
            )
            return await asyncio.gather(*send)

    answers = [answer.json() for answer in asyncio.run(run())]
    assert sorted(answer["outcome"] for answer in answers) == (
        ["learnt"] + ["repeated"] * 7
    )
    assert {answer["seq"] for answer in answers} == {0}


def test_a_key_of_another_request_is_refused(tmp_path):
    first, other, elsewhere = ask(
        tmp_path / "m",
        post(KEYED, {"x": [1.0], "y": 1.0}, Idempotency_Key="one"),
        post(KEYED, {"x": [1.0], "y": 2.0}, Idempotency_Key="one"),
        post("/v1/models/l/observe", {"x": [1.0], "y": 1.0}, Idempotency_Key="one"),
    )
    assert (first.status_code, other.status_code, elsewhere.status_code) == (
        200, 422, 422,
    )  # fmt: skip
    assert "another request" in other.json()["error"]


def test_numbers_go_on_after_those_that_clients_gave(tmp_path):
    given, own = ask(
        tmp_path / "m",
        post(KEYED, {"x": [1.0], "y": 1.0, "seq": 41}),
        post(KEYED, {"x": [1.0], "y": 1.0}, Idempotency_Key="one"),
    )
    assert (given.json()["seq"], own.json()["seq"]) == (41, 42)


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ({"x": [1.0], "y": 1.0}, {}),
        ({"x": [1.0], "y": 1.0, "seq": 1}, {"Idempotency_Key": "one"}),
        ({"x": [1.0], "y": 1.0}, {"Idempotency_Key": "k" * 300}),
    ],
)
def test_a_row_needs_a_seq_or_a_key_and_not_both(tmp_path, body, headers):
    answer = ask(tmp_path / "m", post(KEYED, body, **headers))[0]
    assert answer.status_code == 400
    assert (
        "seq" in answer.json()["error"] or "Idempotency-Key" in answer.json()["error"]
    )


def test_only_the_newest_keys_are_remembered(tmp_path):
    requests = [
        post(KEYED, {"x": [1.0], "y": float(k)}, Idempotency_Key=f"{k}")
        for k in range(5)
    ]
    answers = ask(
        tmp_path / "m", *requests, requests[0], requests[4], idempotency_keys=3
    )
    outcomes = [answer.json()["outcome"] for answer in answers]
    assert outcomes == ["learnt"] * 6 + ["repeated"]


class Crash(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("learnt", [0, 1, 2, 3])
def test_after_a_crash_a_request_is_learnt_completely_or_not_at_all(
    tmp_path, monkeypatch, learnt
):
    """Numbers are safe, and of three keys ``learnt`` were committed: then a crash."""
    path = tmp_path / "m"
    before = rows_of(np.random.default_rng(8), "k0", 2)
    ask(path, post("/v1/observe", {"rows": before}))
    rows = [rows_of(np.random.default_rng(k), f"k{k}", 2) for k in range(3)]
    rows = [row for part in rows for row in part]
    learn, count = model_writer.learn_row, 0

    def crash(models, *rest):
        nonlocal count
        if count == 2 * learnt:
            models.flush()  # as a cache that is full would
            raise Crash
        count += 1
        return learn(models, *rest)

    writer = model_writer.ModelWriter(path, LEARNER)
    monkeypatch.setattr(model_writer, "learn_row", crash)

    async def observe():
        bare = [
            model_writer.Row(r["key"], np.array(r["x"]), r["y"], None) for r in rows
        ]
        return model_writer.ObserveRequest(bare, "one", b"digest")

    request = asyncio.run(observe())
    if learnt < 3:
        with pytest.raises(Crash):
            writer._commit([request], frozenset())
    else:
        monkeypatch.setattr(KeyedModels, "flush", _crash_after(KeyedModels.flush))
        with pytest.raises(Crash):
            writer._commit([request], frozenset())
    monkeypatch.undo()
    writer._discard()

    restarted = model_writer.ModelWriter(path, LEARNER)
    is_known = restarted._journal.find("one") is not None
    assert restarted._journal.open_requests() == []
    restarted._close()
    assert is_known == (learnt > 0)
    told = [(row["key"], row["x"], row["y"]) for row in before]
    told += [(r["key"], r["x"], r["y"]) for r in rows] if learnt else []
    assert_same_models(path, replay(told)[1])
    # The client did not get an answer, and asks again.
    restarted = model_writer.ModelWriter(path, LEARNER)
    results = restarted._commit([request], frozenset()).results[0]
    restarted._close()
    assert [result.outcome for result in results] == (
        ["repeated"] * 6 if learnt else ["learnt"] * 6
    )
    told = [(row["key"], row["x"], row["y"]) for row in [*before, *rows]]
    assert_same_models(path, replay(told)[1])


def _crash_after(flush):
    def crash(models):
        flush(models)
        raise Crash

    return crash


def test_the_journal_keeps_missing_values_and_names(tmp_path):
    journal = RequestJournal(tmp_path / "journal", 10)
    rows = (
        model_writer.Row("k", {"a": 1.5, "b": "text"}, float("nan"), 3, 2.0, 0.5),
        model_writer.Row("l", np.array([0.1, np.nan]), 1.0, 4),
    )
    journal.commit([model_writer.JournalEntry("one", b"d", rows)])
    (entry,) = journal.open_requests()
    journal.close()
    first, second = entry.rows
    assert first[:2] == rows[0][:2] and first[3:] == rows[0][3:] and first.y != first.y
    np.testing.assert_array_equal(second.x, rows[1].x)
    assert second[2:] == rows[1][2:]


@pytest.mark.parametrize("damage", ["rows = '[[1]]'", "rows = '['", "rows = x'ff'"])
def test_a_request_that_cannot_be_read_keeps_no_server_from_starting(
    tmp_path, damage, caplog
):
    path, rows = tmp_path / "m", rows_of(np.random.default_rng(0), "a", 6)
    ask(path, batch(rows, "one"))
    change_journal(path, damage)
    (again,) = ask(path, batch(rows, "one"))
    assert again.json()["repeated"] == 6
    assert "Idempotency-Key 'one' that cannot be read" in caplog.text


def test_a_request_whose_numbers_cannot_be_read_is_refused_alone(tmp_path):
    path, rows = tmp_path / "m", rows_of(np.random.default_rng(0), "a", 6)
    ask(path, batch(rows, "one"))
    change_journal(path, "seqs = '[1'")
    refused, other = ask(path, batch(rows, "one"), batch(rows, "two"))
    assert refused.status_code == 422 and "cannot be read" in refused.json()["error"]
    assert other.json()["learnt"] == 6


def change_journal(path, change):
    with sqlite3.connect(path) as other:
        other.execute("UPDATE requests SET rows = '[]' WHERE rows IS NULL")
        other.execute(f"UPDATE requests SET {change}")
    other.close()
