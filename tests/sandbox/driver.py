"""`driver.py WALLS`: runs the command that JSON on stdin tells, in a sandbox; says in JSON what came of it."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from skillopt_sleep.errors import SleepError
from skillopt_sleep.sandbox import Command, Host, Limits, Sandbox
from skillopt_sleep.sandbox.room import interpreter
from skillopt_sleep.sandbox.walls import WAYS

if __name__ == "__main__":
    walls = next(walls for walls in WAYS if walls.name == sys.argv[1])
    told = json.load(sys.stdin)
    argv = [str(interpreter()) if word == "PYTHON" else word for word in told.pop("argv")]
    command = Command(
        argv=tuple(argv),
        folder=Path(told.pop("folder")),
        hosts=tuple(Host(*host) for host in told.pop("hosts", ())),
        limits=Limits(**told.pop("limits", {})),
        readable=tuple(map(Path, told.pop("readable", ()))),
        writable=tuple(map(Path, told.pop("writable", ()))),
        home=Path(home) if (home := told.pop("home", None)) else None,
        **told,
    )
    try:
        ran = Sandbox(walls).run(command)
    except SleepError as error:
        sys.exit(str(error))
    json.dump(asdict(ran), sys.stdout, default=lambda raw: raw.decode("utf-8", "replace"))
