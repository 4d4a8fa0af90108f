"""If the document is replaced while Chrome answers about a node, the action does nothing to it."""

from __future__ import annotations

import attrs
import pytest
from action_stage import Stage

from cdpengine.errors import StaleRefError


async def test_response_after_document_was_replaced_causes_no_action(stage: Stage) -> None:
    await stage.show("<button id=go>Go</button><input id=field>")
    button = attrs.evolve(await stage.node("#go"), valid=lambda: False)
    field = attrs.evolve(await stage.node("#field"), valid=lambda: False)
    for action in (
        stage.click(button),
        stage.hover(button),
        stage.press("Enter", button),
        stage.type(field, "x"),
    ):
        with pytest.raises(StaleRefError, match="its document was replaced"):
            await action
    assert await stage.record() == []
