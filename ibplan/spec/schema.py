"""The spec's JSON Schema, for editors and for other programs that write specs."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Final

SCHEMA_FILE: Final = "spec.schema.json"


def read_schema() -> str:
    """The schema as it is shipped: a JSON text."""
    return files("ibplan.spec").joinpath(SCHEMA_FILE).read_text(encoding="utf-8")


def make_schema() -> dict[str, Any]:
    """The schema (draft 2020-12) of what the reader accepts, made from the models."""
    from ibplan.spec.models import Spec

    schema = Spec.model_json_schema(mode="validation")
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "ibplan spec"}
    return head | {key: value for key, value in _tidy(schema).items() if key != "title"}


def format_schema(schema: dict[str, Any]) -> str:
    """The schema as the text to ship."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _tidy(node: Any, named: bool = False) -> Any:
    """Without the titles that only repeat a name. `named`: the keys of `node` are names, not words of JSON Schema."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _tidy(value, named=not named and key in ("properties", "$defs"))
        for key, value in node.items()
        if named or key != "title"
    }
