"""Possible secrets that a program enters with its answer to an intercepted request. Pure.

Rule: only values that the program made count. Values of the page's request or the server's response do not count,
so that a page cannot cause redaction of its own strings.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from cdpengine._network.messages import InterceptedRequest, InterceptedResponse, secret_values
from cdpengine._posted_strings import MOST_VALUES, posted_values
from cdpengine._urls.reading import credentials_in


def entered_by(
    params: Mapping[str, Any], request: InterceptedRequest, response: InterceptedResponse | None
) -> list[str]:
    """Return the possible secrets in the parameters of an answer.

    `request` is the page's request, `response` the server's response, if it has begun.
    """
    foreign = set(request.headers.values())
    if response is not None:
        foreign.update(value for _name, value in response.header_list)
    headers = params.get("headers", params.get("responseHeaders", ()))
    found = secret_values((each["name"], each["value"]) for each in headers if each["value"] not in foreign)
    if posted := params.get("postData"):
        known = set(posted_values(request.post_data or b""))
        values = [each for each in posted_values(base64.b64decode(posted)) if each not in known]
        found += values[:MOST_VALUES]
    return [*found, *credentials_in(params.get("url", ""))]
