"""Which domains a subscription may switch on by itself. Data.

Rule: only domains whose `enable` needs no parameters and does nothing but report. Fetch would stop requests,
Debugger would stop scripts, Overlay and WebAuthn change what the page does: those the caller enables on purpose.
"""

from __future__ import annotations

REPORTING_DOMAINS = frozenset(
    {
        "Accessibility",
        "Animation",
        "Audits",
        "CSS",
        "Console",
        "DOM",
        "DOMStorage",
        "Inspector",
        "LayerTree",
        "Log",
        "Media",
        "Network",
        "Page",
        "Performance",
        "Preload",
        "Runtime",
        "Security",
        "ServiceWorker",
        "WebAudio",
    }
)

NEEDS = {"CSS": ("DOM",)}
"""Domains whose `enable` is refused until others are enabled."""
