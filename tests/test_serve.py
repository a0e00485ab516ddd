"""An author's server shows a drift, lives on, and clears it."""

import os
import socket
import subprocess
import sys
import threading

import pytest
from _lesson.checked.config import read
from conftest import wait_for


@pytest.mark.ci
def test_serve_shows_a_drift_lives_on_and_clears_it(checkout, tmp_path_factory):
    page, module = checkout / "docs/one-query.md", checkout / "attention/examples.py"
    kept, scratch = read(page), tmp_path_factory.mktemp("scratch")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "mkdocs", "serve", "-a", f"127.0.0.1:{port}"],
        cwd=checkout,
        env={name: value for name, value in os.environ.items() if name != "SITE_URL"}
        | {"TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(server.stdout), daemon=True)
    reader.start()
    address = f"http://127.0.0.1:{port}/one-query/"
    search = f"http://127.0.0.1:{port}/search/search_index.json"
    try:
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
        assert server.poll() is None
    finally:
        server.terminate()
        server.wait()
        reader.join()
        server.stdout.close()
    assert list(scratch.iterdir()) == []  # it took its temporary folders along
    said = "".join(lines)
    assert "docs/one-query.md" in said
    assert "ZeroDivisionError" in said
