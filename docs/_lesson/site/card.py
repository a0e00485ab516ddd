"""Draw the picture that stands for the site where its address is shared.

`main` writes docs/assets/card.png, and needs Chromium.

It shows no number, so none on it can go stale; its bars are the weights of the first chapter.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from attention import ONE_QUERY, attention_weights

DOCS = Path(__file__).resolve().parents[2]
CARD = DOCS / "assets/card.png"
WIDTH, HEIGHT = 1200, 630


def page() -> str:
    """The card as a page, in the site's light colours and its own names."""
    css = (DOCS / "assets/lesson.css").read_text("utf-8")
    settings = (DOCS.parent / "mkdocs.yml").read_text("utf-8")
    colours = re.search(r'"default"\] {(.*?)}', css, re.DOTALL)[1]
    name, said = (
        re.search(rf"^{key}:(?: >-\n)? *(.+)$", settings, re.MULTILINE)[1]
        for key in ("site_name", "site_description")
    )
    weights = attention_weights(ONE_QUERY.query[None], ONE_QUERY.keys)[0]
    rows = "".join(
        f'<p><b>{key}</b><i style="width:{520 * weight / weights.max():.0f}px"></i></p>'
        for key, weight in zip(ONE_QUERY.names, weights, strict=True)
    )
    return f"""<!doctype html><meta charset="utf-8"><style>
:root {{ {colours} }}
body {{ box-sizing: border-box; width: {WIDTH}px; height: {HEIGHT}px; margin: 0; padding: 70px 80px;
  background: var(--paper); color: var(--ink); font: 34px/1.35 "Liberation Sans", sans-serif;
  border-bottom: 24px solid var(--plot-weight); }}
h1 {{ margin: 0 0 18px; font: 600 82px/1.1 "Liberation Serif", serif; }}
div {{ width: 940px; margin-bottom: 46px; color: var(--ink-soft); }}
p {{ display: flex; align-items: center; margin: 0 0 16px; }}
b {{ width: 130px; }}
i {{ height: 44px; background: var(--plot-weight); }}
</style><h1>{name}</h1><div>{said}</div>{rows}"""


def main() -> None:
    """Draw it, or raise SystemExit where there is no Chromium."""
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    if not program:
        raise SystemExit("Chromium is needed to draw the card, and is not on this machine")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "card.html")
        source.write_text(page(), "utf-8")
        subprocess.run(
            [
                program,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--disable-background-networking",
                f"--user-data-dir={folder}/profile",
                f"--window-size={WIDTH},{HEIGHT}",
                f"--screenshot={CARD}",
                source.as_uri(),
            ],
            check=True,
            capture_output=True,
        )
