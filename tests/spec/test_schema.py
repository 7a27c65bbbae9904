"""The shipped JSON Schema accepts what the reader accepts, and refuses what it can refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ibplan.document import parse_document, read_document, validate
from ibplan.errors import InputError
from ibplan.spec.models import Spec
from ibplan.spec.schema import SCHEMA_FILE, format_schema, make_schema, read_schema
from tests.golden import check_golden

ROOT = Path(__file__).parents[2]
VALIDATOR = jsonschema.Draft202012Validator(make_schema())

ACCEPTED = (
    "model: llama-3-70b",
    "model: 7e10",
    "model: {layers: 80, hidden: 8192}",
    "budget: $6M",
    "budget: {network: $6M, cluster: 60M USD, power: 1.6 MW}",
    "server: nvidia-dgx-h100",
    "server: {gpus: 8, nics: 8, port_gbps: 400G, power: 10.2 kW, price: $310000}",
    "workload: {parallelism: auto}",
    "workload: {parallelism: {tp: 8, pp: 8}, tokens: 15T, jobs: [{gpus: 8, share: 40%}]}",
    "attached: [{name: storage, servers: 16, ports: 2, port_gbps: 400}]",
    "fabrics: roce",
    "fabrics: [infiniband, ethernet]",
    "network: {switch: nvidia-qm9700}",
    "network: {switch: [nvidia-qm9700, nvidia-sn5600]}",
    "network: {switch: {leaf: nvidia-qm9700, spine: {ports: 64, port_gbps: 400}}}",
    "network: {switch: {leaf: [nvidia-qm9700, {cages: 64, ports_per_cage: 2, port_gbps: 400}]}}",
    "network: {switch: {ports: 64, port_gbps: 400, price: $36000}}",
    "network: {oversubscription: 2:1}",
    "network: {oversubscription: [1:1, 22/18, 2.0]}",
    "network: {oversubscription: {leaf: [1:1, 2:1], spine: 7:1}}",
    "network: {tiers: auto, planes: [1, 2], rail_only: [true, false], rail_optimized: true}",
    "network: {tiers: [2, 3], single_tier: two_leaves, second_tier: rail, partial_units: [whole, packed]}",
    "network: {uplink_gbps: 800, leaf_ports: all}",
    "network: {uplink_gbps: {leaf: [400G, 800G]}, leaf_ports: {leaf: half, spine: [all]}}",
    "network: {reserved_ports: 4}",
    "network: {reserved_ports: {total: 4, per_leaf: 1}}",
    "network: {medium: copper}",
    "network: {medium: {server_leaf: copper, leaf_spine: multimode}}",
    "storage: none",
    "storage: {gbps_per_gpu: 16}",
    "site: {pue: 1.2, electricity: $0.07/kWh, hall: {aisle_pitch: 2.5 m}, rack: {power: 45 kW}}",
    "site: {utilization: 80%}",
    "discounts: {vendor: {NVIDIA: 20%}, category: {switch: 0.15, server: 5%}}",
    'exchange_rates: [{currency: EUR, usd: 1.1, date: "2026-11-30", source: treasury}]',
    "spares: 2%",
    "spares: {switch: {lead_time_weeks: 12, confidence: 95%}, cable: 1%}",
    "spares: {transceiver: {failures_per_year: 1%, lead_time_weeks: 12, confidence: 0.95}}",
    "licences: {fabric_manager: $490, network_os: none}",
    "support: 10%",
    "support: {switch: 10%, licence: 0%}",
    "catalog: ours.yaml",
    "catalog: [ours.yaml]",
    "growth: [{year: 1, gpus: 16}]",
)
REFUSED = (
    "gpus: 0123",
    "gpus: 1.5",
    "gpus: 0",
    "gpu: 8",
    "gpus: null",
    "budget: 6000000",
    "budget: 6M",
    "fabrics: []",
    "fabrics: token ring",
    "spares: none",
    "spares: {switches: 2%}",
    "spares: {switch: {confidence: 95%}}",
    "licences: {network_os: 490}",
    "discounts: {switch: 20%}",
    "discounts: {vendor: {NVIDIA: none}}",
    "exchange_rates: [{currency: euro, usd: 1.1, date: '2026-11-30', source: x}]",
    "exchange_rates: {EUR: 1.1}",
    "optics: on",
    "network: {tiers: 4}",
    "network: {tiers: true}",
    "network: {planes: [1, 1]}",
    "network: {oversubscription: [2:1, x]}",
    "network: {oversubscription: {leef: 2:1}}",
    "network: {switch: {ports: 64}}",
    "network: {switch: {ports: 64, cages: 32, ports_per_cage: 2, port_gbps: 400}}",
    "network: {reserved_ports: -1}",
    "network: {medium: glass}",
    "storage: some",
    "attached: {name: a}",
    "site: {rack: {power: 45}}",
)


def _as_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_json(item) for key, item in value.items()}
    return [_as_json(item) for item in value] if isinstance(value, tuple) else value


def test_shipped_schema_is_not_stale() -> None:
    check_golden(ROOT / "ibplan" / "spec" / SCHEMA_FILE, format_schema(make_schema()))
    assert read_schema() == format_schema(make_schema())


def test_schema_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(make_schema())


@pytest.mark.parametrize("text", ACCEPTED)
def test_what_the_reader_accepts_is_valid(text: str) -> None:
    document = parse_document(f"gpus: 8\n{text}\n", "spec.yaml")
    validate(Spec, document)
    VALIDATOR.validate(_as_json(document.data))


@pytest.mark.parametrize("text", REFUSED)
def test_what_the_reader_refuses_is_invalid(text: str) -> None:
    size = "" if "gpu" in text.split(":")[0] else "gpus: 8\n"
    document = parse_document(f"{size}{text}\n", "spec.yaml")
    with pytest.raises(InputError):
        validate(Spec, document)
    assert not VALIDATOR.is_valid(_as_json(document.data))


@pytest.mark.parametrize("path", sorted((ROOT / "specs").glob("*.yaml")), ids=lambda path: path.name)
def test_every_example_is_valid(path: Path) -> None:
    VALIDATOR.validate(_as_json(read_document(path).data))
