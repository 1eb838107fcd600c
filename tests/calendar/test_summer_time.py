from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import pytest

from thalweg.calendar.summer_time import summer_times

HOUR = 3600.0
# Of each region, the hours by which clocks of a zone may shift earlier or later.
ZONES = (
    ("Europe/Berlin", 0, 0),
    ("Europe/London", 0, 0),
    ("America/New_York", 1, 2),
    ("America/Los_Angeles", 1, 2),
    ("Australia/Sydney", 2, 0),
    ("Pacific/Auckland", 3, 0),
)


def seconds(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(("zone", "region", "slack"), ZONES)
def test_regions_have_summer_time_when_their_zones_have(zone, region, slack):
    try:
        local = ZoneInfo(zone)
    except ZoneInfoNotFoundError:
        pytest.skip("There is no time zone database.")
    times = np.arange(seconds("2008-05-01"), seconds("2030-01-01"), HOUR)
    moments = (datetime.fromtimestamp(one, local) for one in times.tolist())
    offsets = np.array([one.utcoffset().total_seconds() for one in moments])
    truth = offsets > offsets.min()
    found = summer_times(times).astype(int) >> region & 1
    truth_at, found_at = (np.flatnonzero(np.diff(one)) for one in (truth * 1, found))
    assert len(truth_at) == len(found_at) > 40
    assert np.abs(truth_at - found_at).max() <= slack


def test_dates_of_earlier_rules():
    times = [seconds(one) for one in ("1995-09-23", "1995-09-25", "2006-04-01")]
    assert [int(bits) & 1 for bits in summer_times(np.array(times))] == [1, 0, 1]
    times = [seconds(one) for one in ("2006-03-20", "2006-04-03", "2006-10-30")]
    assert [int(bits) >> 1 & 1 for bits in summer_times(np.array(times))] == [0, 1, 0]


def test_unknown_times_have_none():
    assert np.isnan(summer_times(np.array([np.nan, np.inf]))).all()
    assert summer_times(np.array([-1e18, 1e18])).tolist()[0] == 0
