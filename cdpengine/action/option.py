"""Option: one option of a select or listbox, by its label, its value or its place."""

from __future__ import annotations

import attrs

from cdpengine.errors import InvalidArgument


@attrs.frozen
class Option:
    """The option that has all that is given: `label` (white space joined), `value`, `index` (from 0)."""

    label: str | None = None
    value: str | None = None
    index: int | None = None

    def __attrs_post_init__(self) -> None:
        texts = (self.label, self.value)
        wrong_text = any(text is not None and not isinstance(text, str) for text in texts)
        wrong_index = self.index is not None and (
            isinstance(self.index, bool) or not isinstance(self.index, int) or self.index < 0
        )
        if wrong_text or wrong_index or (self.index is None and texts == (None, None)):
            raise InvalidArgument(
                what="Option", given=repr(self), expected="a label, a value or an index (0 or more)"
            )

    def __str__(self) -> str:
        parts = [
            f"{name} {part!r}"
            for name, part in (("label", self.label), ("value", self.value), ("index", self.index))
            if part is not None
        ]
        return "the option with " + " and ".join(parts)


def request_for(wanted: str | Option) -> dict[str, object]:
    """Return what is wanted as the page's helpers understand it. Raises InvalidArgument.

    A text is an option's value where one has it, else its label.
    """
    if isinstance(wanted, str):
        return {"text": wanted}
    if not isinstance(wanted, Option):
        raise InvalidArgument(
            what="option",
            given=f"a {type(wanted).__name__}",
            expected="a string (a value or a label) or an Option",
        )
    named = (("label", wanted.label), ("value", wanted.value), ("index", wanted.index))
    return {name: part for name, part in named if part is not None}


def named(wanted: str | Option) -> str:
    """Return what is wanted in words."""
    return f"the option {wanted[:60]!r}" if isinstance(wanted, str) else str(wanted)
