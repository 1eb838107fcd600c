"""A disk that is full: refused with the reason, nothing acknowledged, nothing lost."""

import asyncio

import numpy as np
import pytest

from tests.serve.in_process import LEARNER, rows_of, running
from tests.serve.test_observe import assert_same_models, replay
from thalweg.keyed import KeyedModels


def limit_pages(writer, pages):
    """Let the file grow no further than so many pages more; None lets it grow."""
    for connection in (writer._models._store._connection, writer._journal._connection):
        (count,) = connection.execute("PRAGMA page_count").fetchone()
        limit = 2**31 if pages is None else count + pages
        connection.execute(f"PRAGMA max_page_count = {limit}")


@pytest.mark.parametrize("is_named", [False, True], ids=["seq", "idempotency key"])
def test_a_full_disk_is_a_507_and_the_same_request_is_learnt_later(tmp_path, is_named):
    rng = np.random.default_rng(0)
    batches = [
        [row for k in range(40) for row in rows_of(rng, f"{batch}-{k}", 1)]
        for batch in range(3)
    ]
    if is_named:
        batches = [
            [{n: row[n] for n in row if n != "seq"} for row in rows] for rows in batches
        ]

    async def run():
        async with running(tmp_path / "m") as (client, writer):

            async def send(number):
                headers = {"Idempotency-Key": f"{number}"} if is_named else {}
                body = {"rows": batches[number]}
                return await client.post("/v1/observe", json=body, headers=headers)

            assert (await send(0)).json()["learnt"] == 40
            limit_pages(writer, 1)
            full = await send(1)
            assert full.status_code == 507
            assert "full" in full.json()["error"]
            # The file was opened again, and what was on the disk is there.
            listed = (await client.get("/v1/models")).json()["keys"]
            assert listed == sorted(row["key"] for row in batches[0])
            predicted = await client.post("/v1/models/0-0/predict", json={"x": [1, 2]})
            assert predicted.status_code == 200
            assert writer.metrics.failed_commits == 1
            # Now there is room again.
            assert (await send(1)).json()["learnt"] == 40
            assert (await send(1)).json()["repeated"] == 40
            assert (await send(2)).json()["learnt"] == 40

    asyncio.run(run())
    rows = [(r["key"], r["x"], r["y"]) for rows in batches for r in rows]
    assert_same_models(tmp_path / "m", replay(rows)[1])


def test_a_file_that_cannot_be_opened_again_is_a_503_until_it_can(tmp_path):
    row = {"x": [1.0, 2.0], "y": 1.0, "seq": 0}

    async def run():
        async with running(tmp_path / "m") as (client, writer):
            assert (await client.post("/v1/models/k/observe", json=row)).is_success
            writer._discard()
            other = KeyedModels(tmp_path / "m", LEARNER)  # has the lock
            for answer in (
                await client.get("/health"),
                await client.get("/v2/health/ready"),
                await client.post("/v1/models/k/observe", json=row | {"seq": 1}),
            ):
                assert answer.status_code == 503 and answer.json()["error"]
            other.close()
            assert (await client.get("/health")).json()["status"] == "ok"
            answer = await client.post("/v1/models/k/observe", json=row | {"seq": 1})
            assert answer.json()["outcome"] == "learnt"

    asyncio.run(run())
