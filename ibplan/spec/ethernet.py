"""How switches of Ethernet fabrics are set up where files are written for them. What is left out: export's data."""

from __future__ import annotations

from pydantic import Field, model_validator

from ibplan.spec.forms import Strict, wrong_at

# The smallest and largest packet that ports of current switches can be set to (sonic-port.yang: 68 to 9216).
_LEAST_MTU = 1500
_MOST_MTU = 9216


class LosslessSpec(Strict):
    """The traffic that may not be dropped, and its congestion notifications (RoCE): marks and priorities.

    `dscp`, `cnp_dscp`: what hosts write into packets; `priority`, `cnp_priority`: switch priority, queue and priority
    group for them. `headroom_sharing`: ports that share the headroom of one; 1 = every port has its own.
    """

    dscp: int | None = Field(default=None, ge=0, le=63)
    priority: int | None = Field(default=None, ge=1, le=7)
    cnp_dscp: int | None = Field(default=None, ge=0, le=63)
    cnp_priority: int | None = Field(default=None, ge=1, le=7)
    headroom_sharing: int = Field(default=1, ge=1, le=64)

    @model_validator(mode="after")
    def _apart(self) -> LosslessSpec:
        for key, other in (("cnp_dscp", "dscp"), ("cnp_priority", "priority")):
            value = getattr(self, key)
            if value is not None and value == getattr(self, other):
                raise wrong_at((key,), f"is that of {other}, too: {value}; notifications must not wait behind the data")
        return self


class EthernetSpec(Strict):
    """`mtu` of all ports in bytes; `bfd`: whether routing watches every link with BFD."""

    mtu: int | None = Field(default=None, ge=_LEAST_MTU, le=_MOST_MTU)
    bfd: bool = False
    lossless: LosslessSpec = LosslessSpec()
