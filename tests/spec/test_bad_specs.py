"""Every file in tests/bad_specs is refused with exactly the messages beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ibplan.errors import InputError
from ibplan.spec.load import load_spec
from tests.golden import check_golden

BAD_SPECS = Path(__file__).parents[1] / "bad_specs"


@pytest.mark.parametrize("path", sorted(BAD_SPECS.glob("*.yaml")), ids=lambda path: path.stem)
def test_messages(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(BAD_SPECS)
    with pytest.raises(InputError) as caught:
        load_spec(path.name)
    check_golden(path.with_suffix(".txt"), f"{caught.value}\n")
