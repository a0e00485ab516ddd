"""Publish what pages need in few files: a reader waits for each request.

Material's style sheets and the site's own become one. Each live figure's script holds what it
imports: its sources in docs/assets/live/ stay apart, and `numbers.js` is published as it is, for
the tests.
"""

import re
import shutil
from pathlib import Path

SHEETS = ("stylesheets/main.*.css", "stylesheets/palette.*.css", "lesson.css", "figures.css")
SHARED = ("numbers.js", "figure.js")


def on_post_build(config) -> None:
    assets = Path(config.site_dir, "assets")
    sheets = [next(assets.glob(name)) for name in SHEETS]
    styles = "".join(sheet.read_text("utf-8") for sheet in sheets)
    styles = re.sub(r"/\*# sourceMappingURL=.*?\*/", "", styles)
    (assets / "style.css").write_text(styles, "utf-8")
    for sheet in sheets:
        sheet.unlink()
    shutil.rmtree(assets / "stylesheets")  # what is left are maps to sources

    live = assets / "live"
    shared = "".join(alone(live / name) for name in SHARED)
    for file in live.glob("*.js"):
        if file.name not in SHARED:
            file.write_text(shared + alone(file), "utf-8")
    (live / "figure.js").unlink()


def alone(file: Path) -> str:
    """A module's text without its imports and exports, each of which is a line's beginning."""
    text = re.sub(r"^import .*\n", "", file.read_text("utf-8"), flags=re.MULTILINE)
    return re.sub(r"^export ", "", text, flags=re.MULTILINE)
