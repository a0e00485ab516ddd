"""Publish Material's style sheets and the site's own as one: a reader waits for each request."""

import re
import shutil
from pathlib import Path

SHEETS = ("stylesheets/main.*.css", "stylesheets/palette.*.css", "lesson.css", "figures.css")


def on_post_build(config) -> None:
    assets = Path(config.site_dir, "assets")
    sheets = [next(assets.glob(name)) for name in SHEETS]
    styles = "".join(sheet.read_text("utf-8") for sheet in sheets)
    styles = re.sub(r"/\*# sourceMappingURL=.*?\*/", "", styles)
    (assets / "style.css").write_text(styles, "utf-8")
    for sheet in sheets:
        sheet.unlink()
    shutil.rmtree(assets / "stylesheets")  # what is left are maps to sources
