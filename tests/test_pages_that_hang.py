"""A page that hangs, or leaves something running, is ended and named; nothing outlives a build."""

import signal
import subprocess
import sys
import time

import pytest
from _lesson import lesson
from _lesson.checked import check
from helpers import until

CONFIG = lesson.config()
BEHIND = {
    "a thread": "import threading; threading.Thread(target=threading.Event().wait).start()",
    "a timer": "import threading; threading.Timer(1000, print).start()",
}
PAGE = "```pycon\n>>> x = 1\n```\n\n```pycon\n>>> {}\n```\n"


@pytest.mark.parametrize("name", BEHIND)
def test_what_a_page_leaves_running_is_ended_and_named(name):
    began = time.monotonic()
    pages = check({"docs/page.md": PAGE.format(BEHIND[name])}, CONFIG)
    ((line, message),) = pages["docs/page.md"].problems
    assert line == 6
    assert "goes on behind its end: stopped" in message
    assert time.monotonic() - began < 30


@pytest.mark.ci
def test_a_page_that_hangs_is_ended_in_its_own_time_while_others_run():
    hangs = PAGE.format("import time; time.sleep(1000)")
    works = "".join(
        f"```pycon\n>>> import time; time.sleep(0.5 + {i} * 0)\n```\n\n" for i in range(12)
    )
    began = time.monotonic()
    pages = check({"docs/a.md": hangs, "docs/b.md": works}, CONFIG, limit=2)
    assert [problem.line for problem in pages["docs/a.md"].problems] == [6]
    assert pages["docs/b.md"].problems == []
    assert time.monotonic() - began < 30


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_a_check_that_is_ended_leaves_no_process(checkout):
    (checkout / "docs/page.md").write_text(PAGE.format("import time; time.sleep(1000)"), "utf-8")
    command = [sys.executable, "-B", checkout / "docs/_lesson", "check", "docs/page.md"]
    checking = subprocess.Popen(command, cwd=checkout, start_new_session=True)
    until(lambda: len(group(checking.pid)) > 2)  # the page's own process among them
    checking.send_signal(signal.SIGTERM)
    checking.wait()
    until(lambda: group(checking.pid) == [])


def group(leader: int) -> list[str]:
    """The processes of a session that still run."""
    listed = subprocess.run(["ps", "-eo", "sid,pid,stat"], capture_output=True, text=True).stdout
    rows = [line.split() for line in listed.splitlines()[1:]]
    return [pid for sid, pid, state in rows if sid == str(leader) and not state.startswith("Z")]
