"""Publish Material's style sheets and the site's own as one: a reader waits for each request."""

import re
import shutil
from pathlib import Path

SHEETS = ("stylesheets/main.*.css", "stylesheets/palette.*.css", "lesson.css", "figures.css")
RULE = re.compile(r"[^{}]+\{[^{}]*\}")
# Parts of the theme that a site may do without, as their selectors name them.
PART = re.compile(
    r"\.((?:tabbed|task-list|md-annotation|md-author|md-consent|md-feedback|md-post|md-tag"
    r"|md-version)[\w-]*)|\[data-md-color-(?:primary|accent)=([\w-]+)\]"
)


def on_post_build(config) -> None:
    site = Path(config.site_dir)
    assets = site / "assets"
    sheets = [next(assets.glob(name)) for name in SHEETS]
    styles = "".join(sheet.read_text("utf-8") for sheet in sheets)
    styles = re.sub(r"/\*# sourceMappingURL=.*?\*/", "", styles)
    pages = "".join(page.read_text("utf-8") for page in site.rglob("*.html"))
    (assets / "style.css").write_text(needed(styles, pages), "utf-8")
    for sheet in sheets:
        sheet.unlink()
    shutil.rmtree(assets / "stylesheets")  # what is left are maps to sources


def needed(styles: str, pages: str) -> str:
    """`styles` without the rules for parts that no page names."""
    absent = {name for found in PART.findall(styles) if (name := "".join(found)) not in pages}

    def idle(selector: str) -> bool:
        return any("".join(found) in absent for found in PART.findall(selector))

    def kept(rule: re.Match) -> str:
        # A comma within parentheses parts a selector too far, and what is left keeps the rule.
        return "" if all(map(idle, rule[0].partition("{")[0].split(","))) else rule[0]

    return RULE.sub(kept, styles)
