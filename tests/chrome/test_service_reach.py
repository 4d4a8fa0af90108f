"""Targets that a page cannot reach: every way of loading, a name whose address changes, and UDP peers."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
import trio
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from cdpengine.service.serving import serve
from cdpengine.service.settings import ServiceSettings
from cdpengine.service.url_policy import UrlPolicy

pytestmark = pytest.mark.chrome

TOKEN = "the-token-of-the-tests"

LOADING = """<!doctype html><title>Loading</title><link rel=icon href="data:,">
<link rel=stylesheet href="{away}/style"><link rel=preload as=image href="{away}/preload"><link rel=prefetch href="{away}/prefetch">
<link rel=preconnect href="{away}"><link rel=modulepreload href="{away}/module">
<script src="{away}/script"></script><img src="{away}/image"><iframe src="{away}/frame"></iframe><video src="{away}/video"></video>
<object data="{away}/object"></object><embed src="{away}/embed"><form id=form action="{away}/form" target=there></form><iframe name=there></iframe>
<style>p {{ background: url({away}/background) }} @font-face {{ font-family: f; src: url({away}/font) }}</style><p style="font-family: f">text</p>
<script>
const ended = (promise) => promise.then(() => "done", (error) => `${{error}}`);
const socket = (url) => new Promise((done) => {{ const s = new WebSocket(url); s.onopen = () => done("open"); s.onerror = () => done("error"); }});
const events = (url) => new Promise((done) => {{ const s = new EventSource(url); s.onopen = () => done("open"); s.onerror = () => done("error"); }});
const request = (url) => new Promise((done) => {{ const r = new XMLHttpRequest(); r.onloadend = () => done(r.status); r.open("GET", url); r.send(); }});
const worker = (code) => new Promise((done) => {{ new Worker(URL.createObjectURL(new Blob([code]))).onmessage = (e) => done(e.data); }});
form.submit();
navigator.sendBeacon("{away}/beacon");
all = async (socket_url) => Promise.all([
  ended(fetch("{away}/fetch", {{mode: "no-cors"}})), ended(fetch("{here}/back", {{mode: "no-cors"}})), request("{away}/request"), socket(socket_url), events("{away}/events"),
  worker(`fetch("{away}/worker", {{mode: "no-cors"}}).then(() => postMessage("done"), (e) => postMessage(String(e)))`),
  ended(import("{away}/import")),
]);
</script>"""

IN_A_SERVICE_WORKER = """async (away) => {
  const heard = new Promise((done) => { navigator.serviceWorker.onmessage = (event) => done(event.data); });
  await navigator.serviceWorker.register("/sw.js");
  const { active } = await navigator.serviceWorker.ready;
  active.postMessage(away);
  return heard;
}"""
SERVICE_WORKER = """onmessage = async (event) => {
  const tries = ["no-cors", "cors"].map((mode) => fetch(`${event.data}/in-a-service-worker`, {mode}));
  const ended = await Promise.allSettled(tries);
  event.source.postMessage(ended.map((each) => each.status));
};
oninstall = () => skipWaiting(); onactivate = () => clients.claim();"""

OVER_QUIC = """async (url) => {
  const transport = new WebTransport(url, {serverCertificateHashes: [{algorithm: "sha-256", value: new Uint8Array(32)}]});
  const ended = await Promise.race([transport.ready, new Promise((done) => setTimeout(done, 3000, "none"))])
    .then((answer) => answer ?? "open", (error) => error.name);
  return ended;
}"""

OVER_UDP = """async (port) => {
  const peer = new RTCPeerConnection({iceServers: [{urls: `stun:127.0.0.1:${port}`}, {urls: `turn:127.0.0.1:${port}`, username: "a", credential: "b"}]});
  peer.createDataChannel("x");
  await peer.setLocalDescription(await peer.createOffer());
  await new Promise((done) => { peer.onicegatheringstatechange = () => peer.iceGatheringState == "complete" && done(); setTimeout(done, 1500); });
  return peer.localDescription.sdp.split("\\n").filter((line) => line.includes("candidate:")).length;
}"""


@asynccontextmanager
async def running(policy: UrlPolicy) -> AsyncIterator[httpx.AsyncClient]:
    async with (
        serve(ServiceSettings(token=TOKEN, url_policy=policy)) as listening,
        httpx.AsyncClient(
            base_url=listening.url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60
        ) as http,
    ):
        yield http


async def ask(http: httpx.AsyncClient, **request: Any) -> dict[str, Any]:
    answer: dict[str, Any] = (await http.post("/act", json=request)).json()
    return answer


async def test_no_page_load_bypasses_the_policy(httpserver: HTTPServer) -> None:
    port = httpserver.port
    here, away = f"http://localhost:{port}", f"http://127.0.0.1:{port}"
    asked: list[str] = []

    def answer(request: Request) -> Response:
        asked.append(f"{request.host.partition(':')[0]}{request.path}")
        if request.path == "/back":
            return Response("", 302, headers={"Location": f"{away}/redirected"})
        if request.path == "/sw.js":
            return Response(SERVICE_WORKER, content_type="text/javascript")
        return Response(LOADING.format(here=here, away=away), content_type="text/html")

    for path in ("/page", "/back", "/sw.js"):
        httpserver.expect_request(path).respond_with_handler(answer)
    httpserver.expect_request("/").respond_with_handler(answer)
    udp = socket.socket(type=socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    udp.setblocking(False)
    async with running(UrlPolicy(allow=("localhost",))) as http:
        assert (await ask(http, kind="newTab", url=f"{here}/page"))["ok"]
        ended = await ask(
            http, kind="evaluate", function="(url) => all(url)", args=[f"ws://127.0.0.1:{port}/socket"]
        )
        assert ended["ok"], ended
        assert "done" not in ended["result"], ended["result"]
        assert "open" not in ended["result"], ended["result"]
        assert (await ask(http, kind="evaluate", function=OVER_UDP, args=[udp.getsockname()[1]]))[
            "result"
        ] == 0
        ended = await ask(http, kind="evaluate", function=IN_A_SERVICE_WORKER, args=[away])
        assert ended["result"] == ["rejected", "rejected"], ended
        over_quic = f"https://127.0.0.1:{udp.getsockname()[1]}/"
        ended = await ask(http, kind="evaluate", function=OVER_QUIC, args=[over_quic])
        assert ended["result"] not in ("open", None), ended
        requests = (await ask(http, kind="requests", url="*127.0.0.1*", limit=500))["result"]["requests"]
        assert len(requests) >= 15, "the page tried all of them"
        assert not [each for each in requests if each["status"]]
    assert sorted(set(asked)) == ["localhost/back", "localhost/page", "localhost/sw.js"]
    logged = [request.path for request, _ in httpserver.log]
    assert set(logged) == {"/page", "/back", "/sw.js"}, logged
    with pytest.raises(BlockingIOError):
        udp.recvfrom(2000)
    udp.close()


class Rebinding(trio.abc.HostnameResolver):
    """Resolves a name to a public address at the first check, and to loopback afterwards."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def getaddrinfo(self, host: Any, port: Any, *_more: Any) -> Any:
        await trio.lowlevel.checkpoint()
        name = host.decode() if isinstance(host, bytes) else str(host)
        self.asked.append(name)
        # A document's name is checked before the request and with it. Then the connection is checked.
        found = "93.184.216.34" if self.asked.count(name) <= 2 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (found, port or 0))]

    async def getnameinfo(self, _sockaddr: Any, _flags: int) -> Any:
        raise NotImplementedError


@pytest.mark.slow
async def test_name_that_later_resolves_elsewhere_is_refused(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/secret").respond_with_data("<title>Secret</title>", content_type="text/html")
    rebinding = Rebinding()
    before = trio.socket.set_custom_hostname_resolver(rebinding)
    try:
        async with running(UrlPolicy()) as http:
            answer = await ask(http, kind="navigate", url=f"http://rebind.example:{httpserver.port}/secret")
            assert answer["error"]["kind"] == "urlRefused", answer
            assert "rebind.example has an address of this machine" in answer["error"]["message"]
    finally:
        trio.socket.set_custom_hostname_resolver(before)
    assert rebinding.asked.count("rebind.example") >= 3
    assert not httpserver.log
