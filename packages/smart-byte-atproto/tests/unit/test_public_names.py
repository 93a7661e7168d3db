from __future__ import annotations

import ast
import subprocess
import sys
import types
from pathlib import Path

import pytest

import smart_byte_atproto as package


def _imported_names() -> set[str]:
    """Names that the source of the package imports from its own modules, lazy ones included."""
    tree = ast.parse(Path(package.__file__).read_text("utf-8"))
    return {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level
        for alias in node.names
    }


def test_public_names_are_sorted_and_complete() -> None:
    assert list(package.__all__) == sorted(package.__all__, key=str)
    assert set(package.__all__) - {"__version__"} == _imported_names()
    assert set(package.__all__) <= set(dir(package))


def test_nothing_else_is_public() -> None:
    for name in package.__all__:
        getattr(package, name)
    public = {
        name
        for name, value in vars(package).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    tools = {"TYPE_CHECKING", "annotations", "import_module"}
    assert public - tools == set(package.__all__) - {"__version__"}


def test_every_name_is_what_its_module_calls_it() -> None:
    for name in set(package.__all__) - {"__version__"}:
        value = getattr(package, name)
        assert value.__name__ == name
        assert value.__module__.startswith("smart_byte_atproto.")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing_here"):
        getattr(package, "nothing_here")  # noqa: B009  what a misspelt import does


def test_importing_the_package_loads_no_codec_and_no_command() -> None:
    program = (
        "import sys, smart_byte_atproto;"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True
    )
    heavy = {"cbrrr", "click", "cryptography", "msgspec", "rich", "sqlite3", "asyncio", "coincurve"}
    assert not heavy & set(done.stdout.split())
