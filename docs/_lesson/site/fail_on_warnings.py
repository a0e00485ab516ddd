"""Fail a build that gave a warning, whatever its flags; `mkdocs serve` prints it and goes on.

MkDocs has `--strict` for this, but `--quiet` then drops warnings before anything counts them.
Here they are never dropped: `--quiet` leaves out what is less than a warning.
"""

import logging

from mkdocs.exceptions import Abort
from mkdocs.plugins import event_priority


class Counter(logging.Handler):
    """Counts the warnings and errors of MkDocs, its plugins and these hooks."""

    count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += 1


class Build:
    serving = False
    given = Counter(logging.WARNING)


# As this file is loaded the flags have been read, and mkdocs.yml has not yet been judged.
log = logging.getLogger("mkdocs")
log.addHandler(Build.given)
log.setLevel(min(log.getEffectiveLevel(), logging.WARNING))
# With --verbose MkDocs would forget to look for dead anchors.
logging.getLogger("mkdocs.structure.pages").setLevel(max(log.level, logging.INFO))


def on_startup(command: str, **_) -> None:
    Build.serving = command == "serve"


@event_priority(-100)  # last: what other hooks do here may warn
def on_post_build(**_) -> None:
    if Build.given.count and not Build.serving:
        raise Abort(f"the build gave {Build.given.count} warnings: see above")
