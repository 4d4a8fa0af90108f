"""Fill custom sliders with the arrow keys."""

from __future__ import annotations

import pytest
from form_page import FormPage

import cdpengine
from cdpengine.errors import FormError, InvalidArgumentError, NotInteractableError, ValueRefusedError

pytestmark = pytest.mark.chrome

SLIDER = """<div id=bar role=slider tabindex=0 aria-label=Volume aria-valuemin=0 aria-valuemax=100 aria-valuenow=30>o</div>
<div id=still role=slider tabindex=0 aria-label=Still aria-valuenow=1>o</div><div id=dead role=slider aria-valuenow=1>o</div>
<script>
keys = 0;
bar.onkeydown = ({ key }) => {
  const step = { ArrowRight: 5, ArrowLeft: -5 }[key] ?? 0;
  const next = Math.min(100, Math.max(0, Number(bar.ariaValueNow) + step));
  keys++;
  requestAnimationFrame(() => { bar.ariaValueNow = next; });
};
</script>"""


async def test_arrow_keys_move_custom_slider(page: cdpengine.Page) -> None:
    form = FormPage(page)
    await form.show(
        SLIDER.replace(
            "requestAnimationFrame(() => { bar.ariaValueNow = next; });", "bar.ariaValueNow = next;"
        )
    )
    bar = (await page.snapshot()).find(role="slider", name="Volume")
    for value in (70, 15, 15):
        await page.fill_form({bar: value}, timeout=10)
        assert await form.js("bar.ariaValueNow") == str(value)
    assert await form.js("keys") == 8 + 11
    with pytest.raises(ValueRefusedError):
        await page.fill(bar, 22, timeout=10)
    with pytest.raises(InvalidArgumentError):
        await page.fill(bar, "loud", timeout=10)
    with pytest.raises(ValueRefusedError):
        await page.fill(await form.node("#still"), 3, timeout=10)
    with pytest.raises(FormError) as caught:
        await page.fill_form([(await form.node("#dead"), 3)], timeout=10)
    assert isinstance(caught.value.failed[0].error, NotInteractableError)


async def test_custom_slider_that_updates_a_frame_later(page: cdpengine.Page) -> None:
    form = FormPage(page)
    await form.show(
        SLIDER.replace("Number(bar.ariaValueNow)", "(bar.at ??= 30)").replace(
            "keys++;", "keys++; bar.at = next;"
        )
    )
    await page.fill(await form.node("#bar"), 60, timeout=10)
    assert await form.js("bar.ariaValueNow") == "60"
