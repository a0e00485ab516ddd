"""Publish each live figure's script with what it imports in the same file: one request, not three.

The sources in docs/assets/live/ stay apart, and `numbers.js` is published as it is, for the tests.
"""

import re
from pathlib import Path

SHARED = ("numbers.js", "figure.js")


def on_post_build(config) -> None:
    folder = Path(config.site_dir, "assets/live")
    shared = "".join(alone(folder / name) for name in SHARED)
    for file in folder.glob("*.js"):
        if file.name not in SHARED:
            file.write_text(shared + alone(file), "utf-8")
    (folder / "figure.js").unlink()


def alone(file: Path) -> str:
    """A module's text without its imports and exports, each of which is a line's beginning."""
    text = re.sub(r"^import .*\n", "", file.read_text("utf-8"), flags=re.MULTILINE)
    return re.sub(r"^export ", "", text, flags=re.MULTILINE)
