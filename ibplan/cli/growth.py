"""`ibplan growth`: what is bought and re-cabled at every stage of a cluster that grows."""

from __future__ import annotations

from ibplan.cli.common import (
    DesignOption,
    Format,
    FormatOption,
    OutputOption,
    OverlaysOption,
    PricesOption,
    SettingsOption,
    SpecArgument,
    WidthOption,
    ascii_only,
    page,
)
from ibplan.cli.output import emit
from ibplan.errors import NoDesignError, UsageError


def growth(
    spec: SpecArgument,
    form: FormatOption = Format.TABLE,
    output: OutputOption = None,
    settings: SettingsOption = None,
    design_id: DesignOption = None,
    overlays: OverlaysOption = None,
    prices: PricesOption = None,
    width: WidthOption = None,
) -> None:
    """Show the stages of a cluster that grows, with and without planning ahead. The spec lists them under `growth`."""
    from ibplan.cli.planning import load_inputs, pinned_plan
    from ibplan.report.data import plan_data, to_json, to_yaml
    from ibplan.report.growth import growth_csv, growth_data, growth_markdown, growth_text

    loaded, catalog = load_inputs(spec, settings or (), overlays or (), prices, no_lock=True)
    if not loaded.spec.growth:
        raise UsageError("the spec has no stages: write growth: [{year: 1, gpus: 2048}], or --set growth=...")
    data = plan_data(pinned_plan(loaded, catalog, design_id))
    if data["growth"] is None:
        raise NoDesignError(
            "no design can be recommended: `ibplan design` says why; name one with --design to see it anyway"
        )
    if form is Format.TABLE:
        shown, color = page(output, width)
        text = growth_text(data, width=shown, color=color, ascii_only=ascii_only(output))
    elif form is Format.MARKDOWN:
        text = growth_markdown(data)
    elif form is Format.CSV:
        text = growth_csv(data)
    else:
        text = to_json(growth_data(data)) if form is Format.JSON else to_yaml(growth_data(data))
    emit(text, output)
