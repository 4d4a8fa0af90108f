"""Customers look at items and order them."""

from __future__ import annotations

import pytest

from cdpengine import Page, expect


async def test_items_have_prices(shop: Page) -> None:
    await expect(shop.locate("li")).to_have_text(["Apples: 3 euros Order", "Pears: 4 euros Order"])


async def test_an_order_gets_a_number(shop: Page) -> None:
    await shop.locate(role="button", name="Order Pears").click()
    await expect(shop.locate(role="status")).to_have_text("Order 4711: Pears")


@pytest.mark.browser_version(">=100", reason="older browsers have no structuredClone")
async def test_an_order_can_be_undone(shop: Page) -> None:
    await shop.locate(role="button", name="Order Apples").click()
    await shop.locate(role="button", name="Undo").click()
    await expect(shop.locate(role="status")).to_have_text("No orders")
