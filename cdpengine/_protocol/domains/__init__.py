"""The protocol's structures: one file a domain, each event, reply and type once; and which domains report."""

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
"""Domains that a subscription enables by itself: their `enable` needs no parameters and does nothing but report.

Fetch would stop requests, Debugger would stop scripts, Overlay and WebAuthn change what the page does: these the
caller enables on purpose.
"""

NEEDS = {"CSS": ("DOM",)}
"""Domains whose `enable` is refused until others are enabled."""
