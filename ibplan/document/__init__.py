"""Strict reading of YAML: file -> data with positions -> model, or every problem at file:line:column."""

from ibplan.document.core import (
    Document,
    dump_yaml,
    parse_document,
    parse_value,
    printable,
    read_document,
    read_stream,
)
from ibplan.document.validation import validate

__all__ = [
    "Document",
    "dump_yaml",
    "parse_document",
    "parse_value",
    "printable",
    "read_document",
    "read_stream",
    "validate",
]
