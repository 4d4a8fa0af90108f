"""DocumentRules: switches of Chrome that a context sets for all its documents, from its creation to its end.

Rule: a page has the rules before its first document. Frames in other processes and popups have them too.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Literal, TypeAlias

import attrs

from cdpengine._api.scopes.awaitable_scope import SettingScope
from cdpengine._checks import check_choice, check_flag, checked
from cdpengine._evaluate.init_script import InitScript
from cdpengine._javascript import script
from cdpengine._page.page_scope import PostCommands, SessionOverride
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.session import Session

ServiceWorkers: TypeAlias = Literal["allow", "block"]
"""Whether pages may register service workers. Where they may not, `register` rejects with a SecurityError."""

_FLAG = checked(check_flag)
_ALLOWED = checked(check_choice, choices=("allow", "block"))


@attrs.frozen
class DocumentRules:
    """The rules of a context: see `Browser.new_context`. Raises InvalidArgumentError."""

    java_script_enabled: bool = attrs.field(default=True, validator=_FLAG)
    bypass_csp: bool = attrs.field(default=False, validator=_FLAG)
    ignore_https_errors: bool = attrs.field(default=False, validator=_FLAG)
    service_workers: ServiceWorkers = attrs.field(default="allow", validator=_ALLOWED)

    @property
    def commands(self) -> list[tuple[str, dict[str, object]]]:
        """The commands for each session of a document."""
        posted: list[tuple[str, dict[str, object]]] = []
        if not self.java_script_enabled:
            posted.append(("Emulation.setScriptExecutionDisabled", {"value": True}))
        if self.bypass_csp:
            posted.append(("Page.setBypassCSP", {"enabled": True}))
        if self.ignore_https_errors:
            posted.append(("Security.setIgnoreCertificateErrors", {"ignore": True}))
        return posted


async def apply_rules(scope: SettingScope, rules: DocumentRules, timeout: float) -> None:
    """Apply the rules to all pages of the scope until it ends."""
    if rules == DocumentRules():
        return

    @asynccontextmanager
    async def applied() -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            if rules.commands:
                override = SessionOverride(scope.page_scope, _poster(rules), _post_nothing)
                await stack.enter_async_context(scope.overriding(override, "document rules", timeout))
            if rules.service_workers == "block":
                source = f"({script('_api/scopes/no_service_workers')})()"
                blocking = InitScript(scope.page_scope.tabs, source, world="")
                override = SessionOverride(
                    scope.page_scope, blocking.begin, blocking.end, renew=blocking.renew
                )
                await stack.enter_async_context(scope.overriding(override, "block service workers", timeout))
            yield

    await scope.lasting("document rules", "new_context", applied)


def _poster(rules: DocumentRules) -> PostCommands:
    def post(session: Session) -> list[PendingCall]:
        return [session.post(method, **params) for method, params in rules.commands]

    return post


def _post_nothing(_session: Session) -> list[PendingCall]:
    """Undo nothing: the rules end with the context, which closes its pages."""
    return []
