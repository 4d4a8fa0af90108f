"""Names that programs generate in each run: recognition, renaming, and similar strings that are not
generated.
"""

from __future__ import annotations

import random
import string
import uuid

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cdpengine.debug.normalization import Clock, drop_names
from cdpengine.debug.recording.known_secrets import REDACTED
from cdpengine.debug.replaying.matching import Renaming, differences, fits

RECORDED, NOW = 1_795_358_698.7, 1_811_000_000.5
CLOCK = Clock(RECORDED, NOW)
ALNUM = string.ascii_letters + string.digits

# Without REDACTED, which matches any string: hypothesis tries the words of the tested code.
words = st.text(string.ascii_letters + " .,:;=()[]{}<>'\"!+*-#/\\\n", max_size=30).filter(
    lambda text: REDACTED not in text
)


def made_up(kind: str, seed: int) -> str:
    """Return a name in the form that common client libraries generate."""
    chance = random.Random(seed)
    match kind:
        case "port":
            return f"127.0.0.1:{chance.randrange(1024, 65536)}"
        case "uuid":
            return str(uuid.UUID(int=chance.getrandbits(128), version=4))
        case "UUID":
            return str(uuid.UUID(int=chance.getrandbits(128), version=4)).upper()
        case "hex":  # crypto.randomBytes(16).toString("hex")
            return f"{chance.getrandbits(128):032x}"
        case "node":  # fs.mkdtemp
            return "/tmp/playwright-artifacts-" + "".join(chance.choices(ALNUM, k=6))
        case "python":  # tempfile.mkdtemp, mkstemp
            return "/tmp/tmp" + "".join(chance.choices(string.ascii_lowercase + string.digits + "_", k=8))
        case "file":
            return made_up("python", seed) + ".txt"
        case "go":
            return f"/tmp/chromedp-runner{chance.randrange(10**8, 10**10)}"
        case "pytest":
            return f"/tmp/pytest-of-ada/pytest-{chance.randrange(1000)}"
        case "mac":
            return f"/var/folders/zz/{seed}abc/T/{made_up('node', seed).removeprefix('/tmp/')}"
        case _:
            raise AssertionError(kind)


KINDS = ["port", "uuid", "UUID", "hex", "node", "python", "file", "go", "pytest", "mac"]


@settings(max_examples=60)
@given(kind=st.sampled_from(KINDS), before=words, after=words, seed=st.integers(0, 10**6))
def test_a_generated_name_is_renamed_throughout(kind: str, before: str, after: str, seed: int) -> None:
    before, after = f"{before} ", f" {after}"  # a name needs a boundary
    recorded, asked = made_up(kind, seed), made_up(kind, seed + 1)
    assume(recorded != asked)
    assume(kind not in ("node", "mac") or Renaming().trial().fits(recorded, asked))  # for these, see below
    renaming = Renaming(CLOCK)
    trial = renaming.trial()
    assert trial.fits(f"{before}{recorded}{after}", f"{before}{asked}{after}")
    assert trial.pairs == {recorded: asked}
    trial.accept()
    assert renaming.trial().fits(f"{recorded}{after}{recorded}", f"{asked}{after}{asked}")
    # From now on it is this name and no other, and nothing else has this name.
    third = made_up(kind, seed + 2)
    if third not in (recorded, asked):
        assert not renaming.trial().fits(f"{before}{recorded}", f"{before}{third}")
        assert not renaming.trial().fits(f"{before}{third}", f"{before}{asked}")
    assert renaming.rename(f"<{recorded}>".encode()) == f"<{asked}>".encode()


@pytest.mark.parametrize("kind", ["node", "python"])
def test_random_folder_names_are_nearly_always_recognized(kind: str) -> None:
    """Six random letters may form two words: one pair in several thousand."""
    pairs = ((made_up(kind, 2 * seed), made_up(kind, 2 * seed + 1)) for seed in range(3000))
    assert sum(not Renaming().trial().fits(*pair) for pair in pairs) <= 3


@settings(max_examples=60)
@given(kind=st.sampled_from(KINDS), text=words, other=words, seed=st.integers(0, 10**6))
def test_the_surroundings_of_a_generated_name_must_be_equal(
    kind: str, text: str, other: str, seed: int
) -> None:
    if text == other:
        return
    recorded, asked = made_up(kind, seed), made_up(kind, seed + 1)
    assert not Renaming(CLOCK).trial().fits(f"{recorded} {text}", f"{asked} {other}")


@settings(max_examples=100)
@given(recorded=words, asked=words)
def test_texts_of_words_must_be_equal(recorded: str, asked: str) -> None:
    assert Renaming(CLOCK).trial().fits(recorded, asked) is (recorded == asked)


@pytest.mark.parametrize(
    ("recorded", "asked"),
    [
        ("/tmp/report-monday", "/tmp/report-friday"),
        ("/tmp/report1", "/tmp/report2"),
        ("/tmp/results-2026", "/tmp/results-2027"),
        ("/home/ada/llZust", "/home/ada/pd2dPB"),
        ("#item-12", "#item-13"),
        ("4111111111111111", "5500000000000004"),
        ("0123456789ABCDEF0123456789ABCDEF", "FEDCBA98765432100123456789ABCDEF"),
        ("localhost:80", "127.0.0.1:80"),
        ("example.com:80", "example.com:81"),
        ("1234567890", "1987654321"),
        ("handleV2Response", "handleV3Response"),
        ("deadbeef", "feedface"),
    ],
)
def test_a_chosen_name_is_not_generated(recorded: str, asked: str) -> None:
    assert not Renaming(CLOCK).trial().fits(recorded, asked)


@pytest.mark.parametrize(
    ("method", "recorded", "asked", "expected"),
    [
        # Another URL, another selector, another string.
        ("Page.navigate", "https://a.example/{hex}", "https://a.example/{hex}", False),
        ("Page.navigate", "https://a.example/{uuid}", "https://a.example/{uuid}", False),
        ("Page.navigate", "http://{port}/item/{uuid}", "http://{port}/item/{uuid}", True),
        (
            "Page.navigate",
            "http://localhost.evil.example/{hex}",
            "http://localhost.evil.example/{hex}",
            False,
        ),
        ("Page.navigate", "file://{node}/page.html", "file://{node}/page.html", True),
        ("Page.navigate", "file://{node}/page.html", "file://{node}/other.html", False),
    ],
)
def test_urls_of_other_machines_are_exact(method: str, recorded: str, asked: str, expected: bool) -> None:
    old, new = (
        {"url": text.format(**{kind: made_up(kind, seed) for kind in KINDS})}
        for seed, text in ((1, recorded), (2, asked))
    )
    assert fits(method, old, new) is expected


@pytest.mark.parametrize("field", ["selector", "query"])
@pytest.mark.parametrize("kind", ["hex", "uuid", "node"])
def test_selectors_are_exact(field: str, kind: str) -> None:
    assert not fits("DOM.x", {field: f"#a-{made_up(kind, 1)}"}, {field: f"#a-{made_up(kind, 2)}"})


WORLD = "__playwright_utility_world_page@3e0ce12e67260b475f16a5e400adfc9f"


@pytest.mark.parametrize(
    ("method", "recorded", "asked", "expected"),
    [
        ("Page.createIsolatedWorld", {"worldName": WORLD}, {"worldName": WORLD.replace("3e0c", "9a1f")}, True),
        ("Page.createIsolatedWorld", {"worldName": "mine_k3j9x2m1"}, {"worldName": "mine_q8v0z7wa"}, True),
        ("Page.createIsolatedWorld", {"worldName": "mine_k3j9x2m1"}, {"worldName": "yours_q8v0z7wa"}, False),
        ("Page.createIsolatedWorld", {"worldName": "mainWorld"}, {"worldName": "otherWorld"}, False),
        ("Page.createIsolatedWorld", {"worldName": WORLD}, {"worldName": "utility"}, False),
        ("Runtime.addBinding", {"name": "call_k3j9x2m1"}, {"name": "call_q8v0z7wa"}, True),
        ("Runtime.addBinding", {"name": "shoutLoud"}, {"name": "whisperLow"}, False),
        ("Network.setCookie", {"name": "call_k3j9x2m1"}, {"name": "call_q8v0z7wa"}, False),
        ("Browser.setDownloadBehavior", {"downloadPath": "/tmp/a-llZust"}, {"downloadPath": "/Users/x/d"}, True),
        ("Browser.setDownloadBehavior", {"downloadPath": "/tmp/a"}, {"downloadPath": ""}, False),
        ("DOM.setFileInputFiles", {"files": ["/home/a/up.txt"]}, {"files": ["/Users/b/up.txt"]}, True),
        ("DOM.setFileInputFiles", {"files": ["C:\\a\\up.txt"]}, {"files": ["/Users/b/up.txt"]}, True),
        ("DOM.setFileInputFiles", {"files": ["/a/up.txt"]}, {"files": ["/a/down.txt"]}, False),
        ("DOM.setFileInputFiles", {"files": ["/a/up.txt"]}, {"files": ["/a/up.txt", "/a/b.txt"]}, False),
        ("A.a", {"e": "f()\n//# sourceURL=pptr:x;/a/b.mjs:3"}, {"e": "f()\n//# sourceURL=pptr:x;/c/d.mjs:9"}, True),
        ("A.a", {"e": "f()\n//# sourceURL=x"}, {"e": "g()\n//# sourceURL=x"}, False),
        ("A.a", {"at": 1795358698724.6704}, {"at": 1811000000500.25}, True),
        ("A.a", {"at": 1795358698.7}, {"at": 1811000000.1}, True),
        ("A.a", {"at": 1795358698724}, {"at": 1795358698725}, False),  # a time, but not that of the replay
        ("A.a", {"n": 12}, {"n": 13}, False),
        ("A.a", {"url": "http://localhost:1/?_=1795358698724"}, {"url": "http://localhost:2/?_=1811000000500"}, True),
        ("A.a", {"url": "http://localhost:1/?_=1795358698724"}, {"url": "http://localhost:2/?_=1511000000500"}, False),
    ],
)  # fmt: skip
def test_names_paths_and_times(method: str, recorded: object, asked: object, expected: bool) -> None:
    assert fits(method, recorded, asked, Renaming(CLOCK).trial()) is expected
    assert (not list(differences(method, recorded, asked, Renaming(CLOCK).trial()))) is expected


def test_a_name_from_the_browser_is_not_renamed() -> None:
    given_name = made_up("uuid", 1)
    renaming = Renaming(CLOCK, lambda name: name == given_name)
    for recorded, asked in ((given_name, made_up("uuid", 2)), (made_up("uuid", 2), given_name)):
        assert not renaming.trial().fits(recorded, asked)
    assert renaming.trial().fits(made_up("uuid", 3), made_up("uuid", 4))


def test_a_failed_comparison_teaches_nothing() -> None:
    renaming = Renaming(CLOCK)
    trial = renaming.trial()
    assert not trial.fits(f"{made_up('uuid', 1)} a", f"{made_up('uuid', 2)} b")
    assert trial.pairs == {}
    trial.accept()
    assert renaming.names == {}


def test_names_around_redacted_parts_are_compared_too() -> None:
    recorded = f"{made_up('uuid', 1)} [redacted] {made_up('port', 1)}"
    renaming = Renaming(CLOCK)
    trial = renaming.trial()
    assert trial.fits(recorded, f"{made_up('uuid', 2)} what\never {made_up('port', 2)}")
    assert trial.pairs == {made_up("uuid", 1): made_up("uuid", 2), made_up("port", 1): made_up("port", 2)}
    assert not renaming.trial().fits(recorded, f"{made_up('uuid', 2)} whatever")


def test_only_whole_ports_are_renamed() -> None:
    renaming = Renaming()
    trial = renaming.trial()
    assert trial.fits("http://127.0.0.1:80/", "http://127.0.0.1:99/")
    trial.accept()
    assert renaming.rename(b'"127.0.0.1:80" "127.0.0.1:8080" "127.0.0.1:8"') == (
        b'"127.0.0.1:99" "127.0.0.1:8080" "127.0.0.1:8"'
    )


def test_two_names_can_change_places() -> None:
    first, second = made_up("uuid", 1), made_up("uuid", 2)
    renaming = Renaming()
    trial = renaming.trial()
    assert trial.fits(f"{first} {second}", f"{second} {first}")
    trial.accept()
    assert renaming.rename(f"{first} {second}".encode()) == f"{second} {first}".encode()


def test_dropping_generated_names() -> None:
    assert drop_names(f"a {made_up('hex', 1)} b") == drop_names(f"a {made_up('hex', 2)} b")
    assert drop_names("t=1795358698724") == drop_names("t=1811000000500")
    assert drop_names(made_up("hex", 1)) == made_up("hex", 1)  # the whole string is the entered text
    assert drop_names("4111111111111111 a") == "4111111111111111 a"
