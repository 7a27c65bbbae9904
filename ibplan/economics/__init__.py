"""What it costs: line items, capital, power."""
