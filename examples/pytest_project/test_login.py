"""Customers log in."""

from __future__ import annotations

from cdpengine import Page, expect


async def test_a_customer_logs_in(page: Page) -> None:
    await page.goto("/login")
    await expect(page.locate(role="heading")).to_have_text("Log in to the shop")
    await page.locate(label="Name").fill("Ada")
    await page.locate(label="Password").fill("engine")
    await page.locate(role="button", name="Log in").click()
    await expect(page).to_have_url("/shop")
    await expect(page.locate(role="heading")).to_have_text("Shop")


async def test_a_wrong_password_is_refused(page: Page) -> None:
    await page.goto("/login")
    await page.locate(label="Name").fill("Ada")
    await page.locate(label="Password").fill("wrong")
    await page.locate(role="button", name="Log in").click()
    await expect(page.locate(role="alert")).to_have_text("Unknown name or wrong password")
