"""The shell around the commands: exit codes, streams, files, start-up."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest
import typer

from ibplan.cli import common, output
from ibplan.cli.main import app
from ibplan.errors import InputError, NoDesignError, OutputError, Problem, UsageError
from ibplan.spec.load import load_spec
from ibplan.spec.schema import read_schema
from tests.cli.run import command, environment, run, run_shell
from tests.golden import check_golden

HELP = Path(__file__).parent / "help"


def _commands(group: typer.Typer, above: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found = [above]
    found += [(*above, info.name or "") for info in group.registered_commands]
    for nested in group.registered_groups:
        assert nested.typer_instance is not None
        found += _commands(nested.typer_instance, (*above, str(nested.name)))
    return found


def test_a_profiler_is_let_finish() -> None:
    """The program ends without looking back, but where somebody measures it."""
    done = subprocess.run(
        [command()[0], "-m", "cProfile", "-m", "ibplan", "--version"],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("ibplan ")
    assert "function calls" in done.stdout


@pytest.mark.parametrize("words", _commands(app), ids=lambda words: "-".join(("ibplan", *words)))
def test_help(words: tuple[str, ...]) -> None:
    done = run(*words, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    check_golden(HELP / f"{'-'.join(('ibplan', *words))}.txt", "\n".join(lines).strip("\n") + "\n")


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_nothing_heavy_is_loaded_to_start(argument: str) -> None:
    script = (
        "import os, sys\nfrom ibplan.__main__ import main\n"
        f"sys.argv, os._exit = ['ibplan', {argument!r}], sys.exit\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = {'numpy', 'networkx', 'pydantic', 'yaml', 'xlsxwriter', 'ibplan.catalog', 'ibplan.spec.models'}\n"
        "sys.exit(f'{heavy & set(sys.modules)}' if heavy & set(sys.modules) else 0)\n"
    )
    done = subprocess.run([command()[0], "-c", script], env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_version() -> None:
    done = run("--version")
    assert done.stdout.startswith("ibplan 0.")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("arguments", [("validat",), ("validate",), ("validate", "--nope"), ("schema", "x")])
def test_wrong_usage_is_two(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_validate_shows_all_problems_of_all_files(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text("gpus: 8\n")
    (tmp_path / "bad.yaml").write_text("gpus: 0123\noptik: x\n")
    done = run("validate", "good.yaml", "bad.yaml", "absent.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == "good.yaml: ok\n"
    assert done.stderr.splitlines() == [
        "absent.yaml: no such file",
        "bad.yaml:1:7: gpus: expected a whole number, got text '0123' (leading zeros are not a number)",
        "bad.yaml:2:1: unknown key 'optik' (did you mean optics?)",
    ]


def test_validate_reads_standard_input_and_settings() -> None:
    assert run("validate", "-", stdin="gpus: 8\n").stdout == "<stdin>: ok\n"
    done = run("validate", "-", "--set", "network.tires=2", stdin="gpus: 8\n")
    assert done.returncode == 2
    assert done.stderr == "--set network.tires=2: unknown key 'tires' in network (did you mean tiers?)\n"


def test_schema_is_the_shipped_one(tmp_path: Path) -> None:
    assert run("schema").stdout == read_schema()
    assert run("schema", "-o", "s.json", cwd=tmp_path).stdout == ""
    assert json.loads((tmp_path / "s.json").read_text())["type"] == "object"


def test_init_writes_a_valid_spec_and_does_not_overwrite(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    assert run("init", "-o", str(path)).returncode == 0
    assert run("init").stdout == path.read_text()
    assert load_spec(path).spec.gpus == 1024
    path.write_text("mine\n")
    done = run("init", "-o", str(path))
    assert done.returncode == 2
    assert "--force overwrites it" in done.stderr
    assert path.read_text() == "mine\n"
    assert run("init", "-o", str(path), "--force").returncode == 0
    assert run("validate", str(path)).returncode == 0


def test_what_init_shows_as_comments_are_the_defaults(tmp_path: Path) -> None:
    text = run("init").stdout
    active = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert [line.split(":")[0] for line in active] == ["model", "gpus", "budget"]
    lines = text.splitlines()[1:]
    shown = [line[2:] if line.startswith("# ") else line for line in lines if not line.startswith("##")]
    (tmp_path / "all.yaml").write_text("\n".join(shown))
    (tmp_path / "three.yaml").write_text("\n".join(active))
    assert load_spec(tmp_path / "all.yaml", ["name=x"]).spec == load_spec(tmp_path / "three.yaml", ["name=x"]).spec
    examples = [line[3:] for line in lines if line.startswith("## ") and ":" in line.split("#")[2]]
    keys = [line.split(":")[0].strip() for line in examples]
    for key in ("name", "attached", "storage", "growth", "prices", "catalog", "design"):
        assert key in keys


@pytest.mark.parametrize("what", ["schema", "--help", "init"])
def test_a_closed_pipe_is_a_quiet_end(what: str) -> None:
    # `false` ends at once; the sleep makes sure that it has.
    done = run_shell(f"{{ sleep 0.2; ibplan {what}; echo $? >&2; }} | false")
    assert done.stderr.strip() == "0"


def test_a_full_disk_is_four_without_a_traceback() -> None:
    for what in ("schema", "--help"):
        done = run_shell(f"ibplan {what} > /dev/full")
        assert done.returncode == 4
        assert "Traceback" not in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_closed_standard_streams() -> None:
    assert run_shell("ibplan schema >&-").returncode == 4
    assert run_shell("ibplan validate absent.yaml 2>&-").returncode == 2


def test_output_goes_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    for target, reason in (
        ("dir", "it is a directory"),
        ("absent/x", "No such file or directory"),
        ("x" * 300, "File name too long"),
    ):
        done = run("schema", "-o", target, cwd=tmp_path)
        assert done.returncode == 4
        assert done.stderr == f"ibplan: {target}: cannot be written: {reason}\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["dir"]


def test_output_keeps_links_modes_and_devices(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    output.emit("new", link)
    assert link.is_symlink()
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("new", 0o640)
    output.emit("gone", Path("/dev/null"))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "target"]


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "x"
    target.write_text("old")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        output.emit("new", target)
    assert [p.name for p in tmp_path.iterdir()] == ["x"]
    assert target.read_text() == "old"


def test_an_interruption_is_130_without_a_traceback(tmp_path: Path) -> None:
    process = subprocess.Popen(
        command("validate", "-"),
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    time.sleep(1.0)  # it now waits for its input
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (130, b"")


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (InputError([Problem("s", 1, 2, "wrong")]), 2, "s:1:2: wrong\n"),
        (UsageError("no such thing"), 2, "ibplan: no such thing\n"),
        (NoDesignError("nothing fits"), 3, "ibplan: nothing fits\n"),
        (OutputError("x: cannot be written"), 4, "ibplan: x: cannot be written\n"),
        (MemoryError(), 4, "ibplan: out of memory: plan fewer GPUs, or explore fewer values\n"),
        (RecursionError(), 4, "ibplan: the input is nested too deep\n"),
        (OSError(28, "No space left on device", "f"), 4, "ibplan: the disk is full: f\n"),
        (output.ClosedPipeError(), 0, ""),
        (KeyboardInterrupt(), 130, ""),
        (SystemExit(3), 3, ""),
        (SystemExit(), 0, ""),
    ],
)
def test_every_error_has_its_code_and_message(
    error: BaseException, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise error

    assert common.run_guarded(fail) == code
    assert capsys.readouterr().err == message


def test_our_own_faults_say_so(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise KeyError("x")

    assert common.run_guarded(fail) == 4
    shown = capsys.readouterr().err
    assert shown.startswith("ibplan: internal fault: KeyError: 'x'\n")
    assert "report it" in shown
    assert "Traceback" not in shown
    monkeypatch.setenv("IBPLAN_DEBUG", "1")
    assert common.run_guarded(fail) == 4
    assert "Traceback" in capsys.readouterr().err
