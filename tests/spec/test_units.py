"""Times as they are written in a spec."""

from __future__ import annotations

import pytest

from ibplan.spec.models import Workload
from ibplan.units import parse_seconds


@pytest.mark.parametrize(
    ("text", "seconds"), [("2 s", 2.0), ("50 ms", 0.05), ("50ms", 0.05), ("300 us", 0.0003), ("1.5 min", 90.0)]
)
def test_times(text: str, seconds: float) -> None:
    assert parse_seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["50", 50, 0.05, "50 m", "5 h", "0 s", "-1 s", "1e9 s", "0.1 us", "ms", True, None])
def test_what_is_no_time(text: object) -> None:
    with pytest.raises(ValueError, match="a time"):
        parse_seconds(text)


def test_a_time_is_written_as_it_can_be_read() -> None:
    stated = Workload.model_validate({"tpot": "50 ms"}).model_dump(mode="json")["tpot"]
    assert stated == "0.05 s"
    assert parse_seconds(stated) == 0.05
