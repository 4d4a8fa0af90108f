"""URLs of the web have one form each; a bounded memory knows the seen ones; a host is local or foreign."""

from __future__ import annotations

import random
import socket

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cdpengine.errors import InvalidArgumentError
from cdpengine.pool.manners import TRACKING_PARAMETERS, SeenUrls, canonicalize_url, is_foreign

SAME = [
    ["http://example.com/", "HTTP://EXAMPLE.com", "http://example.com:80", "http://example.com:/", "http://example.com/#x",
     "http://example.com/./", "http://example.com/a/../", "http://example.com/%2e/", "http://example.com/../..",
     "http:example.com", "http:\\\\example.com\\", "  http://exam\nple.com/\t", "http://example.com:0080/",
     "http://%65xample.com/", "http://@example.com/", "http://:@example.com/"],
    ["http://example.com/~user", "http://example.com/%7euser", "http://example.com/%7Euser"],
    ["http://example.com/a%2Fb", "http://example.com/a%2fb"],
    ["http://example.com/%C3%A9?q=%C3%A9", "http://example.com/é?q=é", "http://example.com/%c3%a9?q=%c3%a9"],
    ["http://xn--bcher-kva.example/", "http://bücher.example/", "http://BÜCHER.example/", "http://b%C3%BCcher。example/"],
    ["http://xn--fa-hia.example/", "http://faß.example/"],
    ["http://xn--ls8h.example/", "http://💩.example/"],
    ["http://a_b.example/", "http://A_B.example/"],
    ["http://[2001:db8::1]/", "http://[2001:DB8::0:1]/", "http://[2001:db8:0:0:0:0:0:1]:80/"],
    ["http://[::ffff:102:304]/", "http://[::ffff:1.2.3.4]/"],
    ["http://127.0.0.1/", "http://0x7f.1/", "http://2130706433/", "http://127.0.0.1.:80/"],
    ["http://example.com/a%20b?c%20d", "http://example.com/a b?c d"],
    ["http://user:p@example.com/", "http://user:%70@example.com:80/"],
    ["http://example.com/%25zz", "http://example.com/%zz"],
    ["http://example.com/%EF%BF%BD", "http://example.com/\ud800"],
    ["https://example.com:80/", "https://example.com:080/"],
]  # fmt: skip

DIFFERENT = [
    ("http://example.com/a%2Fb", "http://example.com/a/b"),
    ("http://example.com/?a=1&b=2", "http://example.com/?b=2&a=1"),
    ("http://example.com/a/", "http://example.com/a"),
    ("http://example.com//a", "http://example.com/a"),
    ("http://example.com/?", "http://example.com/"),
    ("http://example.com/?a=", "http://example.com/?a"),
    ("http://example.com/?a=%26b", "http://example.com/?a=&b"),
    ("http://example.com/?a=x+y", "http://example.com/?a=x%2By"),
    ("http://example.com/?x=%3D", "http://example.com/?x=="),
    ("http://example.com/a;b", "http://example.com/a%3Bb"),
    ("http://example.com/A", "http://example.com/a"),
    ("http://example.com/%%37e", "http://example.com/~"),
    ("http://example.com/", "https://example.com/"),
    ("http://example.com./", "http://example.com/"),
    ("http://example.com/?token=a", "http://example.com/?token=b"),
    ("http://example.com:443/", "http://example.com/"),
]


@pytest.mark.parametrize("urls", SAME, ids=lambda urls: urls[0])
def test_equivalent_urls_have_one_form(urls: list[str]) -> None:
    assert {canonicalize_url(url) for url in urls} == {urls[0]}


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_urls_that_a_server_can_distinguish_stay_different(one: str, other: str) -> None:
    assert canonicalize_url(one) != canonicalize_url(other)


@pytest.mark.parametrize(
    "url",
    [
        "", "example.com/hunter2", "about:blank", "data:text/html,hunter2", "javascript:hunter2()", "ftp://hunter2/",
        "http://", "http:///", "http://hunter2:x/", "http://[::1", "http://[::1%eth0]/", "http://[hunter2]/",
        "http://a.example:99999/", "http://a.example:65536/", "http://hunter2 x/", "http://a%00b/", "http://256.1.1.1/",
        "http://1.2.3.4.5/", "http://xn--ü.example/", "http://a%2Fb/", "http://example.com/" + "x" * 65_536,
        5, None,
    ],
    ids=repr,
)  # fmt: skip
def test_other_strings_are_refused_without_being_repeated(url: object) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        canonicalize_url(url)  # type: ignore[arg-type]
    assert "hunter2" not in str(caught.value)
    assert len(str(caught.value)) <= 400


_TEXT = st.text(st.sampled_from("aZ09/.%25eE37#?&=;:@!$'()*+,~-_ ü中\ud800\\|{}[]\"<>^`\t"), max_size=24)
_HOST = st.sampled_from(
    ["a.example", "BÜCHER.example", "1.2.3.4", "[::1]", "u:p@a.example:8080", "a.example."]
)


@given(st.sampled_from(["http:", "https://", "HTTPS://"]), _HOST, _TEXT)
@example("http:", "a.example", "/%%37e")
@example("http:", "a.example", "/%2%35%32e")
def test_the_form_of_a_form_is_the_same(scheme: str, host: str, rest: str) -> None:
    try:
        form = canonicalize_url(f"{scheme}{host}{rest}")
    except InvalidArgumentError:
        return
    assert canonicalize_url(form) == form
    assert form.isascii()
    assert form.isprintable()
    # A browser accepts quotes and similar characters in a host; no name has them.
    assert not set(form.split("/", 3)[3]) & set(' "<>#')


_UNRESERVED = st.text("abcXYZ019-._~", min_size=1, max_size=4).filter(lambda text: text not in (".", ".."))
_SEGMENT = st.lists(
    st.one_of(_UNRESERVED, st.sampled_from(["%2F", "%25", "%C3%A9", "%7C", "!$&'()*+,;=:@"])), max_size=3
).map("".join)


@given(
    st.lists(_SEGMENT.filter(lambda text: text not in (".", "..")), max_size=4),
    st.lists(_SEGMENT.map(lambda text: text.replace("'", "")), max_size=2),
    st.randoms(use_true_random=False),
)
def test_urls_that_rfc_3986_calls_equivalent_have_one_form(
    path: list[str], query: list[str], chance: random.Random
) -> None:
    def written(text: str) -> str:
        """Write percent-encoded triplets in another case, and unreserved characters as triplets."""
        pieces = []
        position = 0
        while position < len(text):
            if text[position] == "%":
                piece = text[position : position + 3]
                pieces.append(chance.choice([piece, piece.lower()]))
                position += 3
                continue
            char = text[position]
            unreserved = char.isalnum() or char in "-._~"
            pieces.append(
                chance.choice([char, f"%{ord(char):02x}", f"%{ord(char):02X}"]) if unreserved else char
            )
            position += 1
        return "".join(pieces)

    def url(write: bool) -> str:
        host = "ExAmple.COM:443" if write else "example.com"
        segments: list[str] = []
        for each in path:
            if write and chance.random() < 0.3:
                segments += chance.choice([["."], ["x", ".."], ["%2e"], ["x", "%2E."]])
            segments.append(written(each) if write else each)
        items = "&".join(written(each) if write else each for each in query)
        return (
            f"{'HTTPS' if write else 'https'}://{host}/{'/'.join(segments)}{f'?{items}' if query else ''}"
            + ("#there" if write else "")
        )

    assert canonicalize_url(url(write=True)) == canonicalize_url(url(write=False)) == url(write=False)


def test_parameters_are_sorted_and_dropped_on_request() -> None:
    url = "http://a.example/?b=2&a=1&UTM_source=x&b=1&gclid=5&"
    assert canonicalize_url(url, sort_query=True) == "http://a.example/?&UTM_source=x&a=1&b=2&b=1&gclid=5"
    assert canonicalize_url(url, drop_parameters=TRACKING_PARAMETERS) == "http://a.example/?b=2&a=1&b=1&"
    assert canonicalize_url("http://a.example/?utm_id=1", drop_parameters=("utm_*",)) == "http://a.example/"
    assert canonicalize_url("http://a.example/?%75tm_id=1&x", drop_parameters=("utm_*",)).endswith("/?x")
    assert canonicalize_url("http://a.example/?", sort_query=True, drop_parameters=("x",)).endswith("/?")
    assert canonicalize_url(url) == url


# --- seen URLs
# ------------------------------------------------------------------------------------------------


def test_a_url_is_new_once_in_any_spelling() -> None:
    seen = SeenUrls()
    assert seen.add("http://a.example/?x=1")
    assert not seen.add("HTTP://A.example:80/?x=1#y")
    assert seen.add("http://a.example/?x=2")
    assert "http://a.example:80/?x=2" in seen
    assert "http://a.example/?x=3" not in seen
    assert len(seen) == 2


def test_its_options_are_those_of_the_form() -> None:
    seen = SeenUrls(sort_query=True, drop_parameters=TRACKING_PARAMETERS)
    assert seen.add("http://a.example/?x=1&y=2&utm_id=5")
    assert not seen.add("http://a.example/?y=2&x=1")


@pytest.mark.parametrize("text", ["about:blank", "not a URL", "\ud800", ""])
def test_other_strings_represent_themselves(text: str) -> None:
    seen = SeenUrls()
    assert seen.add(text)
    assert not seen.add(text)
    assert seen.add(text + "x")


@pytest.mark.parametrize("most", [2, 3, 10, 101])
def test_the_memory_is_bounded_and_keeps_recent_urls(most: int) -> None:
    seen, order, chance = SeenUrls(most), list[int](), random.Random(most)
    for _ in range(3_000):
        number = chance.randrange(3 * most)
        is_new = seen.add(f"http://a.example/{number}")
        latest = list(dict.fromkeys(reversed(order)))[: most // 2 - 1]
        assert not (is_new and number in latest)  # the latest addition is known
        assert is_new or number in order  # and unseen URLs are unknown
        order.append(number)
        assert len(seen) <= most


@pytest.mark.parametrize("most", [1, 0, -5, True, 2.5, "9"])
def test_a_memory_without_room_is_refused(most: object) -> None:
    with pytest.raises(InvalidArgumentError, match="most"):
        SeenUrls(most)  # type: ignore[arg-type]


# --- foreign hosts
# --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/", "https://EXAMPLE.com:8443", "http://8.8.8.8/", "http://[2606:4700::1111]/",
        "http://localhost.example.com/", "http://127.0.0.1.example.com/", "http://notlocalhost.org/", "http://a.locale/",
        "http://[::ffff:8.8.8.8]/", "http://134744072/", "http://user:p@example.com", "http://bücher.example.com/",
    ],
)  # fmt: skip
def test_a_host_of_the_internet_is_foreign(url: str) -> None:
    assert is_foreign(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost/", "http://LOCALHOST:8000", "http://a.localhost/", "http://localhost./", "http://127.0.0.1:9/",
        "http://127.1/", "http://0x7f000001/", "http://[::1]/", "http://10.0.0.1/", "http://192.168.1.5/",
        "http://172.16.0.1/", "http://169.254.169.254/", "http://[fe80::1]/", "http://[fd00::1]/", "http://0.0.0.0/",
        "http://[::ffff:10.0.0.1]/", "http://100.64.0.1/", "http://224.0.0.1/", "http://intranet/", "http://printer.local/",
        "http://db.internal/", "http://x.test/", "http://router.home.arpa/", "about:blank", "data:text/html,x",
        "file:///etc/hosts", "", "no URL", "http://", "http://user@localhost/",
    ],
)  # fmt: skip
def test_this_machine_and_its_network_are_local(url: str) -> None:
    assert not is_foreign(url)


def test_listed_names_are_not_foreign() -> None:
    assert not is_foreign(f"http://{socket.gethostname()}/")
    own = ("Example.com.", "8.8.8.8")
    for url in ("http://example.com/", "http://a.b.example.com/", "http://8.8.8.8/"):
        assert is_foreign(url)
        assert not is_foreign(url, own_names=own)
    assert is_foreign("http://notexample.com/", own_names=own)
