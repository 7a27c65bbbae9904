from __future__ import annotations

from io import BytesIO

import pytest

from ibplan.catalog.store import load_catalog
from ibplan.errors import InputError
from ibplan.plan.hosts import resolve_server
from ibplan.spec.load import LoadedSpec, load_spec

INLINE = "gpus: 8\nserver: {{gpus: 8, nics: 8, port_gbps: 400{}}}\n"


def _loaded(text: str) -> LoadedSpec:
    return load_spec("-", stdin=BytesIO(text.encode()))


def test_the_gpu_of_an_inline_server_is_looked_up() -> None:
    catalog = load_catalog()
    loaded = _loaded(INLINE.format(", gpu: nvidia-h200-sxm"))
    assert resolve_server(loaded, catalog).gpu is catalog.gpus["nvidia-h200-sxm"]
    assert resolve_server(_loaded(INLINE.format("")), catalog).gpu is None
    assert resolve_server(_loaded("gpus: 8"), catalog).gpu is catalog.gpus["nvidia-h100-sxm"]


def test_all_that_is_wrong_with_an_inline_server_is_told_at_once() -> None:
    wrong = INLINE.format(", gpu: nvidia-h200, nvlink_domain_gpus: 12")
    with pytest.raises(InputError) as caught:
        resolve_server(_loaded(wrong), load_catalog())
    text = str(caught.value)
    assert "an NVLink domain of 12 GPUs does not hold whole servers of 8" in text
    assert "unknown GPU 'nvidia-h200'" in text
    assert "nvidia-h200-sxm" in text
