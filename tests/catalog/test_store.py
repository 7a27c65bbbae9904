"""Loading: overlays replace whole entries, references must exist, every problem has a place."""

from __future__ import annotations

import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ibplan.catalog.store import Catalog, load_catalog
from ibplan.document import dump_yaml
from ibplan.errors import InputError

PRICES = "name: our prices\ndate: 2026-11-01\nprices:\n"


def plain(data: Any) -> Any:
    """A model's data as a user would write it."""
    if isinstance(data, dict):
        return {key: plain(value) for key, value in data.items() if value not in (None, (), {})}
    if isinstance(data, tuple | list):
        return [plain(value) for value in data]
    return data


def overlay(path: Path, **kinds: list[dict[str, Any]]) -> Path:
    path.write_text(dump_yaml(plain(kinds)), encoding="utf-8")
    return path


def problems(*overlays: Path, price_file: Path | None = None) -> list[str]:
    with pytest.raises(InputError) as caught:
        load_catalog(overlays, price_file)
    return [str(problem) for problem in caught.value.problems]


def module(catalog: Catalog, name: str, **changes: Any) -> dict[str, Any]:
    return {**catalog.modules[name].model_dump(), **changes}


def test_an_overlay_replaces_an_entry_whole(catalog: Catalog, tmp_path: Path) -> None:
    switch = catalog.switches["nvidia-qm9700"].model_dump()
    del switch["weight_kg"]
    switch["notes"] = "ours"
    path = overlay(tmp_path / "ours.yaml", switches=[switch])
    loaded = load_catalog([path])
    assert loaded.switches["nvidia-qm9700"].notes == "ours"
    assert loaded.switches["nvidia-qm9700"].weight_kg is None
    assert loaded.switches["nvidia-qm9790"] == catalog.switches["nvidia-qm9790"]
    assert list(loaded.switches) == list(catalog.switches)


def test_the_last_overlay_wins(catalog: Catalog, tmp_path: Path) -> None:
    paths = [
        overlay(tmp_path / f"{n}.yaml", modules=[module(catalog, "nvidia-mma4z00-ns", notes=n)]) for n in ("one", "two")
    ]
    assert load_catalog(paths).modules["nvidia-mma4z00-ns"].notes == "two"


def test_a_new_entry_is_added(catalog: Catalog, tmp_path: Path) -> None:
    path = overlay(tmp_path / "ours.yaml", modules=[module(catalog, "fs-mma4z00-ns", id="ours-2xsr4")])
    assert load_catalog([path]).part("ours-2xsr4") is not None
    assert catalog.part("ours-2xsr4") is None


def test_misfit_of_an_overlay_says_why_and_where(catalog: Catalog, tmp_path: Path) -> None:
    recipe = catalog.recipes["ndr400-sw-cx7osfp-mmf"].model_dump()
    recipe["links_per_cable"] = 1
    recipe["end_b"]["module"] = "nvidia-mma4z00-ns"
    path = overlay(tmp_path / "ours.yaml", recipes=[recipe])
    line = path.read_text().splitlines().index("- id: ndr400-sw-cx7osfp-mmf") + 1
    found = problems(path)
    why = "nvidia-mma4z00-ns is finned, but a nic-osfp-400 cage takes flat modules"
    assert found == [f"{path}:{line}:7: recipe ndr400-sw-cx7osfp-mmf: {why}"]


def test_a_part_that_breaks_packaged_recipes_is_named_at_the_part(catalog: Catalog, tmp_path: Path) -> None:
    path = overlay(tmp_path / "ours.yaml", modules=[module(catalog, "nvidia-mma4z00-ns", heat_sink="flat")])
    found = problems(path)
    assert found
    assert all(line.startswith(f"{path}:2:7: ") or "compatible" in line or "stand in" in line for line in found)
    assert any("nvidia-mma4z00-ns is flat, but a ndr-osfp cage takes finned modules" in line for line in found)


def test_a_device_that_contradicts_a_cage_class(catalog: Catalog, tmp_path: Path) -> None:
    switch = catalog.switches["nvidia-qm9700"].model_dump()
    switch["id"] = "ours-qm"
    switch["cages"][0]["heat_sink"] = "flat"
    (found,) = problems(overlay(tmp_path / "ours.yaml", switches=[switch]))
    assert "cage class ndr-osfp is OSFP with heat sink finned elsewhere, but OSFP with heat sink flat here" in found


@pytest.mark.parametrize(
    ("change", "kind", "near"),
    [
        ({"cable": "nvidia-mfp7e11"}, "cables", "nvidia-mfp7e10"),
        ({"end_a": {"module": "nvidia-mma4z0-ns"}}, "modules", "nvidia-mma4z00-ns"),
    ],
)
def test_unknown_reference_of_a_recipe(
    catalog: Catalog, tmp_path: Path, change: dict[str, Any], kind: str, near: str
) -> None:
    recipe = catalog.recipes["ndr400-sw-sw-mmf"].model_dump()
    recipe["links_per_cable"] = 1
    for key, value in change.items():
        recipe[key] = {**recipe[key], **value} if isinstance(value, dict) else value
    (found,) = problems(overlay(tmp_path / "ours.yaml", recipes=[recipe]))
    assert f"under {kind} (did you mean {near}?)" in found
    assert found.startswith(f"{tmp_path}/ours.yaml:")


def test_unknown_compatible_with_and_nic(catalog: Catalog, tmp_path: Path) -> None:
    server = catalog.servers["nvidia-hgx-h100"].model_dump()
    server["compute"]["nic"] = "nvidia-connectx-7-400g-ospf"
    part = module(catalog, "fs-mma4z00-ns", compatible_with="nvidia-mma4z00-nss")
    found = problems(overlay(tmp_path / "ours.yaml", servers=[server], modules=[part]))
    assert len(found) == 2
    assert any("did you mean nvidia-connectx-7-400g-osfp?" in line for line in found)
    assert any("did you mean nvidia-mma4z00-ns?" in line for line in found)


def test_an_id_twice_in_a_file_or_of_another_kind(catalog: Catalog, tmp_path: Path) -> None:
    one = module(catalog, "fs-mma4z00-ns", id="ours-part")
    (found,) = problems(overlay(tmp_path / "ours.yaml", modules=[one, one]))
    assert "the id ours-part is already used at" in found
    assert f"{tmp_path}/ours.yaml:2:7" in found
    (found,) = problems(overlay(tmp_path / "kind.yaml", modules=[module(catalog, "fs-mma4z00-ns", id="nvidia-qm9700")]))
    assert "the id nvidia-qm9700 is that of an entry under switches" in found


def test_a_cable_cannot_take_the_id_of_a_module_in_one_file(catalog: Catalog, tmp_path: Path) -> None:
    one = module(catalog, "fs-mma4z00-ns", id="ours-part")
    cable = {**catalog.cables["generic-cat6"].model_dump(), "id": "ours-part"}
    (found,) = problems(overlay(tmp_path / "ours.yaml", modules=[one], cables=[cable]))
    assert "the id ours-part is already used at" in found


def test_an_unknown_key_has_a_place(tmp_path: Path) -> None:
    path = tmp_path / "ours.yaml"
    path.write_text("swiches: []\n", encoding="utf-8")
    (found,) = problems(path)
    assert found.startswith(f"{path}:1:1: ")
    assert "switches" in found


def test_a_price_of_an_unknown_part(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(PRICES + "  - {part: nvidia-qm9701, kind: street, usd: 1, source: quote}\n", encoding="utf-8")
    (found,) = problems(price_file=path)
    assert found == f"{path}:4:12: there is no part nvidia-qm9701 (did you mean nvidia-qm9700?)"


def test_own_prices_stand(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(PRICES + "  - {part: nvidia-qm9700, kind: estimate, usd: $30k, source: quote}\n", encoding="utf-8")
    choice = load_catalog(price_file=path).prices.choose("nvidia-qm9700")
    assert choice is not None
    assert (choice.unit_usd, choice.kind, choice.source) == (Decimal(30000), "estimate", "quote")


def test_all_problems_in_one_run(catalog: Catalog, tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text(PRICES + "  - {part: nothing-like-it, kind: street, usd: 1, source: q}\n", encoding="utf-8")
    part = module(catalog, "fs-mma4z00-ns", compatible_with="nvidia-mma4z00-nss")
    assert len(problems(overlay(tmp_path / "ours.yaml", modules=[part]), price_file=prices)) == 2


def test_no_such_file(tmp_path: Path) -> None:
    assert problems(tmp_path / "none.yaml") == [f"{tmp_path}/none.yaml: no such file"]


def test_digest_follows_content_alone(catalog: Catalog, tmp_path: Path) -> None:
    part = module(catalog, "fs-mma4z00-ns", notes="ours")
    one = overlay(tmp_path / "one.yaml", modules=[part])
    elsewhere = tmp_path / "sub"
    elsewhere.mkdir()
    same = Path(shutil.copy(one, elsewhere / "two.yaml"))
    assert load_catalog().digest == catalog.digest
    assert load_catalog([one]).digest == load_catalog([same]).digest != catalog.digest
    unchanged = overlay(tmp_path / "same.yaml", modules=[module(catalog, "fs-mma4z00-ns")])
    assert load_catalog([unchanged]).digest == catalog.digest


def test_digest_follows_prices(catalog: Catalog, tmp_path: Path) -> None:
    rows = [f"  - {{part: nvidia-qm9700, kind: street, usd: {usd}, source: quote}}\n" for usd in (1, 2)]
    digests = set()
    for name, text in (("a", rows[0] + rows[1]), ("b", rows[1] + rows[0]), ("c", rows[0])):
        path = tmp_path / f"{name}.yaml"
        path.write_text(PRICES + text, encoding="utf-8")
        digests.add(load_catalog(price_file=path).digest)
    assert len(digests) == 2
    assert catalog.digest not in digests


def test_nearest(catalog: Catalog) -> None:
    assert catalog.nearest("nvidia-qm970", "switches") == "nvidia-qm9700"
    assert catalog.nearest("nvidia-dgx-h10", "servers") == "nvidia-dgx-h100"
    assert catalog.nearest("H100", "servers") == "nvidia-dgx-h100"
    assert catalog.nearest("zzz", "switches") is None
    assert catalog.nearest("h1", "servers") is None


def test_ids_are_unique_over_all_kinds(catalog: Catalog) -> None:
    kinds = (
        catalog.switches,
        catalog.nics,
        catalog.servers,
        catalog.gpus,
        catalog.modules,
        catalog.cables,
        catalog.recipes,
    )
    assert len({name for kind in kinds for name in kind}) == sum(map(len, kinds))
