"""`make bench`: whole processes, best of several runs: case, size, seconds, peak memory."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
RUNS = 5

_LARGE = """\
model: 70B
gpus: 262144
network: {{oversubscription: [1:1, 2:1, 4:1], uplink_gbps: 400}}
"""
_MILLION = """\
model: 405B
gpus: 1048576
server: {{gpus: 8, nics: 8, ports_per_nic: 2, port_gbps: 200}}
fabrics: [roce]
network: {{planes: 2, uplink_gbps: 200}}
"""


@dataclass(frozen=True)
class Case:
    """One measured command."""

    name: str
    size: str
    command: list[str]


@dataclass(frozen=True)
class Measure:
    """Best wall time in seconds and largest peak memory in MiB over all runs."""

    seconds: float
    peak_mib: float


def measure(command: list[str]) -> Measure:
    """Run a command several times in processes of its own."""
    best, peak = float("inf"), 0.0
    for _ in range(RUNS):
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)
        _, status, usage = os.wait4(process.pid, 0)
        best = min(best, time.perf_counter() - start)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 3):
            raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
        peak = max(peak, usage.ru_maxrss / 1024)
    return Measure(best, peak)


def cases(folder: Path) -> list[Case]:
    """The marks of the design document."""
    large, million = folder / "large.yaml", folder / "million.yaml"
    large.write_text(_LARGE.format())
    million.write_text(_MILLION.format())
    ibplan = [sys.executable, "-m", "ibplan.cli.main"]
    return [
        Case("python -c 'import typer, rich'", "-", [sys.executable, "-c", "import typer, rich"]),
        Case("ibplan --version", "-", [*ibplan, "--version"]),
        Case("design, table", "1,024 GPUs", [*ibplan, "design", "specs/three-lines.yaml"]),
        Case("design, three ratios", "262,144 GPUs", [*ibplan, "design", str(large)]),
        Case("design, 2 planes", "1,048,576 GPUs", [*ibplan, "design", str(million)]),
    ]


def main() -> None:
    """Print the table."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print(f"{'case':32} {'size':>16} {'seconds':>8} {'peak MiB':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(Path(folder)):
            result = measure(case.command)
            print(f"{case.name:32} {case.size:>16} {result.seconds:8.3f} {result.peak_mib:9.0f}")


if __name__ == "__main__":
    main()
