"""Names of the groups of hosts that planning puts on a network. Rows of links carry them in JSON as `host`."""

from __future__ import annotations

from typing import Final

MANAGEMENT: Final = "management"
OOB_LEAF: Final = "oob.leaf"
APPLIANCE: Final = "storage.appliance"
APPLIANCE_PORT: Final = "storage.port"
# No group that a user names starts so: host k is server k.
SERVER_INBAND: Final = "server-inband"
SERVER_STORAGE: Final = "server-storage"

# Ports of the GPU servers beside those of the GPUs, where they stand on the compute network.
SERVER_PORTS: Final = {SERVER_STORAGE: "storage ports of servers", SERVER_INBAND: "in-band ports of servers"}
STORAGE_HOSTS: Final = (SERVER_STORAGE, APPLIANCE, APPLIANCE_PORT)
INBAND_HOSTS: Final = (SERVER_INBAND, MANAGEMENT, OOB_LEAF)
# Who may stand on the leaves of a compute network that carries storage or in-band traffic, too.
NORTH_SOUTH: Final = frozenset({*STORAGE_HOSTS, *INBAND_HOSTS})
