"""What every command shares: the five options of cli.md, and what they lead to, each made when first asked for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from skillopt_sleep.cli.view import View
    from skillopt_sleep.config import Loaded
    from skillopt_sleep.paths import Home

app = typer.Typer(
    name="skillopt-sleep",
    help="Makes coding agents better at your own work while you sleep.",
    rich_markup_mode=None,
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.callback()
def _whole() -> None:
    """A group also where a single command is registered."""


SHARED: dict[str, Any] = {
    "as_json": Annotated[bool, typer.Option("--json", help="One JSON document (or JSON lines) on stdout.")],
    "config": Annotated[Path | None, typer.Option("--config", help="Your sleep.toml.", metavar="FILE", readable=False)],
    "home": Annotated[Path | None, typer.Option("--home", help="Folder of our state.", metavar="DIR", readable=False)],
    "quiet": Annotated[bool, typer.Option("--quiet", "-q", help="Less talk.")],
    "verbose": Annotated[bool, typer.Option("--verbose", "-v", help="More talk.")],
}
DEFAULTS: dict[str, object] = {"as_json": False, "config": None, "home": None, "quiet": False, "verbose": False}


@dataclass(frozen=True)
class Call:
    """One call of a command: its shared options, and what is made from them on demand."""

    as_json: bool = False
    config_file: Path | None = None
    home_folder: Path | None = None
    quiet: bool = False
    verbose: bool = False

    @cached_property
    def view(self) -> View:
        from skillopt_sleep.cli.view import View

        return View(as_json=self.as_json, quiet=self.quiet, verbose=self.verbose)

    @cached_property
    def home(self) -> Home:
        from skillopt_sleep.paths import home

        return home(self.home_folder)

    @cached_property
    def loaded(self) -> Loaded:
        from skillopt_sleep.config import load

        loaded = load(self.config_file, cwd=Path.cwd())
        for warning in loaded.warnings:
            self.view.warn(warning)
        return loaded


def _must_be_text(values: dict[str, Any]) -> None:
    """Ids and words that are no UTF-8 can be kept nowhere; paths may be any bytes."""
    for name, value in values.items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and any("\ud800" <= character <= "\udfff" for character in text):
                from skillopt_sleep.errors import UsageError

                raise UsageError("is not UTF-8", where=name.replace("_", "-"), remedy="Type it in UTF-8")


def command(group: typer.Typer = app, name: str | None = None) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register `f(call, …)` as a command that also takes the shared options."""

    def register(f: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(f, eval_str=True).parameters.values())[1:]
        shared = [
            inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=DEFAULTS[key], annotation=annotation)
            for key, annotation in SHARED.items()
        ]

        @wraps(f)
        def run(**values: Any) -> None:
            common = {key: values.pop(key) for key in SHARED}
            _must_be_text(values)
            f(Call(common["as_json"], common["config"], common["home"], common["quiet"], common["verbose"]), **values)

        del run.__wrapped__  # typer would follow it to the signature without `call`
        keyword = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
        run.__signature__ = inspect.Signature([*keyword, *shared])  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in [*keyword, *shared]}
        group.command(name=name)(run)
        return f

    return register
