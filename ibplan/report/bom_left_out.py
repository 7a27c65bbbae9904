"""What the bill of a design does not hold, in words."""

from __future__ import annotations

from dataclasses import replace

from ibplan.plan.results import Design, Plan
from ibplan.report import networks, sections
from ibplan.report.data import plan_data


def left_out_words(plan: Plan, design: Design) -> str:
    """The networks that are not planned, and what no bill of ibplan holds."""
    data = plan_data(replace(plan, designs=(design,), findings=()))
    return " ".join(line.words for line in sections.left_out(data, networks.left_out_words(data)).lines)
