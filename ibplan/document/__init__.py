"""Strict reading of YAML: file -> data with positions -> model, or every problem at file:line:column."""

from ibplan.document.core import (
    MAX_BYTES,
    Document,
    dump_yaml,
    open_regular,
    parse_document,
    parse_value,
    printable,
    read_document,
    read_stream,
)
from ibplan.document.validation import capped, validate

__all__ = [
    "MAX_BYTES",
    "Document",
    "capped",
    "dump_yaml",
    "open_regular",
    "parse_document",
    "parse_value",
    "printable",
    "read_document",
    "read_stream",
    "validate",
]
