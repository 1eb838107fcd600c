"""What one client may send, keep open and have written beside all others."""

import asyncio
import resource
import signal
import socket
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest

from tests.serve.in_process import ask, get, observe, post, running
from tests.serve.server_process import post_json, serving
from thalweg.errors import InvalidParameterError
from thalweg.learners import Tracker
from thalweg.serve.application import create_app
from thalweg.serve.connections import RESERVED_FILES
from thalweg.serve.limits import Limits
from thalweg.serve.live_feed import MAX_COLUMNS, LiveFeed, LiveRow, live_columns
from thalweg.serve.live_page import LiveStory
from thalweg.serve.model_writer import ModelWriter
from thalweg.serve.row_outcomes import MAX_STEP, ModelBudget


def test_limits_are_settings_by_name():
    assert Limits.parse(["rows=5", "keys=7"]) == Limits(rows=5, keys=7)
    for setting in ("rows", "rows=-1", "rows=x", "lines=5", "rows=٣"):
        with pytest.raises(InvalidParameterError, match=r"one of body_bytes.*Got"):
            Limits.parse([setting])
    with pytest.raises(InvalidParameterError, match="'rows'"):
        Limits.parse(["rows=0"])


@pytest.mark.slow
def test_a_request_that_names_another_host_is_refused(tmp_path):
    """As of a page whose host name resolves to 127.0.0.1 (DNS rebinding)."""
    with serving(tmp_path / "m", "--allowed-host", "models.example") as (address, _):
        for host, status in [
            ("localhost:1", 200), ("127.0.0.1", 200), ("[::1]:8000", 200),
            ("models.example", 200), ("MODELS.example:80", 200),
            ("evil.example", 421), ("localhost.evil.example", 421), ("", 421),
        ]:  # fmt: skip
            for path in ("/health", "/v1/models", "/"):
                request = urllib.request.Request(address + path, headers={"Host": host})
                try:
                    with urllib.request.urlopen(request, timeout=30) as response:
                        found = response.status
                except urllib.error.HTTPError as error:
                    found = error.code
                assert found == status, (host, path)


def test_with_a_token_all_hosts_are_served(tmp_path):
    writer = ModelWriter(tmp_path / "m")
    app = create_app(writer, "a-token-of-a-good-length", {"localhost"})
    (access,) = [one for one in app.user_middleware if "Access" in one.cls.__name__]
    middleware = access.cls(app, **access.kwargs)
    assert middleware._is_our_host([(b"host", b"anything")])
    writer._close()


@pytest.mark.slow
def test_requests_that_are_half_sent_leave_room_for_others(tmp_path):
    options = ("--limit", "connections=8", "--limit", "request_seconds=2")
    with serving(tmp_path / "m", *options) as (address, _):
        place = urlsplit(address)
        parts = [
            b"",
            b"GET /hea",
            b"POST /v1/models/k/observe HTTP/1.1\r\nHost: localh",
        ]
        parts.append(
            b"POST /v1/models/k/observe HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
        )
        held = []
        try:
            for k in range(40):
                held.append(socket.create_connection((place.hostname, place.port)))
                held[-1].sendall(parts[k % len(parts)])
                row = {"x": [1.0], "y": 1.0, "seq": k}
                answer = post_json(f"{address}/v1/models/k/observe", row)
                assert answer["outcome"] == "learnt"
            # The others are closed in time, too.
            began = time.monotonic()
            for one in held:
                one.settimeout(20)
                try:
                    while one.recv(1000):
                        pass
                except ConnectionResetError:
                    pass
            assert time.monotonic() - began < 15
        finally:
            for one in held:
                one.close()


@pytest.mark.slow
def test_a_burst_of_connections_leaves_files_for_others(tmp_path):
    """asyncio accepts many connections before it looks at the first; when it runs out
    of files on the way, the server does nothing but try again.
    """
    with serving(tmp_path / "m", "--limit", "connections=8") as (address, process):
        files = (8 + RESERVED_FILES,) * 2
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, files)
        place = urlsplit(address)
        with ExitStack() as held:
            for _ in range(300):
                one = socket.create_connection((place.hostname, place.port))
                held.enter_context(one).sendall(b"GET /hea")
            for seq in range(3):
                row = {"x": [1.0], "y": 1.0, "seq": seq}
                answer = post_json(f"{address}/v1/models/k/observe", row)
                assert answer["outcome"] == "learnt"


def test_new_models_of_a_request_have_a_limit(tmp_path):
    rows = [{"key": f"k{k}", "x": [1.0] * 50, "y": 1.0, "seq": 1} for k in range(6)]
    limit = 3 * one_model_bytes(tmp_path, 50)
    first, second = ask(
        tmp_path / "m",
        post("/v1/observe", {"rows": rows}),
        post("/v1/observe", {"rows": rows}),
        learner=Tracker(), model_bytes=limit,
    )  # fmt: skip
    assert (first.json()["learnt"], first.json()["refused"]) == (3, 3)
    assert "another request" in first.json()["results"][3]["error"]
    # The models that are there take nothing of it.
    assert (second.json()["learnt"], second.json()["repeated"]) == (3, 3)


def test_models_of_rows_with_names_count_as_written(tmp_path):
    """Their states are written with every row, since the log holds numbers alone."""
    x = {f"x{k}": 1.0 for k in range(50)}
    rows = [{"key": f"k{k}", "x": x, "y": 1.0, "seq": 1} for k in range(6)]
    later = [row | {"seq": 2} for row in rows]
    limit = 3 * one_model_bytes(tmp_path, 50)
    learnt = [
        answer.json()["learnt"]
        for answer in ask(
            tmp_path / "m",
            post("/v1/observe", {"rows": rows[:3]}),
            post("/v1/observe", {"rows": rows[3:]}),
            post("/v1/observe", {"rows": later}),
            post("/v1/observe", {"rows": later[3:]}),
            learner=Tracker(), model_bytes=limit,
        )
    ]  # fmt: skip
    assert learnt == [3, 3, 3, 3]


def one_model_bytes(folder, features):
    writer = ModelWriter(folder / "size", Tracker())
    size = writer._model_size(features)
    writer._close()
    return size


def test_new_models_of_one_transaction_have_a_limit(tmp_path):
    """Else many requests together would let all readers wait."""

    async def run():
        size = one_model_bytes(tmp_path, 50)
        path, limit = tmp_path / "m", 3 * size
        async with running(path, Tracker(), model_bytes=limit) as (client, writer):
            groups = []
            commit = writer._commit

            def note(group, watched):
                groups.append(len(group))
                return commit(group, watched)

            writer._commit = note
            requests = [
                client.post(
                    f"/v1/models/k{k}/observe",
                    json={"x": [1.0] * 50, "y": 1.0, "seq": 1},
                )
                for k in range(12)
            ]
            answers = await asyncio.gather(*requests)
            assert {answer.status_code for answer in answers} == {200}
            assert sum(groups) == 12 and max(groups) <= 3

    asyncio.run(run())


def test_a_budget_counts_what_was_taken():
    budget = ModelBudget(lambda features: 10 * features, 100)
    for key, features in [("a", 4), ("b", 6), ("a", 4)]:
        assert budget.take(key, features) is None
    assert "100 of others" in budget.take("c", 1)


def test_a_request_names_so_many_keys(tmp_path):
    rows = [{"key": f"k{k}", "x": [1.0], "y": 1.0, "seq": 1} for k in range(4)]
    (answer,) = ask(tmp_path / "m", post("/v1/observe", {"rows": rows}), keys=3)
    assert answer.status_code == 413 and "3 keys. Got 4" in answer.json()["error"]


def test_rows_kept_for_live_pages_have_a_size(tmp_path):
    wide = {f"{k:04d}" + "n" * 10_000: float(k) for k in range(100)}
    columns, names = live_columns(wide)
    assert columns == tuple(range(MAX_COLUMNS)) and max(map(len, names)) == 60
    feed = LiveFeed(max_bytes=100_000)
    for key in range(100):
        for _ in range(400):
            feed.publish(str(key), LiveRow(columns, names, 1.0, 1.0))
    kept = [key for key in range(100) if feed.recent(str(key))]
    assert kept == list(range(100 - len(kept), 100)) and 0 < len(kept) < 5
    size = sum(len(feed.recent(str(key))) for key in kept)
    assert feed.bytes <= 100_000 and feed.bytes / size > 500
    for key in kept:
        feed._recent.pop(str(key))
    assert size * (500 + 32 * MAX_COLUMNS + 60 * MAX_COLUMNS) == feed.bytes


def test_alarms_of_the_live_page_do_not_depend_on_the_order_of_names():
    def changes(order):
        story, rows = LiveStory(0), []
        for k in range(400):
            values = {"b": float(k % 7), "a": float(k % 5), "text": "t"}
            row = {name: values[name] for name in order(list(values), k)}
            level = 10.0 if k < 200 else 40.0
            y = level + row["a"] + 0.1 * (k * 7919 % 13)
            rows.append(LiveRow(*live_columns(row), y, y))
        return story._find_changes(rows, 1)

    found = changes(lambda names, k: names)
    assert found and found == changes(lambda names, k: names[:: 1 - 2 * (k % 2)])


SMALL, LARGE = 5, 2**62


@pytest.mark.parametrize("first", [None, 4])
def test_a_seq_far_above_the_last_one_is_refused(tmp_path, first):
    rows = [first] if first is not None else []
    rows += [SMALL, LARGE, SMALL + 1, SMALL + MAX_STEP + 1]
    answers = ask(tmp_path / "m", *(observe("k", [1.0], 1.0, seq) for seq in rows))
    *_, jump, honest, longest = answers
    assert jump.status_code == 422 and "seq" in jump.json()["error"]
    assert honest.json()["outcome"] == "learnt"
    assert longest.json()["outcome"] == "learnt"


def test_a_row_that_was_left_out_is_late_and_not_repeated(tmp_path):
    seqs = [1, 5, 3, 1, 5, 6]
    answers = ask(tmp_path / "m", *(observe("k", [1.0], 1.0, seq) for seq in seqs))
    statuses = [answer.status_code for answer in answers]
    assert statuses == [200, 200, 409, 200, 200, 200]
    outcomes = [answer.json().get("outcome") for answer in answers]
    assert outcomes == ["learnt", "learnt", None, "repeated", "repeated", "learnt"]
    assert "row 3 of 'k' was not learnt" in answers[2].json()["error"]
    rows = [{"key": "k", "x": [1.0], "y": 1.0, "seq": seq} for seq in seqs]
    (batch,) = ask(tmp_path / "batch", post("/v1/observe", {"rows": rows}))
    counts = {name: batch.json()[name] for name in ("learnt", "late", "repeated")}
    assert counts == {"learnt": 3, "late": 1, "repeated": 2}


@pytest.mark.parametrize("key", ["a\nb", "a\n", "a\rb", "\x7f", "a\x00"])
def test_a_key_that_no_path_can_name_is_refused(tmp_path, key):
    rows = [{"key": key, "x": [1.0], "y": 1.0, "seq": 1}]
    (answer,) = ask(tmp_path / "m", post("/v1/observe", {"rows": rows}))
    assert answer.status_code == 400 and "control characters" in answer.json()["error"]


def test_a_slash_in_a_key_is_no_part_of_the_path(tmp_path):
    rows = [{"key": "q/ready", "x": [1.0], "y": 1.0, "seq": 1}]
    _, slash, model, missing = ask(
        tmp_path / "m",
        post("/v1/observe", {"rows": rows}),
        get("/v2/models/q%2Fready"),
        get("/v2/models/q%2Fready/ready"),
        get("/v2/models/q/ready"),
    )
    assert slash.json()["name"] == "q/ready" and slash.json()["inputs"]
    assert model.json() == {"name": "q/ready", "ready": True}
    assert missing.status_code == 404


def test_a_full_disk_at_the_end_is_a_sentence(tmp_path, caplog):
    async def run():
        async with running(tmp_path / "m", Tracker()) as (client, writer):
            for seq in range(20):
                await client.post(
                    "/v1/models/k/observe",
                    json={"x": [1.0] * 30, "y": float(seq), "seq": seq},
                )
            connection = writer._models._store._connection
            (count,) = connection.execute("PRAGMA page_count").fetchone()
            connection.execute(f"PRAGMA max_page_count = {count}")

    asyncio.run(run())
    (record,) = caplog.records
    assert "could not be written once more" in record.message and not record.exc_info
    (answer,) = ask(tmp_path / "m", observe("k", [1.0] * 30, 1.0, 19), learner=None)
    assert answer.json()["outcome"] == "repeated"


def test_a_signal_after_half_sent_requests_ends_the_server(tmp_path):
    with serving(tmp_path / "m") as (address, process):
        place = urlsplit(address)
        with socket.create_connection((place.hostname, place.port)) as one:
            one.sendall(b"GET /hea")
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == -signal.SIGTERM
