"""The files in `deploy/`: what the schedulers render for an installation in /usr/local, for those who copy by hand.

`python -m skillopt_sleep.service.install.shipped FOLDER` writes them; a test keeps them equal.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import time
from pathlib import Path
from typing import Final

from skillopt_sleep.service.install.base import Plan
from skillopt_sleep.service.install.cron import Cron
from skillopt_sleep.service.install.launchd import LABEL, Launchd
from skillopt_sleep.service.install.systemd import NAME, Systemd

PLAN: Final = Plan(
    ("/usr/local/bin/skillopt-sleep", "run", "-q"),
    time(3, 0),
    {"PATH": "/usr/local/bin:/usr/bin:/bin", "SKILLOPT_TRIGGER": "scheduled"},
)

CONTAINER: Final = """\
# The daemon in a container. Mount what it reads and keeps:
#   -v $HOME/.claude:/home/sleep/.claude:ro -v $HOME/.codex:/home/sleep/.codex:ro \\
#   -v $HOME/.copilot:/home/sleep/.copilot:ro -v skillopt-sleep:/state
# and, read and write, each project for which you adopt. Only written: no image was built from it yet.
FROM python:3.13-slim
RUN pip install --no-cache-dir skillopt-sleep && useradd --create-home sleep && install -d -o sleep -m 700 /state
USER sleep
ENV SKILLOPT_HOME=/state
STOPSIGNAL SIGTERM
ENTRYPOINT ["skillopt-sleep"]
CMD ["daemon"]
"""


def shipped() -> Mapping[str, str]:
    """Path below `deploy/` and text of each file."""
    systemd = Systemd(Path())
    return {
        f"systemd/{NAME}.service": systemd.render_service(PLAN),
        f"systemd/{NAME}.timer": systemd.render_timer(PLAN),
        "crontab": Cron().render(PLAN) + "\n",
        f"launchd/{LABEL}.plist": Launchd(Path()).render(PLAN),
        "Containerfile": CONTAINER,
    }


def main(folder: Path) -> None:
    """Write all of them below a folder."""
    for name, text in shipped().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
