"""An empty NetBox as it runs at a site: PostgreSQL, Redis, web pages and REST API, on sockets in one folder."""

from __future__ import annotations

import http.client
import json
import os
import pwd
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from glob import glob
from html import unescape
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from tests.system.netbox_install import ENVIRONMENT
from tests.system.programs import missing, need

_USER: Final = "importer"
_PASSWORD: Final = "Imports-0-things"
_START_S: Final = 180
_REQUEST_S: Final = 300
# Nothing of it outlives the tests, so nothing needs to reach the disk.
_FAST: Final = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "listen_addresses=")
_CONFIGURATION: Final = """
ALLOWED_HOSTS = ["localhost"]
DATABASES = {{"default": {{"NAME": "postgres", "USER": "netbox", "HOST": {folder!r}}}}}
REDIS = {{use: {{"URL": "unix://" + {folder!r} + "/redis.sock"}} for use in ("tasks", "caching")}}
SECRET_KEY = {key!r}
CENSUS_REPORTING_ENABLED = False
MAX_PAGE_SIZE = 0
"""
# What hangs on these goes with them.
_EMPTY: Final = "TRUNCATE dcim_site, dcim_manufacturer, dcim_devicerole, dcim_cable CASCADE"


class _Connection(http.client.HTTPConnection):
    """HTTP to a socket in the file system."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=_REQUEST_S)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))


class NetBox:
    """Somebody who is logged in: imports files on the web pages, reads the REST API."""

    def __init__(self, folder: Path, psql: str) -> None:
        self._socket = folder / "web.sock"
        self._empty = (psql, "-qX", "-h", str(folder), "-U", "netbox", "-d", "postgres", "-c", _EMPTY)
        self._cookies: dict[str, str] = {}

    def empty(self) -> None:
        """Take out everything that was imported."""
        done = subprocess.run(self._empty, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        assert done.returncode == 0, done.stdout

    def _ask(self, method: str, url: str, body: bytes = b"", kind: str = "") -> tuple[int, str]:
        connection = _Connection(self._socket)
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items())}
        if method != "GET":
            headers |= {"X-CSRFToken": self._cookies["csrftoken"], "Content-Type": kind}
        try:
            connection.request(method, url, body, headers)
            answer = connection.getresponse()
            for cookie in answer.headers.get_all("Set-Cookie", []):
                name, _, value = cookie.partition(";")[0].partition("=")
                self._cookies[name] = value
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def log_in(self) -> None:
        self._ask("GET", "/login/")
        form = urlencode({"username": _USER, "password": _PASSWORD}).encode()
        status, text = self._ask("POST", "/login/", form, "application/x-www-form-urlencoded")
        assert status == 302, f"NetBox lets nobody in: {status} {text[:500]}"

    def load(self, page: str, content: str) -> list[str]:
        """Import a CSV file on the page of one kind of object (`racks`). What NetBox says against it, [] if nothing."""
        fields = {"import_method": "upload", "format": "auto", "csv_delimiter": "auto"}
        parts = [f'form-data; name="{name}"\r\n\r\n{value}' for name, value in fields.items()]
        parts.append(f'form-data; name="upload_file"; filename="{page}.csv"\r\nContent-Type: text/csv\r\n\r\n{content}')
        body = "".join(f"--ibplan\r\nContent-Disposition: {part}\r\n" for part in parts) + "--ibplan--\r\n"
        status, text = self._ask("POST", f"/dcim/{page}/import/", body.encode(), "multipart/form-data; boundary=ibplan")
        if status == 302:
            return []
        # Messages name the record, or the header that they are about.
        said = re.findall(r"(?:Record \d+[^<]*|(?:CSV|Unexpected|Required|Duplicate)[^<]*header[^<]*)", text)
        return [" ".join(unescape(line).split()) for line in said] or [f"{status}: {text[:2000]}"]

    def rows(self, kind: str, **filters: str) -> list[dict[str, Any]]:
        """All objects of a kind, as the REST API gives them."""
        status, text = self._ask("GET", f"/api/dcim/{kind}/?{urlencode({'limit': '0'} | filters)}")
        assert status == 200, f"{kind}: {status} {text[:500]}"
        found: list[dict[str, Any]] = json.loads(text)["results"]
        return found

    def trace(self, interface: int) -> list[Any]:
        """The path from an interface on: (near ends, cable, far ends) of every section."""
        status, text = self._ask("GET", f"/api/dcim/interfaces/{interface}/trace/")
        assert status == 200, f"trace: {status} {text[:500]}"
        path: list[Any] = json.loads(text)
        return path


def _account() -> tuple[int, int] | None:
    """(user, group) that the database runs as: it refuses root. None: whoever we are."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return entry.pw_uid, entry.pw_gid
    missing("no account for PostgreSQL, which does not run as root: apt-get install postgresql")
    raise AssertionError


@contextmanager
def _process(name: str, folder: Path, *command: str, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A program that runs in the background; what it prints is in `<name>.log`."""
    with (folder / f"{name}.log").open("wb") as log:
        started = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, **options)
    try:
        yield started
    finally:
        started.terminate()
        try:
            started.wait(timeout=30)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


def _await(name: str, folder: Path, process: subprocess.Popen[bytes], path: Path) -> None:
    """Wait until a program takes connections on a socket."""
    limit = time.monotonic() + _START_S
    while True:
        with socket.socket(socket.AF_UNIX) as probe:
            if probe.connect_ex(str(path)) == 0:
                return
        log = (folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")
        assert process.poll() is None, f"{name} ended: {log[-2000:]}"
        assert time.monotonic() < limit, f"{name} does not become ready: {log[-2000:]}"
        time.sleep(0.1)


def _database_programs() -> tuple[str, str]:
    """initdb and postgres. Debian keeps those of each release in a folder of its own."""
    for folder in sorted(glob("/usr/lib/postgresql/*/bin"), reverse=True):
        if Path(folder, "initdb").exists():
            return f"{folder}/initdb", f"{folder}/postgres"
    return need("initdb", "postgresql"), need("postgres", "postgresql")


def _start_database(stack: ExitStack, folder: Path, initdb: str, postgres: str) -> None:
    account = _account()
    options: dict[str, Any] = {"cwd": folder}
    if account is not None:
        os.chown(folder, *account)
        options |= {"user": account[0], "group": account[1], "extra_groups": []}
    data = str(folder / "data")
    done = subprocess.run(
        [initdb, "-D", data, "-A", "trust", "-U", "netbox", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **options,
    )
    assert done.returncode == 0, f"initdb: {done.stdout[-2000:]}"
    settings = [word for setting in _FAST for word in ("-c", setting)]
    process = stack.enter_context(
        _process("postgres", folder, postgres, "-D", data, "-k", str(folder), *settings, **options)
    )
    _await("postgres", folder, process, folder / ".s.PGSQL.5432")


def _own_environment(folder: Path) -> dict[str, str]:
    """Write NetBox's configuration; the environment in which it finds that."""
    (folder / "conf").mkdir()
    text = _CONFIGURATION.format(folder=str(folder), key="not-a-secret-" * 5)
    (folder / "conf" / "configuration.py").write_text(text, encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return kept | {"NETBOX_ROOT": str(folder), "DJANGO_SETTINGS_MODULE": "netbox.settings", "PYTHONWARNINGS": "ignore"}


def _make_tables(folder: Path, python: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        [str(python), str(Path(__file__).with_name("netbox_schema.py")), _USER, _PASSWORD],
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"the tables of NetBox: {done.stdout[-3000:]}"


@contextmanager
def netbox(folder: Path) -> Iterator[NetBox]:
    """An empty NetBox with its services, which end with it. `folder`: one with a short path, as sockets need it."""
    initdb, postgres = _database_programs()
    redis = need("redis-server", "redis-server")
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        missing("NetBox is not installed: make netbox")
    environment = _own_environment(folder)
    with ExitStack() as stack:
        _start_database(stack, folder, initdb, postgres)
        store, web = folder / "redis.sock", folder / "web.sock"
        command = [redis, "--port", "0", "--unixsocket", str(store), "--save", ""]
        _await("redis", folder, stack.enter_context(_process("redis", folder, *command, cwd=folder)), store)
        _make_tables(folder, python, environment)
        command = [str(python), "-m", "gunicorn", "--bind", f"unix:{web}", "--timeout", str(_REQUEST_S), "netbox.wsgi"]
        server = stack.enter_context(_process("web", folder, *command, cwd=folder, env=environment))
        _await("web", folder, server, web)
        client = NetBox(folder, str(Path(postgres).with_name("psql")))
        client.log_in()
        yield client
