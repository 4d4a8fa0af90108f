"""Keys and chords by their names: "a", "Enter", "Control+A", "ControlOrMeta+C", "Control++".

Rule: pure lookup in a layout's table. A name is a `key` value ("Enter", "?"), or a `code` ("NumpadEnter",
"ShiftRight"). Nothing is guessed: an unknown name raises InvalidArgumentError with the names that come near.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from cdpengine._input import named_keys
from cdpengine._input.layout import (
    ALTGRAPH,
    COMMANDING,
    MODIFIERS,
    SHIFT,
    Key,
    Layout,
    layout_named,
)
from cdpengine.errors import InvalidArgumentError

CONTROL_OR_META = "ControlOrMeta"

US = layout_named("us")

_NO_ALTGRAPH = Key("AltRight", ALTGRAPH, 0xE1, 2)
"""AltGraph on a layout without it: it can be held, and changes nothing."""


@attrs.frozen
class Chord:
    """A key and the modifier keys to hold around it, in the order in which they go down."""

    held: tuple[Key, ...]
    key: Key

    @property
    def modifiers(self) -> int:
        """The bitmask while the key is down."""
        return sum({key.modifier for key in self.held}) | (SHIFT if self.key.shifted else 0)


def key_named(name: str, *, mac: bool = False, layout: Layout = US) -> Key:
    """Return the key called `name`; ControlOrMeta is Meta where `mac` says so. Raises InvalidArgumentError."""
    if not isinstance(name, str):
        raise InvalidArgumentError(
            what="key", given=repr(name), expected='a name such as "Enter" or "Control+A"'
        )
    if name == CONTROL_OR_META:
        name = "Meta" if mac else "Control"
    found = layout.names.get(name)
    if found is None and name in ("\n", "\r", "\t"):
        found = layout.typed[name][0]
    if found is None and name in (ALTGRAPH, "AltGr"):
        found = layout.names.get(ALTGRAPH, _NO_ALTGRAPH)
    if found is None:
        raise InvalidArgumentError(
            what="key", given=_shown(name, layout), expected=_near(name, (*layout.names, CONTROL_OR_META))
        )
    return found


def chord_named(chord: str, *, mac: bool = False, layout: Layout = US) -> Chord:
    """Parse modifiers and a key joined by "+". Raises InvalidArgumentError for a name that no key has.

    With Control, Alt or Meta held and Shift not, a capital letter means the key itself: Control+A is what
    Control and the A key give, which pages see as key "a".
    """
    if not isinstance(chord, str) or not chord:
        raise InvalidArgumentError(
            what="key", given=repr(chord), expected='a name such as "Enter" or "Control+A"'
        )
    if chord.endswith("+"):
        names = [*chord[:-2].split("+"), "+"] if len(chord) > 1 else ["+"]
        if len(chord) > 1 and chord[-2] != "+":
            raise InvalidArgumentError(
                what="key", given=_shown(chord, layout), expected='a key after the "+", such as "Control+A"'
            )
    else:
        names = chord.split("+")
    held = tuple(_modifier_named(name, chord, mac=mac, layout=layout) for name in names[:-1])
    if len({key.key for key in held}) < len(held):
        raise InvalidArgumentError(what="key", given=_shown(chord, layout), expected="each modifier once")
    key = key_named(names[-1], mac=mac, layout=layout)
    mask = sum(other.modifier for other in held)
    if key.is_modifier and any(key.key == other.key for other in held):
        raise InvalidArgumentError(
            what="key", given=_shown(chord, layout), expected="a key that is not held already"
        )
    altgr = any(other.key == ALTGRAPH for other in held)
    if mask & SHIFT or altgr:
        key = layout.with_held(key, shift=bool(mask & SHIFT), altgr=altgr)
    elif key.shifted and mask & COMMANDING and key.text.isalpha():
        key = layout.plain(key)
    return Chord(held, key)


def modifier_mask(names: Iterable[str], *, mac: bool = False) -> int:
    """Return the bitmask of modifier names: Alt, Control, Meta, Shift, ControlOrMeta.

    Raises InvalidArgumentError.
    """
    if isinstance(names, str):
        names = (names,)
    mask = 0
    for name in names:
        mask |= _modifier_named(name, name, mac=mac, layout=US).modifier
    return mask


def editing_commands(key: Key, modifiers: int) -> tuple[str, ...]:
    """Return the editing commands that macOS gives this key while `modifiers` are held."""
    held = tuple(sorted(name for name, bit in MODIFIERS.items() if modifiers & bit))
    return named_keys.MAC_EDITING_COMMANDS.get((held, key.code), ())


def _modifier_named(name: str, chord: str, *, mac: bool, layout: Layout) -> Key:
    try:
        key = key_named(name, mac=mac, layout=layout)
    except InvalidArgumentError as unknown:
        names = (*MODIFIERS, CONTROL_OR_META, ALTGRAPH)
        raise InvalidArgumentError(
            what="modifier", given=_shown(chord, layout), expected=_near(name, names)
        ) from unknown
    if not key.is_modifier:
        raise InvalidArgumentError(
            what="modifier",
            given=f"{name!r} of {_shown(chord, layout)}",
            expected="Alt, AltGraph, Control, ControlOrMeta, Meta or Shift",
        )
    return key


def _near(name: str, names: Iterable[str]) -> str:
    known = {other.lower(): other for other in names if len(other) > 1}
    lowered = name.lower()
    near = [named_keys.ALSO_CALLED[lowered]] if lowered in named_keys.ALSO_CALLED else []
    import difflib

    near += [known[match] for match in difflib.get_close_matches(lowered, known, n=3, cutoff=0.6)]
    if not near:
        return "a key's name as in UI Events, such as Enter, ArrowLeft, F5, a, ?; text goes through type()"
    return " or ".join(repr(match) for match in dict.fromkeys(near))


def _shown(chord: str, layout: Layout) -> str:
    """Return keys as an error names them: a text that names no key may be a password."""
    known = {
        *layout.names,
        *named_keys.ALSO_CALLED,
        *(name.lower() for name in layout.names),
        "",
        CONTROL_OR_META,
    }
    if all(name in known or name.lower() in known for name in chord.split("+")):
        return repr(chord)
    return f"a text of {len(chord)} characters, which names no key"
