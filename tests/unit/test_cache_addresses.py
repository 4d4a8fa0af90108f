"""URLs have one normal form for all spellings, and patterns match normal forms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdpengine.cache import TRACKING_PARAMETERS, UrlPattern, generalize_url, normalize_url
from cdpengine.cache.addresses import LONGEST_URL, choose_pattern
from cdpengine.errors import InvalidArgumentError


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("HTTP://Shop.Example", "http://shop.example/"),
        ("http://a.example:80/x", "http://a.example/x"),
        ("https://a.example:443/x", "https://a.example/x"),
        ("https://a.example:80/x", "https://a.example:80/x"),
        ("https://a.example:/x", "https://a.example/x"),
        ("http://[::1]:80/x", "http://[::1]/x"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"),
        ("https://ada:hunter2@a.example/", "https://a.example/"),
        ("https://a.example/x#top", "https://a.example/x"),
        ("https://a.example/x#", "https://a.example/x"),
        ("https://a.example/#/cart?b=2&a=1", "https://a.example/#/cart?a=1&b=2"),
        ("https://a.example/#!cart", "https://a.example/#!cart"),
        ("https://a.example/a/./b/../c", "https://a.example/a/c"),
        ("https://a.example/a/%2E%2e/c", "https://a.example/c"),
        ("https://a.example/../../a/..", "https://a.example/"),
        ("https://a.example/%7eada/%c3%bc/ü", "https://a.example/~ada/%C3%BC/%C3%BC"),
        ("https://a.example\\b\\c", "https://a.example/b/c"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://a.example/?b=2&a=1&b=1", "https://a.example/?a=1&b=2&b=1"),
        ("https://a.example/?&&a=1&", "https://a.example/?a=1"),
        ("https://a.example/?utm_source=x&a=1&GCLID=5&fbclid=6", "https://a.example/?a=1"),
        ("https://a.example/?token=hunter2&sid=hunter2&x=1", "https://a.example/?sid=*&token=*&x=1"),
        ("https://a.example/#/x?token=hunter2", "https://a.example/#/x?token=*"),
        ("  https://a.exa\nmple/ ", "https://a.example/"),
        ("file:///tmp/a b.html", "file:///tmp/a%20b.html"),
        ("file:/tmp/a.html", "file:///tmp/a.html"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("https://faß.example/", "https://xn--fa-hia.example/"),
        ("https://a.example/?a[]=1&b='x'", "https://a.example/?a%5B%5D=1&b=%27x%27"),
        ("https://a.example/?a%5b%5D=1&b=%27x%27", "https://a.example/?a%5B%5D=1&b=%27x%27"),
        ("https://a.example/a/..;jsessionid=1/b", "https://a.example/b"),
    ],
)  # fmt: skip
def test_a_url_has_its_normal_form(url: str, form: str) -> None:
    assert normalize_url(url) == form
    assert normalize_url(form) == form


@pytest.mark.parametrize(
    "url",
    [
        "", "shop.example/x", "about:blank", "data:text/html,hunter2", "javascript:hunter2()", "ftp://a.example/",
        "http://", "http://a.example:hunter2/", "http://[::1/", "http://a.example:99999/", "http://hunter2 x.example/",
        "https://*.example/", "https://a.example/" + "x" * LONGEST_URL,
    ],
)  # fmt: skip
def test_a_string_without_a_normal_form_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        normalize_url(url)
    assert "hunter2" not in str(caught.value)
    assert len(str(caught.value)) <= 400


_TEXT = st.text(st.sampled_from("aZ09/.%25#?&=;:@!$'()*+,~-_ ü\u4e2d\ud800\\|{}[]\"<>^`"), max_size=24)
_WORD = st.text("abcXYZ0123%20ü._~-", max_size=5)
_ITEM = st.tuples(st.text("abcdef", min_size=1, max_size=3), _WORD)


@given(st.sampled_from(["http", "https", "HTTPS"]), _TEXT, _TEXT, _TEXT)
def test_the_form_of_a_form_is_the_same(scheme: str, path: str, query: str, fragment: str) -> None:
    form = normalize_url(f"{scheme}://a.example/{path}?{query}#{fragment}")
    assert normalize_url(form) == form
    assert form.isascii()
    assert " " not in form


@given(st.dictionaries(st.text("abcdef", min_size=1, max_size=3), _WORD, max_size=6), st.randoms())
def test_the_order_of_parameters_is_irrelevant(items: dict[str, str], random: object) -> None:
    pairs = [f"{name}={value}" for name, value in items.items()]
    mixed = list(pairs)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert normalize_url(f"https://a.example/?{'&'.join(pairs)}") == normalize_url(
        f"https://a.example/?{'&'.join(mixed)}"
    )


@given(st.sampled_from(sorted(TRACKING_PARAMETERS)), _WORD, st.integers(0, 2))
def test_no_tracking_parameter_is_in_a_form(name: str, value: str, place: int) -> None:
    items = ["a=1", "z=2"]
    items.insert(place, f"{name.replace('*', 'any').upper()}={value}")
    assert normalize_url(f"https://a.example/?{'&'.join(items)}") == "https://a.example/?a=1&z=2"


def test_tracking_parameters_are_data() -> None:
    assert normalize_url("https://a.example/?ref=x&utm_source=y", tracking=("ref",)).endswith("?utm_source=y")


@given(st.lists(_ITEM, max_size=4))
def test_a_form_is_a_pattern_that_matches_itself(items: list[tuple[str, str]]) -> None:
    form = normalize_url("https://a.example/x?" + "&".join(f"{name}={value}" for name, value in items))
    assert UrlPattern(form).matches(form)


@pytest.mark.parametrize(
    ("pattern", "url", "expected"),
    [
        ("https://a.example/orders/*", "https://a.example/orders/7", True),
        ("https://a.example/orders/*", "https://a.example/orders/7/edit", False),
        ("https://a.example/orders/**", "https://a.example/orders/7/edit", True),
        ("https://a.example/orders/*", "https://a.example/orders/7?page=2#top", True),
        ("https://a.example/orders/*", "HTTPS://A.example:443/x/../orders/7", True),
        ("https://a.example/orders/*", "http://a.example/orders/7", False),
        ("https://*.example/", "https://a.example/", True),
        ("https://*.example/", "https://a.b.example/", False),
        ("https://*.example/", "https://evil.test/x.example/", False),
        ("https://*.example/", "https://a.example:8443/", False),
        ("https://a.example/?page=*", "https://a.example/?page=2&x=1", True),
        ("https://a.example/?page=*", "https://a.example/?x=1", False),
        ("https://a.example/?page=2", "https://a.example/?page=22", False),
        ("https://a.example/#/cart", "https://a.example/#/cart", True),
        ("https://a.example/#/cart", "https://a.example/#/home", False),
        ("https://a.example/#/*", "https://a.example/", False),
        ("https://a.example/", "https://a.example/#/cart", True),
        ("https://a.example/a.b", "https://a.example/aXb", False),
        ("https://a.example/", "about:blank", False),
    ],
)
def test_patterns(pattern: str, url: str, expected: bool) -> None:
    assert UrlPattern(pattern).matches(url) is expected


@pytest.mark.parametrize(
    ("url", "pattern"),
    [
        ("https://a.example/orders/123/edit?page=2", "https://a.example/orders/*/edit?page=2"),
        ("https://a.example/o/0f8fad5b-d9cb-469f-a165-70867728950e", "https://a.example/o/*"),
        ("https://a.example/o/a1b2c3d4e5f6a7b8", "https://a.example/o/*"),
        ("https://a.example/internationalization/v2", "https://a.example/internationalization/v2"),
        ("https://10.0.0.1/7", "https://10.0.0.1/*"),
    ],
)
def test_ids_in_paths_become_any(url: str, pattern: str) -> None:
    assert generalize_url(url) == pattern
    assert UrlPattern(pattern).matches(url)


def test_the_most_specific_pattern_is_chosen() -> None:
    url = "https://a.example/orders/7"
    patterns = [
        UrlPattern(f"https://{text}") for text in ("a.example/**", "*.example/orders/*", "a.example/orders/*")
    ]
    assert choose_pattern(patterns, url) == patterns[2]
    assert choose_pattern([*patterns, UrlPattern(url)], url) == UrlPattern(url)
    assert choose_pattern(patterns, "https://b.test/") is None
