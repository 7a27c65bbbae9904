"""Where it stands: racks, rows, and the lengths of cables."""
