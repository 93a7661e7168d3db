from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2]
DOCUMENT = PACKAGE.parents[1] / "docs" / "openpay-fapi-clauses.md"
REFERENCE = re.compile(r"`([a-z0-9_/]+\.py)(?:::(\w+))?`")


def rows() -> list[tuple[str, str, str]]:
    """Clause, code and tests of each row."""
    if not DOCUMENT.is_file():
        return []
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in DOCUMENT.read_text().splitlines()
        if line.startswith("|") and not line.startswith(("|---", "| Clause"))
    ]
    return [(row[0], row[2], row[3]) for row in cells]


def names_in(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found


def check(text: str, root: Path) -> None:
    references = REFERENCE.findall(text)
    assert references, f"no reference in {text!r}"
    for file, name in references:
        path = root / file
        assert path.is_file(), f"{file} does not exist"
        assert not name or name in names_in(path), f"{file} has no {name}"


def test_the_table_is_there_and_long_enough() -> None:
    if not DOCUMENT.parent.is_dir():
        pytest.skip("no docs folder beside this package")
    clauses = [clause for clause, _, _ in rows()]
    wanted = {f"5.2.3-{number}" for number in (1, 2, 3, 8, 9, 10, 11, 14, 15, 16)}
    wanted |= {f"5.2.3.1-{number}" for number in (1, 2, 3, 4, 5)} | {"5.2.3.2-1", "8.6", "8.5-1"}
    assert wanted <= set(clauses)


@pytest.mark.parametrize(("clause", "code", "tests"), rows())
def test_a_clause_names_code_and_tests_that_exist(clause: str, code: str, tests: str) -> None:
    assert clause
    check(code, PACKAGE / "src" / "op_openbanking")
    check(tests, PACKAGE / "tests")
    assert all(name.startswith("test_") for _, name in REFERENCE.findall(tests) if name)
