from __future__ import annotations

import pytest

from ibplan.catalog.store import load_catalog
from ibplan.errors import InputError
from ibplan.plan.hosts import resolve_server
from tests.plan.planning import loaded

INLINE = "gpus: 8\nserver: {{gpus: 8, nics: 8, port_gbps: 400{}}}\n"


def test_the_gpu_of_an_inline_server_is_looked_up() -> None:
    catalog = load_catalog()
    with_gpu = loaded(INLINE.format(", gpu: nvidia-h200-sxm"))
    assert resolve_server(with_gpu, catalog).gpu is catalog.gpus["nvidia-h200-sxm"]
    assert resolve_server(loaded(INLINE.format("")), catalog).gpu is None
    assert resolve_server(loaded("gpus: 8"), catalog).gpu is catalog.gpus["nvidia-h100-sxm"]


def test_all_that_is_wrong_with_an_inline_server_is_told_at_once() -> None:
    wrong = INLINE.format(", gpu: nvidia-h200, nvlink_domain_gpus: 12")
    with pytest.raises(InputError) as caught:
        resolve_server(loaded(wrong), load_catalog())
    text = str(caught.value)
    assert "an NVLink domain of 12 GPUs does not hold whole servers of 8" in text
    assert "unknown GPU 'nvidia-h200'" in text
    assert "nvidia-h200-sxm" in text
