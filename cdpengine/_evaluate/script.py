"""Script: what a user has evaluated, a function or an expression; and its reply as a value, or as what it threw.

Rule: arguments travel as literals inside the evaluated source, because `Runtime.evaluate` alone honours a timeout;
`Runtime.callFunctionOn` ignores it. A text is a function when it is one arrow function or one `function` from its
first to its last token. That is decided by reading the text, never by trying it: a script must not run twice.

A script is asked for its value by reference, so a primitive comes with the reply, at no cost. Anything else is
read in one more call, where it is: plain JSON data comes as JSON text, everything else by V8's deep serialization,
which keeps types and identity whatever the page did to its built-ins.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

import attrs
import msgspec
import trio

from cdpengine._evaluate.literals import to_literal
from cdpengine._evaluate.values import LARGEST_EXACT, deserialize
from cdpengine._javascript import script, with_dom
from cdpengine._page.frames import Frame
from cdpengine._page.scripts.page_functions import Node, ObjectGroup, RemoteHandle, deep
from cdpengine._pickling import not_picklable
from cdpengine._protocol.domains.runtime import EvaluateReply, ExceptionDetails, RemoteObject
from cdpengine._protocol.messages import decode_payload
from cdpengine._protocol.session import Session
from cdpengine.errors import (
    EngineError,
    EvaluationFailedError,
    EvaluationTerminatedError,
    InvalidArgumentError,
    ProtocolError,
    RemoteError,
    StaleRefError,
    ValueTooLargeError,
)
from cdpengine.errors.texts import MARK

World = Literal["main", "isolated"]

_DETACHED = "cdpengine: detached node "

_LONG_ENOUGH = 6
"""Characters from which on a text that a script was given is taken out of what it throws."""


@not_picklable("the value: evaluate without a handle")
@attrs.frozen(eq=False)
class JSHandle:
    """A value that stays in the page. `description` is Chrome's own, such as "Array(3)" or "HTMLDivElement"."""

    session: Session = attrs.field(repr=False)
    object_id: str = attrs.field(repr=False)
    description: str


@attrs.frozen(eq=False)
class Script:
    """What is to be evaluated: an expression, or a function and its arguments.

    A Node or a JSHandle among the arguments is passed as what it is in the page. `frame` None is the frame of the
    first node, else the main frame. With `own`, the engine asks and not its user: in the world that the engine has
    for itself, whatever `world` says. Checked when made: raises InvalidArgumentError.
    """

    source: str
    args: Sequence[object] = ()
    frame: Frame | None = None
    world: World = "main"
    own: bool = False

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.source, str):
            raise InvalidArgumentError(
                what="expression_or_function",
                given=f"a {type(self.source).__name__}",
                expected="JavaScript as a str",
            )
        if self.world not in ("main", "isolated"):
            raise InvalidArgumentError(what="world", given=repr(self.world), expected='"main" or "isolated"')
        for arg in self.args:
            if not isinstance(arg, (Node, JSHandle)):
                to_literal(arg)

    @property
    def objects(self) -> list[Node | JSHandle]:
        """The arguments that are objects in the page."""
        return [arg for arg in self.args if isinstance(arg, (Node, JSHandle))]

    def expression(self) -> str:
        """Return the source as one expression; for a script without nodes."""
        source = with_dom(self.source) if self.own else self.source
        if not self.args and not is_function(self.source):
            return source
        return f"({source}\n)({','.join(to_literal(arg) for arg in self.args)})"

    def function(self) -> str:
        """Return a function of the objects alone, which first sees that each node is still in its document."""
        objects = self.objects
        nodes = [number for number, each in enumerate(objects) if isinstance(each, Node)]
        numbers = itertools.count()
        args = [
            f"arguments[{next(numbers)}]" if isinstance(arg, (Node, JSHandle)) else to_literal(arg)
            for arg in self.args
        ]
        # `arguments` and not a parameter: a name of ours must not hide one that the function means. What the
        # caller passes stands behind the last "\n)(", as in `expression`.
        return (
            f"function() {{ for (const i of {nodes}) if (!arguments[i].isConnected) throw '{_DETACHED}' + i; "
            f"return (({self.source}\n).bind(this)\n)({','.join(args)}) }}"
        )

    def explain(self, failed: EvaluationFailedError) -> EngineError:
        """Return what the script's failure means: StaleRefError where its own check of the nodes threw.

        Texts that the script was given are taken out: they may be secrets, and the message is shown.
        """
        _hide_given(failed, self.args)
        found = re.search(rf"{_DETACHED}(\d+)", failed.text)
        objects = self.objects
        if found is None or int(found[1]) >= len(objects):
            return failed
        return StaleRefError(
            ref=objects[int(found[1])].description,
            description="a detached node",
            reason="it is no longer in the document",
        )


# --- whether a text is a function ----------------------------------------------------------------------------

_SPACE_AND_COMMENTS = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_FUNCTION = re.compile(r"(?:async\b\s*)?function\b")
_ASYNC = re.compile(r"async\b(?=\s*[\w$(])")
_NAME = re.compile(r"[\w$]+")
_ARROW = re.compile(r"\s*=>")

# What is between brackets, quotes and slashes is passed over in one piece: it matters only before a slash, which
# begins a regular expression or divides.
_TOKEN = re.compile(
    r"""
      (?P<plain>[^"'`(){}\[\]/]+)
    | (?P<open>[({\[])
    | (?P<close>[)}\]])
    | (?P<comment>//[^\n]*|/\*.*?\*/)
    | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | (?P<template>`)
    | (?P<slash>/)
    | (?P<other>.)
    """,
    re.DOTALL | re.VERBOSE,
)
_REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_REGEX_AFTER_WORD = frozenset(
    {"return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "do", "else", "yield", "await"}
)


_LONGEST_KEPT = 100_000
"""Characters of a text of which it is remembered what it is: most are evaluated again and again."""


def is_function(source: str) -> bool:
    """Whether `source` is exactly one function, which is then called; otherwise it is evaluated as it is."""
    return _is_known_function(source) if len(source) <= _LONGEST_KEPT else _is_function(source)


@lru_cache(100)
def _is_known_function(source: str) -> bool:
    return _is_function(source)


def _is_function(source: str) -> bool:
    start = _skip(source, 0)
    if found := _FUNCTION.match(source, start):
        brace = _end_of_parameters(source, found.end())
        end = _find_closing(source, brace) if brace is not None else None
        if end is None:
            return True  # it never ends: V8 says what is wrong with it
        return _skip(source, end) == len(source)
    return _is_arrow(source, start)


def _is_arrow(source: str, start: int) -> bool:
    if found := _ASYNC.match(source, start):
        after = _skip(source, found.end())
        if source.startswith("(", after) or not _ARROW.match(source, found.end()):
            start = after
    if source.startswith("(", start):
        end = _find_closing(source, start)
    else:
        name = _NAME.match(source, start)
        end = name.end() if name else None
    return end is not None and _ARROW.match(source, _skip(source, end)) is not None


def _skip(source: str, start: int) -> int:
    found = _SPACE_AND_COMMENTS.match(source, start)
    return found.end() if found else start


def _end_of_parameters(source: str, start: int) -> int | None:
    """Return where the body's brace opens, after the name and the parameters."""
    parenthesis = source.find("(", start)
    end = _find_closing(source, parenthesis) if parenthesis >= 0 else None
    if end is None:
        return None
    brace = _skip(source, end)
    return brace if source.startswith("{", brace) else None


def _find_closing(source: str, start: int) -> int | None:
    """Return the index after the bracket that closes the one at `start`, None when there is none."""
    depth, position, value_before, plain = 0, start, False, ""
    while found := _TOKEN.match(source, position):
        position = found.end()
        match found.lastgroup:
            case "plain":
                plain = found[0].rstrip() or plain
                continue
            case "comment":
                continue
            case "open":
                depth, value_before = depth + 1, False
            case "close":
                depth, value_before = depth - 1, True
                if depth == 0:
                    return position
            case "template":
                end = _end_of_template(source, position)
                if end is None:
                    return None
                position, value_before = end, True
            case "slash":
                divides = _ends_value(plain) if plain else value_before
                regex = None if divides else _REGEX.match(source, found.start())
                position, value_before = (regex.end(), True) if regex else (position, False)
            case kind:
                value_before = kind == "string"
        plain = ""
    return None


def _ends_value(plain: str) -> bool:
    """Whether a value ends where this text does, so that a slash behind it divides."""
    begin = len(plain)
    while begin and (plain[begin - 1].isalnum() or plain[begin - 1] in "_$"):
        begin -= 1
    return begin < len(plain) and plain[begin:] not in _REGEX_AFTER_WORD


def _end_of_template(source: str, position: int) -> int | None:
    """Return the index after the backtick that ends the template whose text begins at `position`."""
    while found := _IN_TEMPLATE.search(source, position):
        if found[0] == "`":
            return found.end()
        end = found.end() if found[0] != "${" else _find_closing(source, found.end() - 1)
        if end is None:
            return None
        position = end
    return None


_IN_TEMPLATE = re.compile(r"`|\$\{|\\.", re.DOTALL)
"""What means something in a template: its end, an expression, what is escaped."""


# --- what comes back -----------------------------------------------------------------------------------------


def _hide_given(failed: EvaluationFailedError, given: object) -> None:
    if isinstance(given, str):
        if len(given) >= _LONG_ENOUGH:
            failed.text = failed.text.replace(given, MARK)
            failed.stack = failed.stack.replace(given, MARK)
    elif isinstance(given, Mapping):
        for each in given.values():
            _hide_given(failed, each)
    elif isinstance(given, Sequence) and not isinstance(given, bytes | bytearray | memoryview):
        for each in given:
            _hide_given(failed, each)


_SPECIAL_NUMBERS = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf", "-0": "-0.0"}

_ENDED = {
    "Internal error": "a termination hit every script of this page's process, this one too",
    "Execution was terminated": "a termination hit every script of this page's process, this one too",
    "Inspected target navigated or closed": "the page navigated away or was closed",
    "Execution context was destroyed.": "the page navigated away",
    "Cannot find context with specified id": "the page navigated away",
}


def to_python(reply: EvaluateReply) -> Any:
    """Return the value of a reply that was asked for by value. Raises EvaluationFailedError when the script threw.

    undefined and null are None, a BigInt is an int, NaN, the infinities and -0 are floats.
    """
    if reply.exception_details is not None:
        raise _explain_exception(reply.exception_details)
    special = reply.result.unserializable_value
    if special is None:
        return reply.result.value
    if special in _SPECIAL_NUMBERS:
        return float(_SPECIAL_NUMBERS[special])
    if reply.result.type == "bigint":
        return _read_integer(special.removesuffix("n"))
    return special


_DIGITS = 600
"""Digits that Python always reads at once (sys.set_int_max_str_digits takes no less than 640)."""


def explain_refusal(error: RemoteError) -> EngineError:
    """Turn Chrome's refusal of an evaluation into what it means; one not known here stays as it is."""
    if reason := _ENDED.get(error.message):
        return EvaluationTerminatedError(reason=reason)
    if error.message == "Promise was collected":
        return EvaluationFailedError(
            text="its promise can never settle: nothing holds it any more", threw=False
        )
    if error.message.startswith(("Object reference chain", "Object couldn't be returned")):
        return EvaluationFailedError(
            text=f"{error.message} (a cycle, or nested too deeply). Return the parts that you need",
            threw=False,
        )
    return error


LARGEST_VALUE = 64 * 2**20
"""Characters of a value's serialization, roughly. Chrome itself answers with up to 256 MB and no more."""

_JSON_LEVELS = 500
"""Levels of plain data; as many as an argument may have."""

_DEEP_LEVELS = 90
"""Levels of anything else. Chrome gives up at 300 levels of JSON, and an object level takes three of them."""

_MAYBE_JSON = (None, "array", "proxy")
"""Subtypes of what can be plain data; V8 knows them whatever prototype the page gave to the object."""

_DEEP = deep(1000)


def holds_objects(reply: EvaluateReply) -> bool:
    """Tell whether Chrome keeps something under the reply's object group, which must then be released."""
    return reply.result.object_id is not None or reply.exception_details is not None


class _Read(msgspec.Struct, rename="camel"):
    deep_serialized_value: Any = None


class _ReadReply(msgspec.Struct, rename="camel"):
    result: _Read
    exception_details: ExceptionDetails | None = None


async def receive_value(
    session: Session, reply: EvaluateReply, group: ObjectGroup, *, largest: int = LARGEST_VALUE
) -> Any:
    """Return the value of a reply that was asked for with `returnByValue` false, as `values` says.

    What Chrome keeps for it is in the object group `group`; the caller releases that, however this ends.

    Reading runs in the page: getters and the traps of a Proxy are called, more than once, and may never end. So
    this belongs into the same budget as the script.

    Raises EvaluationFailedError when the script threw, or a getter did; ValueTooLargeError;
    EvaluationTerminatedError when the page went away before the value was read.
    """
    result = reply.result
    if result.object_id is None or reply.exception_details is not None:
        return _check_primitive(to_python(reply), result.type, largest)
    request = {
        "mayBeJSON": result.subtype in _MAYBE_JSON,
        "size": largest,
        "jsonLevels": _JSON_LEVELS,
        "deepLevels": _DEEP_LEVELS,
    }
    await trio.lowlevel.checkpoint_if_cancelled()
    try:
        # Not noted as the engine's own script: what it returns is the user's.
        call = RemoteHandle(session, result.object_id).post(
            script("_evaluate/value"), request, how=_DEEP, group=group
        )
        read = await call.decoded(_ReadReply)
    except RemoteError as error:
        raise _explain_unread(error) from None
    if read.exception_details is not None:
        to_python(EvaluateReply(result=RemoteObject(), exception_details=read.exception_details))
    return _read_answer(read.result.deep_serialized_value, largest)


def _read_integer(digits: str) -> int:
    # In pieces: Python refuses to read large numbers in base 10 at once.
    sign, digits = (-1, digits[1:]) if digits.startswith("-") else (1, digits)
    value = 0
    for start in range(0, len(digits), _DIGITS):
        piece = digits[start : start + _DIGITS]
        value = value * 10 ** len(piece) + int(piece)
    return sign * value


def _explain_exception(details: ExceptionDetails) -> EvaluationFailedError:
    exception = details.exception
    text, stack = details.text, ""
    if exception is not None and exception.description:
        # An Error's description is its message, then its stack, each frame on a line "    at ...".
        text, separator, frames = exception.description.partition("\n    at ")
        stack = (separator + frames).lstrip("\n")
    elif exception is not None:
        text = f"{details.text} {_describe_thrown(exception)}".strip()
    if not stack and details.stack_trace is not None:
        stack = "\n".join(
            f"    at {frame.function_name or '<anonymous>'} "
            f"({frame.url}:{frame.line_number + 1}:{frame.column_number + 1})"
            for frame in details.stack_trace.call_frames
        )
    return EvaluationFailedError(
        text=text, stack=stack, line=details.line_number, column=details.column_number
    )


def _describe_thrown(exception: RemoteObject) -> str:
    if exception.unserializable_value is not None:
        return exception.unserializable_value
    return "undefined" if exception.type == "undefined" else repr(exception.value)[:200]


def _check_primitive(value: Any, kind: str, largest: int) -> Any:
    if isinstance(value, str) and len(value) > largest:
        raise _too_large_error(largest)
    if kind == "number" and abs(value) > LARGEST_EXACT:
        return float(value)
    return value


def _read_answer(answer: Any, largest: int) -> Any:
    match answer:
        case {"value": [{"value": "json"}, {"value": str(text)}]}:
            return _read_json(text)
        case {"value": [{"value": "deep"}, value, {"value": list(details)}]}:
            return deserialize(value, details)
        case {"value": [{"value": "large"}]}:
            raise _too_large_error(largest)
        case {"value": [{"value": "nested"}]}:
            raise _too_deep_error()
    raise ProtocolError("Runtime.callFunctionOn answered without the value that it was asked for")


def _read_json(text: str) -> Any:
    try:
        return decode_payload(text.encode(), object)
    except (msgspec.DecodeError, UnicodeEncodeError):
        raise EvaluationFailedError(
            text="its value cannot be read: the page replaced JSON.stringify"
        ) from None


def _explain_unread(error: RemoteError) -> Exception:
    if "deep serialization" in error.message:
        return EvaluationFailedError(text="its value cannot be read: a getter threw")
    if "stack limit" in error.message:
        return _too_deep_error()
    return explain_refusal(error)


def _too_large_error(largest: int) -> ValueTooLargeError:
    return ValueTooLargeError(text=f"it takes more than {largest} characters")


def _too_deep_error() -> ValueTooLargeError:
    return ValueTooLargeError(
        text=f"it is nested more than {_DEEP_LEVELS} levels deep ({_JSON_LEVELS} where all of it is plain data)"
    )
