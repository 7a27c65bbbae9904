"""The version, read by the build and by `ibplan --version` without importing anything else."""

__version__ = "0.1.0"
