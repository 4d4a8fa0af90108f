"""Write docs/act-schema.json: the JSON Schema of requests and responses.

Usage: python scripts/act_schema.py
"""

from __future__ import annotations

import json
from pathlib import Path

from cdpengine.act.schema import make_schema

PLACE = Path(__file__).resolve().parent.parent / "docs" / "act-schema.json"

if __name__ == "__main__":
    PLACE.write_text(json.dumps(make_schema(), indent=1) + "\n", encoding="utf-8")
    print(f"wrote {PLACE}")
