"""Requests of pages: routes, responses, kept bodies, and conditions of the network."""

from cdpengine._activity.body_stream import BodyStream
from cdpengine._activity.options import KeepBodies
from cdpengine._activity.page_activity import DocumentActivity, PageActivity
from cdpengine._activity.request import SecurityDetails
from cdpengine._activity.streams import ActivityStream, RequestEnded
from cdpengine._activity.values import Unread
from cdpengine._activity.websocket import (
    EventSourceMessage,
    MessageStream,
    WebSocket,
    WebSocketMessage,
    WebTransport,
)
from cdpengine._api.http.client import HttpClient, HttpOptions
from cdpengine._api.http.response import HttpResponse
from cdpengine._api.scopes.network import Network
from cdpengine._evaluate.websockets.websocket_route import ServerConnection, WebSocketRoute
from cdpengine._history import BoundedHistory
from cdpengine._network.active_route import RouteFailure, RouteRegistration
from cdpengine._network.archive import HarArchive
from cdpengine._network.messages import ABORT_REASONS, AbortReason, InterceptedResponse, ResourceType
from cdpengine._network.settings import NetworkConditions

__all__ = [
    "ABORT_REASONS",
    "AbortReason",
    "ActivityStream",
    "BodyStream",
    "BoundedHistory",
    "DocumentActivity",
    "EventSourceMessage",
    "HarArchive",
    "HttpClient",
    "HttpOptions",
    "HttpResponse",
    "InterceptedResponse",
    "KeepBodies",
    "MessageStream",
    "Network",
    "NetworkConditions",
    "PageActivity",
    "RequestEnded",
    "ResourceType",
    "RouteFailure",
    "RouteRegistration",
    "SecurityDetails",
    "ServerConnection",
    "Unread",
    "WebSocket",
    "WebSocketMessage",
    "WebSocketRoute",
    "WebTransport",
]
