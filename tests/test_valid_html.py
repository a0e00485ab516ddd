"""Every page of the site is valid HTML, as the Nu HTML checker sees it."""

import json
import os
import re
import shutil
import subprocess

import pytest
from helpers import need

pytestmark = pytest.mark.ci

# What Material's own markup breaks, on every page and beyond reach of a page or an override.
OF_THE_THEME = {
    # Its two hidden checkboxes, for the menu and the search, say autocomplete="off" so that a
    # browser that comes back to the page doesn't open them again.
    "Attribute “autocomplete” is only allowed when the input type is .*",
}


def test_every_page_is_valid_html(site):
    java = need(shutil.which("java"), "Java")
    assert len(list(site.rglob("*.html"))) > 13
    checker = need(os.environ.get("NU_CHECKER"), "the Nu HTML checker (NU_CHECKER, its vnu.jar)")
    told = subprocess.run(
        [java, "-jar", checker, "--format", "json", "--errors-only", "--skip-non-html", site],
        capture_output=True,
        text=True,
    )
    errors, known = [], set()
    for message in json.loads(told.stderr)["messages"]:
        text = message["message"]
        allowed = next((rule for rule in OF_THE_THEME if re.fullmatch(rule, text)), None)
        known.add(allowed)
        if not allowed:
            page = message.get("url", "").partition(site.name + "/")[2]
            errors.append(f"{page}:{message.get('lastLine')}: {text} {message.get('extract')!r}")
    assert errors == []
    assert OF_THE_THEME <= known, "this no longer happens: take it off the list"
