from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from ibplan.catalog.store import Catalog, load_catalog
from ibplan.performance.efficiency import Efficiencies, efficiencies, efficiency_of
from ibplan.performance.machine import machine_of
from tests.performance.machines import NET


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


def test_a_machine_has_the_peaks_of_its_gpu_at_the_precision(catalog: Catalog) -> None:
    server = catalog.servers["nvidia-dgx-h100"]
    bf16, fp8 = (machine_of(catalog.gpus["nvidia-h100-sxm"], server, 64, NET, p) for p in ("bf16", "fp8"))
    assert (bf16.peak_tflops, fp8.peak_tflops, fp8.bf16_tflops) == (989, 1979, 989)
    assert bf16.gpus_per_server == 8
    assert bf16.unknown == ()
    assert fp8.bf16_flops_per_s == bf16.bf16_flops_per_s == bf16.matmul_flops_per_s
    assert fp8.matmul_flops_per_s > 1.5 * bf16.matmul_flops_per_s


def test_what_is_unknown_is_listed_and_has_no_rate(catalog: Catalog) -> None:
    server = catalog.servers["nvidia-dgx-h100"]
    nothing = machine_of(None, server, 64, replace(NET, domain_gbytes_per_s=None, domain_generation=None), "bf16")
    assert len(nothing.unknown) == 4
    assert np.isnan([nothing.matmul_flops_per_s, nothing.bf16_flops_per_s, nothing.memory_bytes_per_s]).all()
    l40s = machine_of(catalog.gpus["nvidia-l40s"], server, 64, NET, "bf16")
    assert l40s.unknown == ("the GPU's peak at the job's precision",)
    a100 = machine_of(catalog.gpus["nvidia-a100-80g-sxm"], server, 64, NET, "fp8")
    assert a100.unknown == ("the GPU's peak at the job's precision",)


def test_own_calibrations_are_not_marked_and_others_say_whose_they_are() -> None:
    for calibration in efficiencies().calibrations:
        assert efficiency_of(calibration.gpu, calibration.precision).transferred is None
    h200, b300 = efficiency_of("nvidia-h200-sxm", "bf16"), efficiency_of("nvidia-b300-sxm", "fp8")
    assert h200.transferred == "bf16 efficiency of nvidia-h100-sxm: the same generation"
    assert b300.transferred == "fp8 efficiency of nvidia-b200-sxm: the nearest generation"
    assert efficiency_of("nvidia-b300-sxm", "bf16").matmul == efficiency_of("nvidia-h100-sxm", "bf16").matmul
    unknown = efficiency_of(None, "bf16").transferred
    assert unknown is not None
    assert "nvidia-h100-sxm" in unknown


def test_every_gpu_of_the_catalogue_has_an_efficiency(catalog: Catalog) -> None:
    for name in catalog.gpus:
        for precision in ("bf16", "fp8"):
            assert 0.2 < efficiency_of(name, precision).matmul < 1


def test_a_file_whose_stand_in_lacks_a_calibration_is_refused() -> None:
    data = efficiencies().model_dump(mode="json")
    data["calibrations"] = [c for c in data["calibrations"] if c["gpu"] != "nvidia-h100-sxm"]
    with pytest.raises(ValueError, match="lacks a calibration"):
        Efficiencies.model_validate_json(json.dumps(data))
