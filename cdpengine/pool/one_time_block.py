"""The block of a pool or a cluster, which can be entered only once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import attrs

from cdpengine.errors import PoolUnavailableError


@attrs.define
class BlockEnteredOnce:
    """A context manager that is entered with an object's block. `owner` names the object in errors: "a pool"."""

    owner: str
    running: Callable[[], AbstractAsyncContextManager[None]]
    _entered: AbstractAsyncContextManager[None] | None = None

    @property
    def was_entered(self) -> bool:
        """Whether the block was entered, even if it has ended."""
        return self._entered is not None

    async def enter(self) -> None:
        """Enter the block. Raises PoolUnavailableError if it was entered before, and the errors of `running`."""
        if self._entered is not None:
            raise PoolUnavailableError(
                f"enter the block of {self.owner}",
                "it was entered before: create a new one",
                closed=True,
            )
        self._entered = self.running()
        await self._entered.__aenter__()

    async def leave(self, *ended: Any) -> bool | None:
        """Leave the block with its exception. Raises the errors of `running`."""
        assert self._entered is not None
        return await self._entered.__aexit__(*ended)
