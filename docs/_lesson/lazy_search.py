"""Let a page load the search index when the search is opened, not before.

Material's script does so for pages opened from a file, and at once for those from a server.
The index is the largest thing that most readers never use.
"""

import logging
from pathlib import Path

log = logging.getLogger("mkdocs.hooks.lazy_search")

AT_ONCE = '(location.protocol!=="file:"),'
LATER = "(false),"


def on_post_build(config) -> None:
    for script in Path(config.site_dir, "assets/javascripts").glob("bundle.*.min.js"):
        text = script.read_text("utf-8")
        if text.count(AT_ONCE) == 1:
            script.write_text(text.replace(AT_ONCE, LATER), "utf-8")
            return
    log.warning("Material's script has changed: does the search index still load lazily?")
