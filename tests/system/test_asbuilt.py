"""What ibnetdiscover and iblinkinfo themselves print, of a fabric that ibsim brings up, held against the plan."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from ibplan.asbuilt.reading import read_fabric
from ibplan.asbuilt.verify import verify
from tests.asbuilt.built import Built, ibnetdiscover, perfect, planned
from tests.system.programs import need
from tests.system.simulation import simulated

POD = ("h100-pod-127", "servers=60")
# ibsim 0.10 does not know the rate of NDR, and takes such links for slower ones: HDR stands in the netlist.
HDR = 50


def printed(built: Built, folder: Path) -> dict[str, str]:
    """What the programs print of a fabric."""
    discover, linkinfo = (need(program, "infiniband-diags") for program in ("ibnetdiscover", "iblinkinfo"))
    slow = Built(built.plan, [replace(cable, lane_gbps=HDR) for cable in built.cables], built.hosts)
    netlist = folder / "fabric.net"
    netlist.write_text(ibnetdiscover(slow))
    host = re.findall(r'^Switch.*"(S-[0-9a-f]+)"', netlist.read_text(), re.MULTILINE)[0]
    with simulated(netlist, folder, host, (1_000, 100, 10_000)) as simulation:
        # Without a subnet manager there are no LIDs, so iblinkinfo has to print GUIDs (-l).
        return {"ibnetdiscover": simulation.run(discover), "iblinkinfo": simulation.run(linkinfo, "-l")}


def test_the_programs_print_what_verify_reads(tmp_path: Path) -> None:
    fabric = perfect(planned(*POD))
    fabric.swap(fabric.at("server-001", "1/1"), fabric.at("server-002", "1/1"), "a")
    del fabric.cables[fabric.at("server-050", "2/2")]
    for name, text in printed(fabric, tmp_path).items():
        (tmp_path / f"{name}.txt").write_text(text)
        result = verify(fabric.plan, read_fabric([tmp_path / f"{name}.txt"]))
        assert result.formats == (name,)
        # Of the 993 cables that are right each runs at 200 Gb/s; iblinkinfo says, too, that no subnet manager runs.
        counts = dict(result.counts)
        assert counts.pop("rate") == 993
        assert counts.pop("not-active", 0) == (993 if name == "iblinkinfo" else 0)
        assert counts == {"swapped": 2, "missing": 1}
        (missing,) = (row for row in result.differences if row.kind == "missing")
        assert missing.note == ("leaf-012:1/9/2 is Down/Polling" if name == "iblinkinfo" else "")
