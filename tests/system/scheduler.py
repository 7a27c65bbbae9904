"""slurmctld alone, without nodes: it reads a topology and shows what it made of it."""

from __future__ import annotations

import getpass
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.system.programs import need

_START_S = 60
# What a controller says on a busy machine, or where it finds no earlier state or lacks a plugin that nothing here uses.
_USUAL = re.compile(r"state file|state save|may be lost|pmix|High latency|very large processing time")
_CONF = """\
ClusterName=plan
SlurmctldHost=localhost(127.0.0.1)
SlurmUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldPort={port}
SlurmdPort={node_port}
SlurmctldLogFile={folder}/slurmctld.log
SlurmctldDebug=verbose
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ProctrackType=proctrack/pgid
SwitchType=switch/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
MailProg=/bin/true
TopologyPlugin=topology/tree
ReturnToService=2
NodeName={nodes} NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES
"""


@dataclass(frozen=True)
class Controller:
    """A running slurmctld."""

    folder: Path

    def scontrol(self, *arguments: str) -> str:
        """What scontrol prints."""
        done = subprocess.run(
            [need("scontrol", "slurm-client"), *arguments],
            env={"SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return done.stdout

    def complaints(self) -> list[str]:
        """Warnings and errors of its log, apart from those of any first start."""
        log = (self.folder / "slurmctld.log").read_text(encoding="utf-8", errors="replace")
        bad = re.compile(r"warning|error|fatal|lack access|Multiple leaf|invalid", re.IGNORECASE)
        return [line for line in log.splitlines() if bad.search(line) and not _USUAL.search(line)]


@contextmanager
def controller(topology: str, nodes: str, folder: Path) -> Iterator[Controller]:
    """A slurmctld with a topology.conf, and nodes that never answer."""
    program = need("slurmctld", "slurmctld")
    for name in ("state", "spool"):
        (folder / name).mkdir()
    port, node_port = _free_ports()
    conf = _CONF.format(user=getpass.getuser(), folder=folder, port=port, node_port=node_port, nodes=nodes)
    (folder / "slurm.conf").write_text(conf, encoding="utf-8")
    (folder / "topology.conf").write_text(topology, encoding="utf-8")
    log = folder / "slurmctld.log"
    log.touch()
    process = subprocess.Popen(
        [program, "-D", "-c", "-f", str(folder / "slurm.conf")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        limit = time.monotonic() + _START_S
        while "Running as primary controller" not in log.read_text(encoding="utf-8", errors="replace"):
            assert process.poll() is None, (
                f"slurmctld ended: {log.read_text(encoding='utf-8', errors='replace')[-2000:]}"
            )
            assert time.monotonic() < limit, "slurmctld does not start"
            time.sleep(0.05)
        yield Controller(folder)
    finally:
        process.kill()
        process.wait()


def _free_ports() -> tuple[int, int]:
    with socket.socket() as a, socket.socket() as b:
        a.bind(("127.0.0.1", 0))
        b.bind(("127.0.0.1", 0))
        return a.getsockname()[1], b.getsockname()[1]
