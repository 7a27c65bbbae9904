"""Switches as namespaces of the kernel, each with FRR started by its own package's script from exported files."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tests.system.programs import missing, need

_INIT = "/usr/lib/frr/frrinit.sh"
# Where the package looks for the files of an instance, and keeps its sockets.
_CONFIG, _RUN = Path("/etc/frr"), Path("/var/run/frr")
# Where each of its processes makes a folder for crash logs, called by its number, and leaves it.
_CRASHES = Path("/var/tmp/frr")
_START_S = 60


class Cable(NamedTuple):
    """A cable between two ports: (device, interface) at both ends."""

    a: tuple[str, str]
    b: tuple[str, str]


@dataclass(frozen=True)
class Lab:
    """Running switches. `spaces`: namespace of every device, switches and hosts."""

    spaces: Mapping[str, str]
    vtysh: str

    def run(self, device: str, *command: str, check: bool = True) -> str:
        """What a program prints on a device."""
        return _run("ip", "netns", "exec", self.spaces[device], *command, check=check)

    def show(self, switch: str, command: str) -> Any:
        """What FRR shows of a switch as JSON."""
        return json.loads(_run(self.vtysh, "-N", self.spaces[switch], "-c", f"{command} json"))

    def configuration(self, switch: str) -> list[str]:
        """The running configuration of a switch, line by line."""
        return _run(self.vtysh, "-N", self.spaces[switch], "-c", "show running-config").splitlines()

    def routes(self, device: str) -> dict[str, list[str]]:
        """The kernel's routes of a device that BGP made: by destination, the interfaces of all next hops, in order."""
        rows = json.loads(self.run(device, "ip", "-j", "-4", "route", "show", "proto", "bgp"))
        return {row["dst"]: sorted(hop["dev"] for hop in row.get("nexthops", [row])) for row in rows}


@contextmanager
def lab(folder: Path, switches: Iterable[str], hosts: Iterable[str], cables: Iterable[Cable]) -> Iterator[Lab]:
    """Bring up switches from the directories of `folder` that are called like them, with hosts and cables.

    Everything is taken down again, whatever happens in between.
    """
    ip, vtysh, sysctl = need("ip", "iproute2"), need("vtysh", "frr"), need("sysctl", "procps")
    need("ping", "iputils-ping")
    if not Path(_INIT).exists():
        missing(f"{_INIT} is not there: apt-get install frr")
    if os.geteuid() != 0:
        missing("namespaces and FRR need root")
    switches = list(switches)
    names = [*switches, *hosts]
    spaces = {name: f"ibplan-{os.getpid()}-{number}" for number, name in enumerate(names, 1)}
    running = Lab(spaces, vtysh)
    try:
        _batch(ip, [f"netns add {space}" for space in spaces.values()], folder)
        _batch(ip, [_link(spaces, cable) for cable in cables], folder)
        for switch in switches:
            running.run(switch, sysctl, "-q", "-p", str(folder / switch / "sysctl.conf"))
            running.run(switch, ip, "-batch", str(folder / switch / "links.batch"))
            _install(folder / switch, _CONFIG / spaces[switch])
        _start(running, switches)
        yield running
    finally:
        _stop(spaces.values())


def _link(spaces: Mapping[str, str], cable: Cable) -> str:
    (a, a_port), (b, b_port) = cable
    return f"link add name {a_port} netns {spaces[a]} type veth peer name {b_port} netns {spaces[b]}"


def _batch(ip: str, lines: list[str], folder: Path) -> None:
    path = folder / "lab.batch"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    _run(ip, "-batch", str(path))


def _install(source: Path, target: Path) -> None:
    """The files of a switch where the package reads them, owned as it asks for."""
    owner = pwd.getpwnam("frr")
    target.mkdir(mode=0o750)
    os.chown(target, owner.pw_uid, owner.pw_gid)
    for name in ("daemons", "frr.conf", "vtysh.conf"):
        shutil.copyfile(source / name, target / name)
        (target / name).chmod(0o640)
        os.chown(target / name, owner.pw_uid, owner.pw_gid)


def _start(running: Lab, switches: list[str]) -> None:
    """Start FRR on all switches at once. Its script prints every line of a configuration that is refused."""
    _forget_crashes()
    started = []
    for switch in switches:
        space = running.spaces[switch]
        command = ["ip", "netns", "exec", space, _INIT, "start", space]
        log = _log(space).open("w", encoding="utf-8")
        started.append((switch, subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)))
        log.close()
    codes = [process.wait(_START_S) for _, process in started]
    for (switch, _), code in zip(started, codes, strict=True):
        said = _log(running.spaces[switch]).read_text(encoding="utf-8")
        assert code == 0, f"FRR of {switch} did not start: {said}"
        for word in ("error", "Unknown", "fail", "Failure", "%"):
            assert word not in said, f"FRR of {switch}: {said}"


def _forget_crashes() -> None:
    """Remove the folders of processes that are gone: a new one of the same number would complain of its own."""
    for folder in _CRASHES.glob("*.*"):
        if not Path("/proc", folder.name.rpartition(".")[2]).exists():
            shutil.rmtree(folder, ignore_errors=True)


def _log(space: str) -> Path:
    return _CONFIG / space / "start.log"


def _stop(spaces: Iterable[str]) -> None:
    """End what runs in the namespaces, and remove them. The package's script would take seconds for each switch."""
    there = set(_run("ip", "netns", "list", check=False).split())
    for space in spaces:
        if space in there:
            for process in _run("ip", "netns", "pids", space).split():
                with suppress(ProcessLookupError):
                    os.kill(int(process), signal.SIGKILL)
            _run("ip", "netns", "del", space)
        shutil.rmtree(_CONFIG / space, ignore_errors=True)
        shutil.rmtree(_RUN / space, ignore_errors=True)


def eventually(what: Callable[[], Any], wanted: Any, within_s: float) -> None:
    """Wait until something is as wanted; at the end, say what is different."""
    limit = time.monotonic() + within_s
    while (found := what()) != wanted and time.monotonic() < limit:
        time.sleep(0.5)
    assert found == wanted


def _run(*command: str, check: bool = True) -> str:
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    assert not check or done.returncode == 0, f"{' '.join(command)} ended with {done.returncode}: {done.stdout[-2000:]}"
    return done.stdout
