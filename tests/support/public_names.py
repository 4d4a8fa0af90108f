"""The modules with the engine's public names: the top one, and one for each area."""

from __future__ import annotations

import cdpengine

AREAS = ("actions", "emulation", "events", "measure", "network", "pages", "protocol", "storage", "values")
ENGINE = (cdpengine, *(getattr(cdpengine, area) for area in AREAS))
