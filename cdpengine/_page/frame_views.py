"""FrameView: the data of a frame, as the user's object of the frame has it."""

from __future__ import annotations

import attrs

from cdpengine._page.frames import Frame, FrameTree
from cdpengine._protocol.session import Session


@attrs.define(eq=False, repr=False)
class FrameView:
    """A view of the frame with an id, whatever process it is in.

    Chrome may report a frame that moves to another process as gone and new. The view then follows the new one.
    """

    _state: Frame
    _tree: FrameTree

    @property
    def internals(self) -> Frame:
        """The engine's own frame. It changes without notice."""
        self._state = self._tree.get(self._state.id) or self._state
        return self._state

    @property
    def id(self) -> str:
        """Chrome's id of the frame."""
        return self.internals.id

    @property
    def name(self) -> str:
        """The name of the frame: the `name` of its element, or as set by its page."""
        return self.internals.name

    @property
    def url(self) -> str:
        """The URL of the frame's document, fragment included. "" before its first document."""
        return self.internals.url

    @property
    def parent_id(self) -> str | None:
        """The id of the frame around it, or None for the main frame."""
        return self.internals.parent_id

    @property
    def loader_id(self) -> str:
        """Chrome's id of the current document."""
        return self.internals.loader_id

    @property
    def session(self) -> Session:
        """The session that reports the frame and runs in its process."""
        return self.internals.session

    @property
    def session_id(self) -> str | None:
        """The id of the session that reports the frame."""
        return self.internals.session_id

    @property
    def attached(self) -> bool:
        """Whether the frame is in the page."""
        return self._tree.get(self._state.id) is not None

    @property
    def unreachable_url(self) -> str:
        """The requested URL if the document is an error page of Chrome, else ""."""
        return self.internals.unreachable_url
