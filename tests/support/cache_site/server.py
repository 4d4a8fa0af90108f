"""The demo site of the action cache: login, library search, shop, settings and a form, in three designs.

Rule: all designs have the same functions and differ in look and wording. A control has one `data-key` in all
of them. Design "b" uses other words, places and orders, and has traps: its control with an old name or at an
old place is the wrong one. Design "c" is "a" without one control that each flow needs. The site has one
visitor and a record of everything that reached the server: actions on its pages (site.js sends them within
the event, before the page reacts) and submitted forms. The record contains passwords and card numbers only as
hashes.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, parse_qsl, urlsplit

import attrs
import h11
import trio

Design = Literal["a", "b", "c"]

DESIGNS: tuple[Design, ...] = ("a", "b", "c")

USERS = {"ada": "kiln-4-ada", "grace": "wheel 2 grace"}
"""Passwords by user."""

PRODUCTS = {"Espresso cup": "18.00", "Tea bowl": "32.50", "Pour-over mug": "27.00", "Milk jug": "24.00"}
"""Prices by product."""

ARTICLES = (
    "Celadon glaze", "Ash glaze", "Glaze that crawls", "Why a glaze runs", "Tin glaze", "Salt glaze at night",
    "Red clay", "White clay", "Clay from the river", "Clay that cracks", "Paper clay", "Clay for tiles", "A kiln of bricks",
)  # fmt: skip

PER_PAGE = 4

SECRETS = frozenset({"password", "card", "cvc", "pin"})
"""Fields whose values are hashed in the record."""

_FOLDER = Path(__file__).parent
_SECTION = re.compile(r"\{\{#(\w+)\}\}(.*?)\{\{/\1\}\}", re.DOTALL)
_NAME = re.compile(r"\{\{\{(\w+)\}\}\}|\{\{(\w+)\}\}")
_INCLUDED = re.compile(r"\{\{> (\w+)\}\}")
_KINDS = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}


def hashed(value: str) -> str:
    """Return the record's form of a secret."""
    return "sha256:" + hashlib.sha256(value.encode()).hexdigest()[:16]


@attrs.frozen
class Touched:
    """One action on a page: a click, entered text, or the submission of a form without a button."""

    kind: Literal["click", "input", "submit"]
    key: str
    path: str
    design: Design


@attrs.frozen
class Submitted:
    """One submission: the form, its fields and the server's verdict.

    Several values of one field are sorted and joined by commas. Empty fields are left out.
    """

    form: str
    fields: Mapping[str, str]
    accepted: bool
    design: Design


@attrs.define
class Visitor:
    """The site's state of its one visitor."""

    user: str = ""
    cart: dict[str, int] = attrs.field(factory=dict)
    orders: int = 0
    settings: dict[str, list[str]] = attrs.field(
        factory=lambda: {"messages": ["mail"], "language": ["English"], "zone": ["UTC"], "theme": ["light"]}
    )
    written: dict[str, list[str]] = attrs.field(factory=dict)


@attrs.frozen
class Answer:
    """An answer to a request."""

    status: int = 200
    body: bytes = b""
    kind: str = "text/html; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()


@attrs.define(eq=False)
class CacheSite:
    """The site. `design` is the default design; a query `?design=b` or the cookie that it sets overrides it.

    `record` has everything that reached the site, in order. `advert` covers the logout button of design "b"
    with an advert.
    """

    design: Design = "a"
    advert: bool = False
    url: str = ""
    record: list[Touched | Submitted] = attrs.field(factory=list)
    visitor: Visitor = attrs.field(factory=Visitor)

    def reset(self, design: Design = "a", *, user: str = "", advert: bool = False) -> None:
        """Forget the visitor and the record, and switch to this design. `user`, if given, is signed in."""
        self.design = design
        self.advert = advert
        self.record.clear()
        self.visitor = Visitor(user=user)

    @property
    def touched(self) -> list[str]:
        """The keys of the touched elements, in order. Repeated touches of one element count once."""
        keys = [each.key for each in self.record if isinstance(each, Touched)]
        return [key for place, key in enumerate(keys) if place == 0 or keys[place - 1] != key]

    @property
    def submitted(self) -> list[tuple[str, dict[str, str], bool]]:
        """The submissions, in order: the form, its fields, and whether the site accepted it."""
        return [
            (each.form, dict(each.fields), each.accepted)
            for each in self.record
            if isinstance(each, Submitted)
        ]

    # --- requests ------------------------------------------------------------------------------------------------

    def answer(self, method: str, target: str, cookie: str, body: bytes) -> Answer:
        """Answer one request."""
        parts = urlsplit(target)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        chosen = query.get("design", cookie)
        design: Design = next((each for each in DESIGNS if each == chosen), self.design)
        if parts.path == "/log":
            submitted_values = json.loads(body)
            self.record.append(
                Touched(submitted_values["kind"], submitted_values["key"], submitted_values["path"], design)
            )
            return Answer(204)
        if method == "POST":
            return self._take(design, parts.path, parse_qs(body.decode(), keep_blank_values=True))
        suffix = Path(parts.path).suffix
        if suffix in _KINDS:
            return Answer(body=(_FOLDER / parts.path[1:]).read_bytes(), kind=_KINDS[suffix])
        answer = self._show(design, parts.path, query)
        if "design" in query:
            answer = attrs.evolve(answer, headers=(("Set-Cookie", f"cache_site_design={design}; Path=/"),))
        return answer

    def _show(self, design: Design, path: str, query: Mapping[str, str]) -> Answer:
        name, _, rest = path.strip("/").partition("/")
        visitor = self.visitor
        match name:
            case "" | "shop":
                order = sorted(PRODUCTS, reverse=design == "b")
                return self._page(design, "shop", products=[_product(each) for each in order])
            case "product" if (product := _PRODUCT_OF.get(rest)) is not None:
                return self._page(design, "product", **_product(product))
            case "cart":
                lines = [{"title": each, "quantity": count} for each, count in visitor.cart.items()]
                return self._page(design, "cart", lines=lines)
            case "placed":
                return self._page(design, "placed", number=1000 + visitor.orders)
            case "results":
                return self._results(design, query)
            case "article" if rest.isdecimal() and int(rest) < len(ARTICLES):
                return self._page(design, "article", title=ARTICLES[int(rest)])
            case "settings":
                state = json.dumps(visitor.settings)
                return self._page(design, "settings", saved="saved" in query, state=state)
            case "form":
                alert = "Please look at what you wrote again." if "again" in query else ""
                state = json.dumps(visitor.written).replace("<", "\\u003c")
                return self._page(design, "form", alert=alert, state=state)
            case "login":
                alert = "The user name or the password is wrong." if "again" in query else ""
                return self._page(design, "login", alert=alert)
            case "checkout":
                alert = "Please look at the address and the card again." if "again" in query else ""
                return self._page(design, "checkout", alert=alert)
            case "thanks":
                return self._page(design, "thanks", title="Thank you", text="We have it.")
            case "advert":
                self.record.append(Submitted("advert", {}, True, design))
                return self._page(design, "thanks", title="Advert", text="Buy this.")
            case "account" | "search":
                return self._page(design, name)
        return Answer(404, b"<!doctype html><title>Not found</title>There is no such page.")

    def _results(self, design: Design, query: Mapping[str, str]) -> Answer:
        words = query.get("q", "")
        page = int(query.get("page", "1"))
        self.record.append(Submitted("search", {"q": words, "page": str(page)}, True, design))
        found = [
            {"id": number, "title": title}
            for number, title in enumerate(ARTICLES)
            if words and words.lower() in title.lower()
        ]
        pages = max(1, -(-len(found) // PER_PAGE))
        return self._page(
            design,
            "results",
            q=words,
            count=len(found),
            page=page,
            pages=pages,
            results=found[(page - 1) * PER_PAGE : page * PER_PAGE],
            previous=[{"number": page - 1}] if page > 1 else [],
            next=[{"number": page + 1}] if page < pages else [],
        )

    def _take(self, design: Design, path: str, fields: dict[str, list[str]]) -> Answer:
        """Accept a submission, record it, and return the redirect."""
        form = path.strip("/")
        accepted, onward = self._judge(form, fields)
        submitted_values = {name: ",".join(sorted(values)) for name, values in fields.items()}
        kept = {
            name: hashed(value) if name in SECRETS else value
            for name, value in submitted_values.items()
            if value
        }
        self.record.append(Submitted(form, kept, accepted, design))
        return Answer(303, headers=(("Location", onward),))

    def _judge(self, form: str, fields: dict[str, list[str]]) -> tuple[bool, str]:
        """Process a submission. Return whether it is accepted, and the next page."""
        visitor = self.visitor
        first = {name: values[0] for name, values in fields.items()}
        match form:
            case "login":
                user = first.get("user", "")
                if USERS.get(user) != first.get("password"):
                    return False, "/login?again"
                visitor.user = user
                return True, "/account"
            case "logout" | "logout-everywhere" | "delete":
                visitor.user = ""
                return True, "/account"
            case "cart":
                product = first["product"]
                visitor.cart[product] = visitor.cart.get(product, 0) + int(first["quantity"])
                return True, "/cart"
            case "remove":
                visitor.cart.pop(first["product"], None)
                return True, "/cart"
            case "checkout":
                needed = ("name", "street", "code", "city", "country", "card", "expires", "cvc")
                if not all(first.get(name) for name in needed) or not visitor.cart:
                    return False, "/checkout?again"
                visitor.orders += 1
                visitor.cart.clear()
                return True, "/placed"
            case "settings":
                visitor.settings = {"messages": []} | fields
                return True, "/settings?saved"
            case "form":
                visitor.written = fields
                right = (
                    first.get("name", "") != ""
                    and "@" in first.get("email", "")
                    and first.get("age", "").isdecimal()
                    and 18 <= int(first["age"]) <= 120
                    and "terms" in first
                )
                return right, "/thanks" if right else "/form?again"
        return True, "/thanks"  # newsletters, gift cards, wish lists, adverts: no flow should reach them

    # --- pages ---------------------------------------------------------------------------------------------------

    def _page(self, design: Design, name: str, **values: Any) -> Answer:
        user = self.visitor.user
        around = {"in": bool(user), "out": not user, "user": user.title(), "advert": self.advert}
        template = _INCLUDED.sub(lambda found: _read(design, found[1]), _read(design, name))
        return Answer(body=render(template, around | values).encode())


def _read(design: Design, name: str) -> str:
    """Return a page's template. Design "c" uses the templates of "a" unless it has its own."""
    path = _FOLDER / design / f"{name}.html"
    return (path if path.exists() else _FOLDER / "a" / f"{name}.html").read_text("utf-8")


def _product(product: str) -> dict[str, object]:
    return {"id": _id_of(product), "title": product, "price": PRODUCTS[product]}


def _id_of(product: str) -> str:
    return product.lower().replace(" ", "-")


_PRODUCT_OF = {_id_of(product): product for product in PRODUCTS}


def render(template: str, values: Mapping[str, Any]) -> str:
    """Return a page. `{{name}}` is an escaped value, `{{{name}}}` an unescaped one.

    `{{#name}}...{{/name}}` is repeated for each item of a list with the item's values, or appears once if the
    value is true.
    """

    def section(found: re.Match[str]) -> str:
        value = values.get(found[1])
        if isinstance(value, list):
            return "".join(render(found[2], {**values, **item}) for item in value)
        return render(found[2], values) if value else ""

    whole = _SECTION.sub(section, template)
    return _NAME.sub(
        lambda found: str(values[found[1]]) if found[1] else html.escape(str(values[found[2]])), whole
    )


# --- HTTP ----------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def serve_site(design: Design = "a") -> AsyncIterator[CacheSite]:
    """Serve the site on a free port of loopback while the block runs. `url` has no trailing slash."""
    site = CacheSite(design)

    async def serve(stream: trio.SocketStream) -> None:
        await _serve_connection(site, stream)

    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
        site.url = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}"
        yield site
        nursery.cancel_scope.cancel()


async def _serve_connection(site: CacheSite, stream: trio.SocketStream) -> None:
    connection = h11.Connection(h11.SERVER)
    async with stream:
        try:
            while True:
                request = await _next(connection, stream)
                if not isinstance(request, h11.Request):
                    return
                body = bytearray()
                while isinstance(part := await _next(connection, stream), h11.Data):
                    body += part.data
                if not isinstance(part, h11.EndOfMessage):
                    return
                answer = site.answer(
                    request.method.decode(), request.target.decode(), _cookie(request), bytes(body)
                )
                await stream.send_all(_encode(connection, answer))
                if connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
                    return
                connection.start_next_cycle()
        except (trio.BrokenResourceError, h11.RemoteProtocolError):
            return  # the browser closed the connection, perhaps during a request


async def _next(connection: h11.Connection, stream: trio.SocketStream) -> object:
    while (event := connection.next_event()) is h11.NEED_DATA:
        connection.receive_data(await stream.receive_some())
    return event


def _cookie(request: h11.Request) -> str:
    """Return the design in the browser's cookie, or "" without one."""
    cookies = b"; ".join(value for name, value in request.headers if name == b"cookie").decode("latin-1")
    found = re.search(r"(?:^|; )cache_site_design=(\w)", cookies)
    return found[1] if found else ""


def _encode(connection: h11.Connection, answer: Answer) -> bytes:
    headers = [("Content-Type", answer.kind), ("Cache-Control", "no-store"), *answer.headers]
    if answer.status != 204:
        headers.append(("Content-Length", str(len(answer.body))))
    sent = connection.send(h11.Response(status_code=answer.status, headers=headers)) or b""
    sent += connection.send(h11.Data(data=answer.body)) or b""
    return sent + (connection.send(h11.EndOfMessage()) or b"")
