"""The files of deploy/ fit the program and each other: commands, paths, ports, users and times."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from cdpengine.cli.commands import commands
from cdpengine.service.guard import check_headers
from cdpengine.service.settings import ServiceSettings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PORT = 8787
DOCKERFILE = (DEPLOY / "Dockerfile").read_text("utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OBJECTS: list[dict[str, Any]] = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text("utf-8")))
PODS = {
    each["metadata"]["name"]: each["spec"]["template"]["spec"]
    for each in OBJECTS
    if each["kind"] == "Deployment"
}
UNIT_PATH = DEPLOY / "cdpengine.service"


class Unit(configparser.RawConfigParser):
    """A systemd unit. Names keep their case and may repeat."""

    def optionxform(self, optionstr: str) -> str:
        return optionstr


UNIT = Unit(strict=False, delimiters=("=",), comment_prefixes=("#",))
UNIT.read(UNIT_PATH, "utf-8")


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile, each with the rest of its line."""
    text = re.sub(r"^#.*\n", "", DOCKERFILE, flags=re.MULTILINE)
    lines = re.sub(r"\s*\\\n\s*", " ", text).splitlines()
    return [(name, rest) for line in lines if line.strip() for name, _, rest in [line.partition(" ")]]


def last(name: str) -> str:
    return [rest for each, rest in instructions() if each == name][-1]


def packages() -> set[str]:
    """Return the Debian packages of the image."""
    installed = re.findall(
        r"apt-get install --yes --no-install-recommends (.*?) &&", " ".join(r for _, r in instructions())
    )
    assert len(installed) == 2
    return set(" ".join(installed).split())


def parse(command: list[str]) -> dict[str, Any]:
    """Parse a command of cdpengine with the program's parser."""
    assert command[0].endswith("cdpengine")
    found = commands.get_command(click.Context(commands), command[1])
    assert found is not None, command
    context = click.Context(found, info_name=command[1])
    found.parse_args(context, command[2:])
    return context.params


def all_commands() -> Iterator[tuple[str, list[str]]]:
    """Yield each configured command, with its location."""
    yield "Dockerfile", json.loads(last("CMD"))
    for name, service in SERVICES.items():
        yield f"compose {name}", service["command"]
    for name, pod in PODS.items():
        yield f"kubernetes {name}", pod["containers"][0]["args"]
    yield "systemd", shlex.split(UNIT["Service"]["ExecStart"])


COMMANDS = dict(all_commands())
SERVE = {place: command for place, command in COMMANDS.items() if command[0].endswith("cdpengine")}
DASK = {place: command for place, command in COMMANDS.items() if command[0] == "dask"}


# --- commands -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", SERVE)
def test_the_program_accepts_its_commands(place: str) -> None:
    options = parse(SERVE[place])
    assert options["port"] == PORT
    # In a container other hosts connect; on a machine only local programs do.
    assert options["host"] == ("127.0.0.1" if place == "systemd" else "0.0.0.0")


@pytest.mark.parametrize("place", DASK)
def test_dask_accepts_its_commands(place: str) -> None:
    from importlib import import_module

    command = DASK[place]
    program = import_module(f"distributed.cli.dask_{command[1]}").main
    program.make_parser(click.Context(program)).parse_args(args=command[2:])


@pytest.mark.parametrize("place", DASK)
def test_workers_find_their_scheduler_and_get_their_pages_with_their_pool(place: str) -> None:
    text = " ".join(DASK[place])
    if " scheduler " in text:
        assert re.search(r"--port[= ]8786\b", text)
        return
    assert "--resources" not in text  # jobs would arrive before the pool exists
    assert "--nworkers=1" in text
    address = re.search(r"tcp://([\w-]+):8786", text)
    assert address is not None
    names = {each["metadata"]["name"] for each in OBJECTS if each["kind"] == "Service"}
    assert address[1] in (SERVICES if place.startswith("compose") else names)


# --- the image ----------------------------------------------------------------------------------------------


def copied() -> list[str]:
    """Return the files that are copied from the project."""
    found = [
        rest.split() for name, rest in instructions() if name == "COPY" and not rest.startswith("--from")
    ]
    return [source for each in found for source in each[:-1]]


def test_copied_files_exist_and_are_sent_to_the_builder() -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    kept = {line[1:] for line in ignored if line.startswith("!")}
    assert "*" in ignored
    assert set(copied()) == kept
    for source in copied():
        assert (ROOT / source).exists(), source


def test_all_inputs_of_the_package_build_are_copied() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {
        *(
            fragment["path"]
            for fragment in project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["fragments"]
        ),
        *project["project"]["license-files"],
        *wheel["packages"],
    }
    assert needed <= set(copied())
    extra = re.search(r"ARG EXTRAS=(\w+)", DOCKERFILE)
    assert extra is not None
    assert extra[1] in project["project"]["optional-dependencies"]


def test_the_lock_becomes_constraints() -> None:
    script = re.search(r"sed (-e '[^']+' -e '[^']+') requirements.lock", DOCKERFILE)
    assert script is not None
    done = subprocess.run(
        ["sed", *shlex.split(script[1]), str(ROOT / "requirements.lock")],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line for line in done.stdout.splitlines() if line and not line.lstrip().startswith("#")]
    assert len(lines) > 50
    assert [line for line in lines if not re.match(r"[\w.-]+==[\w.]+( ; [^\\]+)?$", line)] == []


def test_the_packages_are_debians() -> None:
    release = Path("/etc/os-release").read_text("utf-8")
    if "VERSION_CODENAME=bookworm" not in release or not list(Path("/var/lib/apt/lists").glob("*_Packages*")):
        pytest.skip("this machine has no list of the packages of Debian bookworm")
    assert set(re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)) == {"debian:bookworm-slim"}
    done = subprocess.run(
        ["apt-cache", "policy", *sorted(packages())], capture_output=True, text=True, check=True
    )
    candidates = dict(re.findall(r"^(\S+):\n.*\n  Candidate: (.*)$", done.stdout, re.MULTILINE))
    assert {name for name in packages() if candidates.get(name, "(none)") == "(none)"} == set()


# --- Compose ------------------------------------------------------------------------------------------------


def test_the_service_keeps_its_token_in_its_own_folder_and_reports_its_health() -> None:
    service = SERVICES["service"]
    volume, folder = service["volumes"][0].split(":")
    assert volume in COMPOSE["volumes"]
    assert Path(parse(service["command"])["token_file"]).is_relative_to(folder)
    # A volume takes its owner from the image.
    assert re.search(
        rf"install --directory --owner=browser --group=browser --mode=0700 {folder}\n", DOCKERFILE
    )
    assert f"http://127.0.0.1:{PORT}/healthz" in service["healthcheck"]["test"][-1]
    compile(service["healthcheck"]["test"][-1], "healthcheck", "exec")
    assert parse(service["command"])["hosts"] == ("service",)


# --- Kubernetes ---------------------------------------------------------------------------------------------


def test_selectors_and_ports_fit() -> None:
    labels = {
        each["metadata"]["name"]: each["spec"]["template"]["metadata"]["labels"]
        for each in OBJECTS
        if each["kind"] == "Deployment"
    }
    for each in OBJECTS:
        name = each["metadata"]["name"]
        if each["kind"] == "Deployment":
            assert each["spec"]["selector"]["matchLabels"] == labels[name]
            continue
        assert each["kind"] == "Service"
        assert each["spec"]["selector"] == labels[name]
        ports = {port["name"]: port["containerPort"] for port in PODS[name]["containers"][0]["ports"]}
        assert [ports[port["targetPort"]] for port in each["spec"]["ports"]] == [
            port["port"] for port in each["spec"]["ports"]
        ]


@pytest.mark.parametrize("kind", ["readinessProbe", "livenessProbe"])
def test_the_service_answers_its_probes(kind: str) -> None:
    probe = PODS["cdpengine"]["containers"][0][kind]["httpGet"]
    options = parse(SERVE["kubernetes cdpengine"])
    settings = ServiceSettings(
        token="x" * 32, host=options["host"], port=options["port"], hosts=options["hosts"]
    )
    headers = {header["name"].lower(): header["value"] for header in probe["httpHeaders"]}
    assert check_headers(probe["path"], headers, settings, PORT) is None
    assert check_headers(probe["path"], {"host": f"10.0.0.7:{PORT}"}, settings, PORT) is not None
    names = [each["metadata"]["name"] for each in OBJECTS if each["kind"] == "Service"]
    assert options["hosts"][0] in names
    token = {"host": f"{names[0]}:{PORT}", "authorization": f"Bearer {'x' * 32}"}
    assert check_headers("/act", token, settings, PORT) is None


# --- systemd ------------------------------------------------------------------------------------------------


def test_the_unit_is_valid_for_systemd(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    program = SERVE["systemd"][0]
    copy = tmp_path / UNIT_PATH.name
    copy.write_text(UNIT_PATH.read_text("utf-8").replace(program, sys.executable), "utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", str(copy)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    # systemd-analyze reports faults there.
    copy.write_text(
        copy.read_text("utf-8").replace("ProtectSystem=strict", "ProtectSystem=strictly"), "utf-8"
    )
    done = subprocess.run(
        ["systemd-analyze", "verify", str(copy)], capture_output=True, text=True, timeout=60, check=False
    )
    assert "protect system" in done.stderr
