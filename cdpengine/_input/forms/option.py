"""Option: one option of a select or listbox, by its label, its value or its place."""

from __future__ import annotations

import attrs

from cdpengine.errors import InvalidArgumentError


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
            given = [
                f"index {part!r}"
                if name == "index" and isinstance(part, int)
                else f"a {name} of type {type(part).__name__}"
                for name, part in self.parts
            ]
            raise InvalidArgumentError(
                what="Option",
                given=" and ".join(given) or "nothing",
                expected="a label, a value or an index (0 or more)",
            )

    @property
    def parts(self) -> list[tuple[str, str | int]]:
        """What is given, by name."""
        parts = (("label", self.label), ("value", self.value), ("index", self.index))
        return [(name, part) for name, part in parts if part is not None]

    def __str__(self) -> str:
        return "the option with " + " and ".join(f"{name} {part!r}" for name, part in self.parts)


def request_for(wanted: str | Option) -> dict[str, object]:
    """Return what is wanted as the page's helpers understand it. Raises InvalidArgumentError.

    A text is an option's value where one has it, else its label.
    """
    if isinstance(wanted, str):
        return {"text": wanted}
    if not isinstance(wanted, Option):
        raise InvalidArgumentError(
            what="option",
            given=f"a {type(wanted).__name__}",
            expected="a string (a value or a label) or an Option",
        )
    named = (("label", wanted.label), ("value", wanted.value), ("index", wanted.index))
    return {name: part for name, part in named if part is not None}


def kind_of(wanted: str | Option) -> str:
    """Return in words how an option was asked for, without the text that it was asked for by."""
    if isinstance(wanted, str):
        return f"an option with this value or label ({len(wanted)} characters)"
    words = [
        f"this {name} ({len(part)} characters)" if isinstance(part, str) else f"{name} {part}"
        for name, part in wanted.parts
    ]
    return f"an option with {' and '.join(words)}"
