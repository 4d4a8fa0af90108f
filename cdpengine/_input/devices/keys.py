"""Keys, layouts and chords by name ("a", "Enter", "Control+A", "Control++"), and text as characters. Pure.

Rule: a name is a `key` value ("Enter", "?") or a `code` ("NumpadEnter", "ShiftRight"), looked up in
`key_tables.py`. An unknown name raises InvalidArgumentError, which suggests similar names. A layout types a
character on its lowest level: plain, Shift, AltGraph, both. A character of a dead key takes two keys.

Text is split into user-perceived characters, which are never cut. They follow the parts of Unicode's extended
grapheme clusters (UAX #29) that matter for typing: combining marks, variation selectors, emoji joined by ZWJ, skin
tones, tag sequences, flags, Hangul syllables, CR LF. Prepended marks and Indic conjuncts are not joined. They are
typed in order, so nothing is lost.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

import attrs

from cdpengine._checks import check_choice, check_string, invalid
from cdpengine._input.devices import key_tables
from cdpengine._input.devices.key_tables import TABLES
from cdpengine.errors import InvalidArgumentError

# The bits of `modifiers` in Input.dispatchKeyEvent and Input.dispatchMouseEvent.
MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
SHIFT = MODIFIERS["Shift"]
ALTGRAPH = "AltGraph"
# While one of these is held, a key is a command and types nothing.
COMMANDING = MODIFIERS["Alt"] | MODIFIERS["Control"] | MODIFIERS["Meta"]

LAYOUTS = ("us", "uk", "de", "fr")
"""The names of the layouts in key_tables.py."""

DEAD = "Dead"
"""The `key` of a dead key."""


@attrs.frozen
class Key:
    """One key as a page sees it. `text` is the character that it types, "" if none.

    `shifted`: it requires Shift. `altgr`: it requires AltGraph.
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
        """The modifier bit that this key sets while it is down. 0 for other keys, and for AltGraph."""
        return MODIFIERS.get(self.key, 0)

    @property
    def is_modifier(self) -> bool:
        """Whether the key can be held in a chord."""
        return self.key in MODIFIERS or self.key == ALTGRAPH

    def text_with(self, modifiers: int) -> str:
        """Return the character that the key types while `modifiers` are held."""
        return "" if modifiers & COMMANDING else self.text


@attrs.frozen(eq=False, repr=False)
class Layout:
    """One layout. `names` maps `key` values and codes to keys; `levels` the up to four keys of each code."""

    name: str
    names: Mapping[str, Key]
    levels: Mapping[str, Mapping[tuple[bool, bool], Key]]
    typed: Mapping[str, tuple[Key, ...]]

    def __repr__(self) -> str:
        return f"<Layout {self.name}>"

    def keys_for(self, character: str) -> tuple[Key, ...]:
        """Return the keys that type `character`, in order, or () if the layout has none.

        Enter types a line break.
        """
        return self.typed.get(character, ())

    def with_modifiers(self, key: Key, *, shift: bool, altgr: bool) -> Key:
        """Return the key that `key` becomes while Shift or AltGraph are held too."""
        levels = self.levels.get(key.code, {})
        return levels.get((shift or key.shifted, altgr or key.altgr), levels.get((shift, altgr), key))

    def plain(self, key: Key) -> Key:
        """Return the lowest level of the key."""
        return self.levels.get(key.code, {}).get((False, False), key)


@cache
def layout_named(name: str) -> Layout:
    """Return a layout of `LAYOUTS` by its name. Raises InvalidArgumentError."""
    check_choice("layout", name, LAYOUTS)
    table = TABLES[name]
    names: dict[str, Key] = {}
    typed: dict[str, tuple[Key, ...]] = {}
    levels: dict[str, dict[tuple[bool, bool], Key]] = {}
    dead: dict[str, Key] = {}
    for altgr, shifted in ((False, False), (False, True), (True, False), (True, True)):
        for code, *characters, key_code in table.rows:
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
    for code, name_, key_code, location in key_tables.rows(altgr=table.altgr):
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
    """Return the layout for an argument: a name, a Layout, or None for `otherwise`.

    Raises InvalidArgumentError.
    """
    if layout is None:
        return otherwise
    if isinstance(layout, Layout):
        return layout
    return layout_named(check_string("layout", layout, "a Layout, or the name of one"))


_ALONE = {"\u0300": "`", "\u0301": "\u00b4", "\u0302": "^", "\u0303": "~", "\u0308": "\u00a8"}
"""The characters that dead keys type with the space bar."""


def _compose(mark: str, dead_key: Key, typed: dict[str, tuple[Key, ...]]) -> None:
    """Add the characters that a dead key types with each letter and with the space bar."""
    for base, keys in [*typed.items()]:
        whole = _ALONE.get(mark, "") if base == " " else unicodedata.normalize("NFC", base + mark)
        if len(whole) == 1 and len(keys) == 1 and whole not in typed:
            typed[whole] = (dead_key, attrs.evolve(keys[0], key=whole, text=whole))


CONTROL_OR_META = "ControlOrMeta"

US = layout_named("us")

_NO_ALTGRAPH = Key("AltRight", ALTGRAPH, 0xE1, 2)
"""AltGraph on a layout without it. It can be held, but has no effect."""


@attrs.frozen
class Chord:
    """A key and the modifier keys held around it, in the order of their presses."""

    held: tuple[Key, ...]
    key: Key

    @property
    def modifiers(self) -> int:
        """The bitmask while the key is down."""
        return sum({key.modifier for key in self.held}) | (SHIFT if self.key.shifted else 0)


_NAME_OF_KEY = 'a name such as "Enter" or "Control+A"'


def key_named(name: str, *, mac: bool = False, layout: Layout = US) -> Key:
    """Return the key called `name`. ControlOrMeta is Meta if `mac`, else Control. Raises InvalidArgumentError."""
    check_string("key", name, _NAME_OF_KEY)
    if name == CONTROL_OR_META:
        name = "Meta" if mac else "Control"
    found = layout.names.get(name)
    if found is None and name in ("\n", "\r", "\t"):
        found = layout.typed[name][0]
    if found is None and name in (ALTGRAPH, "AltGr"):
        found = layout.names.get(ALTGRAPH, _NO_ALTGRAPH)
    if found is None:
        raise InvalidArgumentError(
            what="key",
            given=_for_error(name, layout),
            expected=_suggestions(name, (*layout.names, CONTROL_OR_META)),
        )
    return found


def chord_named(chord: str, *, mac: bool = False, layout: Layout = US) -> Chord:
    """Parse modifiers and a key joined by "+". Raises InvalidArgumentError for an unknown name.

    With Control, Alt or Meta held and Shift not held, a capital letter means the unshifted key. Control+A is
    Control with the A key, which pages see as key "a".
    """
    if not isinstance(chord, str) or not chord:
        raise invalid("key", chord, _NAME_OF_KEY)
    if chord.endswith("+"):
        names = [*chord[:-2].split("+"), "+"] if len(chord) > 1 else ["+"]
        if len(chord) > 1 and chord[-2] != "+":
            raise InvalidArgumentError(
                what="key",
                given=_for_error(chord, layout),
                expected='a key after the "+", such as "Control+A"',
            )
    else:
        names = chord.split("+")
    modifiers = tuple(_modifier_named(name, chord, mac=mac, layout=layout) for name in names[:-1])
    if len({key.key for key in modifiers}) < len(modifiers):
        raise InvalidArgumentError(what="key", given=_for_error(chord, layout), expected="each modifier once")
    key = key_named(names[-1], mac=mac, layout=layout)
    mask = sum(other.modifier for other in modifiers)
    if key.is_modifier and any(key.key == other.key for other in modifiers):
        raise InvalidArgumentError(
            what="key", given=_for_error(chord, layout), expected="a key that is not held already"
        )
    altgr = any(other.key == ALTGRAPH for other in modifiers)
    if mask & SHIFT or altgr:
        key = layout.with_modifiers(key, shift=bool(mask & SHIFT), altgr=altgr)
    elif key.shifted and mask & COMMANDING and key.text.isalpha():
        key = layout.plain(key)
    return Chord(modifiers, key)


def modifier_mask(names: Iterable[str], *, mac: bool = False) -> int:
    """Return the bitmask of the modifier names: Alt, Control, Meta, Shift, ControlOrMeta.

    Raises InvalidArgumentError.
    """
    if isinstance(names, str):
        names = (names,)
    mask = 0
    for name in names:
        mask |= _modifier_named(name, name, mac=mac, layout=US).modifier
    return mask


def editing_commands(key: Key, modifiers: int) -> tuple[str, ...]:
    """Return the macOS editing commands of this key while `modifiers` are held."""
    names = tuple(sorted(name for name, bit in MODIFIERS.items() if modifiers & bit))
    return key_tables.MAC_EDITING_COMMANDS.get((names, key.code), ())


_COMMANDING_NAMES = {"Alt", "Control", CONTROL_OR_META, "Meta"}


def describe_key(key: object) -> str:
    """Return a loggable name for the key; never the character that it types."""
    modifiers, _, last = str(key).rpartition("+")
    types = len(last) <= 1 and not _COMMANDING_NAMES & set(modifiers.split("+"))
    return "a character" if types else str(key)[:40]


def _modifier_named(name: str, chord: str, *, mac: bool, layout: Layout) -> Key:
    try:
        key = key_named(name, mac=mac, layout=layout)
    except InvalidArgumentError as unknown:
        names = (*MODIFIERS, CONTROL_OR_META, ALTGRAPH)
        raise InvalidArgumentError(
            what="modifier", given=_for_error(chord, layout), expected=_suggestions(name, names)
        ) from unknown
    if not key.is_modifier:
        raise InvalidArgumentError(
            what="modifier",
            given=f"{name!r} of {_for_error(chord, layout)}",
            expected="Alt, AltGraph, Control, ControlOrMeta, Meta or Shift",
        )
    return key


def _suggestions(name: str, names: Iterable[str]) -> str:
    known = {other.lower(): other for other in names if len(other) > 1}
    lowered = name.lower()
    near = [key_tables.ALSO_CALLED[lowered]] if lowered in key_tables.ALSO_CALLED else []
    import difflib

    near += [known[match] for match in difflib.get_close_matches(lowered, known, n=3, cutoff=0.6)]
    if not near:
        return "a key's name as in UI Events, such as Enter, ArrowLeft, F5, a, ?. To enter text, use type()"
    return " or ".join(repr(match) for match in dict.fromkeys(near))


def _for_error(chord: str, layout: Layout) -> str:
    """Return the chord for an error message. An unknown string may be a password and is not included."""
    known = {
        *layout.names,
        *key_tables.ALSO_CALLED,
        *(name.lower() for name in layout.names),
        "",
        CONTROL_OR_META,
    }
    if all(name in known or name.lower() in known for name in chord.split("+")):
        return repr(chord)
    return f"a string of {len(chord)} characters that is not the name of a key"


_ZWJ = "\u200d"
_ZWNJ = "\u200c"
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_TAGS = range(0xE0020, 0xE0080)
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
# Hangul jamo: leading consonants, vowels, trailing consonants; composed syllables.
_LEADING, _VOWELS, _TRAILING = range(0x1100, 0x1160), range(0x1160, 0x11A8), range(0x11A8, 0x1200)
_SYLLABLES = range(0xAC00, 0xD7A4)


def clusters(text: str) -> Iterator[str]:
    """Yield the grapheme clusters of `text`. Joined, they are equal to `text`."""
    if text.isascii() and "\r\n" not in text:
        yield from text
        return
    start = 0
    for index in range(1, len(text)):
        if _breaks(text, start, index):
            yield text[start:index]
            start = index
    if text:
        yield text[start:]


def _breaks(text: str, start: int, index: int) -> bool:
    """Return whether the user-perceived character that begins at `start` ends before `index`."""
    before, character = text[index - 1], text[index]
    if before == "\r" and character == "\n":
        return False
    if before in "\r\n\t" or character in "\r\n\t":
        return True
    if _extends(character):
        return False
    if before == _ZWJ:
        # The joiner continues an emoji sequence. Between letters it only affects their shape.
        return unicodedata.category(character) != "So"
    if ord(character) in _FLAG_LETTERS and ord(before) in _FLAG_LETTERS:
        run = index - start
        return run % 2 == 0
    return not _same_syllable(ord(before), ord(character))


def _extends(character: str) -> bool:
    if character.isascii():
        return False
    point = ord(character)
    return (
        character in (_ZWJ, _ZWNJ)
        or point in _SKIN_TONES
        or point in _TAGS
        or unicodedata.category(character) in ("Mn", "Mc", "Me")
    )


def _same_syllable(before: int, point: int) -> bool:
    if before in _LEADING:
        return point in _LEADING or point in _VOWELS or point in _SYLLABLES
    open_syllable = before in _SYLLABLES and (before - _SYLLABLES.start) % 28 == 0
    if before in _VOWELS or open_syllable:
        return point in _VOWELS or point in _TRAILING
    if before in _TRAILING or before in _SYLLABLES:
        return point in _TRAILING
    return False
