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
network: {{planes: 2, uplink_gbps: 200, switch: {{cages: 64, ports_per_cage: 4, port_gbps: 200}}}}
"""
_CABLES = """\
model: 405B
gpus: 131072
fabrics: roce
network: {{switch: nvidia-sn5610, uplink_gbps: 400}}
"""


_TRAINED = (("llama3.1-405b", 16_384), ("deepseek-v3", 2048), ("qwen3-235b-a22b", 1024))
_ENDPOINTS = (1024, 16_384, 131_072, 1_048_576)
_SIMULATED = ((16_384, "ecmp"), (262_144, "ecmp"), (262_144, "static"), (262_144, "spray"))


@dataclass(frozen=True)
class Case:
    """One measured command. `shows`: what it prints belongs into the table."""

    name: str
    size: str
    command: list[str]
    shows: bool = False


@dataclass(frozen=True)
class Measure:
    """Best wall time in seconds, what that run printed, and largest peak memory in MiB over all runs."""

    seconds: float
    peak_mib: float
    printed: str


def measure(command: list[str]) -> Measure:
    """Run a command several times in processes of its own."""
    best, peak, printed = float("inf"), 0.0, ""
    for _ in range(RUNS):
        start = time.perf_counter()
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL, cwd=ROOT)
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - start
            if seconds < best:
                output.seek(0)
                best, printed = seconds, output.read().strip()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1, 3):  # 1: differences, which the built fabric has
            raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
        peak = max(peak, usage.ru_maxrss / 1024)
    return Measure(best, peak, printed)


def cases(folder: Path) -> list[Case]:
    """The marks of the design document."""
    large, million, cables = (folder / f"{name}.yaml" for name in ("large", "million", "cables"))
    large.write_text(_LARGE.format())
    million.write_text(_MILLION.format())
    cables.write_text(_CABLES.format())
    ibplan = [sys.executable, "-m", "ibplan"]
    built = folder / "built.yaml", folder / "built.txt"
    subprocess.run([sys.executable, "-m", "benchmarks.asbuilt", *map(str, built)], check=True, cwd=ROOT)
    return [
        Case("python -c 'import typer, rich'", "-", [sys.executable, "-c", "import typer, rich"]),
        Case("ibplan --version", "-", [*ibplan, "--version"]),
        Case("design, table", "1,024 GPUs", [*ibplan, "design", "specs/three-lines.yaml"]),
        Case("design, three ratios", "262,144 GPUs", [*ibplan, "design", str(large)]),
        Case("design, 2 planes", "1,048,576 GPUs", [*ibplan, "design", str(million)]),
        *(
            Case("wiring", f"{n:,} ports", [sys.executable, "-m", "benchmarks.wiring", str(n)], shows=True)
            for n in _ENDPOINTS
        ),
        *(
            Case(
                f"step times, {model}",
                f"{n:,} GPUs",
                [sys.executable, "-m", "benchmarks.training", model, str(n)],
                True,
            )
            for model, n in _TRAINED
        ),
        *(
            Case(
                f"simulate, {routing}",
                f"{n:,} flows",
                [sys.executable, "-m", "benchmarks.simulate", str(n), routing],
                shows=True,
            )
            for n, routing in _SIMULATED
        ),
        Case("verify", "16,384 GPUs", [*ibplan, "verify", str(built[0]), "--as-built", str(built[1])]),
        Case("import", "16,384 GPUs", [*ibplan, "import", str(built[1])]),
        Case("cables, CSV", "131,072 GPUs", [*ibplan, "cables", str(cables), "-o", str(folder / "cables.csv")]),
    ]


def main() -> None:
    """Print the table."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.stdout.write(f"{'case':32} {'size':>16} {'seconds':>8} {'peak MiB':>9}\n")
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(Path(folder)):
            result = measure(case.command)
            row = f"{case.name:32} {case.size:>16} {result.seconds:8.3f} {result.peak_mib:9.0f}"
            sys.stdout.write(f"{row}  {result.printed}\n" if case.shows else f"{row}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
