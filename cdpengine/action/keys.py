"""Keys and chords by their names: "a", "Enter", "Control+A", "ControlOrMeta+C", "Control++".

Rule: pure lookup in the layout's table. A name is a `key` value ("Enter", "?"), or a `code` ("NumpadEnter",
"ShiftRight"). Nothing is guessed: an unknown name raises InvalidArgument with the names that come near.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from cdpengine.action import us_layout
from cdpengine.errors import InvalidArgument

# The bits of `modifiers` in Input.dispatchKeyEvent and Input.dispatchMouseEvent.
MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
SHIFT = MODIFIERS["Shift"]
# With one of these held, a key is a command and types nothing.
_COMMANDING = MODIFIERS["Alt"] | MODIFIERS["Control"] | MODIFIERS["Meta"]
CONTROL_OR_META = "ControlOrMeta"


@attrs.frozen
class Key:
    """One key as a page sees it. `text` is what it types; "" for keys that type nothing.

    `shifted` says that this is the upper half of its key: a person holds Shift for it.
    """

    code: str
    key: str
    key_code: int
    location: int = 0
    text: str = ""
    shifted: bool = False

    @property
    def modifier(self) -> int:
        """The bit that this key sets while it is down; 0 for most."""
        return MODIFIERS.get(self.key, 0)

    def text_with(self, modifiers: int) -> str:
        """Return what the key types while `modifiers` are held."""
        return "" if modifiers & _COMMANDING else self.text


@attrs.frozen
class Chord:
    """A key and the modifier keys to hold around it, in the order in which they go down."""

    held: tuple[Key, ...]
    key: Key

    @property
    def modifiers(self) -> int:
        """The bitmask while the key is down."""
        return sum({key.modifier for key in self.held}) | (SHIFT if self.key.shifted else 0)


def _text(key: str) -> str:
    if key == "Enter":
        return "\r"
    return key if len(key) == 1 else ""


def _layout() -> tuple[dict[str, Key], dict[str, Key]]:
    by_name: dict[str, Key] = {}
    upper_half: dict[str, Key] = {}
    for code, key, shifted, key_code, location in us_layout.rows():
        plain = Key(code, key, key_code, location, _text(key))
        by_name.setdefault(key, plain)
        by_name.setdefault(code, plain)
        if shifted != key:
            upper = Key(code, shifted, key_code, location, _text(shifted), shifted=True)
            by_name.setdefault(shifted, upper)
            upper_half[code] = upper
    return by_name, upper_half


_BY_NAME, _UPPER_HALF = _layout()
_ENTER = _BY_NAME["Enter"]
_TYPED = {name: key for name, key in _BY_NAME.items() if len(name) == 1} | {
    "\n": _ENTER,
    "\r": _ENTER,
    "\t": _BY_NAME["Tab"],
}


def typed_by(character: str) -> Key | None:
    """Return the key that types `character`, or None when the layout has none. A line break is Enter."""
    return _TYPED.get(character)


def key_named(name: str, *, mac: bool = False) -> Key:
    """Return the key called `name`; ControlOrMeta is Meta where `mac` says so. Raises InvalidArgument."""
    if not isinstance(name, str):
        raise InvalidArgument(what="key", given=repr(name), expected='a name such as "Enter" or "Control+A"')
    if name == CONTROL_OR_META:
        name = "Meta" if mac else "Control"
    found = _BY_NAME.get(name)
    if found is None and name in ("\n", "\r", "\t"):
        found = _TYPED[name]
    if found is None:
        raise InvalidArgument(
            what="key", given=repr(name), expected=_near(name, (*_BY_NAME, CONTROL_OR_META))
        )
    return found


def chord_named(chord: str, *, mac: bool = False) -> Chord:
    """Parse modifiers and a key joined by "+". Raises InvalidArgument for a name that no key has.

    With Control, Alt or Meta held and Shift not, a capital letter means the key itself: Control+A is what
    Control and the A key give, which pages see as key "a".
    """
    if not isinstance(chord, str) or not chord:
        raise InvalidArgument(what="key", given=repr(chord), expected='a name such as "Enter" or "Control+A"')
    if chord.endswith("+"):
        names = [*chord[:-2].split("+"), "+"] if len(chord) > 1 else ["+"]
        if len(chord) > 1 and chord[-2] != "+":
            raise InvalidArgument(
                what="key", given=repr(chord), expected=f'a key after the "+", such as {chord + "A"!r}'
            )
    else:
        names = chord.split("+")
    held = tuple(_modifier_named(name, chord, mac=mac) for name in names[:-1])
    if len({key.modifier for key in held}) < len(held):
        raise InvalidArgument(what="key", given=repr(chord), expected="each modifier once")
    key = key_named(names[-1], mac=mac)
    mask = sum(other.modifier for other in held)
    if key.modifier & mask:
        raise InvalidArgument(what="key", given=repr(chord), expected="a key that is not held already")
    if mask & SHIFT and not key.shifted:
        key = _UPPER_HALF.get(key.code, key)
    elif key.shifted and mask & _COMMANDING and not mask & SHIFT and key.code.startswith("Key"):
        key = _BY_NAME[key.code]
    return Chord(held, key)


def modifier_mask(names: Iterable[str], *, mac: bool = False) -> int:
    """Return the bitmask of modifier names: Alt, Control, Meta, Shift, ControlOrMeta. Raises InvalidArgument."""
    if isinstance(names, str):
        names = (names,)
    mask = 0
    for name in names:
        mask |= _modifier_named(name, repr(name), mac=mac).modifier
    return mask


def editing_commands(key: Key, modifiers: int) -> tuple[str, ...]:
    """Return the editing commands that macOS gives this key while `modifiers` are held."""
    held = tuple(sorted(name for name, bit in MODIFIERS.items() if modifiers & bit))
    return us_layout.MAC_EDITING_COMMANDS.get((held, key.code), ())


def _modifier_named(name: str, chord: str, *, mac: bool) -> Key:
    try:
        key = key_named(name, mac=mac)
    except InvalidArgument as unknown:
        names = (*MODIFIERS, CONTROL_OR_META)
        raise InvalidArgument(
            what="modifier", given=f"{name!r} of {chord}", expected=_near(name, names)
        ) from unknown
    if not key.modifier:
        raise InvalidArgument(
            what="modifier",
            given=f"{name!r} of {chord}",
            expected="Alt, Control, ControlOrMeta, Meta or Shift",
        )
    return key


def _near(name: str, names: Iterable[str]) -> str:
    known = {other.lower(): other for other in names if len(other) > 1}
    lowered = name.lower()
    near = [us_layout.ALSO_CALLED[lowered]] if lowered in us_layout.ALSO_CALLED else []
    import difflib

    near += [known[match] for match in difflib.get_close_matches(lowered, known, n=3, cutoff=0.6)]
    if not near:
        return "a key's name as in UI Events, such as Enter, ArrowLeft, F5, a, ?; text goes through type()"
    return " or ".join(repr(match) for match in dict.fromkeys(near))
