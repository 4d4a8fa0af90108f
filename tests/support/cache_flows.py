"""The flows of the cache's demo site: actions, variables, the right control of each step, and the outcome.

Rule: a control has one `data-key` in all designs, and that key is the truth. Each step has the control's name
in designs "a" and "b". Design "c" is "a" without the control of the step with `gone_in_c`; no other control
is right for that step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import attrs
from cache_site.server import SECRETS, CacheSite, Design, hashed

from cdpengine import Page, Snapshot
from cdpengine.cache import fill

Verb = Literal["fill", "click", "select", "check", "uncheck"]


@attrs.frozen
class Called:
    """Identifies a control: role, name, and its index among controls with the same role and name."""

    role: str
    name: str
    nth: int = 0


@attrs.frozen(kw_only=True)
class FlowStep:
    """One action. `key`, `value` and names are templates. `leads_to` is the path of the next page.

    `a` is the control's name in design "a", `b` its name in "b" ("" if equal). In "b" it is number `b_nth`
    among equal names.
    """

    verb: Verb
    key: str
    role: str
    a: str
    b: str = ""
    b_nth: int = 0
    value: str = ""
    leads_to: str = ""
    gone_in_c: bool = False

    def called(self, design: Design) -> Called | None:
        """Return the control's identity in a design, or None if the design lacks the control."""
        if design == "b":
            return Called(self.role, self.b or self.a, self.b_nth)
        return None if design == "c" and self.gone_in_c else Called(self.role, self.a)


@attrs.frozen(kw_only=True)
class Flow:
    """A scenario. `examples` are two sets of values. `ending` is the site's record after a correct run.

    `signed_in` is the user who is signed in at the start.
    """

    scenario: str
    start: str
    steps: tuple[FlowStep, ...]
    examples: tuple[dict[str, str], dict[str, str]]
    ending: tuple[tuple[str, dict[str, str]], ...]
    sensitive: tuple[str, ...] = ()
    signed_in: str = ""

    def reset(self, site: CacheSite, design: Design, *, advert: bool = False) -> None:
        """Reset the site for this flow."""
        site.reset(design, user=self.signed_in, advert=advert)

    def keys(self, values: Mapping[str, str]) -> list[str]:
        """Return the key of the right control of each step."""
        return [fill(step.key, values) for step in self.steps]

    def submitted(self, values: Mapping[str, str]) -> list[tuple[str, dict[str, str], bool]]:
        """Return the value of `CacheSite.submitted` after a correct run."""
        return [
            (form, {name: _recorded(name, fill(text, values)) for name, text in fields.items()}, True)
            for form, fields in self.ending
        ]

    def gone(self, design: Design) -> int | None:
        """Return the index of the step whose control the design lacks, or None if all controls exist."""
        return next((place for place, step in enumerate(self.steps) if step.called(design) is None), None)


def _recorded(name: str, value: str) -> str:
    return hashed(value) if name in SECRETS else value


LOGIN = Flow(
    scenario="login",
    start="/login",
    steps=(
        FlowStep(verb="fill", key="login.user", value="${username}", role="textbox", a="User name"),
        FlowStep(
            verb="fill", key="login.password", value="${password}",
            role="textbox", a="Password", b="Password", b_nth=1,
        ),
        FlowStep(verb="check", key="login.remember", role="checkbox", a="Remember me", b="Keep me logged in"),
        FlowStep(
            verb="click", key="login.submit", leads_to="/account", gone_in_c=True,
            role="button", a="Sign in", b="Log in",
        ),
    ),
    examples=(
        {"username": "ada", "password": "kiln-4-ada"},
        {"username": "grace", "password": "wheel 2 grace"},
    ),
    ending=(("login", {"user": "${username}", "password": "${password}", "remember": "yes"}),),
    sensitive=("password",),
)  # fmt: skip

LOGOUT = Flow(
    scenario="logout",
    start="/shop",
    steps=(
        FlowStep(
            verb="click", key="logout.submit", leads_to="/account", gone_in_c=True,
            role="button", a="Sign out", b="Log out",
        ),
    ),
    examples=({}, {}),
    ending=(("logout", {}),),
    signed_in="ada",
)  # fmt: skip

SEARCH = Flow(
    scenario="search",
    start="/search",
    steps=(
        FlowStep(
            verb="fill", key="search.query", value="${query}",
            role="searchbox", a="Search the library",
        ),
        FlowStep(
            verb="click", key="search.submit", leads_to="/results?q=*", gone_in_c=True,
            role="button", a="Search", b="Find",
        ),
        FlowStep(
            verb="click", key="results.next", leads_to="/results?q=*page=2", role="link", a="Next page", b="Next"
        ),
    ),
    examples=({"query": "glaze"}, {"query": "clay"}),
    ending=(("search", {"q": "${query}", "page": "1"}), ("search", {"q": "${query}", "page": "2"})),
)  # fmt: skip

CHECKOUT = Flow(
    scenario="checkout",
    start="/shop",
    steps=(
        FlowStep(
            verb="click", key="shop.product.${product}", leads_to="/product/*", role="link", a="${product}"
        ),
        FlowStep(
            verb="select", key="product.quantity", value="${quantity}", role="combobox", a="Quantity", b="How many"
        ),
        FlowStep(
            verb="click", key="product.add", leads_to="/cart", gone_in_c=True,
            role="button", a="Add to cart", b="Add to basket", b_nth=1,
        ),
        FlowStep(
            verb="click", key="cart.checkout", leads_to="/checkout*", role="button", a="Check out", b="Go to checkout"
        ),
        FlowStep(verb="fill", key="checkout.name", value="${name}", role="textbox", a="Full name"),
        FlowStep(verb="fill", key="checkout.street", value="${street}", role="textbox", a="Street and number"),
        FlowStep(
            verb="fill", key="checkout.code", value="${postal_code}", role="textbox", a="Postal code", b="Post code"
        ),
        FlowStep(verb="fill", key="checkout.city", value="${city}", role="textbox", a="City"),
        FlowStep(verb="select", key="checkout.country", value="${country}", role="combobox", a="Country"),
        FlowStep(verb="fill", key="checkout.card", value="${card_number}", role="textbox", a="Card number"),
        FlowStep(verb="fill", key="checkout.expires", value="${expires}", role="textbox", a="Expires", b="Valid until"),
        FlowStep(verb="fill", key="checkout.cvc", value="${cvc}", role="textbox", a="Security code", b="CVC"),
        FlowStep(
            verb="click", key="checkout.submit", leads_to="/placed", role="button", a="Place order", b="Place your order"
        ),
    ),
    examples=(
        {
            "product": "Tea bowl", "quantity": "2", "name": "Ada Lovelace", "street": "12 St James's Square",
            "postal_code": "SW1Y 4JH", "city": "London", "country": "United Kingdom",
            "card_number": "4111111111111111", "expires": "11/29", "cvc": "737",
        },
        {
            "product": "Milk jug", "quantity": "3", "name": "Grete Hermann", "street": "Am Wall 8",
            "postal_code": "28195", "city": "Bremen", "country": "Germany",
            "card_number": "5500005555555559", "expires": "02/31", "cvc": "104",
        },
    ),
    ending=(
        ("cart", {"product": "${product}", "quantity": "${quantity}"}),
        (
            "checkout",
            {
                "name": "${name}", "street": "${street}", "code": "${postal_code}", "city": "${city}",
                "country": "${country}", "card": "${card_number}", "expires": "${expires}", "cvc": "${cvc}",
            },
        ),
    ),
    sensitive=("card_number", "cvc"),
)  # fmt: skip

SETTINGS = Flow(
    scenario="settings",
    start="/settings",
    steps=(
        FlowStep(verb="uncheck", key="settings.mail", role="checkbox", a="E-mail notifications"),
        FlowStep(verb="check", key="settings.weekly", role="checkbox", a="Weekly summary"),
        FlowStep(verb="select", key="settings.language", value="${language}", role="combobox", a="Language"),
        FlowStep(
            verb="select", key="settings.zone", value="${zone}", role="combobox", a="Time zone", b="Your time zone"
        ),
        FlowStep(verb="check", key="settings.dark", role="radio", a="Dark"),
        FlowStep(
            verb="click", key="settings.save", leads_to="/settings?saved*", gone_in_c=True,
            role="button", a="Save", b="Save changes",
        ),
    ),
    examples=({"language": "German", "zone": "Berlin"}, {"language": "Chinese", "zone": "Tokyo"}),
    ending=(
        ("settings", {"messages": "weekly", "language": "${language}", "zone": "${zone}", "theme": "dark"}),
    ),
)  # fmt: skip

FORM_FILL = Flow(
    scenario="form_fill",
    start="/form",
    steps=(
        FlowStep(verb="fill", key="form.name", value="${name}", role="textbox", a="Name"),
        FlowStep(verb="fill", key="form.email", value="${email}", role="textbox", a="E-mail", b="E-mail address"),
        FlowStep(verb="fill", key="form.phone", value="${phone}", role="textbox", a="Phone", b="Telephone"),
        FlowStep(verb="fill", key="form.age", value="${age}", role="spinbutton", a="Age"),
        FlowStep(verb="fill", key="form.day", value="${day}", role="date", a="Day of your visit"),
        FlowStep(verb="fill", key="form.hour", value="${hour}", role="time-input", a="Time of your visit"),
        FlowStep(verb="fill", key="form.pieces", value="${pieces}", role="slider", a="Pieces", b="Number of pieces"),
        FlowStep(verb="select", key="form.topic", value="${topic}", role="combobox", a="Topic"),
        FlowStep(verb="select", key="form.interests", value="${interest}", role="listbox", a="Interests"),
        FlowStep(verb="check", key="form.by-phone", role="radio", a="By phone"),
        FlowStep(verb="fill", key="form.message", value="${message}", role="textbox", a="Message", b="Your message"),
        FlowStep(verb="check", key="form.terms", role="checkbox", a="I accept the terms"),
        FlowStep(
            verb="click", key="form.send", leads_to="/thanks", gone_in_c=True, role="button", a="Send", b="Submit"
        ),
    ),
    examples=(
        {
            "name": "Ada Lovelace", "email": "ada@kiln.example", "phone": "+44 20 7946 0018", "age": "36",
            "day": "2027-03-14", "hour": "14:30", "pieces": "7", "topic": "Course", "interest": "Bowls",
            "message": "May I bring my own clay?",
        },
        {
            "name": "Grete Hermann", "email": "grete@wheel.example", "phone": "+49 421 5550100", "age": "61",
            "day": "2027-11-02", "hour": "09:15", "pieces": "2", "topic": "Visit", "interest": "Tiles",
            "message": "Two of us, and a dog.",
        },
    ),
    ending=(
        (
            "form",
            {
                "name": "${name}", "email": "${email}", "phone": "${phone}", "age": "${age}", "day": "${day}",
                "hour": "${hour}", "pieces": "${pieces}", "topic": "${topic}", "interests": "${interest}",
                "answer": "phone", "message": "${message}", "terms": "yes",
            },
        ),
    ),
)  # fmt: skip

FLOWS = {flow.scenario: flow for flow in (LOGIN, LOGOUT, SEARCH, CHECKOUT, SETTINGS, FORM_FILL)}


# --- running a flow with a program
# ------------------------------------------------------------------------------------


async def run_step(page: Page, step: FlowStep, called: Called, values: Mapping[str, str]) -> None:
    """Do one step like a program that knows the design, and wait for the next page."""
    target = page.locate(role=called.role, name=fill(called.name, values), exact=True, nth=called.nth)
    value = fill(step.value, values)
    match step.verb:
        case "fill":
            await page.fill(target, value, timeout=10)
        case "click":
            await page.click(target, timeout=10)
        case "select":
            await page.select(target, value, timeout=10)
        case "check":
            await page.check(target, timeout=10)
        case "uncheck":
            await page.uncheck(target, timeout=10)
    if step.leads_to:
        await page.wait_for(url=f"*{step.leads_to}", load_state="load", timeout=10)


async def run_flow(page: Page, flow: Flow, values: Mapping[str, str], design: Design = "a") -> None:
    """Do a flow, from its start page, like a program that knows the design."""
    for step in flow.steps:
        called = step.called(design)
        assert called is not None, f"{step.key} is not in design {design}"
        await run_step(page, step, called, values)


@attrs.frozen
class Visit:
    """The page before a step: its snapshot, the key of each ref, and the ref of the right control."""

    flow: Flow
    step: FlowStep
    design: Design
    key: str
    snapshot: Snapshot
    keys: Mapping[str, str]

    @property
    def ref(self) -> str | None:
        """The ref of the right control, or None if the page lacks it."""
        return next((ref for ref, key in self.keys.items() if key == self.key), None)


async def read_keys(page: Page, snapshot: Snapshot) -> dict[str, str]:
    """Return the key of each element of a snapshot by ref, "" for elements without a key."""
    refs = list(snapshot.refs)
    keys = await page.evaluate(
        "(...elements) => elements.map((each) => each.dataset?.key ?? '')", *snapshot.refs.values()
    )
    return dict(zip(refs, keys, strict=True))


async def walk_flow(
    page: Page, site: CacheSite, flow: Flow, design: Design, values: Mapping[str, str]
) -> list[Visit]:
    """Do a flow in a design until a control is missing. Return the page before each step."""
    flow.reset(site, design)
    await page.goto(site.url + flow.start)
    seen: list[Visit] = []
    for step in flow.steps:
        snapshot = await page.snapshot()
        key = fill(step.key, values)
        seen.append(Visit(flow, step, design, key, snapshot, await read_keys(page, snapshot)))
        called = step.called(design)
        if called is None:
            break
        await run_step(page, step, called, values)
    return seen
