"""Finding refs by role and name, and saying what is near when there is none.

Rule: pure. Searching is exact, or at most blind to case; what is only alike is named in the error and never taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

import attrs

from cdpengine._page.wanted_text import Words, collapse_space, with_name
from cdpengine._snapshot.refs.refs import Ref
from cdpengine._snapshot.roles import check_role
from cdpengine._snapshot.text import quote, shorten
from cdpengine.errors import NodeNotFoundError


@attrs.frozen
class WantedRef:
    """What is looked for among refs, see `Snapshot.find_all`. `saying` are the ids of those that say `text`."""

    role: str | None
    name: Words | None
    text: Words | None = None
    exact: bool = False
    saying: AbstractSet[str] = frozenset()

    def among(self, refs: Iterable[Ref]) -> list[Ref]:
        """Return those that are wanted, in their order."""
        found = [
            ref
            for ref in refs
            if (self.role is None or ref.role == self.role) and (self.text is None or ref.id in self.saying)
        ]
        return list(with_name(found, lambda ref: ref.name, self.name, self.exact))

    def __str__(self) -> str:
        parts = [self.role or "any role", _describe_name(self.name)]
        if self.text is not None:
            parts.append(f"that says {'exactly ' if self.exact else ''}{_describe_name(self.text)}")
        return " ".join(part for part in parts if part)


def wanted_role(refs: Iterable[Ref], role: str | None) -> str | None:
    """Return what the refs call the role that is asked for. Raises InvalidArgumentError for an unknown role."""
    if role is None or any(ref.role == role for ref in refs):
        return role
    return check_role(role)


def not_found(
    refs: Sequence[Ref],
    found: Sequence[Ref],
    wanted: WantedRef,
    nth: int,
    *,
    unshown: Iterable[Ref] = (),
    gaps: Sequence[str] = (),
) -> NodeNotFoundError:
    """Return the error for what is not among the refs, of which `found` match but are too few.

    `unshown` are refs that were left out of the text; those that match are named. `gaps` are parts of the page
    that were not read: what is wanted may be there.
    """
    left_out = wanted.among(unshown)
    if found:
        reason = f"the snapshot shows only {len(found)} of these: {_list_refs(found)}"
    else:
        near = [] if left_out else _near(refs, wanted)
        reason = "not in the snapshot" + (f"; near it: {_list_refs(near)}" if near else "")
    if left_out:
        reason += f"; on the page, but left out of this snapshot by its options: {_list_refs(left_out)}"
    if gaps:
        more = f", and {len(gaps) - _MOST_LISTED} more" if len(gaps) > _MOST_LISTED else ""
        reason += f"; not looked at: {', '.join(gaps[:_MOST_LISTED])}{more}"
    return NodeNotFoundError(target=f"{wanted} nth={nth}" if nth else str(wanted), reason=reason)


def _near(refs: Sequence[Ref], wanted: WantedRef) -> list[Ref]:
    """List the same name or text in another role, then names like it, then others of the role."""
    of_role = [ref for ref in refs if ref.role == wanted.role]
    near = [] if wanted.text is None else attrs.evolve(wanted, role=None, name=None).among(refs)
    name = wanted.name
    if name is not None:
        near += WantedRef(None, name).among(refs)
    if isinstance(name, str):
        words = collapse_space(name).casefold()
        pool = (of_role or refs)[:_MOST_COMPARED]
        names = {ref.name.casefold(): ref for ref in reversed(pool) if len(ref.name) <= _LONGEST_COMPARED}
        near += [
            ref
            for text, ref in reversed(names.items())
            if words and text and (words in text or text in words)
        ]
        if len(words) <= _LONGEST_COMPARED:
            from difflib import get_close_matches

            near += [names[text] for text in get_close_matches(words, names, n=_MOST_LISTED)]
    near += of_role
    return list(dict.fromkeys(near))


_MOST_LISTED = 5
_MOST_COMPARED = 2_000
_LONGEST_COMPARED = 200


def _describe_name(name: Words | None) -> str:
    if name is None:
        return ""
    return f"/{shorten(name.pattern, 80)}/" if isinstance(name, re.Pattern) else quote(shorten(name, 80))


def _list_refs(refs: Sequence[Ref]) -> str:
    more = f", and {len(refs) - _MOST_LISTED} more" if len(refs) > _MOST_LISTED else ""
    return ", ".join(map(str, refs[:_MOST_LISTED])) + more
