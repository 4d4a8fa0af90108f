"""Finding refs by role and name, and saying what is near when there is none.

Rule: pure. Searching is exact, or at most blind to case; what is only alike is named in the error and never taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from cdpengine.browser.wanted_text import Words, collapse_space, with_name
from cdpengine.errors import NodeNotFound
from cdpengine.snapshot.refs import Ref
from cdpengine.snapshot.text import quote, shorten
from cdpengine.snapshot.vocabulary import asked_role


def matching(refs: Iterable[Ref], role: str | None, name: Words | None, exact: bool = False) -> list[Ref]:
    """Return the refs with this role and name, see `Snapshot.find_all`."""
    refs = [ref for ref in refs if role is None or ref.role == role]
    return list(with_name(refs, lambda ref: ref.name, name, exact))


def wanted_role(refs: Iterable[Ref], role: str | None) -> str | None:
    """Return what the refs call the role that is asked for. Raises InvalidArgument for what is no role."""
    if role is None or any(ref.role == role for ref in refs):
        return role
    return asked_role(role)


def not_found(
    refs: Sequence[Ref],
    found: Sequence[Ref],
    role: str | None,
    name: Words | None,
    nth: int,
    *,
    exact: bool = False,
    unshown: Iterable[Ref] = (),
    gaps: Sequence[str] = (),
) -> NodeNotFound:
    """Return the error for what is not among the refs, of which `found` match but are too few.

    `unshown` are refs that were left out of the text; those that match are named. `gaps` are parts of the page
    that nobody looked at: what is wanted may be there.
    """
    wanted = " ".join(
        part for part in (role or "any role", _describe_name(name), f"nth={nth}" if nth else "") if part
    )
    left_out = matching(unshown, role, name, exact)
    if found:
        reason = f"the snapshot shows only {len(found)} of these: {_listed(found)}"
    else:
        near = [] if left_out else _near(refs, role, name)
        reason = "not in the snapshot" + (f"; near it: {_listed(near)}" if near else "")
    if left_out:
        reason += f"; on the page, but left out of this snapshot by its options: {_listed(left_out)}"
    if gaps:
        more = f", and {len(gaps) - _MOST_LISTED} more" if len(gaps) > _MOST_LISTED else ""
        reason += f"; not looked at: {', '.join(gaps[:_MOST_LISTED])}{more}"
    return NodeNotFound(target=wanted, reason=reason)


def _near(refs: Sequence[Ref], role: str | None, name: Words | None) -> list[Ref]:
    """List the same name in another role, then names like it, then others of the role."""
    near: list[Ref] = []
    of_role = [ref for ref in refs if ref.role == role]
    if isinstance(name, re.Pattern):
        near += matching(refs, None, name)
    elif name is not None:
        near += matching(refs, None, name)
        wanted = collapse_space(name).casefold()
        pool = (of_role or refs)[:_MOST_COMPARED]
        names = {ref.name.casefold(): ref for ref in reversed(pool) if len(ref.name) <= _LONGEST_COMPARED}
        near += [
            ref
            for text, ref in reversed(names.items())
            if wanted and text and (wanted in text or text in wanted)
        ]
        if len(wanted) <= _LONGEST_COMPARED:
            from difflib import get_close_matches

            near += [names[text] for text in get_close_matches(wanted, names, n=_MOST_LISTED)]
    near += of_role
    return list(dict.fromkeys(near))


_MOST_LISTED = 5
_MOST_COMPARED = 2_000
_LONGEST_COMPARED = 200


def _describe_name(name: Words | None) -> str:
    if name is None:
        return ""
    return f"/{shorten(name.pattern, 80)}/" if isinstance(name, re.Pattern) else quote(shorten(name, 80))


def _listed(refs: Sequence[Ref]) -> str:
    more = f", and {len(refs) - _MOST_LISTED} more" if len(refs) > _MOST_LISTED else ""
    return ", ".join(map(str, refs[:_MOST_LISTED])) + more
