"""Programs of other projects that system tests run."""

from __future__ import annotations

import os
import shutil

import pytest

# Debian keeps daemons where the search path of a user may not look.
_SEARCHED = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])


def need(program: str, package: str) -> str:
    """The path of a program. Without it a test is skipped; in CI (CI=true) it fails."""
    found = shutil.which(program, path=_SEARCHED)
    if found is None:
        missing(f"{program} is not installed: apt-get install {package}")
    return str(found)


def missing(why: str) -> None:
    """End a test that lacks something of another project: skipped, or in CI failed."""
    if os.environ.get("CI") == "true":
        pytest.fail(why)
    pytest.skip(why)
