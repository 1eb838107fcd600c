"""Rows for live pages: a slow reader gets the newest, and how many it has missed."""

import asyncio

from thalweg.serve.live_feed import MAX_ROWS, LiveFeed, LiveRow


def live_row(number):
    return LiveRow((), (), float(number), 0.0)


def test_a_slow_reader_gets_the_newest_rows_and_the_number_it_has_missed():
    async def run():
        feed = LiveFeed(max_bytes=2**20)
        with feed.watch("k") as watcher:
            assert await watcher.fetch(0.0) == ([], 0)
            for number in range(MAX_ROWS + 5):
                feed.publish("k", live_row(number))
                feed.publish("other", live_row(-1))
            rows, missed = await watcher.fetch(1.0)
            assert [row.y for row in rows] == list(range(5, MAX_ROWS + 5))
            assert missed == 5
            for number in range(MAX_ROWS):
                feed.publish("k", live_row(number))
            rows, missed = await watcher.fetch(1.0)
            assert (len(rows), missed) == (MAX_ROWS, 0)
            assert await watcher.fetch(0.0) == ([], 0)
        assert feed.count_watchers() == 0

    asyncio.run(run())


def test_a_reader_that_waits_is_woken_by_a_row_and_by_the_end():
    async def run():
        feed = LiveFeed(max_bytes=2**20)
        with feed.watch("k") as watcher:
            waiting = asyncio.create_task(watcher.fetch(30.0))
            await asyncio.sleep(0)
            feed.publish("k", live_row(1))
            rows, _ = await asyncio.wait_for(waiting, 5.0)
            assert [row.y for row in rows] == [1.0]
            waiting = asyncio.create_task(watcher.fetch(30.0))
            await asyncio.sleep(0)
            feed.close()
            assert await asyncio.wait_for(waiting, 5.0) == ([], 0)
            assert watcher.is_closed

    asyncio.run(run())
