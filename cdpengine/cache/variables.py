"""Values of variables, resolved before a run starts and never shown.

Rule: a value comes from the caller, else from the environment, else from a callable. A value from the
environment is valid for the origins where it was learned, and for the origins that the environment lists for
it. One error names all missing variables. No `repr`, message or log contains a value.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

import attrs

from cdpengine import _json
from cdpengine._checks import check_string
from cdpengine._secrets import is_sensitive_name
from cdpengine._urls.origins import origin_of
from cdpengine.act import ActRequest
from cdpengine.cache.templates import check_name, fill, fill_request
from cdpengine.errors import InvalidArgumentError, VariablesError
from cdpengine.errors.texts import MARK

ENVIRONMENT_PREFIX = "CDPENGINE_VAR_"
"""Prefix of a value in the environment. The variable's name follows in capitals: CDPENGINE_VAR_PASSWORD."""

ORIGINS_PREFIX = "CDPENGINE_ORIGINS_"
"""Prefix of the additional origins where a value may be used. The origins are separated by spaces."""

LONGEST_VALUE = 1_000_000
"""Maximum length of a value, in characters."""

AskForSecret = Callable[[str], Awaitable[str | None]]
"""A callable that returns the value of the named variable, or None."""


@attrs.frozen
class Values:
    """The values of variables, by name. The values of `sensitive` variables are never shown.

    The `repr` contains no values.
    """

    _values: Mapping[str, str] = attrs.field(repr=False)
    sensitive: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables, in alphabetical order."""
        return tuple(sorted(self._values))

    def reveal(self) -> dict[str, str]:
        """Return the values by name, for code that searches for them in strings."""
        return dict(self._values)

    def fill(self, template: str) -> str:
        """Return a filled-in template; see `cdpengine.cache.fill`."""
        return fill(template, self._values)

    def fill_request(self, request: ActRequest) -> ActRequest:
        """Return a request with its templates filled in; see `cdpengine.cache.fill_request`."""
        return fill_request(request, self._values)

    @property
    def has_secrets(self) -> bool:
        """Whether a sensitive value is not empty."""
        return any(self._values.get(name) for name in self.sensitive)

    def hide(self, text: str, *, everything: bool = False) -> str:
        """Replace each sensitive value, or every value, in a string by `***`.

        This covers the forms of a value: verbatim, with collapsed white space, quoted in JSON or a snapshot,
        and encoded in a URL.
        """
        hidden = self._values if everything else self.sensitive
        secrets = {value for name in hidden if (value := self._values.get(name))}
        forms = {form for value in secrets for form in forms_of(value) if form.strip()}
        for form in sorted(forms, key=len, reverse=True):
            text = text.replace(form, MARK)
        return text


def forms_of(value: str) -> Iterator[str]:
    """Yield the forms of a value in strings."""
    yield value
    yield (collapsed := " ".join(value.split()))
    for each in (value, collapsed):
        yield _json.encode_ascii(each)[1:-1]
        yield _json.encode_text(each)[1:-1]
        yield quote(each, safe="", errors="replace")
        yield quote_plus(each, safe="", errors="replace")


def taken_from_environment(values: Mapping[str, str], names: Iterable[str]) -> tuple[str, ...]:
    """Return the names whose value equals the value in the environment."""
    return tuple(
        name
        for name in names
        if name in values and os.environ.get(f"{ENVIRONMENT_PREFIX}{name.upper()}") == values[name]
    )


def is_permitted(name: str, learned: Collection[str], origin: str | None) -> bool:
    """Return whether an origin may receive a value from the environment.

    learned: the variables whose values came from the environment when the entry was learned at this origin.
    """
    if name in learned:
        return True
    return origin is not None and origin in listed_origins(name)


def listed_origins(name: str) -> frozenset[str]:
    """Return the origins that the environment lists for a variable's value."""
    listed = os.environ.get(f"{ORIGINS_PREFIX}{name.upper()}", "").split()
    return frozenset(origin for each in listed if (origin := origin_of(each)) is not None)


async def resolve_values(
    names: Iterable[str],
    *,
    values: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    permitted: Callable[[str], bool] = lambda _name: True,
    ask: AskForSecret | None = None,
    sensitive: Iterable[str] = (),
) -> Values:
    """Return the values of all these variables.

    values: the first source.
    environment: the second source, by default the environment of the process. Its names are CDPENGINE_VAR_
        and the variable's name in capitals.
    permitted: returns whether the environment's value of this variable may be used.
    ask: the third source: an async callable, called for one name after another. If it raises, the variable
        has no value.
    sensitive: variables whose values are hidden. Values from `ask` and of sensitive names
        (`is_sensitive_name`) are hidden as well.

    Raises VariablesError with the names of all missing variables, and InvalidArgumentError for a
    value that is not a string or is too long.
    """
    variables = os.environ if environment is None else environment
    found: dict[str, str] = {}
    missing: list[str] = []
    withheld: list[str] = []
    failures: list[tuple[str, Exception]] = []
    hidden = set(sensitive)
    for name in dict.fromkeys(names):
        check_name(name)
        value: Any = (values or {}).get(name)
        if value is None:
            value = variables.get(f"{ENVIRONMENT_PREFIX}{name.upper()}")
            if value is not None and not permitted(name):
                value, withheld = None, [*withheld, name]
        if value is None and ask is not None:
            hidden.add(name)
            try:
                value = await ask(name)
            except Exception as error:  # noqa: BLE001 - the caller's code, whose messages can contain a value
                failures.append((name, error))
        if value is None:
            missing.append(name)
            continue
        check_string(f"value of {name}", value, "a text")
        if len(value) > LONGEST_VALUE:
            raise InvalidArgumentError(
                f"value of {name}", f"{len(value)} characters", f"at most {LONGEST_VALUE}"
            )
        found[name] = value
        if is_sensitive_name(name):
            hidden.add(name)
    if missing:
        raise VariablesError(
            missing,
            [name for name in withheld if name in missing],
            [f"asking for {name} raised {type(error).__name__}" for name, error in failures],
        ) from (failures[0][1] if failures else None)
    return Values(found, frozenset(hidden & found.keys()))
