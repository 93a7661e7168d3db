from __future__ import annotations

import types

import eoc_distributed as package


def test_public_names_are_sorted_and_complete() -> None:
    public = {
        name
        for name, value in vars(package).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert list(package.__all__) == sorted(package.__all__)
    assert set(package.__all__) - {"__version__"} == public - {"annotations"}
