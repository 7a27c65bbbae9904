"""The program among other processes: pipes, devices, full disks, signals, odd environments."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import typer

from ibplan.cli.common import run_guarded, terminal
from ibplan.cli.main import app
from tests.cli.run import ROOT, command, environment, run, run_shell

NAME = "specs/h100-pod-127.yaml"
SPEC = str(ROOT / NAME)
SMALL = "specs/one-switch.yaml"
ONE = f"{SMALL} --set network.switch=nvidia-sn5610"  # the one that is chosen anyway
# Every command with every format that it has.
LINES = {
    "design": [f"design {ONE}{f}" for f in ("", *(f" --format {x}" for x in ("json", "yaml", "csv", "markdown")))],
    "compare": [
        f"compare {ONE} --vary servers=8,16{f}"
        for f in ("", *(f" --format {x}" for x in ("json", "yaml", "csv", "markdown")))
    ],
    "bom": [
        f"bom {ONE}{f}" for f in ("", *(f" --format {x}" for x in ("json", "yaml", "markdown", "xlsx", "cyclonedx")))
    ],
    "cables": [f"cables {ONE}{f}" for f in ("", " --format json")],
    "lock": [f'lock {ONE} -o "$(mktemp -d)/lock"'],
    "diff": [f"diff {SMALL} {SMALL}{f}" for f in ("", " --format json", " --format markdown")],
    "quote": [
        f"quote {NAME} --file specs/h100-pod-127.bom.csv{f}"
        for f in ("", *(f" --format {x}" for x in ("json", "csv", "markdown")))
    ],
    "growth": [
        f"growth {ONE} --set 'growth=[{{year: 1, gpus: 128}}]'{f}"
        for f in ("", *(f" --format {x}" for x in ("json", "yaml", "csv", "markdown")))
    ],
    "export": [f"export {ONE} --to graphml -o -", "export --list", "export --list --format json"],
    "show": [f"show {ONE}", f"show {ONE} --format json"],
    "diagram": [f"diagram {ONE}{f}" for f in ("", " --format dot", " --format mermaid")],
    "racks": [f"racks {ONE}{f}" for f in ("", *(f" --format {x}" for x in ("json", "yaml", "csv", "markdown")))],
    "simulate": [
        f"simulate {ONE} --seeds 2{f}" for f in ("", *(f" --format {x}" for x in ("json", "yaml", "csv", "markdown")))
    ],
    "verify": [
        f"verify {ONE} --as-built tests/golden/verify-one-switch.csv{f}"
        for f in ("", *(f" --format {x}" for x in ("json", "yaml", "csv", "markdown")))
    ],
    "import": [
        f"import tests/golden/verify-one-switch.csv{f}"
        for f in ("", *(f" --format {x}" for x in ("table", "json", "yaml", "markdown")))
    ],
    "validate": [f"validate {ONE}"],
    "schema": ["schema"],
    "init": ["init"],
    "catalog list": [f"catalog list --format {x}" for x in ("table", "json", "yaml", "csv", "markdown")],
    "catalog show": [f"catalog show nvidia-qm9700{f}" for f in ("", " --format json")],
    "catalog check": ["catalog check", "catalog check --format csv"],
}
ALL = [line for lines in LINES.values() for line in lines]
C_LOCALE = {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
# A lock is a file always: nothing of it goes to standard output.
FIRST = [lines[0] for name, lines in LINES.items() if name != "lock"]


def _names(group: typer.Typer, above: str = "") -> list[str]:
    found = [f"{above}{info.name}" for info in group.registered_commands]
    for nested in group.registered_groups:
        assert nested.typer_instance is not None
        found += _names(nested.typer_instance, f"{above}{nested.name} ")
    return found


def test_every_command_is_tested_here() -> None:
    assert sorted(_names(app)) == sorted(LINES)


@pytest.mark.parametrize("line", [*FIRST, f"design {NAME} --format json"])  # the last: more than a pipe holds
def test_a_reader_that_goes_away(line: str) -> None:
    done = run_shell(f"{{ ibplan {line}; echo $? >&2; }} | head -c 1 > /dev/null")
    assert done.stderr == "0\n"


@pytest.mark.parametrize("line", ALL)
def test_a_reader_that_was_never_there(line: str) -> None:
    done = run_shell(f"{{ ibplan {line}; echo $? >&2; }} | true")
    assert done.stderr == "0\n"


@pytest.mark.parametrize("line", FIRST)
def test_no_room_for_the_output(line: str) -> None:
    done = run_shell(f"ibplan {line} > /dev/full")
    assert done.returncode == 4
    assert done.stderr == "ibplan: standard output cannot be written: No space left on device\n"


def test_no_streams_at_all() -> None:
    done = run_shell(
        f"ibplan validate absent 2>&- >&- <&-; echo $?; ibplan validate - <&-; echo $?; ibplan show {NAME} >&-; echo $?"
    )
    assert done.stdout == "2\n2\n4\n"
    assert done.stderr.splitlines() == [
        "<stdin>: standard input is closed (give a file, or pipe a spec in)",
        "ibplan: standard output is closed",
    ]


def test_output_into_devices_pipes_and_loops(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dir").mkdir()
    for target, said in (
        ("/dev/full", "No space left on device"),
        ("loop", "Too many levels of symbolic links"),
        ("dir", "it is a directory"),
        ("dir/x/y", "No such file or directory"),
        ("/proc/nothing", "No such file or directory"),
    ):
        done = run("bom", SPEC, "-o", target, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (4, "")
        assert done.stderr == f"ibplan: {target}: cannot be written: {said}\n"
    done = run("schema", "-o", "x\x1b[31m/y", cwd=tmp_path)
    assert done.stderr == "ibplan: x\\x1b[31m/y: cannot be written: No such file or directory\n"
    whole = run("schema").stdout
    assert run("schema", "-o", "/dev/stdout").stdout == whole
    assert run_shell("{ sleep 0.2; ibplan schema -o /dev/stdout; echo $? >&2; } | true").stderr == "0\n"
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["dir", "loop"]


def test_a_disk_that_is_full_or_read_only(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8k", "none", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this user cannot mount a disk")
    try:
        (disk / "x").write_text("old")
        done = run("design", SPEC, "--format", "json", "-o", "x", cwd=disk)
        assert (done.returncode, done.stderr) == (4, "ibplan: x: cannot be written: No space left on device\n")
        assert [(p.name, p.read_text()) for p in disk.iterdir()] == [("x", "old")]
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        done = run("schema", "-o", "y", cwd=disk)
        assert (done.returncode, done.stderr) == (4, "ibplan: y: cannot be written: Read-only file system\n")
        assert run("schema", cwd=disk).returncode == 0
    finally:
        subprocess.run(["umount", str(disk)], check=False)


ending = pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)


@ending
def test_interrupted_while_it_starts(tmp_path: Path, number: signal.Signals, code: int) -> None:
    """The signal comes in the middle of the imports: a stand-in for one of them sends it."""
    (tmp_path / "typer.py").write_text(f"import os\nos.kill(os.getpid(), {int(number)})\n")
    done = run("schema", "-o", "x", cwd=tmp_path, env={"PYTHONPATH": f"{tmp_path}:{ROOT}"})
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")
    assert not (tmp_path / "x").exists()


def test_signals_that_the_caller_ignores_stay_ignored(tmp_path: Path) -> None:
    program = (
        "import os, sys\nfrom ibplan.__main__ import main\n"
        "os.fsync = lambda _: [os.kill(os.getpid(), number) for number in (1, 2, 15)]\n"
        "sys.argv = ['ibplan', 'schema', '-o', 'x']\nmain()\n"
    )
    script = f'trap "" HUP INT TERM; exec "{sys.executable}" -c "$1"'
    done = run_shell(script, cwd=tmp_path, arguments=[program])
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "x").read_text() == run("schema").stdout


@ending
def test_interrupted_while_writing(tmp_path: Path, number: signal.Signals, code: int) -> None:
    """The writing is held up in fsync, where the temporary file exists already."""
    (tmp_path / "x").write_text("old")
    slow = (
        "import os, sys, time\nfrom ibplan.__main__ import main\n"
        "os.fsync = lambda _: (print('now', file=sys.stderr, flush=True), time.sleep(30))\n"
        "sys.argv = ['ibplan', 'schema', '-o', 'x']\nmain()\n"
    )
    child = subprocess.Popen([command()[0], "-c", slow], cwd=tmp_path, env=environment(), stderr=subprocess.PIPE)
    assert child.stderr is not None
    assert child.stderr.readline() == b"now\n"
    assert len(list(tmp_path.iterdir())) == 2
    child.send_signal(number)
    _, errors = child.communicate(timeout=20)
    assert (child.returncode, errors) == (code, b"")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("x", "old")]


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_second_signal_does_not_disturb_the_cleaning_up(tmp_path: Path, second: signal.Signals) -> None:
    (tmp_path / "x").write_text("old")
    program = (
        "import os, sys\nfrom ibplan.__main__ import main\nunlink = os.unlink\n"
        "os.fsync = lambda _: os.kill(os.getpid(), 15)\n"
        f"os.unlink = lambda path: (os.kill(os.getpid(), {int(second)}), unlink(path))\n"
        "sys.argv = ['ibplan', 'schema', '-o', 'x']\nmain()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment(), capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (143, b"", b"")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("x", "old")]


@ending
def test_interrupted_while_a_pipe_waits(tmp_path: Path, number: signal.Signals, code: int) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    child = subprocess.Popen(command("schema", "-o", str(fifo)), env=environment(), stderr=subprocess.PIPE)
    time.sleep(1.2)  # nobody reads: it waits
    child.send_signal(number)
    _, errors = child.communicate(timeout=20)
    assert (child.returncode, errors) == (code, b"")


def test_output_over_the_spec_itself(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_bytes(Path(SPEC).read_bytes())
    whole = run("bom", "s.yaml", cwd=tmp_path).stdout
    assert run("bom", "s.yaml", "--format", "csv", "-o", "s.yaml", cwd=tmp_path).returncode == 0
    assert path.read_text() == whole
    assert [p.name for p in tmp_path.iterdir()] == ["s.yaml"]


def test_runs_at_once_into_one_file(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: run_shell("ibplan schema -o x", cwd=tmp_path), range(6)))
    assert {(d.returncode, d.stderr) for d in done} == {(0, "")}
    assert [p.name for p in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x").read_text() == run("schema").stdout


@pytest.mark.parametrize("columns", ["0", "1", "-5", "19", "x", "9" * 30, "9" * 5000, "\u0663\u0660"])
def test_widths_of_no_sense(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stdout", shown)
    monkeypatch.setenv("COLUMNS", columns)
    assert run_guarded(lambda: app(["--help"], prog_name="ibplan")) == 0
    assert "Usage: ibplan" in shown.getvalue()
    monkeypatch.setenv("COLUMNS", columns)
    assert terminal(None) == (500, False)


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
        {"PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"},
        C_LOCALE,
    ],
    ids=["ascii", "latin-1", "C"],
)
def test_terminals_that_show_little(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("gpus: 64\nfabrics: infiniband\nname: \u00e9\u4e2d\n", encoding="utf-8")
    done = run("design", "s.yaml", cwd=tmp_path, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert done.stdout.startswith("\\xe9\\u4e2d: 64 GPUs in 8 servers")
    assert run("--help", env=env).returncode == 0
    assert run("show", "s.yaml", cwd=tmp_path, env=env).returncode == 0
    (tmp_path / "bad.yaml").write_text("gpus: 64\nn\u00e9\u4e2d: 1\n", encoding="utf-8")
    refused = subprocess.run(
        command("validate", "bad.yaml"), cwd=tmp_path, env=environment() | env, capture_output=True, check=False
    )
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert refused.stderr.startswith(b"bad.yaml:2:1: unknown key")


def test_names_in_a_locale_without_them(tmp_path: Path) -> None:
    """Arguments and file names are UTF-8 where the locale knows only ASCII; files and pipes are UTF-8 everywhere."""
    (tmp_path / "p\u00e9.yaml").write_text("name: \u00e9\ndate: 2026-01-01\nprices: []\n", encoding="utf-8")
    (tmp_path / "s\u00e9.yaml").write_text("gpus: 64\nfabrics: infiniband\nprices: p\u00e9.yaml\n", encoding="utf-8")
    done = run("bom", "s\u00e9.yaml", "--format", "json", "-o", "b\u00e9.json", cwd=tmp_path, env=C_LOCALE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    plain = run("bom", "s\u00e9.yaml", "--format", "json", cwd=tmp_path)
    assert (tmp_path / "b\u00e9.json").read_text(encoding="utf-8") == plain.stdout
    assert '"name": "s\u00e9"' in plain.stdout
    named = run("bom", "s\u00e9.yaml", "--set", "name=\u4e2d", "--format", "json", cwd=tmp_path, env=C_LOCALE)
    assert (named.returncode, named.stderr) == (0, "")
    assert '"name": "\u4e2d"' in named.stdout
    for words, said in (
        (("show", "n\u00e9.yaml"), "n\\xe9.yaml: no such file"),
        (("show", "s\u00e9.yaml", "--device", "\u4e2d"), "there is no '\\u4e2d'"),
        (("show", "s\u00e9.yaml", "--design", "\u4e2d"), "no design has the id '\\u4e2d'"),
        (("catalog", "show", "\u4e2d"), "has the id '\\u4e2d'"),
        (("init", "-o", "b\u00e9.json"), "b\\xe9.json: the file exists"),
        (("validate", "s\u00e9.yaml", "--set", "\u4e2d=1"), "--set \\u4e2d=1: is not of the form"),
    ):
        done = run(*words, cwd=tmp_path, env=C_LOCALE)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert said in done.stderr
        assert "\\udc" not in done.stderr


@pytest.mark.parametrize(
    ("encoding", "shown"), [("ascii", b"\\xe9\\u4e2d"), ("latin-1", b"\xe9\\u4e2d"), ("utf-8", "\u00e9\u4e2d".encode())]
)
def test_a_terminal_gets_what_it_can_show(encoding: str, shown: bytes, tmp_path: Path) -> None:
    (tmp_path / "\u00e9\u4e2d.yaml").write_text("gpus: 64\n", encoding="utf-8")
    ours, theirs = os.openpty()
    try:
        env = environment() | {"PYTHONIOENCODING": encoding}
        child = command("validate", "\u00e9\u4e2d.yaml")
        done = subprocess.run(child, cwd=tmp_path, env=env, stdout=theirs, stderr=subprocess.PIPE, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        assert os.read(ours, 1000) == shown + b".yaml: ok\r\n"
    finally:
        os.close(ours)
        os.close(theirs)


def test_no_home_no_terminal_no_directory(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = "cd gone; rmdir ../gone; env -u HOME -u TERM -u COLUMNS -u LANG " + " ".join(command("bom", SPEC))
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment() | {"PYTHONPATH": str(ROOT)}, capture_output=True,
        text=True, stdin=subprocess.DEVNULL, start_new_session=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == run("bom", SPEC).stdout
