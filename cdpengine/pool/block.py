"""The block of a pool or a cluster: entered once, and never again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import attrs

from cdpengine.errors import PoolClosedError


@attrs.define
class BlockEnteredOnce:
    """What runs while the block of an object is entered. `owner` is what errors call the object: "a pool"."""

    owner: str
    running: Callable[[], AbstractAsyncContextManager[None]]
    _entered: AbstractAsyncContextManager[None] | None = None

    @property
    def was_entered(self) -> bool:
        """Whether the block was entered, be it over or not."""
        return self._entered is not None

    async def enter(self) -> None:
        """Begin what runs. Raises PoolClosedError where it was begun before, else as `running` does."""
        if self._entered is not None:
            raise PoolClosedError(
                action=f"enter the block of {self.owner}", reason="was entered before: make another"
            )
        self._entered = self.running()
        await self._entered.__aenter__()

    async def leave(self, *ended: Any) -> bool | None:
        """End what runs, with what its block ended by. Raises as `running` does."""
        assert self._entered is not None
        return await self._entered.__aexit__(*ended)
