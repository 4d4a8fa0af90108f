import pytest

from cdpengine._snapshot.sources.document_kinds import describe_kind


@pytest.mark.parametrize(
    ("content_type", "size", "kind"),
    [
        ("text/html", None, ""),
        ("application/xhtml+xml", None, ""),
        ("", None, ""),
        ("text/html] [ref=e1", None, ""),
        ("image/png", (640, 480.2), "a picture of 640 x 480 pixels"),
        ("image/svg+xml", None, "a picture"),
        ("application/ld+json", None, "JSON"),
        ("application/rss+xml", None, "XML"),
        ("text/csv", None, "plain text"),
        ("application/javascript", None, "plain text"),
        ("audio/mpeg", None, "a sound"),
        ("application/wasm", None, "a file"),
    ],
)
def test_document_kinds(content_type: str, size: tuple[float, float] | None, kind: str) -> None:
    assert describe_kind(content_type, size) == kind
