"""Run by NetBox's own Python: the tables of an empty database, as its models are now.

`netbox migrate` walks through years of changes to data that an empty database does not have, for minutes. Here Django
makes the tables from the models, and what migrations alone know is taken from them: extensions and collations
before, triggers after. Compared once with a migrated database of NetBox 4.7.3: columns, constraints, triggers,
functions and indexes are the same but for the width of one key, the order of columns in three constraints, and names.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation

_DJANGO = "django.db.migrations."
_BEFORE = "django.contrib.postgres."


class _NoMigrations:
    """To Django: no application has migrations, so every table comes from its model."""

    def __contains__(self, application: str) -> bool:
        return True

    def __getitem__(self, application: str) -> None:
        return None

    def get(self, application: str, default: Any = None) -> None:
        return None


def _operations(loader: MigrationLoader) -> Iterator[tuple[str, Operation]]:
    """(application, operation) of extensions, collations and triggers, in the order of migrations."""
    done: dict[tuple[str, str], None] = {}
    for leaf in loader.graph.leaf_nodes():
        done.update(dict.fromkeys(loader.graph.forwards_plan(leaf)))
    for node in done:
        for operation in loader.graph.nodes[node].operations:
            if not type(operation).__module__.startswith(_DJANGO):
                yield node[0], operation


def _apply(loader: MigrationLoader, operations: list[tuple[str, Operation]]) -> None:
    state = loader.project_state(())
    for application, operation in operations:
        with connection.schema_editor(atomic=operation.atomic is not False) as editor:
            operation.database_forwards(application, editor, state, state)


def main(user: str, password: str) -> None:
    """Make the tables, and a user who may do everything."""
    django.setup()
    loader = MigrationLoader(connection)
    found = list(_operations(loader))
    _apply(loader, [pair for pair in found if type(pair[1]).__module__.startswith(_BEFORE)])
    settings.MIGRATION_MODULES = _NoMigrations()
    call_command("migrate", run_syncdb=True, skip_checks=True, verbosity=0)
    _apply(loader, [pair for pair in found if not type(pair[1]).__module__.startswith(_BEFORE)])
    os.environ["DJANGO_SUPERUSER_PASSWORD"] = password
    call_command("createsuperuser", username=user, email="", interactive=False, verbosity=0, skip_checks=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
