"""Tests with outside programs: `make test-system`."""
