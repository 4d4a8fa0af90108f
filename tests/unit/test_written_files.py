"""Every place where the package creates a file or a folder, with its access rights.

A new place fails this test until it has a row. test_private_files.py tests the rows of kind "private", with
every umask. tests/chrome/test_written_files_chrome.py tests those with a page's content.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import cdpengine

PACKAGE = Path(cdpengine.__file__).parent

# Calls that create files or folders: by function name, or by method name.
MAKING = {
    "NewFile", "OutputFile", "_open_part", "checked_path", "create_from_environment", "create_private", "create_recording",
    "mkdir", "mkdtemp", "mkstemp", "move_new", "new_file", "output_file", "place_file", "write_bytes",
    "write_private", "write_text", "copyfile",
}  # fmt: skip

# For each module: the created files, their rights, and the calls with their number.
PRIVATE = "0600 from the first moment"
PLACES = {
    "_launch/private_files.py": (PRIVATE, {
        "os.open": 4, "mkstemp": 1, "_open_part": 2, "NewFile": 1, "new_file": 1, "move_new": 1, "copyfile": 1,
    }),
    "_page/downloads/output_file.py": (PRIVATE, {"NewFile": 1, "OutputFile": 1}),
    "_page/downloads/download.py": ("the rights of Chrome's file, which is moved", {"move_new": 1}),
    "_page/downloads/downloads.py": ("0700 for new folders; Chrome's rights for its files", {"mkdir": 1}),
    "_launch/profile.py": ("the umask's for a user's profile; 0700 for temporary files in an engine's profile", {"mkdir": 2}),
    "_launch/owned_folder.py": ("0700 for the temporary profile, by mkdtemp; 0600 for its owner file", {
        "mkdtemp": 1, "os.open": 3,
    }),
    "service/settings.py": (f"{PRIVATE} for the token, 0700 for its folder", {"mkdir": 1, "write_private": 1}),
    "service/mcp_transport/stdio.py": ("none: the null device", {"os.open": 1}),
    "service/outputs.py": (f"{PRIVATE}; 0700 for the folder, also where it is temporary", {
        "mkdir": 1, "new_file": 1, "os.open": 1,
    }),
    "service/mcp_transport/http.py": ("0700 for a session's folder, in the folder of outputs", {"mkdir": 1}),
    "service/sessions.py": ("0700 for a profile's folder; Chrome's for its files", {"mkdir": 1}),
    "cache/database.py": (f"{PRIVATE}; 0700 for its folder", {"mkdir": 1, "os.open": 1}),
    "pool/mapping/line_file.py": (PRIVATE, {"os.open": 1, "new_file": 1}),
    "pool/mapping/run.py": (f"{PRIVATE}; 0700 for the folder", {"write_private": 1, "mkdir": 1}),
    "act/verbs/pictures.py": (PRIVATE, {"output_file": 1, "checked_path": 2}),
    "shell/client.py": ("none: the null device", {"os.open": 1}),
    "shell/starting.py": (f"{PRIVATE} for the log, 0700 for the folder", {"os.open": 1, "mkdir": 2}),
    "shell/ref_number_file.py": (f"{PRIVATE}; 0700 for the folder", {"mkdir": 2, "write_private": 2}),
    "shell/background.py": (f"{PRIVATE} for the lock; the socket's by the umask", {"os.open": 1}),
    "cli/commands.py": ("none: the null device", {"os.open": 2}),
    "debug/recording/recording_file.py": (PRIVATE, {"create_private": 1}),
    "debug/recording/recorder.py": (PRIVATE, {"create_recording": 1}),
    "_api/page/pictures.py": (PRIVATE, {"output_file": 2, "checked_path": 2}),
    "_api/page/reading.py": (PRIVATE, {"checked_path": 1}),
    "_api/scopes/measure.py": (PRIVATE, {"checked_path": 4}),
    "_activity/page_activity.py": (PRIVATE, {"output_file": 1, "checked_path": 1}),
    "_measure/tracing.py": (PRIVATE, {"OutputFile": 1}),
    "_measure/profiles.py": (PRIVATE, {"output_file": 2}),
    "_storage/storage_state.py": (PRIVATE, {"write_private": 1}),
    "cli/page_files.py": (PRIVATE, {"output_file": 1}),
    "cli/recordings/commands.py": (PRIVATE, {"new_file": 1}),
    "cli/protocol.py": (PRIVATE, {"new_file": 1}),
    "cli/repl_prompt.py": ("0600 for the history, 0700 for its folder", {"os.open": 1, "mkdir": 1}),
    "testing/pytest_plugin.py": ("the umask's, for a folder of a user's tests; 0600 for the cassettes in it", {"mkdir": 1}),
    "errors/shortages.py": ("none: the null device", {"os.open": 1}),
}  # fmt: skip


def makes(call: ast.Call) -> str:
    """Return the name of a call that creates a file, or "" for any other."""
    function = call.func
    if isinstance(function, ast.Name):
        name = function.id
    elif isinstance(function, ast.Attribute):
        name = function.attr
        if name == "open" and isinstance(function.value, ast.Name) and function.value.id == "os":
            return "os.open"
    else:
        return ""
    if name == "open":
        modes = [each.value for each in call.args if isinstance(each, ast.Constant)]
        return "open" if any(isinstance(mode, str) and set(mode) & set("wxa+") for mode in modes) else ""
    return name if name in MAKING else ""


def test_every_place_that_creates_a_file_has_its_rights() -> None:
    found: dict[str, Counter[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
        names = Counter(name for call in calls if (name := makes(call)))
        if names:
            found[path.relative_to(PACKAGE).as_posix()] = names
    assert {place: dict(names) for place, names in found.items()} == {
        place: calls for place, (_, calls) in PLACES.items()
    }


def test_rights_are_set_on_creation_and_never_changed() -> None:
    changing = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if "chmod(" in path.read_text("utf-8")
    }
    # An older history file that others could read; and folders that Chrome created, which have to be emptied.
    assert changing == {"cli/repl_prompt.py", "_launch/owned_folder.py"}
