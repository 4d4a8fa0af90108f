"""Public attributes of the public classes: each is documented. Attributes for their own class have an underscore.

An attribute is a name in `dir` of the class, a field, or a name that `__init__` sets on `self`, without an
underscore. Methods and properties have a docstring. A field is described by the docstring of its class, or
its name in the signature of the reference suffices.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from types import FunctionType
from typing import Any

import attrs
import pytest
from public_names import ENGINE

import cdpengine
import cdpengine.act
import cdpengine.cache
import cdpengine.cluster
import cdpengine.debug
import cdpengine.pool
import cdpengine.testing

DOCUMENTED = (FunctionType, classmethod, staticmethod, property)
"""Members with their own docstring."""


PACKAGES = (
    *ENGINE, cdpengine.act, cdpengine.cache, cdpengine.cluster, cdpengine.debug, cdpengine.pool, cdpengine.testing,
)  # fmt: skip

PUBLIC = {
    f"{package.__name__}.{name}": kind
    for package in PACKAGES
    for name in package.__all__
    if inspect.isclass(kind := getattr(package, name)) and not issubclass(kind, BaseException)
}


def set_by_init(kind: type) -> set[str]:
    """Return the names that the `__init__` of the class or of its own bases sets on `self`."""
    found: set[str] = set()
    for base in kind.__mro__:
        init = vars(base).get("__init__")
        if not inspect.isfunction(init) or attrs.has(base) or not base.__module__.startswith("cdpengine"):
            continue
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(init)))):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            found |= {
                each.attr
                for each in targets
                if isinstance(each, ast.Attribute)
                and isinstance(each.value, ast.Name)
                and each.value.id == "self"
            }
    return found


def shown(kind: type) -> dict[str, Any]:
    """Return the public attributes of a class. An attribute that only instances have maps to None."""
    fields = {field.name for field in attrs.fields(kind)} if attrs.has(kind) else set()
    builtin = {name for base in (dict, Exception) if issubclass(kind, base) for name in dir(base)}
    names = (set(dir(kind)) | fields | set_by_init(kind)) - builtin
    return {
        name: None if name in fields else inspect.getattr_static(kind, name, None)
        for name in names
        if not name.startswith("_")
    }


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_attribute_is_documented(name: str) -> None:
    kind = PUBLIC[name]
    # The base class of requests describes the fields that all of them share.
    docstrings = [base.__doc__ or "" for base in kind.__mro__ if base.__module__.startswith("cdpengine")]
    words = set(re.findall(r"\w+", " ".join(docstrings)))
    in_signature = {field.alias for field in attrs.fields(kind) if field.init} if attrs.has(kind) else set()
    in_signature |= set(getattr(kind, "__struct_fields__", ()))
    undocumented = {
        attribute
        for attribute, found in shown(kind).items()
        if not (getattr(found, "__doc__", None) and isinstance(found, DOCUMENTED))
        and attribute not in words
        and attribute not in in_signature
    }
    assert undocumented == set()
