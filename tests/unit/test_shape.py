"""The figures of `make shape` are right, on a small package, and the engine has no import cycles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import shape
from public_names import ENGINE

import cdpengine
import cdpengine.testing

SMALL = {
    "house/__init__.py": (
        'from house.door import Door\n\n__all__ = ["Door", "ring"]\n\n\ndef ring(a, b, c, d): ...\n'
    ),
    "house/door.py": """
from typing import TYPE_CHECKING

from .wall import Wall

if TYPE_CHECKING:
    from house.lock import Lock


class Door(Wall):
    def open(self, a, b, c, d, e): ...

    def _oil(self, lock, *more, **options): ...

    @staticmethod
    def _count(one): ...

    def close(self):
        from house.lock import Lock

        def turn(left, right): ...
""",
    "house/wall.py": "class Wall:\n    def paint(self, a, b, c, d, e, f, g): ...\n",
    "house/lock.py": "import house.key\nfrom house import door\n",
    "house/key.py": "try:\n    from . import lock\nfinally:\n    pass\n",
    "house/errors/__init__.py": '__all__ = ["Door", "NoKey"]\n',
}


@pytest.fixture(scope="module")
def engine() -> Sequence[shape.Module]:
    return shape.read_modules(shape.PACKAGE)


@pytest.fixture
def house(tmp_path: Path) -> Sequence[shape.Module]:
    for name, text in SMALL.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return shape.read_modules(tmp_path / "house")


def test_modules_have_their_names_and_lines(house: Sequence[shape.Module]) -> None:
    assert {module.name: module.lines for module in house} == {
        "house": 6, "house.door": 21, "house.errors": 1, "house.key": 4, "house.lock": 2, "house.wall": 2,
    }  # fmt: skip


def test_the_small_package_is_measured(house: Sequence[shape.Module]) -> None:
    found = shape.measure_shape(house)
    assert found.modules == 6
    assert found.median_lines == 3
    assert found.largest_module == ("house/door.py", 21)
    assert (found.longest_function.name, found.longest_function.lines) == ("house.door:Door.close", 4)
    assert (found.widest_function.name, found.widest_function.parameters) == ("house.door:Door._oil", 3)
    assert found.fullest_folder == ("house", 5)
    assert found.public_names == 3
    assert found.cycles == (("house.key", "house.lock"),)
    assert found.late_cycles == (("house.door", "house.key", "house.lock"),)


def test_parameters_are_counted_without_self(house: Sequence[shape.Module]) -> None:
    found = {each.name.partition(":")[2]: each for each in shape.find_callables(house)}
    assert {name: each.parameters for name, each in found.items()} == {
        "ring": 4, "Door.open": 5, "Door._oil": 3, "Door._count": 1, "Door.close": 0, "Door.close.turn": 2,
        "Wall.paint": 7,
    }  # fmt: skip
    # A public class has the methods of its bases.
    assert {name for name, each in found.items() if each.is_public_method} == {
        "ring", "Door.open", "Door.close", "Wall.paint",
    }  # fmt: skip


def test_imports_are_those_that_run_when_a_module_is_loaded(house: Sequence[shape.Module]) -> None:
    assert shape.import_graph(house) == {
        "house": {"house.door"},
        "house.door": {"house.wall"},
        "house.wall": set(),
        "house.lock": {"house.key", "house.door"},
        "house.key": {"house.lock"},
        "house.errors": set(),
    }


def test_late_imports_are_those_within_functions_and_for_type_checkers(house: Sequence[shape.Module]) -> None:
    late = shape.import_graph(house, late=True)
    assert late["house.door"] == {"house.wall", "house.lock"}
    assert {name: names for name, names in late.items() if name != "house.door"} == {
        name: names for name, names in shape.import_graph(house).items() if name != "house.door"
    }


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"a"}}, []),
        ({"a": {"b"}, "b": {"c"}, "c": {"a"}}, [("a", "b", "c")]),
        ({"a": {"b", "c"}, "b": {"a"}, "c": {"d"}, "d": {"c"}}, [("a", "b"), ("c", "d")]),
        ({"a": {"b"}, "b": {"c", "a"}, "c": {"b"}}, [("a", "b", "c")]),
        ({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": set()}, []),
    ],
)
def test_cycles_are_found(graph: dict[str, set[str]], expected: list[tuple[str, ...]]) -> None:
    assert shape.find_cycles(graph) == expected


def test_every_figure_is_printed(house: Sequence[shape.Module], capsys: pytest.CaptureFixture[str]) -> None:
    folder = next(iter(house)).path.parent
    assert folder == Path("house")
    text = "\n".join(shape.shape_lines(shape.measure_shape(house)))
    assert "largest module    21 lines, house/door.py" in text
    assert "import cycles     1\n                  house.key, house.lock" in text
    assert "with late imports 1\n                  house.door, house.key, house.lock" in text
    shape.main([])
    assert "fullest folder" in capsys.readouterr().out


def test_no_modules_import_each_other(engine: Sequence[shape.Module]) -> None:
    assert shape.find_cycles(shape.import_graph(engine)) == []


def test_the_public_names_are_those_of_the_package(engine: Sequence[shape.Module]) -> None:
    assert shape.public_names(engine) == {
        each.__name__: list(each.__all__)
        for each in (*ENGINE, cdpengine.debug, cdpengine.errors, cdpengine.testing)
    }
