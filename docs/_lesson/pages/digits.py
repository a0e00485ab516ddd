"""What the page *How we know* says of the test that changes every digit."""

from __future__ import annotations

import re
import tomllib

from _lesson import DOCS, lesson
from _lesson.checked.config import read
from _lesson.exercise import YOUR_TURN

LISTED = DOCS / "how-we-know.toml"


def listed() -> dict[str, dict[str, str]]:
    """The changes that nothing notices and that were looked at: by page, each with its reason."""
    return tomllib.loads(read(LISTED))


def published() -> str:
    """How many digits the site has and how many could change unseen, for a page."""
    texts = [*lesson.config().sources().values(), read(YOUR_TURN)]
    total = sum(len(re.findall("[0-9]", text)) for text in texts)
    left = sum(len(reasons) for reasons in listed().values())
    return (
        f"<strong>{total:,} digits were changed, one at a time. {total - left:,} changes were "
        f"reported: {100 * (total - left) / total:.2f} %.</strong>"
    )
