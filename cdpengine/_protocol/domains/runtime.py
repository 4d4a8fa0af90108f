"""Runtime: scripts, their values and exceptions; Log: Chrome's own console messages.

Rule: lines and columns count from 0, as in Chrome; times are milliseconds since 1970.
"""

from __future__ import annotations

from typing import Any

import msgspec

from cdpengine._protocol.domains import event, reply


class StackFrame(msgspec.Struct, frozen=True, rename="camel"):
    """One frame (`Runtime.CallFrame`): a function ("" for none or an anonymous one) and its place in a script."""

    function_name: str = ""
    url: str = ""
    line_number: int = 0
    column_number: int = 0

    def __str__(self) -> str:
        return f"{self.function_name or '<anonymous>'} ({self.url}:{self.line_number}:{self.column_number})"


class StackTrace(msgspec.Struct, rename="camel"):
    """A stack. `description` names the asynchronous call that links it to the parent stack: "Promise.then"."""

    call_frames: list[StackFrame] = []
    description: str = ""
    parent: StackTrace | None = None


class PropertyPreview(msgspec.Struct, rename="camel"):
    """One property in a preview. Its value is a string."""

    name: str = ""
    type: str = ""
    value: str | None = None
    subtype: str | None = None


class ObjectPreview(msgspec.Struct, rename="camel"):
    """The first properties of an object. `overflow`: more exist."""

    overflow: bool = True
    properties: list[PropertyPreview] = []


class RemoteObject(msgspec.Struct, rename="camel"):
    """A value of a script."""

    type: str = "undefined"
    subtype: str | None = None
    class_name: str | None = None
    value: Any = None
    unserializable_value: str | None = None
    description: str | None = None
    object_id: str | None = None


class RemoteArgument(RemoteObject, rename="camel"):
    """A value in an event, with a preview of an object (`Runtime.RemoteObject`)."""

    preview: ObjectPreview | None = None


class ExceptionDetails(msgspec.Struct, rename="camel"):
    """An exception and its location."""

    text: str = ""
    line_number: int | None = None
    column_number: int | None = None
    exception: RemoteObject | None = None
    stack_trace: StackTrace | None = None

    @property
    def reason(self) -> str:
        """The exception and its location, as Chrome describes it."""
        described = None if self.exception is None else self.exception.description
        return described or self.text


class ThrownDetails(ExceptionDetails, rename="camel"):
    """An uncaught exception and its location (`Runtime.ExceptionDetails`)."""

    exception_id: int = 0
    url: str = ""
    exception: RemoteArgument | None = None


@event("Runtime.consoleAPICalled")
class ConsoleAPICalled(msgspec.Struct, rename="camel"):
    """A script wrote to the console; `type` is, for example, "log", "warning" or "assert"."""

    type: str = "log"
    args: list[RemoteArgument] = []
    timestamp: float = 0.0
    stack_trace: StackTrace | None = None


@event("Runtime.exceptionThrown")
class ExceptionThrown(msgspec.Struct, rename="camel"):
    """An uncaught exception, or an unhandled rejection of a promise."""

    timestamp: float = 0.0
    exception_details: ThrownDetails = msgspec.field(default_factory=ThrownDetails)


@event("Runtime.exceptionRevoked")
class ExceptionRevoked(msgspec.Struct, rename="camel"):
    """A rejection was handled later."""

    reason: str = ""
    exception_id: int = 0


@event("Runtime.bindingCalled")
class BindingCalled(msgspec.Struct, rename="camel"):
    """A script called a binding."""

    name: str
    payload: str = ""
    execution_context_id: int = 0


@reply("Runtime.compileScript")
class CompileScriptReply(msgspec.Struct, rename="camel"):
    """The outcome of compiling a script: `exception_details` has the syntax error, if any."""

    exception_details: ExceptionDetails | None = None


@reply("Runtime.getIsolateId")
class IsolateIdReply(msgspec.Struct):
    """The id of the V8 isolate, which identifies the renderer process."""

    id: str | None = None


@reply("Runtime.evaluate")
class EvaluateReply(msgspec.Struct, rename="camel"):
    """The result of a script, with its value as a Python value. `Runtime.callFunctionOn` has the same reply."""

    result: RemoteObject
    exception_details: ExceptionDetails | None = None


class ReturnedObject(msgspec.Struct, rename="camel"):
    """A `Runtime.RemoteObject` with its value as raw JSON, which the caller decodes because it knows the type."""

    subtype: str | None = None
    object_id: str | None = None
    value: msgspec.Raw = msgspec.Raw(b"null")
    deep_serialized_value: msgspec.Raw = msgspec.Raw(b"")


@reply("Runtime.callFunctionOn")
class CallReply(msgspec.Struct, rename="camel"):
    """The result of a function, with its value as JSON."""

    result: ReturnedObject = msgspec.field(default_factory=ReturnedObject)
    exception_details: ExceptionDetails | None = None


class PropertyDescriptor(msgspec.Struct):
    """One property of an object. An accessor has no value."""

    name: str = ""
    enumerable: bool = False
    value: RemoteObject | None = None
    symbol: RemoteObject | None = None


@reply("Runtime.getProperties")
class PropertiesReply(msgspec.Struct):
    """The properties of an object."""

    result: list[PropertyDescriptor] = []


class LogEntry(msgspec.Struct, rename="camel"):
    """Chrome's own message about the page. `timestamp` is milliseconds since 1970."""

    source: str = "other"
    level: str = "info"
    text: str = ""
    timestamp: float = 0.0
    url: str = ""
    line_number: int = 0
    network_request_id: str = ""
    stack_trace: StackTrace | None = None
    args: list[RemoteArgument] = []


@event("Log.entryAdded")
class EntryAdded(msgspec.Struct, rename="camel"):
    """A message was written."""

    entry: LogEntry = msgspec.field(default_factory=LogEntry)
