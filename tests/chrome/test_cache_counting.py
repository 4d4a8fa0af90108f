"""A cache's figures equal those of an independent count, over random uses by all ways in."""

from __future__ import annotations

import io
import json
import random
import socket
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import attrs
import pytest
import trio
from cache_executions import targets_of
from cache_login import CONFIG
from mcp import Client
from pytest_httpserver import HTTPServer
from spelling import spell
from werkzeug import Request, Response

from cdpengine import Page, Snapshot
from cdpengine.act import Actor, ActResponse, Click, Fill, FormField, Navigate, Select, dispatch
from cdpengine.act.commands.parsing import Typed
from cdpengine.act.fields import camel_case
from cdpengine.act.response import name_error
from cdpengine.cache import (
    ActionCache,
    CacheEntry,
    CacheRequests,
    LearningCost,
    PostCondition,
    Step,
    Viewport,
    make_entry,
    make_key,
)
from cdpengine.cache.judging.faults import Fault
from cdpengine.cli.cache import cache as command
from cdpengine.errors import CacheMissError, EngineError
from cdpengine.service.mcp_server import McpSettings, ToolServer
from cdpengine.shell.background import Background, BackgroundOptions

pytestmark = pytest.mark.chrome

GOAL = "change the settings"
VALUES = {"city": "Rome", "size": "Large"}
TOKENS = 10
NAMES = ("Save", "Save changes")

SAVES = "out.textContent = 'Saved it'"
PRESSED = "out.textContent = 'pressed'"
REFUSES = "no.textContent = 'Wrong city: try again'"

LIBRARY = ("scenario", "id", "goal")
REQUESTS = ("request", "mcp", "shell")
WAYS = (*LIBRARY, *REQUESTS)

Outcome = dict[str, Any] | str
"""The report of a run as JSON data, or the kind of an error before the run."""


def form(button: str, script: str = SAVES) -> str:
    return f"""<!doctype html><title>S</title><h1>Settings</h1><form aria-label=Settings onsubmit="return false">
<label>City <input></label><label>Size <select><option>Small<option>Large</select></label>
<button type=button onclick="{script}">{button}</button></form><p id=out role=status></p><p id=no role=alert></p>"""


@attrs.define(eq=False)
class Clients:
    """The clients of one cache that work on the same page: requests, MCP, the shell and the command line."""

    page: Page
    cache: ActionCache
    file: Path
    _mcp: Client

    def actor(self, page: Page, **limits: Any) -> Actor:
        actor = Actor(page.browser, cache=CacheRequests(self.cache), **limits)
        actor.focus(page)
        return actor

    async def ask(self, way: str, request: dict[str, Any]) -> Outcome:
        """Send a request. Return its result, or the kind of its error."""
        if way == "request":
            answer = (await dispatch(self.actor(self.page), request)).to_json()
        elif way == "mcp":
            fields = {name: value for name, value in request.items() if name != "kind"}
            tools = {"executeCached": "cache_replay", "reportError": "cache_report"}
            result = await self._mcp.call_tool(tools[request["kind"]], fields)
            assert isinstance(result.structured_content, dict), result
            answer = result.structured_content
        else:
            answer = await self._type(request)
        if answer["ok"]:
            found: dict[str, Any] = answer["result"]
            return found
        return str(answer["error"]["kind"])

    async def _type(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request as a command of the shell, and check its exit status."""

        async def perform(_session: str, parsed: dict[str, Any]) -> ActResponse:
            return await dispatch(self.actor(self.page), parsed)

        async def keep(_ref: object) -> None:
            await trio.lowlevel.checkpoint()

        service: Any = SimpleNamespace(
            perform=perform, sessions=SimpleNamespace(last_ref=0, find=lambda name: name, lost=())
        )
        refs: Any = SimpleNamespace(keep=keep)
        verb, *rest = spell(request)
        typed = Typed(arguments=[verb, "--json", *rest], folder="/")
        printed = await Background(service, BackgroundOptions(), refs).perform(typed)
        answer: dict[str, Any] = json.loads(printed.out)
        done = answer["ok"] and answer["result"].get("ok", True)
        assert printed.status == (0 if done else 1), printed
        return answer

    async def run(self, *arguments: str) -> dict[str, Any]:
        """Run a command of the command line in another thread. Return its JSON output."""
        out = io.StringIO()
        typed = [*arguments, "--file", str(self.file), "--json"]

        def work() -> None:
            command.main(typed, standalone_mode=False)

        with redirect_stdout(out):
            await trio.to_thread.run_sync(work)
        printed: dict[str, Any] = json.loads(out.getvalue())
        return printed


@attrs.define(eq=False)
class Uses:
    """Uses a cache in random ways and counts the expected figures independently. `button` is the entry's
    button. `faults` counts the stopped runs by fault.
    """

    page: Page
    clients: Clients
    cache: ActionCache
    url: str
    other: str
    dead: str
    random: random.Random
    html: str = ""
    button: str = NAMES[0]
    identity: str = ""
    visits: str = ""
    count: Counter[str] = attrs.field(factory=Counter)
    faults: Counter[str] = attrs.field(factory=Counter)
    of_visits: Counter[str] = attrs.field(factory=Counter)

    async def show(self, html: str) -> None:
        self.html = html
        await self.page.goto(self.url)

    async def learn(self, button: str) -> None:
        """Keep a new entry, or a new version of it."""
        await self.show(form(button))
        found = await targets_of(self.page, t1="textbox City", t2="combobox Size", t3=f"button {button}")
        fill = Fill(fields=(FormField(ref="t1", value="${city}"),))
        steps = [
            Step(request=fill, targets={"t1": found["t1"]}),
            Step(request=Select(ref="t1", values=("${size}",)), targets={"t1": found["t2"]}),
            Step(request=Click(ref="t1"), targets={"t1": found["t3"]}, after=PostCondition(text="Saved it")),
        ]
        key = make_key("settings", self.url, Viewport(width=780, height=493), VALUES)
        cost = LearningCost(tokens=TOKENS, milliseconds=1)
        await self.cache.store.put(make_entry(key, steps, now=1.0, expires_at=1e12, cost=cost))
        self.button, self.identity = button, key.id

    async def learn_visit(self) -> None:
        """Keep the entry of a navigation to an address of the caller."""
        key = make_key("visit", self.url, Viewport(width=780, height=493), ["place"])
        step = Step(request=Navigate(url="${place}"))
        await self.cache.store.put(make_entry(key, [step], now=1.0, expires_at=1e12))
        self.visits = key.id

    async def entry(self) -> CacheEntry:
        found = await self.cache.get(self.identity)
        assert found is not None
        return found

    async def replay(
        self, *, ways: Sequence[str] = WAYS, variables: Mapping[str, str] = VALUES, **options: Any
    ) -> Outcome:
        """Replay by one of the ways in."""
        way = self.random.choice(ways)
        if way in REQUESTS:
            named = self.random.choice([{"scenario": "settings"}, {"entry": self.identity}])
            request = {"kind": "executeCached", **named, "variables": dict(variables)}
            return await self.clients.ask(way, request)
        try:
            if way == "goal":
                done = await self.cache.perform(self.page, GOAL, variables=variables)
                assert done.replay is not None
                return done.replay.to_json()
            name = self.identity if way == "id" else "settings"
            return (await self.cache.execute(self.page, name, variables=variables, **options)).to_json()
        except EngineError as error:
            return name_error(type(error))

    def expect(self, outcome: Outcome, fault: str) -> None:
        """Count a run that stopped with this fault."""
        assert isinstance(outcome, dict), outcome
        assert (outcome["ok"], outcome["fault"]) == (False, fault), outcome["reason"]
        self.faults[fault] += 1

    async def succeed(self) -> None:
        shown = self.random.choice(NAMES)
        await self.show(form(shown))
        report = await self.replay()
        assert isinstance(report, dict), report
        assert report["ok"], report
        self.count.update(hits=1, successes=1, tokens_saved=TOKENS, healed=shown != self.button)
        if shown != self.button:
            kept = list((await self.entry()).all_steps())[-1]
            assert kept.targets["t1"].name == shown
        self.button = shown

    async def change(self) -> None:
        await self.show(form("Delete"))
        ways = ("scenario", "id") if self.random.random() < 0.8 else REQUESTS  # these wait 2 s
        self.expect(await self.replay(ways=ways, patience=0.01), "changed")

    async def be_elsewhere(self) -> None:
        await self.page.goto(self.other)
        report = await self.cache.execute(self.page, self.identity, variables=VALUES)
        self.expect(report.to_json(), "address")

    async def be_rejected(self) -> None:
        await self.show(form(self.button, REFUSES))
        self.expect(await self.replay(), "rejected")

    async def choose_nothing(self) -> None:
        await self.show(form(self.button))
        self.expect(await self.replay(variables={"city": "Rome", "size": "Huge"}), "value")

    async def run_out_of_time(self) -> None:
        await self.show(form(self.button, PRESSED))
        report = await self.cache.execute(self.page, "settings", variables=VALUES, timeout=1)
        self.expect(report.to_json(), "timeout")

    async def lose_the_page(self) -> None:
        self.html = form(self.button, PRESSED)
        tab = await self.page.browser.new_page(self.url)
        async with trio.open_nursery() as nursery:

            async def close() -> None:
                await tab.wait_for(text="pressed")
                await tab.close()

            nursery.start_soon(close)
            report = await self.cache.execute(tab, self.identity, variables=VALUES)
        self.expect(report.to_json(), "ended")

    async def visit(self) -> None:
        place, fault = self.random.choice(
            [(self.dead, "unreachable"), ("no url", "address"), ("javascript:1", "forbidden")]
        )
        await self.show(form(self.button))
        request = {"kind": "executeCached", "entry": self.visits, "variables": {"place": place}}
        if fault == "forbidden":
            actor = self.clients.actor(self.page, evaluate_enabled=False)
            outcome = (await dispatch(actor, request)).to_json()["result"]
        else:
            outcome = await self.clients.ask(self.random.choice(REQUESTS), request)
        self.expect(outcome, fault)
        self.of_visits["mistakes"] += 1

    async def leave_out(self) -> None:
        await self.show(form(self.button))
        assert await self.replay(variables={"city": "Rome"}) == "variables"
        self.count.update(refused=1)

    async def miss(self) -> None:
        await self.page.goto(self.other)
        if self.random.random() < 0.2:
            with pytest.raises(CacheMissError):
                await self.cache.perform(self.page, "log out")
        elif self.random.random() < 0.5:
            way = self.random.choice(REQUESTS)
            request = {"kind": "executeCached", "scenario": "settings", "variables": VALUES}
            assert await self.clients.ask(way, request) == "cacheMiss"
        else:
            assert await self.replay(ways=("scenario",)) == "cacheMiss"
        self.count.update(misses=1)

    async def cancel(self) -> None:
        await self.show(form(self.button, PRESSED))
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:

                async def stop() -> None:
                    await self.page.wait_for(text="pressed")
                    scope.cancel()

                nursery.start_soon(stop)
                await self.replay()
        assert scope.cancelled_caught
        self.count.update(hits=1, cancelled=1)

    async def repair(self) -> None:
        await self.show(form("Go on"))

        async def plan(_goal: str, snapshot: Snapshot) -> list[Click]:
            return [Click(ref=snapshot.find("button", "Go on").id)]

        done = await self.cache.perform(self.page, GOAL, variables=VALUES, planner=plan)
        assert done.outcome == "repaired", done.reason
        self.faults["changed"] += 1
        self.count.update(repaired=1)
        await self.learn(self.button)

    async def look_only(self) -> None:
        await self.show(form(self.button))
        await self.cache.execute(self.page, "settings", variables=VALUES, dry_run=True)
        await self.cache.look_up(self.page, GOAL)
        await self.clients.run("lookup", GOAL, self.url)

    async def report(self) -> None:
        way = self.random.choice([*REQUESTS, "library", "command"])
        if way == "library":
            await self.cache.report_error(self.identity)
        elif way == "command":
            assert (await self.clients.run("report", self.identity))["stillUsed"]
        else:
            request = {"kind": "reportError", "entry": self.identity}
            answer = await self.clients.ask(way, request)
            assert isinstance(answer, dict)
            assert answer["stillUsed"]
        self.count.update(reported=1)

    async def learn_again(self) -> None:
        await self.learn(self.random.choice(NAMES))

    async def use(self) -> None:
        chosen = self.random.choices(
            [
                self.succeed, self.change, self.be_elsewhere, self.be_rejected, self.choose_nothing,
                self.run_out_of_time, self.lose_the_page, self.visit, self.leave_out, self.miss, self.cancel,
                self.repair, self.look_only, self.report, self.learn_again,
            ],
            [10, 3, 1, 1, 2, 1, 1, 2, 2, 3, 2, 1, 1, 2, 1],
        )[0]  # fmt: skip
        await chosen()

    def figures(self) -> Counter[str]:
        """Return the figures that the uses lead to. Only "changed" is a failure of the entry."""
        stopped = self.faults.total()
        mistakes = stopped - self.faults["changed"]
        more = Counter(hits=stopped, failures=self.faults["changed"], mistakes=mistakes, stopped=stopped)
        return self.count + more


@pytest.fixture
def dead() -> Iterator[str]:
    """The URL of a closed port."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}/"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("uses", [20, pytest.param(300, marks=pytest.mark.slow)])
async def test_figures_equal_an_independent_count(
    uses: int,
    page: Page,
    httpserver: HTTPServer,
    tmp_path: Path,
    dead: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in (("KEYRING", "false"), ("FAILURES", "1000")):
        monkeypatch.setenv(f"CDPENGINE_CACHE_{name}", value)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    file = tmp_path / "cache.sqlite3"
    async with ActionCache.open(file, config=attrs.evolve(CONFIG, failures=1_000)) as cache:

        async def perform(request: Mapping[str, Any]) -> ActResponse:
            return await dispatch(clients.actor(page), request)

        server = ToolServer(perform, McpSettings(capabilities=("cache",), structured=True)).server()
        async with Client(server) as mcp:
            clients = Clients(page, cache, file, mcp)
            made = Uses(
                page, clients, cache, httpserver.url_for("/form"), httpserver.url_for("/other"), dead,
                random.Random(uses),
            )  # fmt: skip

            def answer(_request: Request) -> Response:
                return Response(made.html, content_type="text/html")

            httpserver.expect_request("/form").respond_with_handler(answer)
            httpserver.expect_request("/other").respond_with_data("<h1>Other</h1>", content_type="text/html")
            await made.learn(NAMES[0])
            await made.learn_visit()
            for _ in range(uses):
                await made.use()
            found, count = await cache.statistics(), made.figures()
            printed = await clients.run("stats")
        figures = {
            name: getattr(found, name)
            for name in (
                "misses", "refused", "successes", "failures", "mistakes", "cancelled", "reported", "repaired", "healed",
                "stopped", "tokens_saved",
            )
        }  # fmt: skip
        assert figures | {"hits": sum(found.hits.values())} == {
            name: count[name] for name in [*figures, "hits"]
        }
        assert {name: printed[camel_case(name)] for name in figures} == figures
        assert printed["runs"] == found.runs == count["hits"]
        of_visits = made.of_visits["mistakes"]
        kept = (await made.entry()).statistics
        assert (kept.successes, kept.failures) == (count["successes"], count["failures"] + count["reported"])
        assert (kept.mistakes, kept.cancelled) == (count["mistakes"] - of_visits, count["cancelled"])
        visits = await cache.get(made.visits)
        assert visits is not None
        assert (visits.statistics.mistakes, visits.statistics.uses) == (of_visits, of_visits)
        assert (found.store.successes, found.store.failures) == (kept.successes, kept.failures)
        assert uses < 100 or set(made.faults) == {*get_args(Fault)}
