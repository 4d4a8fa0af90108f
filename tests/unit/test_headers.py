"""Headers are found by names in any case, and stay as the message has them."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdpengine._api.http.response import HttpResponse
from cdpengine._headers import HeaderMapping
from cdpengine._network.messages import InterceptedRequest, InterceptedResponse, check_headers
from cdpengine.errors import InvalidArgumentError

names = st.text("abcXYZ-", min_size=1, max_size=4)


@pytest.mark.parametrize(
    "headers",
    [
        HeaderMapping({"Content-Type": "text/css"}),
        InterceptedRequest("http://a.test/", headers={"Content-Type": "text/css"}).headers,
        InterceptedResponse("http://a.test/", 200, header_list=(("Content-Type", "text/css"),)).headers,
        HttpResponse("http://a.test/", 200, "OK", (("Content-Type", "text/css"),), (), b"").headers,
    ],
    ids=["mapping", "request", "response", "HTTP"],
)
def test_names_are_found_in_any_case(headers: dict[str, str]) -> None:
    for name in ("Content-Type", "content-type", "CONTENT-TYPE"):
        assert (headers[name], headers.get(name), name in headers) == ("text/css", "text/css", True)
    assert headers == {"Content-Type": "text/css"}
    assert json.loads(json.dumps(headers)) == pickle.loads(pickle.dumps(headers)) == headers
    assert (headers.get("age"), headers.get("age", "0"), "age" in headers) == (None, "0", False)
    with pytest.raises(KeyError, match="age"):
        headers["age"]


def test_repeated_headers_are_joined_in_any_case() -> None:
    headers = HeaderMapping.joined([("Set-Cookie", "a=1"), ("Age", "0"), ("set-cookie", "b=2")])
    assert headers == {"Set-Cookie": "a=1\nb=2", "Age": "0"}


@given(
    first=st.dictionaries(names, st.sampled_from("12")), second=st.dictionaries(names, st.sampled_from("34"))
)
def test_a_changed_header_replaces_the_name_in_another_case(
    first: dict[str, str], second: dict[str, str]
) -> None:
    pairs = check_headers({**first, **second})
    sent = [name.lower() for name, _ in pairs]
    assert sorted(sent) == sorted({name.lower() for name in (*first, *second)})
    expected = HeaderMapping(second)
    for name, value in pairs:
        assert name not in expected or value in {
            each for key, each in second.items() if key.lower() == name.lower()
        }


def test_pairs_keep_repeated_names() -> None:
    pairs = [("Set-Cookie", "a=1"), ("set-cookie", "b=2")]
    assert check_headers(pairs) == pairs
    with pytest.raises(InvalidArgumentError):
        check_headers({3: "4"})
