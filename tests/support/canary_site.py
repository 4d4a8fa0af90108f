"""A site that handles secrets as pages do: in markup, scripts, requests, responses and storage.

Rule: secrets that the page makes up appear in its source only as numbers, so that a canary is found only
where it was used. The page's activities are independent: a failing one is listed in `failures`, and the
others continue.
"""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

SCRIPT = (Path(__file__).parent / "canary_page.js").read_text("utf-8")

FIELDS_OF_THE_PAGE = {
    "autofill_password": "type=password",
    "autofill_hidden": "type=hidden name=csrf_token",
    "autofill_cc_number": "autocomplete=cc-number",
    "autofill_cc_csc": "autocomplete=cc-csc",
    "autofill_one_time_code": "autocomplete=one-time-code",
    "autofill_new_password": "autocomplete=new-password",
    "autofill_current_password": "autocomplete='section-a current-password'",
}
"""Fields that the page's script fills in, with the attribute that makes each field secret."""

MARKUP = {
    "markup_password": "<input type=password value='{}'>",
    "markup_hidden": "<input type=hidden name=csrf_token value='{}'>",
    "markup_meta": "<meta name=csrf-token content='{}'>",
    "markup_card": "<input autocomplete=cc-number value='{}'>",
}
"""Secrets in the document's markup."""

SCRIPTED = (
    "fetch_json", "fetch_urlencoded", "fetch_multipart", "xhr_body", "form_post", "form_multipart", "form_get",
    "fetch_header", "fetch_bearer", "fetch_query", "document_cookie", "local_storage_page", "session_storage_page",
    "indexed_db_page", "websocket_sent", "websocket_sent_binary", "websocket_url", "console_object",
    "console_text", "thrown_by_page", "url_hash", "url_pushed", "iframe_url", "worker_fetch",
)  # fmt: skip
"""Secrets that the page's script makes up and sends or stores."""

SERVED = (
    "response_json", "response_nested", "response_chunks", "response_header", "set_cookie", "redirect_location",
    "eventsource", "websocket_received", "websocket_binary",
)  # fmt: skip
"""Secrets that the server sends to the page."""

PAGE_WAYS = (*FIELDS_OF_THE_PAGE, *MARKUP, *SCRIPTED, *SERVED)

STYLES = {
    "fetch_header": "token", "fetch_bearer": "token", "document_cookie": "cookie", "response_header": "token",
    "set_cookie": "cookie", "websocket_url": "token",
}  # fmt: skip
"""Canary styles for places that do not allow all characters."""

_DONE = "<!doctype html><title>landed</title>"


class CanarySite:
    """Serves the page and the responses to its script. `secrets` are the canaries by way in."""

    def __init__(
        self,
        server: HTTPServer,
        secrets: Mapping[str, str],
        websocket: str,
        fields: str,
        made_up: Sequence[str],
    ) -> None:
        self.url = server.url_for("/")
        self.elsewhere = self.url.replace("127.0.0.1", "localhost")
        self.secrets = secrets
        self.received: list[str] = []
        self._websocket = websocket
        self._fields = fields
        self._made_up = (*FIELDS_OF_THE_PAGE, *SCRIPTED, *made_up)
        server.expect_request(re.compile(".*")).respond_with_handler(self.answer)

    def answer(self, request: Request) -> Response:
        """Answer one request."""
        secret = self.secrets
        posted = request.get_data()
        self.received.append(f"{request.full_path} {dict(request.headers)} {posted[:2000]!r}")
        match request.path:
            case "/":
                return Response(self._page(), content_type="text/html; charset=utf-8")
            case "/json" if request.query_string:
                again = json.dumps({"access_token": secret["route_fetched"]})
                return Response(again, content_type="application/json")
            case "/json":
                body = {
                    "access_token": secret["response_json"],
                    "user": {"name": "Ada", "credentials": {"api_key": secret["response_nested"]}},
                }
                return Response(json.dumps(body), content_type="application/json")
            case "/chunks":
                return Response(self._chunks(), content_type="application/json")
            case "/headers":
                answer = Response("{}", content_type="application/json")
                answer.headers["X-Auth-Token"] = secret["response_header"]
                answer.headers["Set-Cookie"] = f"sid={secret['set_cookie']}; Path=/"
                return answer
            case "/redirect":
                return Response(
                    "", 302, {"Location": f"/landed?token={_quoted(secret['redirect_location'])}"}
                )
            case "/events":
                event = json.dumps({"session_token": secret["eventsource"]})
                return Response(f"data: {event}\n\n", content_type="text/event-stream")
            case "/protected":
                if request.authorization is None:
                    return Response("who?", 401, {"WWW-Authenticate": 'Basic realm="r"'})
                return Response(_DONE, content_type="text/html")
            case "/shown":
                if request.authorization is None:
                    return Response("who?", 401, {"WWW-Authenticate": 'Basic realm="shown"'})
                return Response(
                    f"It was {request.authorization.password}", content_type="text/plain; charset=utf-8"
                )
            case "/echoed":
                note = request.form.get("note") or posted.decode()
                return Response(f"It was {note}", content_type="text/plain; charset=utf-8")
            case "/file":
                name = request.args.get("name", "file.txt")
                return Response(
                    secret.get("download_content", "x"),
                    headers={"Content-Disposition": f"attachment; filename*=UTF-8''{_quoted(name)}"},
                    content_type="application/octet-stream",
                )
            case "/favicon.ico":
                return Response("", 404)
        return Response(_DONE, content_type="text/html")

    def _chunks(self) -> Iterator[bytes]:
        whole = json.dumps({"refresh_token": self.secrets["response_chunks"], "more": "x" * 4000}).encode()
        cut = whole.index(b'": "') + 4 + 6
        yield whole[:cut]
        # The pause splits the body into two pieces: a server cannot see when the first was read.
        time.sleep(0.05)
        yield whole[cut:]

    def _page(self) -> str:
        shown = {name: html.escape(self.secrets[name], quote=True) for name in MARKUP}
        markup = "".join(text.format(shown[name]) for name, text in MARKUP.items())
        own = "".join(f"<input data-way={name} {kind}>" for name, kind in FIELDS_OF_THE_PAGE.items())
        numbers = {
            name: [ord(letter) + 1000 for letter in self.secrets[name]]
            for name in self._made_up
            if name in self.secrets
        }
        data = {"numbers": numbers, "websocket": self._websocket, "elsewhere": self.elsewhere}
        return (
            f"<!doctype html><html><head><meta charset=utf-8><title>begun</title></head>"
            f"<body><h1>Canaries</h1>{markup}{own}<form id=fields>{self._fields}</form><p id=echo></p>"
            f"<iframe name=into></iframe><script>const DATA = {json.dumps(data)};\n{SCRIPT}</script></body></html>"
        )


def _quoted(text: str) -> str:
    return quote(text, safe="")
