"""ibsim: a fabric that opensm and infiniband-diags take for a real one."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob
from pathlib import Path

from tests.system.programs import missing, need

_UMAD = "/usr/lib/*/umad2sim/libumad2sim.so"
_READY = "Network simulator ready"
_START_S = 30


@dataclass(frozen=True)
class Simulation:
    """A running ibsim. `log`: what it says; it says nothing but its sizes where it can read everything."""

    environment: dict[str, str]
    folder: Path
    log: Path

    def run(self, program: str, *arguments: str, timeout_s: float = 120) -> str:
        """Run a program in the simulated fabric; what it prints."""
        done = subprocess.run(
            [program, *arguments],
            env=self.environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        assert done.returncode == 0, f"{program} ended with {done.returncode}: {done.stdout[-2000:]}"
        return done.stdout


@contextmanager
def simulated(net: Path, folder: Path, host: str, sizes: Sequence[int]) -> Iterator[Simulation]:
    """A fabric from a netlist. `host`: the node id at which programs run; `sizes`: most nodes, switches and ports."""
    program = need("ibsim", "ibsim-utils")
    libraries = glob(_UMAD)
    if not libraries:
        missing("libumad2sim is not installed: apt-get install libumad2sim0")
    log = folder / "ibsim.log"
    # Sockets of ibsim are in one name space of the whole machine.
    name = {"IBSIM_SOCKNAME": f"ibplan-{os.getpid()}-{net.parent.name}-{time.monotonic_ns()}"}
    nodes, switches, ports = map(str, sizes)
    with log.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(
            [program, "-s", "-n", "-N", nodes, "-S", switches, "-P", ports, str(net)],
            env=os.environ | name,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait(process, log)
        client = {
            "LD_PRELOAD": libraries[0],
            "SIM_HOST": host,
            "OSM_TMP_DIR": str(folder),
            "OSM_CACHE_DIR": str(folder),
        }
        yield Simulation(os.environ | name | client, folder, log)
    finally:
        process.kill()
        process.wait()


def _wait(process: subprocess.Popen[bytes], log: Path) -> None:
    limit = time.monotonic() + _START_S
    while _READY not in log.read_text(encoding="utf-8", errors="replace"):
        assert process.poll() is None, f"ibsim ended: {log.read_text(encoding='utf-8', errors='replace')[-2000:]}"
        assert time.monotonic() < limit, "ibsim does not become ready"
        time.sleep(0.02)
