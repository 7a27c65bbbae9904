"""What ibnetdiscover and iblinkinfo themselves print, of a fabric that ibsim brings up, held against the plan."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from glob import glob
from pathlib import Path

import pytest

from ibplan.asbuilt.reading import read_fabric
from ibplan.asbuilt.verify import verify
from tests.asbuilt.built import Built, ibnetdiscover, perfect, planned

POD = ("h100-pod-127", "servers=60")
# ibsim 0.10 does not know the rate of NDR, and takes such links for slower ones: HDR stands in the netlist.
HDR = 50
WAIT_S = 30.0


def found(program: str, package: str) -> str:
    """The path of a program. Without it the test is skipped; in CI (CI=true) it fails."""
    path = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if path is None and os.environ.get("CI") == "true":
        pytest.fail(f"{program} is not installed: apt-get install {package}")
    if path is None:
        pytest.skip(f"{program} is not installed: apt-get install {package}")
    return path


@contextmanager
def simulated(netlist: str, folder: Path) -> Iterator[dict[str, str]]:
    """A running ibsim; the environment in which programs take it for a fabric."""
    program = found("ibsim", "ibsim-utils")
    (library, *_) = glob("/usr/lib/*/umad2sim/libumad2sim.so")
    (folder / "fabric.net").write_text(netlist)
    environment = os.environ | {"IBSIM_SOCKNAME": f"ibplan-verify-{os.getpid()}-{time.monotonic_ns()}"}
    log = folder / "ibsim.log"
    arguments = ["-s", "-n", "-N", "1000", "-S", "100", "-P", "10000", str(folder / "fabric.net")]
    with log.open("w") as out:
        process = subprocess.Popen(
            [program, *arguments], env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT
        )
    try:
        limit = time.monotonic() + WAIT_S
        while "Network simulator ready" not in log.read_text():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < limit, "ibsim does not become ready"
            time.sleep(0.05)
        yield environment | {"LD_PRELOAD": library}
    finally:
        process.kill()
        process.wait()


def printed(built: Built, folder: Path) -> dict[str, str]:
    """What the programs print of a fabric."""
    discover, linkinfo = found("ibnetdiscover", "infiniband-diags"), found("iblinkinfo", "infiniband-diags")
    slow = Built(built.plan, [replace(cable, lane_gbps=HDR) for cable in built.cables], built.hosts)
    with simulated(ibnetdiscover(slow), folder) as environment:
        # Without a subnet manager there are no LIDs, so iblinkinfo has to print GUIDs (-l).
        commands = {"ibnetdiscover": [discover], "iblinkinfo": [linkinfo, "-l"]}
        return {
            name: subprocess.run(
                command, env=environment, capture_output=True, text=True, check=True, timeout=120
            ).stdout
            for name, command in commands.items()
        }


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
