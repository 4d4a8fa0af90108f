"""Grammar of the console: parsing lines, removing secrets from them, and completion. Pure.

    Page.navigate url=https://example.com      a command; values are JSON, 'text', or bare text
    Input.insertText {"text": "Ada"}           its parameters as one JSON object
    ? Page.navigate                            help from the browser's protocol description
    !click e3                                  an action of the engine (ACTIONS)
    # anything                                 a comment

Rule: the actions on a page are the verbs of the shell, with the same names, arguments and options. The protocol
decides the type of a bare value. Unknown parameters are rejected because Chrome ignores them
silently. Completion offers only methods, parameters and values of the browser's protocol, and existing actions,
targets and refs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from cdpengine import _json
from cdpengine.act.commands.verbs import option_fields
from cdpengine.act.fields import MEANING
from cdpengine.debug.explorer.actions import ACTIONS, FORMER, Work, find_action, first_secret
from cdpengine.debug.explorer.protocol import Field, Protocol
from cdpengine.debug.explorer.protocol_text import brief, signature
from cdpengine.debug.recording.known_secrets import REDACTED
from cdpengine.debug.recording.redact import Redactor
from cdpengine.errors import InvalidArgumentError

SCRIPTS = frozenset({
    "Runtime.evaluate", "Runtime.callFunctionOn", "Runtime.runScript", "Runtime.awaitPromise",
    "Debugger.evaluateOnCallFrame",
})  # fmt: skip
"""Commands that are answered when a script of the caller has ended."""

_WORK = frozenset({
    "DOM.focus", "DOM.setFileInputFiles", "Page.close", "Page.handleJavaScriptDialog", "Page.navigate",
    "Page.navigateToHistoryEntry", "Page.reload", "Page.setDocumentContent",
})  # fmt: skip
"""Commands, besides those of Input, whose answer may wait for a script of the page."""


@attrs.frozen
class Argument:
    """A parameter as written. `quoted` values are JSON or quoted strings; bare values are not converted yet."""

    name: str
    text: str
    value: object = None
    quoted: bool = False


@attrs.frozen
class CallLine:
    """A command of the protocol."""

    method: str
    arguments: tuple[Argument, ...]


@attrs.frozen
class ActionLine:
    """An action of the engine; `rest` follows its name."""

    name: str
    rest: str


@attrs.frozen
class HelpLine:
    """A help request; `name` is "" for help on the console."""

    name: str


Line = CallLine | ActionLine | HelpLine


def work_of(line: Line) -> Work:
    """Return the effect of a line on its target."""
    match line:
        case ActionLine(name):
            action = find_action(name)
            return "none" if action is None else action.work
        case CallLine(method):
            if method in SCRIPTS:
                return "script"
            return "work" if method in _WORK or method.startswith("Input.") else "question"
    return "none"


_METHOD = re.compile(r"([A-Za-z]+\.[A-Za-z]+)(?=\s|$)")
_NAME = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)=")
_BARE = re.compile(r"\S*")


def parse_line(line: str) -> Line | None:
    """Parse a line. Returns None for an empty line or a comment. Raises InvalidArgumentError."""
    text = line.strip()
    if not text or text.startswith("#"):
        return None
    if text.startswith("?"):
        return HelpLine(text[1:].strip())
    if text.startswith("!"):
        name, rest = first_word(text[1:])
        if find_action(name) is None:
            near = (
                [FORMER[name]]
                if name in FORMER
                else [known for known in ACTIONS if known.startswith(name[:1])]
                if name
                else []
            )
            expected = ", ".join(f"!{known}" for known in near) or "one of the actions that !help lists"
            raise InvalidArgumentError(what="action", given=f"!{name[:40]}", expected=expected)
        return ActionLine(name, rest)
    found = _METHOD.match(text)
    if found is None:
        raise InvalidArgumentError(
            what="line",
            given=repr(text.split()[0][:40]),
            expected="Domain.method name=value ..., !action, or ? for help",
        )
    return CallLine(found[1], _arguments(text[found.end() :].strip(), found[1]))


def first_word(text: str) -> tuple[str, str]:
    """Return the first word and the rest, without the white space between them."""
    name, rest = (*text.split(maxsplit=1), "", "")[:2]
    return name, rest.strip()


def split_words(text: str, what: str) -> list[str]:
    """Split a string into words. "..." (as JSON) and '...' keep the spaces in them.

    Raises InvalidArgumentError.
    """
    words: list[str] = []
    place = 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        if text[place] in "\"'":
            argument, place = _value("a value", text, place, what)
            words.append(str(argument.value))
        else:
            words.append(text[place:].split(maxsplit=1)[0])
            place += len(words[-1])
    return words


def _arguments(text: str, method: str) -> tuple[Argument, ...]:
    if text.startswith("{"):
        try:
            value, end = _json.decode_beginning(text)
        except ValueError:
            raise _wrong(method, "one JSON object, or name=value ...") from None
        if text[end:].strip():
            raise _wrong(method, "nothing after the JSON object")
        return tuple(Argument(name, _json.encode_text(inner), inner, True) for name, inner in value.items())
    arguments: list[Argument] = []
    place = 0
    while place < len(text):
        named = _NAME.match(text, place)
        if named is None:
            raise _wrong(method, "name=value ...; put values with spaces into quotes")
        place = named.end()
        argument, place = _value(named[1], text, place, method)
        if any(other.name == argument.name for other in arguments):
            raise _wrong(method, f"{argument.name} once")
        arguments.append(argument)
    return tuple(arguments)


def _value(name: str, text: str, place: int, method: str) -> tuple[Argument, int]:
    """Read one value: JSON, a quoted string, or a bare value that ends at white space."""
    first = text[place : place + 1]
    if first and first in "{[\"'":
        if first == "'":
            end = text.find("'", place + 1)
            if end < 0:
                raise _wrong(method, f"a closing ' for {name}")
            value: object = text[place + 1 : end]
            end += 1
        else:
            try:
                value, end = _json.decode_beginning(text, place)
            except ValueError:
                raise _wrong(method, f"JSON for {name}") from None
        if end < len(text) and not text[end].isspace():
            raise _wrong(method, f"a space after the value of {name}")
        return Argument(name, text[place:end], value, True), end
    bare = _BARE.match(text, place)
    assert bare is not None
    return Argument(name, bare[0]), bare.end()


def _wrong(method: str, expected: str) -> InvalidArgumentError:
    # The error does not repeat the value, which may be a password.
    return InvalidArgumentError(what=f"parameters of {method}", given="what was written", expected=expected)


def bind(line: CallLine, protocol: Protocol | None) -> tuple[str, dict[str, object]]:
    """Return the method and its parameters. Bare values get the types that the protocol gives.

    A method that the protocol lacks is passed on unchanged for the browser to refuse. Raises InvalidArgumentError
    for an unknown or a missing parameter.
    """
    command = None if protocol is None else protocol.commands.get(line.method)
    if protocol is None or command is None:
        return line.method, {argument.name: _convert(argument, None, None, "") for argument in line.arguments}
    known = {field.name: field for field in command.parameters}
    missing = [
        field.name
        for field in command.parameters
        if not field.optional and all(argument.name != field.name for argument in line.arguments)
    ]
    unknown = [argument.name for argument in line.arguments if argument.name not in known]
    if unknown or missing:
        raise InvalidArgumentError(
            what=f"parameters of {line.method}",
            given=f"no {', '.join(missing)}" if missing else ", ".join(unknown),
            expected=signature(line.method, command),
        )
    domain = line.method.partition(".")[0]
    return line.method, {
        argument.name: _convert(argument, known[argument.name], protocol, domain)
        for argument in line.arguments
    }


def _convert(argument: Argument, field: Field | None, protocol: Protocol | None, domain: str) -> object:
    if argument.quoted:
        return argument.value
    kind = ""
    if field is not None and protocol is not None:
        _, described = protocol.resolve(field, domain)
        kind = (field if described is None else described).type
    if kind in ("string", "binary"):
        return argument.text
    try:
        return _json.decode_leniently(argument.text)
    except ValueError:
        return argument.text


# --- lines without secrets ------------------------------------------------------------------------------


def safe_line(line: str) -> str:
    """Return a line for the history, without typed text, passwords, cookies and tokens."""
    redactor = Redactor()
    try:
        parsed = parse_line(line)
    except InvalidArgumentError:
        word = line.split(maxsplit=1)[0]
        return f"{word} {REDACTED}" if word != line.strip() else redactor.text(line)
    match parsed:
        case ActionLine(name, rest) if name != "press" and (at := first_secret(name, rest)) is not None:
            # Only the page knows the element, so any typed text may be a password.
            return " ".join([f"!{name}", *rest.split(maxsplit=at)[:at], REDACTED])
        case ActionLine("press", rest):
            keys = [word if len(word) > 1 else REDACTED for word in rest.split()[:1]]
            return " ".join(["!press", *keys, *rest.split()[1:]])
        case CallLine(method, arguments) if arguments:
            return _safe_call(redactor, method, arguments)
    return redactor.text(line.strip())


def _safe_call(redactor: Redactor, method: str, arguments: tuple[Argument, ...]) -> str:
    params: Mapping[str, object] = {
        argument.name: argument.value if argument.quoted else argument.text for argument in arguments
    }
    message = _json.encode({"method": method, "params": params})
    redacted = _json.decode(redactor.redact(message, method))["params"]
    words = [
        f"{argument.name}={argument.text}"
        if redacted[argument.name] == params[argument.name]
        else f"{argument.name}={_json.encode_text(redacted[argument.name])}"
        for argument in arguments
    ]
    return " ".join([method, *words])


# --- completion ----------------------------------------------------------------------------------------------

_VALUE = re.compile(r"(\w+)=([^\s\"'{\[]*)\Z")
_OPEN = re.compile(r"=([\"'{\[])[^\"'}\]]*\Z")
"""An unclosed value in quotes or brackets."""

_TAKEN = re.compile(r"(?:^|\s)(\w+)=")


@attrs.frozen
class Candidate:
    """A completion that replaces the last `replaces` characters, with a `note` for the user."""

    text: str
    replaces: int
    note: str = ""


def complete(
    line: str, protocol: Protocol | None, *, words: Mapping[str, Sequence[str]] | None = None
) -> list[Candidate]:
    """Return completions of `line`, which ends at the cursor.

    `words` has "targets" (numbers for !use) and "refs" (of the last snapshot).
    """
    text = line.lstrip()
    if text.startswith("!"):
        return list(_action(text[1:], protocol, words or {}))
    if protocol is None:
        return []
    if text.startswith("?"):
        prefix = text[1:].lstrip()
        return list(_names(prefix, (entry.name for entry in protocol.entries()), protocol))
    if " " not in text:
        return list(_names(text, protocol.commands, protocol))
    method, _, rest = text.partition(" ")
    return list(_parameters(method, rest, protocol))


def _names(prefix: str, names: Iterable[str], protocol: Protocol) -> Iterator[Candidate]:
    low = prefix.casefold()
    known = list(names)
    if "." not in prefix:
        domains = dict.fromkeys(name.partition(".")[0] for name in known)
        for domain in domains:
            if domain.casefold().startswith(low):
                yield Candidate(f"{domain}.", len(prefix))
        if len(low) < 3:
            return
    for name in sorted(known, key=str.casefold):
        folded = name.casefold()
        if "." in name and (folded.startswith(low) or ("." not in low and f".{low}" in folded)):
            yield Candidate(name, len(prefix), brief(protocol.find(name)[0].item))


def _parameters(method: str, rest: str, protocol: Protocol) -> Iterator[Candidate]:
    command = protocol.commands.get(method)
    if command is None or rest.lstrip().startswith("{"):
        return
    domain = method.partition(".")[0]
    if value := _VALUE.search(rest):
        for field in command.parameters:
            if field.name == value[1]:
                for allowed in protocol.values(field, domain):
                    if allowed.casefold().startswith(value[2].casefold()):
                        yield Candidate(allowed, len(value[2]))
        return
    if _OPEN.search(rest):
        return
    taken = set(_TAKEN.findall(rest))
    prefix = re.split(r"\s", rest)[-1]
    for field in command.parameters:
        if field.name not in taken and field.name.casefold().startswith(prefix.casefold()):
            note = ("optional; " if field.optional else "") + shorten_text(field.description)
            yield Candidate(f"{field.name}=", len(prefix), note)


def shorten_text(text: str) -> str:
    """Return the first sentence in one line."""
    return " ".join(text.split()).split(". ")[0].removesuffix(".")[:80]


def _action(text: str, protocol: Protocol | None, words: Mapping[str, Sequence[str]]) -> Iterator[Candidate]:
    name, space, rest = text.partition(" ")
    if not space:
        for known, described in ACTIONS.items():
            if known.startswith(name):
                yield Candidate(f"!{known}", len(text) + 1, described.does)
        return
    action = find_action(name)
    if action is None:
        return
    before, last = rest.split(" ")[:-1], rest.split(" ")[-1]
    if last.startswith("--") and action.verb is not None:
        for option, field in option_fields(action.verb).items():
            if option.startswith(last):
                yield Candidate(option, len(last), shorten_text(field.metadata[MEANING]))
        return
    place = len([word for word in before if word and not word.startswith("--")])
    if not action.takes:
        return
    if place >= len(action.takes) and not action.usage.partition("|")[0].rstrip().endswith("..."):
        return
    for kind in action.takes[min(place, len(action.takes) - 1)]:
        match kind:
            case "patterns":
                yield from _patterns(last, protocol, also_off=name == "events") if protocol else ()
            case "refs" | "targets":
                for word in words.get(kind, ()):
                    if word.startswith(last):
                        yield Candidate(word, len(last))
            case _ if kind.startswith(last):
                yield Candidate(kind, len(last))


def _patterns(prefix: str, protocol: Protocol, *, also_off: bool) -> Iterator[Candidate]:
    low = prefix.casefold()
    for domain in protocol.domains:
        if domain.events and f"{domain.name}.*".casefold().startswith(low):
            yield Candidate(f"{domain.name}.*", len(prefix), f"{len(domain.events)} events")
    if "." in low:
        for name, event in protocol.events.items():
            if name.casefold().startswith(low):
                yield Candidate(name, len(prefix), brief(event))
    if also_off and "off".startswith(low):
        yield Candidate("off", len(prefix), "show no events")
