"""Who may ask, what may enter, and how a refusal reads."""

import asyncio
import json

from tests.serve.in_process import TOKEN, ask, get, observe, post, running

KEYED = "/v1/models/k/observe"
ROW = {"x": [1.0], "y": 1.0, "seq": 0}


def test_a_token_is_asked_for_where_there_is_one(tmp_path):
    bearer = f"Bearer {TOKEN}"
    requests = [
        get("/v1/models"),
        get("/v1/models", Authorization="Bearer wrong"),
        get("/v1/models", Authorization=TOKEN),
        get("/v1/models", Authorization=bearer),
        post(KEYED, ROW),
        post(KEYED, ROW, Authorization=bearer),
        get("/metrics"),
        get("/openapi.json"),
        get("/no-such-page"),
    ]
    answers = ask(tmp_path / "m", *requests, token=TOKEN)
    statuses = [answer.status_code for answer in answers]
    assert statuses == [401, 401, 401, 200, 401, 200, 401, 401, 401]
    assert answers[0].headers["www-authenticate"] == "Bearer"
    assert "token" in answers[0].json()["error"]


def test_probes_and_the_empty_page_need_no_token(tmp_path):
    paths = ("/health", "/v2/health/live", "/v2/health/ready")
    answers = ask(tmp_path / "m", *map(get, paths), token=TOKEN)
    assert [answer.status_code for answer in answers] == [200] * 3
    (head,) = ask(tmp_path / "m", ("HEAD", "/health", {}), token=TOKEN)
    assert head.status_code == 200


BAD_BODIES = {
    "nothing": (b"", 400, "not JSON"),
    "cut": (b'{"x": [1', 400, "not JSON"),
    "NaN": (b'{"x": [NaN], "y": 1, "seq": 1}', 400, "NaN and Infinity are not JSON"),
    "Infinity": (b'{"x": [1], "y": Infinity, "seq": 1}', 400, "NaN and Infinity"),
    "beyond float64": (b'{"x": [1e999], "y": 1, "seq": 1}', 422, "finite"),
    "a large whole number": (
        b'{"x": [1' + b"0" * 400 + b'], "y": 1, "seq": 1}', 422, "finite",
    ),
    "a list": (b"[1]", 400, "must be a JSON object"),
    "a pickle": (b"\x80\x04K\x01.", 400, "not JSON"),
    "no x": (b'{"y": 1, "seq": 1}', 400, "must be an object like"),
    "no y": (b'{"x": [1], "seq": 1}', 400, "must have a target"),
    "text": (b'{"x": ["a"], "y": 1, "seq": 1}', 400, "must hold numbers"),
    "a truth value": (b'{"x": [true], "y": 1, "seq": 1}', 400, "must hold numbers"),
    "a fraction as seq": (b'{"x": [1], "y": 1, "seq": 1.5}', 400, "whole number"),
    "a negative seq": (b'{"x": [1], "y": 1, "seq": -1}', 422, "2⁶³"),
    "a seq beyond SQLite": (
        b'{"x": [1], "y": 1, "seq": 9223372036854775808}', 422, "2⁶³",
    ),
    "a weight of text": (b'{"x":[1],"y":1,"seq":1,"weight":"2"}', 400, "'weight'"),
    "a negative weight": (b'{"x":[1],"y":1,"seq":1,"weight":-2}', 422, "weight"),
    "an unknown field": (b'{"x":[1],"y":1,"seq":1,"z":2}', 400, "Got 'z' as well"),
    "a bad key in a row": (b'{"rows":[{"key":7,"x":[1],"y":1,"seq":1}]}', 400, "key"),
    "a key in the row": (b'{"x":[1],"y":1,"seq":1,"key":"l"}', 400, "the path does"),
    "no rows": (b'{"rows": []}', 400, "'rows'"),
    "rows that are no objects": (b'{"rows": [1]}', 400, "Row 0"),
    "deep": (b"[" * 100_000, 400, "not JSON"),
}  # fmt: skip


def test_what_is_wrong_is_said_in_a_sentence_and_nothing_is_learnt(tmp_path):
    headers = {"Content-Type": "application/json"}
    requests = [
        ("POST", KEYED, {"content": body, "headers": headers})
        for body, _, _ in BAD_BODIES.values()
    ]
    answers = ask(tmp_path / "m", *requests, get("/v1/models"))
    for (name, (_, status, words)), answer in zip(
        BAD_BODIES.items(), answers, strict=False
    ):
        assert answer.status_code == status, (name, answer.text)
        assert words in answer.json()["error"], (name, answer.text)
    assert answers[-1].json() == {"keys": [], "more": False}


def test_only_json_is_read(tmp_path):
    content = json.dumps(ROW)
    kinds = ("application/x-www-form-urlencoded", "text/plain", "application/pickle")
    requests = [
        ("POST", KEYED, {"content": content, "headers": {"Content-Type": kind}})
        for kind in kinds
    ]
    answers = ask(tmp_path / "m", *requests, ("POST", KEYED, {"content": content}))
    assert [answer.status_code for answer in answers] == [415] * 4
    assert "Content-Type: application/json" in answers[0].json()["error"]
    with_charset = {"Content-Type": "application/json; charset=utf-8"}
    request = ("POST", KEYED, {"content": content, "headers": with_charset})
    assert ask(tmp_path / "m", request)[0].status_code == 200


def test_bodies_keys_rows_and_features_have_limits(tmp_path):
    limits = {"body_bytes": 400, "key_bytes": 5, "rows": 3, "features": 4}
    rows = [{**ROW, "seq": seq} for seq in range(4)]
    large, long_key, many, wide, fits = ask(
        tmp_path / "m",
        post(KEYED, {**ROW, "x": [0.123456789] * 100}),
        post("/v1/models/abcdef/observe", ROW),
        post(KEYED, {"rows": rows}),
        post(KEYED, {**ROW, "x": [1.0] * 5}),
        post("/v1/models/abcde/observe", {"rows": rows[:3]}),
        **limits,
    )
    assert (large.status_code, many.status_code) == (413, 413)
    assert (long_key.status_code, wide.status_code) == (400, 400)
    assert "400 bytes" in large.json()["error"] and "3 rows" in many.json()["error"]
    assert "5 bytes" in long_key.json()["error"]
    assert "at most 4 numbers" in wide.json()["error"]
    assert fits.json()["learnt"] == 3


def test_a_body_that_is_too_long_is_not_read_to_its_end(tmp_path):
    sent = 0

    async def endless():
        nonlocal sent
        while True:
            sent += 1
            yield b" " * 100

    async def run():
        async with running(tmp_path / "m", body_bytes=1000) as (client, _):
            headers = {"Content-Type": "application/json"}
            return await client.post(KEYED, content=endless(), headers=headers)

    assert asyncio.run(run()).status_code == 413
    assert sent <= 12


def test_keys_may_hold_slashes_blanks_and_any_letters(tmp_path):
    keys = ["a/b", "pump 7", "été", "观测", "a?b", "50%"]
    requests = [post("/v1/observe", {"rows": [{**ROW, "key": k} for k in keys]})]
    quoted = (
        "a/b",
        "pump%207",
        "%C3%A9t%C3%A9",
        "%E8%A7%82%E6%B5%8B",
        "a%3Fb",
        "50%25",
    )
    requests += [post(f"/v1/models/{key}/predict", {"x": [1.0]}) for key in quoted]
    answers = ask(tmp_path / "m", *requests, observe("%FF", [1.0], 1.0, 1))
    assert [answer.status_code for answer in answers] == [200] * 7 + [400]
    assert "UTF-8" in answers[-1].json()["error"]


def test_paths_and_methods_that_do_not_exist_are_answered_in_json(tmp_path):
    answers = ask(
        tmp_path / "m", get("/nothing"), get(KEYED), ("DELETE", "/v1/models", {})
    )
    assert [answer.status_code for answer in answers] == [404, 405, 405]
    assert all(answer.json()["error"] for answer in answers)


def test_the_routes_describe_themselves(tmp_path):
    answer = ask(tmp_path / "m", get("/openapi.json"))[0].json()
    paths = answer["paths"]
    assert {
        "/v1/models/{key}/observe", "/v1/models/{key}/predict", "/v1/observe",
        "/v1/models/{key}/forecast", "/v2/models/{name}/infer", "/health", "/metrics",
    } <= set(paths)  # fmt: skip
    row = paths["/v1/models/{key}/predict"]["post"]["requestBody"]
    assert row["content"]["application/json"]["schema"]["required"] == ["x"]


def test_metrics_are_prometheus_text_and_count_what_was_done(tmp_path):
    bad = observe("k", [1.0, 2.0], 1.0, 5)
    *_, answer = ask(
        tmp_path / "m", post(KEYED, ROW), post(KEYED, ROW), bad,
        post("/v1/models/k/predict", {"x": [1.0]}), get("/metrics"),
    )  # fmt: skip
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    values = dict(line.rsplit(" ", 1) for line in lines if line[0] != "#")
    assert values['thalweg_rows_total{outcome="learnt"}'] == "1"
    assert values['thalweg_rows_total{outcome="repeated"}'] == "1"
    assert values['thalweg_rows_total{outcome="refused"}'] == "1"
    assert values["thalweg_predictions_total"] == "1"
    assert values["thalweg_waiting_rows"] == "0"
    assert values["thalweg_commit_seconds_count"] == "3"
    buckets = [int(v) for k, v in values.items() if "_bucket" in k]
    assert buckets == sorted(buckets) and buckets[-1] == 3
    name = 'thalweg_responses_total{endpoint="observe",status="%s"}'
    assert (values[name % 200], values[name % 422]) == ("2", "1")
    typed = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    assert {name.partition("{")[0] for name in values} - typed <= {
        f"thalweg_commit_seconds_{part}" for part in ("bucket", "sum", "count")
    }
