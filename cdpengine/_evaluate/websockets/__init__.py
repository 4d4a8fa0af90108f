"""Routed websockets: a class in the page that replaces WebSocket, and its end in the engine."""
