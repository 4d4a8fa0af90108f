"""Random changing pages for tests of finding, made from a seed, with the identity of each element known."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import attrs
from snapshot_trees import snapshot_of, tree

from cdpengine._snapshot.node import Document, Kind, Node
from cdpengine._snapshot.refs import Ref
from cdpengine._snapshot.roles import kind_of
from cdpengine._snapshot.snapshot import ListedNodes, Snapshot

BUTTONS = (
    "Save",
    "Cancel",
    "Delete",
    "Log in",
    "Search",
    "Add to cart",
    "Buy now",
    "Next",
    "Close",
    "Publish",
)
FIELDS = ("User", "Password", "Email", "Search", "Phone", "City", "Quantity", "First name", "Last name")
LINKS = ("Home", "Help", "Log in", "Cart (3)", "Blue shoes", "Red hat", "Forgot password?", "Settings")
PARTS = ("form", "region", "navigation", "main", "dialog", "group")
PART_NAMES = ("Log in", "Search", "Address", "Settings", "Newsletter", "", "")
THINGS = ("Blue shoes", "Red hat", "Green coat", "Order 1001", "Order 1002", "Order 1003", "Ada", "Bob")
TEXTS = ("Welcome", "All fields are needed", "12.00", "In stock", "Yesterday", "3 left")
SYNONYMS = {
    "Log in": "Sign in", "Password": "Your password", "User": "User name", "Email": "E-mail address",
    "Add to cart": "Add to basket", "Next": "Continue", "Search": "Find", "Save": "Save changes", "Close": "关闭",
}  # fmt: skip


@attrs.define(eq=False)
class El:
    """An element or a text node. `number` is its identity, which survives changes of the page."""

    role: str
    name: str
    number: int
    children: list[El] = attrs.field(factory=list)
    url: str = ""

    def walk(self) -> Iterator[El]:
        yield self
        for child in self.children:
            yield from child.walk()


@attrs.define(eq=False)
class ChangingPage:
    """A page that can be changed at random."""

    random: random.Random
    root: El = attrs.field(factory=lambda: El("root", "", 0))
    count: int = 0

    def el(self, role: str, name: str = "", *children: El, url: str = "") -> El:
        self.count += 1
        return El(role, name, self.count, list(children), url)

    def control(self) -> El:
        role, names = self.random.choice(
            [
                ("button", BUTTONS),
                ("textbox", FIELDS),
                ("link", LINKS),
                ("checkbox", ("Remember me", "Newsletter")),
            ]
        )
        return self.el(role, self.random.choice(names))

    def fill(self) -> ChangingPage:
        """Fill the page with elements."""
        roll = self.random
        for _ in range(roll.randint(1, 5)):
            kind = roll.randint(0, 5)
            if kind < 3:
                part = self.el(roll.choice(PARTS), roll.choice(PART_NAMES))
                for _ in range(roll.randint(1, 5)):
                    part.children.append(self.control() if roll.random() < 0.7 else self.text())
            elif kind < 5:
                action = roll.choice(["Remove", "Buy", "Edit", "Open"])
                things = roll.sample(THINGS, roll.randint(1, 4))
                part = self.el(roll.choice(["list", "table"]))
                role = "listitem" if part.role == "list" else "row"
                part.children = [
                    self.el(role, "", self.el("text", thing), self.text(), self.el("button", action))
                    for thing in things
                ]
            else:
                inner = [self.control() for _ in range(roll.randint(1, 3))]
                part = self.el(
                    "iframe", roll.choice(["", "box"]), *inner, url=f"https://f{roll.randint(1, 2)}.test/"
                )
            self.root.children.append(part)
        if not self.controls():
            self.root.children.append(self.control())
        return self

    def text(self) -> El:
        return self.el("text", self.random.choice(TEXTS))

    def all(self) -> list[El]:
        return list(self.root.walk())[1:]

    def controls(self) -> list[El]:
        return [each for each in self.all() if kind_of(each.role) == "interactive" and each.role != "iframe"]

    def parent(self, wanted: El) -> El:
        return next(each for each in self.root.walk() if wanted in each.children)

    def remove(self, wanted: El) -> None:
        self.parent(wanted).children.remove(wanted)

    def snapshot(self) -> Snapshot:
        """Return the page as a snapshot. The ref of an element is its number."""
        refs: dict[Node, Ref] = {}

        def node(el: El) -> Node:
            kind: Kind = "text" if el.role == "text" else kind_of(el.role)
            made = Node(el.role, kind, el.name, backend_node_id=el.number)
            made.children = [node(child) for child in el.children]
            if el.role == "iframe":
                made.document = Document(made.children, url=el.url, frame_id=f"F{el.number}")
            if made.wants_ref and kind != "text":
                refs[made] = Ref(f"e{el.number}", el.role, el.name, 0, el.number, None, None, None)
            return made

        document = Document([node(child) for child in self.root.children], frame_id="F")
        return attrs.evolve(snapshot_of(tree(("RootWebArea", ""))), internals=ListedNodes(document, refs))


def change(page: ChangingPage, target: El, kind: str) -> bool:
    """Change the page in one way. Return whether the target still exists as the same thing."""
    roll = page.random
    places = [each for each in page.root.walk() if each.children] or [page.root]
    place = roll.choice(places)
    others = [each for each in page.all() if each is not target and not _holds(each, target)]
    match kind:
        case "reorder":
            roll.shuffle(place.children)
        case "insert":
            new = page.control()
            while (new.role, new.name) == (target.role, target.name):
                new = page.control()
            place.children.insert(roll.randint(0, len(place.children)), new)
        case "insert text":
            place.children.insert(roll.randint(0, len(place.children)), page.text())
        case "rename other":
            for each in roll.sample(others, min(len(others), roll.randint(1, 2))):
                names = {"button": BUTTONS, "textbox": FIELDS, "link": LINKS, "text": TEXTS}.get(
                    each.role, PART_NAMES
                )
                name = roll.choice(names)
                if (each.role, name) != (target.role, target.name):
                    each.name = name
        case "remove other":
            if others:
                page.remove(roll.choice(others))
        case "wrap":
            page.parent(target).children[page.parent(target).children.index(target)] = page.el(
                "group", "", target
            )
        case "synonym":
            target.name = SYNONYMS.get(target.name, target.name)
        case "remove":
            page.remove(target)
            return False
        case "replace":
            parent = page.parent(target)
            words: Sequence[str] = {"button": BUTTONS, "textbox": FIELDS, "link": LINKS}.get(
                target.role, ("Other",)
            )
            name = roll.choice(
                [name for name in words if name not in (target.name, SYNONYMS.get(target.name))]
            )
            parent.children[parent.children.index(target)] = page.el(target.role, name)
            return False
        case "to a frame":
            page.remove(target)
            target.number = page.el("x").number
            page.root.children.append(page.el("iframe", "new", target, url="https://new.test/"))
            return False
        case "duplicate":
            copy = page.el(target.role, target.name)
            place.children.insert(roll.randint(0, len(place.children)), copy)
    return True


def _holds(around: El, target: El) -> bool:
    return any(each is target for each in around.walk())
