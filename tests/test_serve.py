"""An author's server shows a drift, lives on, and clears it."""

import pytest
from _lesson.checked.config import read
from helpers import serving, wait_for


@pytest.mark.ci
def test_serve_shows_a_drift_lives_on_and_clears_it(checkout):
    page, module = checkout / "docs/one-query.md", checkout / "attention/examples.py"
    kept = read(page)
    lines = []
    with serving(checkout, said=lines) as home:
        address, search = f"{home}one-query/", f"{home}search/search_index.json"
        wait_for(address, "0.3611")
        found = wait_for(search, "One query")
        page.write_text(kept.replace("0.3611<!--=", "0.3612<!--="), "utf-8")
        wait_for(address, "the page says 0.3612, the code says 0.3611")
        drawn = '\n```python exec="true" html="true"\nprint("<hr>"); print(1 / nothing)\n```\n'
        page.write_text(f"{kept}\n```pycon\n>>> print(1 / 0)\n```\n{drawn}", "utf-8")
        failed = wait_for(address, "ZeroDivisionError")
        assert "NameError" in failed
        assert "ZeroDivisionError" in wait_for(search, "One query")
        assert failed.count("<figure") == kept.count("from _lesson")  # what does not fail is shown
        page.write_text(kept, "utf-8")
        wait_for(address, "0.3611", without="This page and the code differ")
        text = read(module)
        module.write_text(text.replace("[0.6, 0.7, 0.8]", "[0.6, 0.7, 0.9]"), "utf-8")
        wait_for(address, "row &#x27;best&#x27;")
        module.write_text("this is no Python", "utf-8")
        wait_for(address, "SyntaxError")
        module.write_text(text, "utf-8")
        wait_for(address, "0.3611", without="This page and the code differ")
        wait_for(address.replace("one-query", "code/attention"), "run_one")
        assert wait_for(search, "One query") == found
    said = "".join(lines)
    assert "docs/one-query.md" in said
    assert "ZeroDivisionError" in said
