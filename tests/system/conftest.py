"""What tests of InfiniBand fabrics share: fabrics that are brought up once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from ibplan.export.subnet import Subnets
from tests.system.fabrics import Case, Found, design_of, run, write
from tests.system.programs import need


@pytest.fixture(scope="session")
def bring_up(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Case], list[Found]]:
    """Runs the programs on a case: once, whichever tests look at it."""

    @cache
    def bring(case: Case) -> list[Found]:
        opensm, discover = need("opensm", "opensm"), need("ibnetdiscover", "infiniband-diags")
        scheme, _ = design_of(case)
        folder = tmp_path_factory.mktemp("fabric")
        for target in ("ibsim", "opensm", "ibnetdiscover"):
            write(scheme, target, folder)
        subnets = Subnets(scheme)
        return [run(subnets, fabric, folder / label, opensm, discover) for fabric, label in enumerate(subnets.labels)]

    return bring
