"""What `model pull` does."""

from __future__ import annotations

from skillopt_sleep.cli.common import Call
from skillopt_sleep.models.pinned import MODEL, runs_here
from skillopt_sleep.models.pull import pull as get
from skillopt_sleep.models.pull import shown


def pull(call: Call, source: str | None) -> None:
    """Get the pinned model into the home; say where it is, where it came from, and how it is used."""
    with call.view.progress("model") as step:
        path, came = get(call.home.models, source, lambda done, of: step(MODEL.name, done, of))
    if call.as_json:
        call.view.document(
            {"model": MODEL.name, "path": str(path), "bytes": MODEL.size, "sha256": MODEL.sha256,
             "licence": MODEL.licence, "source": shown(source or MODEL.url) if came else None,
             "state": "pulled" if came else "there", "runtime": runs_here()}
        )  # fmt: skip
        return
    view = call.view
    view.text(f"{path} {'was pulled and' if came else 'is there already and'} is {MODEL.name} ({MODEL.licence})")
    if not runs_here():
        view.note("what runs it is not installed: pip install 'skillopt-sleep[local]'")
    view.note("`--backend auto` takes it from now on; `--backend recorded` does without")
