"""containerlab's file: strictly what it asks, for every form of fabric; and that it is the plan's links."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ibplan.document import parse_document
from ibplan.errors import UsageError
from ibplan.export.scheme import Scheme
from tests.export.clab_model import complaints
from tests.export.ethernet import FORMS, OTHERS, small
from tests.export.faults import GONE, Fault, broken
from tests.export.samples import scheme, texts

# The schema of containerlab, where whoever runs the tests has it: docs/export.md.
REAL = os.environ.get("CLAB_SCHEMA")
LARGE = "budget=$900M"
SAMPLES: dict[str, Callable[[], Scheme]] = {
    **{name: lambda text=text: small(text) for name, text in FORMS.items()},  # type: ignore[misc]
    "planes of a spec": lambda: scheme("b300-two-planes", "gpus=64"),
    "networks on one switch": lambda: scheme("converged-16", "fabrics=roce"),
    "servers on it twice": lambda: scheme("converged-pair-16"),
    "names of digits": lambda: scheme("one-switch", "name='2048'", "naming.server='{number:3}'"),
}


def _lab(made: Scheme) -> tuple[str, Any]:
    """The file's name and what a reader of YAML finds in it, in the types of JSON."""
    ((path, text),) = texts("containerlab", made).items()
    return path, json.loads(json.dumps(parse_document(text, path).data))


@pytest.mark.parametrize("name", SAMPLES)
def test_containerlab_refuses_nothing(name: str) -> None:
    assert complaints(_lab(SAMPLES[name]())[1]) == []


def test_lab_has_every_link_between_nodes_that_are_there() -> None:
    made = scheme("b300-two-planes", "gpus=64")
    path, data = _lab(made)
    assert path == f"{data['name']}.clab.yml"
    assert set(data["topology"]["nodes"]) == set(made.names)
    assert len(data["topology"]["links"]) == len(made.wiring.links)


LINK = ("topology", "links", 0)
ENDS = (*LINK, "endpoints")
NODE = ("topology", "nodes", "server-001")
# One fault each: where, and what stands there instead. First those that every state of the schema sees.
SEEN: dict[str, Fault] = {
    "a key of the file": (("nodes",), {}),
    "no name": (("name",), GONE),
    "a number for a name": (("name",), 2048),
    "no topology": (("topology",), GONE),
    "no nodes": (("topology", "nodes"), GONE),
    "no links": (("topology", "links"), []),
    "a link that is text": (LINK, "leaf-001:p1 server-001:eth1"),
    "a key of a node": ((*NODE, "images"), "alpine"),
    "a kind": ((*NODE, "kind"), "frr"),
    "a number for an image": ((*NODE, "image"), 3.2),
    "a number for a group": ((*NODE, "group"), 1),
    "a node that is text": (NODE, "linux"),
    "the same end twice": (ENDS, ["server-001:eth1", "server-001:eth1"]),
}
OTHER: dict[str, Fault] = {
    "no colon": ((*ENDS, 1), "server-001"),
    "a space in an end": ((*ENDS, 1), "server 001:eth1"),
    "a number for an end": ((*ENDS, 1), 1),
    "one end": (ENDS, ["server-001:eth1"]),
    "three ends": (ENDS, ["leaf-001:p1", "server-001:eth1", "server-002:eth1"]),
    "a key of a link": ((*LINK, "speed"), "400"),
    "a space in a node": (("topology", "nodes", "server 9"), {"kind": "linux", "image": "alpine"}),
    "a space in the name": (("name",), "my lab"),
    "an unknown node": ((*ENDS, 1), "server-999:eth1"),
    "an end of two links": ((*LINK[:-1], 1, "endpoints", 1), "server-001:eth1"),
    "a node that is the machine": (("topology", "nodes", "Host"), {"kind": "linux", "image": "alpine"}),
    "the management port": ((*ENDS, 1), "server-001:eth0"),
    "a port that Linux has not": ((*ENDS, 1), "server-001:interface-number1"),
    "a port with a slash": ((*ENDS, 1), "server-001:1/1"),
}


@pytest.mark.parametrize("name", [*SEEN, *OTHER])
def test_the_check_refuses_what_is_wrong(name: str) -> None:
    """So that a check which finds nothing means something."""
    good = _lab(small(OTHERS))[1]
    assert complaints(broken(good, *{**SEEN, **OTHER}[name]))


@pytest.mark.skipif(REAL is None, reason="CLAB_SCHEMA does not say where containerlab's schema is")
def test_the_schema_refuses_nothing_and_what_is_wrong() -> None:
    assert REAL is not None
    validator = jsonschema.Draft7Validator(json.loads(Path(REAL).read_text(encoding="utf-8")))
    for name, make in SAMPLES.items():
        assert [error.message for error in validator.iter_errors(_lab(make())[1])] == [], name
    good = _lab(small(OTHERS))[1]
    unseen = [name for name, fault in SEEN.items() if validator.is_valid(broken(good, *fault))]
    assert unseen == []


def test_the_management_port_of_a_lab_is_not_given_away() -> None:
    with pytest.raises(UsageError, match="eth0 is containerlab's own"):
        texts("containerlab", scheme("one-switch", "naming.host_port='eth{port0}'"))
    with pytest.raises(UsageError, match="at most 15 characters"):
        texts("containerlab", scheme("one-switch", "naming.host_port='interface-number{port0}'"))


def test_two_ports_are_not_called_alike() -> None:
    """`/` is no part of a name on Linux, and what stands for it may be taken."""
    with pytest.raises(UsageError, match="server-001: Linux would call both 'a/1' and 'a-1' a-1"):
        texts("containerlab", scheme("one-switch", "naming.server_ports=['a/1', 'a-1', 'b', 'c', 'd', 'e', 'f', 'g']"))


@pytest.mark.parametrize("group", ["host", "MacVLAN"])
def test_a_node_is_not_called_like_the_machine(group: str) -> None:
    """Its links would end in the machine that runs the lab."""
    one = OTHERS.replace("name: nas, servers: 3", f"name: {group}, servers: 1")
    with pytest.raises(UsageError, match=f"containerlab has no node called '{group}'"):
        texts("containerlab", small(one, "naming.attached='{group}'"))
