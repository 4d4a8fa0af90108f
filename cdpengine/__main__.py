"""Entry point of `python -m cdpengine`, the same as `cdpengine`."""

from __future__ import annotations

from cdpengine.cli import main

if __name__ == "__main__":
    main()
