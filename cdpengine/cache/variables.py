"""Values of variables at run time: found in order, all of them before anything runs, and shown nowhere.

Rule: a value comes from the first of these that has it: what was passed, the environment, a callable. A value of
the environment is for the origins that it was recorded on, or that the environment lists for it. A name that none
of them has is an error, together with all other such names. No value is in a `repr`, a message or a log.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

import attrs

from cdpengine import _json
from cdpengine._page.patterns import origin_of
from cdpengine.act import ActRequest
from cdpengine.cache.templates import check_name, fill, fill_request
from cdpengine.errors import InvalidArgumentError, UndefinedVariablesError
from cdpengine.errors.texts import MARK, is_secret_parameter

ENVIRONMENT_PREFIX = "CDPENGINE_VAR_"
"""What a variable's name has before it in the environment, in capitals: CDPENGINE_VAR_PASSWORD."""

ORIGINS_PREFIX = "CDPENGINE_ORIGINS_"
"""The same for the origins, separated by blanks, where a value may be used beside those of its recording."""

LONGEST_VALUE = 1_000_000
"""Characters of a value."""

AskForSecret = Callable[[str], Awaitable[str | None]]
"""Gets the name of a variable and answers with its value; None where it has none."""


@attrs.frozen
class Values:
    """The values of variables, by name. `sensitive` names those that are shown nowhere.

    Its `repr` has the names only.
    """

    _values: Mapping[str, str] = attrs.field(repr=False)
    sensitive: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """The names that have values, in alphabetical order."""
        return tuple(sorted(self._values))

    def reveal(self) -> dict[str, str]:
        """Return the values themselves, by name, for what has to find them in texts."""
        return dict(self._values)

    def fill(self, template: str) -> str:
        """Return the text of a template; see `cdpengine.cache.fill`."""
        return fill(template, self._values)

    def fill_request(self, request: ActRequest) -> ActRequest:
        """Return a request with its templates filled in; see `cdpengine.cache.fill_request`."""
        return fill_request(request, self._values)

    @property
    def has_secrets(self) -> bool:
        """Whether a value that is not empty is sensitive."""
        return any(self._values.get(name) for name in self.sensitive)

    def hide(self, text: str, *, everything: bool = False) -> str:
        """Return a text with `***` in place of each value that is sensitive, or of every value.

        That is: as the value is written, with its white space collapsed, as it is quoted in JSON and in a
        snapshot, and as it stands in a URL.
        """
        hidden = self._values if everything else self.sensitive
        secrets = {value for name in hidden if (value := self._values.get(name))}
        forms = {form for value in secrets for form in forms_of(value) if form.strip()}
        for form in sorted(forms, key=len, reverse=True):
            text = text.replace(form, MARK)
        return text


def forms_of(value: str) -> Iterator[str]:
    """Yield the forms in which a value stands in texts."""
    yield value
    yield (collapsed := " ".join(value.split()))
    for each in (value, collapsed):
        yield _json.encode_ascii(each)[1:-1]
        yield _json.encode_text(each)[1:-1]
        yield quote(each, safe="", errors="replace")
        yield quote_plus(each, safe="", errors="replace")


_SECRET_WORDS = frozenset({"code", "csc", "cvc", "cvv", "iban", "otp", "pass", "pin", "pwd", "ssn"})
_OF_PLAIN_CODES = frozenset(
    {"area", "color", "country", "currency", "language", "post", "postal", "product", "zip"}
)
"""Words that make a variable sensitive, and those before "code" that make it none."""


def is_sensitive_name(name: str) -> bool:
    """Say whether a variable is sensitive by its name: a password, a code, a token, a card's number."""
    words = name.lower().split("_")
    if any(
        word in _SECRET_WORDS and not (word == "code" and before in _OF_PLAIN_CODES)
        for before, word in zip(["", *words], words, strict=False)
    ):
        return True
    return is_secret_parameter(name) or is_secret_parameter(name.replace("_", ""))


def taken_from_environment(values: Mapping[str, str], names: Iterable[str]) -> tuple[str, ...]:
    """Return those of the names whose value is that of the environment."""
    return tuple(
        name
        for name in names
        if name in values and os.environ.get(f"{ENVIRONMENT_PREFIX}{name.upper()}") == values[name]
    )


def is_permitted(name: str, recorded: Collection[str], origin: str | None) -> bool:
    """Say whether a value of the environment may be used at an origin.

    recorded: the variables whose values were the environment's when the entry was recorded there.
    """
    if name in recorded:
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
    """Return values for all of these variables.

    values: looked at first.
    environment: looked at next, for CDPENGINE_VAR_ and the name in capitals; without, that of the process.
    permitted: says of a name whether the value of the environment may be used.
    ask: an async callable that is asked for what is still missing, one name after the other. One that raises has
        no value.
    sensitive: names whose values are hidden; those that `is_sensitive_name` says, and what `ask` gave, are too.

    Raises UndefinedVariablesError with all names that have no value, and InvalidArgumentError for a value that is
    no text or too long.
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
            except Exception as error:  # noqa: BLE001 - the caller's own code, whose texts may hold a value
                failures.append((name, error))
        if value is None:
            missing.append(name)
            continue
        if not isinstance(value, str):
            raise InvalidArgumentError(f"value of {name}", f"a {type(value).__name__}", "a text")
        if len(value) > LONGEST_VALUE:
            raise InvalidArgumentError(
                f"value of {name}", f"{len(value)} characters", f"at most {LONGEST_VALUE}"
            )
        found[name] = value
        if is_sensitive_name(name):
            hidden.add(name)
    if missing:
        raise UndefinedVariablesError(
            missing,
            [name for name in withheld if name in missing],
            [f"asking for {name} raised {type(error).__name__}" for name, error in failures],
        ) from (failures[0][1] if failures else None)
    return Values(found, frozenset(hidden & found.keys()))
