"""Layout: the keys of one keyboard layout by name, by code, and by what they type.

Rule: pure lookup, made from the tables once. A layout types a character by its lowest level: plain, Shift,
AltGraph, both; what no key has by itself, but a dead key before a letter gives, takes two keys.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib import import_module

import attrs

from cdpengine._input import named_keys
from cdpengine.errors import InvalidArgumentError

# The bits of `modifiers` in Input.dispatchKeyEvent and Input.dispatchMouseEvent.
MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
SHIFT = MODIFIERS["Shift"]
ALTGRAPH = "AltGraph"
# With one of these held, a key is a command and types nothing.
COMMANDING = MODIFIERS["Alt"] | MODIFIERS["Control"] | MODIFIERS["Meta"]

LAYOUTS = ("us", "uk", "de", "fr")
"""The layouts that there are; each is a table in a file of its own, such as us_layout.py."""

DEAD = "Dead"
"""The `key` of a dead key."""


@attrs.frozen
class Key:
    """One key as a page sees it. `text` is what it types; "" for keys that type nothing.

    `shifted` says that a person holds Shift for it, `altgr` that they hold AltGraph.
    """

    code: str
    key: str
    key_code: int
    location: int = 0
    text: str = ""
    shifted: bool = False
    altgr: bool = False

    @property
    def modifier(self) -> int:
        """The bit that this key sets while it is down; 0 for most, and for AltGraph, which has none."""
        return MODIFIERS.get(self.key, 0)

    @property
    def is_modifier(self) -> bool:
        """Whether it can be held in a chord."""
        return self.key in MODIFIERS or self.key == ALTGRAPH

    def text_with(self, modifiers: int) -> str:
        """Return what the key types while `modifiers` are held."""
        return "" if modifiers & COMMANDING else self.text


@attrs.frozen(eq=False, repr=False)
class Layout:
    """One layout. `names` holds its keys by `key` value and by `code`; `levels` the up to four keys of a code."""

    name: str
    names: Mapping[str, Key]
    levels: Mapping[str, Mapping[tuple[bool, bool], Key]]
    typed: Mapping[str, tuple[Key, ...]]

    def __repr__(self) -> str:
        return f"<Layout {self.name}>"

    def keys_for(self, character: str) -> tuple[Key, ...]:
        """Return the keys that type `character`, one after another; () when the layout has none.

        A line break is Enter.
        """
        return self.typed.get(character, ())

    def with_held(self, key: Key, *, shift: bool, altgr: bool) -> Key:
        """Return what `key` is while Shift or AltGraph are held too; itself where that changes nothing."""
        levels = self.levels.get(key.code, {})
        return levels.get((shift or key.shifted, altgr or key.altgr), levels.get((shift, altgr), key))

    def plain(self, key: Key) -> Key:
        """Return the lowest level of the key."""
        return self.levels.get(key.code, {}).get((False, False), key)


@cache
def layout_named(name: str) -> Layout:
    """Return a layout of `LAYOUTS` by its name. Raises InvalidArgumentError."""
    if name not in LAYOUTS:
        raise InvalidArgumentError(what="layout", given=repr(name), expected=f"one of {', '.join(LAYOUTS)}")
    table = import_module(f"cdpengine._input.{name}_layout")
    names: dict[str, Key] = {}
    typed: dict[str, tuple[Key, ...]] = {}
    levels: dict[str, dict[tuple[bool, bool], Key]] = {}
    dead: dict[str, Key] = {}
    for altgr, shifted in ((False, False), (False, True), (True, False), (True, True)):
        for code, *characters, key_code in table.ROWS:
            character = characters[2 * altgr + shifted]
            if not character or (shifted and character == characters[2 * altgr]):
                continue
            is_dead = bool(unicodedata.combining(character))
            key = Key(
                code,
                DEAD if is_dead else character,
                key_code,
                text="" if is_dead else character,
                shifted=shifted,
                altgr=altgr,
            )
            levels.setdefault(code, {})[shifted, altgr] = key
            if is_dead:
                dead.setdefault(character, key)
            else:
                names.setdefault(character, key)
                typed.setdefault(character, (key,))
    for code, plains in levels.items():
        names.setdefault(code, next(iter(plains.values())))
    for code, name_, key_code, location in named_keys.rows(altgr=table.ALTGR):
        text = "\r" if name_ == "Enter" else name_ if len(name_) == 1 else ""
        key = Key(code, name_, key_code, location, text)
        names.setdefault(name_, key)
        names.setdefault(code, key)
        if text and text != "\r":
            typed.setdefault(text, (key,))
    for line_break in "\n\r":
        typed[line_break] = (names["Enter"],)
    typed["\t"] = (names["Tab"],)
    for mark, dead_key in dead.items():
        _compose(mark, dead_key, typed)
    return Layout(name, names, levels, typed)


def layout_of(layout: str | Layout | None, otherwise: Layout) -> Layout:
    """Return the layout that an argument asks for: a name, a Layout, or None for the other one.

    Raises InvalidArgumentError.
    """
    if layout is None:
        return otherwise
    if isinstance(layout, Layout):
        return layout
    if not isinstance(layout, str):
        raise InvalidArgumentError(
            what="layout", given=f"a {type(layout).__name__}", expected=f"one of {', '.join(LAYOUTS)}"
        )
    return layout_named(layout)


_ALONE = {"\u0300": "`", "\u0301": "\u00b4", "\u0302": "^", "\u0303": "~", "\u0308": "\u00a8"}
"""What a dead key types with the space bar."""


def _compose(mark: str, dead_key: Key, typed: dict[str, tuple[Key, ...]]) -> None:
    """Add what a dead key gives with each letter, and with the space bar."""
    for base, keys in [*typed.items()]:
        whole = _ALONE.get(mark, "") if base == " " else unicodedata.normalize("NFC", base + mark)
        if len(whole) == 1 and len(keys) == 1 and whole not in typed:
            typed[whole] = (dead_key, attrs.evolve(keys[0], key=whole, text=whole))
