"""Estimates of work, in elementary operations."""

import pytest

from sdfgad.schedule.work import UNKNOWN_TRIPS, work_of
from tests.helpers_text import sample

BODY = "for p < 6: z[p] = x[p] * x[p]"
WORKS = {
    "loop j < 5:": 5,
    "loop j < n:": UNKNOWN_TRIPS,
    "loop backwards j < n:": UNKNOWN_TRIPS,
    # Arrays of unknown sizes may have any.
    "loop parallel j < n:": 1,
}


@pytest.mark.parametrize(("head", "trips"), WORKS.items(), ids=WORKS)
def test_trips_that_are_not_known_are_those_of_a_loop_over_time(head, trips):
    once = work_of(sample(BODY, n=3)[0].body)
    assert work_of(sample(f"{head}\n    {BODY}", n=3)[0].body) == trips * once
