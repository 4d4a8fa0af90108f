"""Fixtures of the project: the application, its address as base URL, and a page of a customer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import app
import pytest

import cdpengine


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Serve the application."""
    with app.serve() as served:
        yield served


@pytest.fixture(scope="session")
def context_options(context_options: dict[str, Any], address: str) -> dict[str, Any]:
    """Let pages use relative URLs: `page.goto("/login")`."""
    return {"base_url": address, **context_options}


@pytest.fixture
async def shop(page: cdpengine.Page) -> cdpengine.Page:
    """Provide the page of a customer who has logged in."""
    await page.goto("/login")
    await page.locate(label="Name").fill("Ada")
    await page.locate(label="Password").fill("engine")
    await page.locate(role="button", name="Log in").click()
    await cdpengine.expect(page).to_have_url("/shop")
    return page
