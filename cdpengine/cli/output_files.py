"""Files that commands write: one rule for all of them.

Rule: a file that exists is refused by name, with exit status 2 and before any browser starts, unless --force is
given. The same holds at the moment when it is written, for a file that came up meanwhile. "-" is standard output
where a command says so; devices and named pipes are written to as they are.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_FORCE = "cdpengine.force"
_NAMED = "cdpengine.files"


def may_overwrite() -> bool:
    """Say whether the command that runs was given --force."""
    return bool(click.get_current_context().meta.get(_FORCE))


def force_option(command: F) -> F:
    """Add --force, unless another option of the command has brought it along."""
    if any(each.name == "force" for each in getattr(command, "__click_params__", ())):
        return command
    return click.option(
        "--force",
        is_flag=True,
        is_eager=True,  # known before the files are looked at
        expose_value=False,
        callback=_take_force,
        help="Overwrite files that exist.",
    )(command)


def output_option(text: str, *, dash: bool = False, default: str | None = None) -> Callable[[F], F]:
    """Add --output and --force. `dash`: "-" is standard output. Without a `default` it has to be given."""

    def add(command: F) -> F:
        return click.option(
            "--output",
            "-o",
            type=click.Path(dir_okay=False, path_type=Path, allow_dash=dash),
            metavar="FILE",
            **({"required": True} if default is None else {"default": default}),
            callback=new_file,
            help=text,
        )(force_option(command))

    return add


def new_file(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:
    """Pass a file's name on; refuse that of a file that exists, and one that another option names too."""
    if value is not None and str(value) != "-":
        check_new_file(ctx, param, value)
    return value


def check_new_file(ctx: click.Context, param: click.Parameter, path: Path) -> None:
    """Refuse as `new_file` does."""
    from cdpengine._launch.private_files import is_taken

    if not path.absolute().parent.is_dir():
        raise click.BadParameter(f"{path}: there is no such folder", ctx, param)
    if not ctx.meta.get(_FORCE) and is_taken(path):
        raise click.BadParameter(f"{path} exists already; --force overwrites it", ctx, param)
    named: dict[str, str] = ctx.meta.setdefault(_NAMED, {})
    option = param.opts[0]
    other = named.setdefault(os.path.realpath(path), option)
    if other != option and not path.is_char_device():
        raise click.BadParameter(
            f"{path} is the file of {other} too; give each a file of its own", ctx, param
        )


def _take_force(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[_FORCE] = True
        # What the environment has recorded is a file of the command as well.
        os.environ["CDPENGINE_RECORD_OVERWRITE"] = "1"
