"""A reader does the exercise in Chromium: it judges, it survives, and nothing is lost."""

import functools
import gzip
import http.server
import re
import threading
import zipfile
from itertools import product
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from _lesson.exercise import YOUR_TURN, editor
from _lesson.exercise.judge.exercise import Exercise
from _lesson.exercise.runtime import FILES, NAME
from helpers import Handler, chapters, drawn, follow, go, importable, need, settle, until

pytestmark = pytest.mark.ci

PAGE = f"{YOUR_TURN.stem}/"
EXERCISE = Exercise(YOUR_TURN.read_text("utf-8"))
SOLUTION, STARTER = EXERCISE.data["solution"], EXERCISE.data["starter"]
WRONG = sum(not wrong["equal"] for wrong in EXERCISE.wrong)
PASSED = f"All {len(EXERCISE.cases)} checks passed"
HEAD = "def solve(Q, K, V, causal):\n"
ENDLESS_IN_C = HEAD + "    n = 10**12\n    return sum(range(n))\n"
RUNTIME = f"**/{NAME}/**"
# Where the learner's code is, as [check, line]: as the worker tells the page.
LISTEN = """
window.Worker = class extends Worker {
  constructor(...given) {
    super(...given);
    this.addEventListener("message", ({ data }) => {
      if (Array.isArray(data?.at)) window.reached = data.at;
    });
  }
}"""


class Turn:
    """The exercise page in one tab, as a reader uses it."""

    def __init__(self, context, address: str, load: bool = True, scripts: bool = True):
        self.context, self.address = context, address
        self.page = context.new_page()
        follow(self.page)
        self.page.scripts = scripts
        self.page.add_init_script(LISTEN)
        self.requests, self.faults = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        if load:
            go(self.page, urljoin(address, PAGE))
            if scripts:
                self.awake()

    def awake(self) -> None:
        """Wait until the page's script has begun."""
        self.page.locator("[data-kind=check] textarea:not([readonly])").wait_for()

    def reload(self) -> None:
        self.page.reload()
        self.awake()

    @property
    def code(self):
        """The editor, which comes over the text box when that is first touched."""
        box = self.page.locator("[data-kind=check]")
        if not box.locator(".cm-content").count():
            box.locator("textarea").focus()
        return box.locator(".cm-content")

    @property
    def written(self) -> str:
        """What the learner's code is, as it is judged and kept."""
        return self.page.locator("[data-kind=check] textarea").input_value()

    @property
    def results(self):
        return self.page.get_by_role("status", name="Results")

    @property
    def summary(self) -> str:
        return self.results.locator(".turn-summary").inner_text()

    def button(self, name: str):
        return self.page.locator("[data-kind=check]").get_by_role("button", name=name, exact=True)

    def press_run(self, code: str | None = None) -> None:
        if code is not None:
            self.code.fill(code)
        self.page.evaluate("window.reached = null")
        self.button("Run checks").click()

    def wait(self, seconds: float = 60) -> str:
        """Wait for what the run ends with; all that the results say then."""
        ended = "[data-kind=check] .turn-summary:not(:text-matches('…$|^Not run'))"
        self.page.locator(ended).wait_for(timeout=seconds * 1000)
        return self.results.inner_text()

    def run(self, code: str | None = None) -> str:
        self.press_run(code)
        return self.wait()

    def reached(self, check: int, line: int) -> None:
        """Wait until the learner's code runs this line; check 0 is the loading of the code."""
        there = f"String(window.reached) === '{check},{line}'"
        self.page.wait_for_function(there, timeout=60_000)

    def open_details(self) -> None:
        self.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")


@pytest.fixture(scope="module")
def runtime(site):
    """The built site has Python for the browser."""
    need((site / "assets" / NAME).is_dir(), f"{NAME}, which the build gets with npm,")
    need((site / "assets" / editor.FILE).is_file(), f"{editor.NAME}, likewise,")


@pytest.fixture
def turn(browser, address, runtime):
    """`turn()`: the exercise page in a new browser; `turn(before)` prepares its context."""
    contexts = []

    def opened(before=lambda context: None, load: bool = True, **options) -> Turn:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        before(context)
        return Turn(context, address, load, options.get("java_script_enabled", True))

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def survivor(browser, address, runtime):
    """One page for all that a learner's code may do: each finds it as the last one left it."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    turn = Turn(context, address)
    turn.page.evaluate("window.ticks = 0; setInterval(() => ticks++, 50)")
    yield turn
    context.close()


def runtime_files(turn: Turn) -> list[str]:
    return [url for url in turn.requests if NAME in url and not url.startswith("blob:")]


# --- What is loaded


METERED = "Object.defineProperty(NetworkInformation.prototype, 'saveData', { value: true });"


def test_nothing_of_python_is_loaded_before_the_reader_acts(turn):
    tab = turn(lambda context: context.clock.install())
    assert tab.summary == "Not run yet."
    tab.page.clock.run_for(60_000)  # whatever waits for its time has had it
    settle(tab.page)
    before = len(tab.requests)
    assert not any(re.search("turn-worker|judge|pyodide|toml|editor", it) for it in tab.requests)
    assert tab.run(STARTER).startswith(f"0 of {len(EXERCISE.cases)} checks passed")
    assert len(runtime_files(tab)) == len(FILES)
    others = [url for url in tab.requests[before:] if NAME not in url and "blob:" not in url]
    fetched = sorted(urlsplit(url).path.rpartition("/")[2] for url in others)
    assert fetched == [editor.FILE, "judge.py", "your-turn-worker.js", YOUR_TURN.name]


def test_who_comes_to_the_editor_finds_python_there_but_not_on_a_metered_line(turn):
    tab = turn()
    with tab.page.expect_worker():
        tab.page.mouse.wheel(0, 300)
        tab.page.locator("[data-kind=check] textarea").scroll_into_view_if_needed()
    tab = turn(lambda context: context.add_init_script(METERED))
    tab.page.mouse.wheel(0, 300)
    tab.page.locator("[data-kind=check] textarea").scroll_into_view_if_needed()
    tab.code.focus()
    drawn(tab.page)
    settle(tab.page)
    assert not any("turn-worker" in url or NAME in url for url in tab.requests)


def test_typing_loads_python_so_that_the_first_run_is_quick(turn):
    tab = turn()
    with tab.page.expect_worker():
        tab.code.press_sequentially("#")
    assert tab.run(SOLUTION).startswith(PASSED)


def test_the_first_use_is_small_and_the_second_loads_nothing(turn, site):
    """Whatever the server lets a browser keep: the tests' server says nothing about it."""
    tab = turn()
    tab.run(SOLUTION)
    fetched = [urlsplit(url).path.rpartition(NAME)[2] for url in runtime_files(tab)]
    assert sorted(fetched) == sorted(f"/{name}" for name in FILES)
    folder = site / "assets" / NAME
    wire = sum(len(gzip.compress((folder / name).read_bytes(), 6)) for name in FILES)
    assert 5_000_000 < wire <= 6_500_000
    with zipfile.ZipFile(folder / "python_stdlib.zip") as library:
        assert {Path(name).suffix for name in library.namelist()} == {
            ".pyc",
            ".ini",
            ".txt",
            ".typed",
        }
    again = Turn(tab.context, tab.address)
    assert again.run().startswith(PASSED)
    assert runtime_files(again) == []


def test_no_request_goes_to_another_host(survivor):
    tab = survivor
    tab.run(SOLUTION)
    home = urlsplit(tab.address).netloc
    hosts = {urlsplit(url.removeprefix("blob:")).netloc for url in tab.requests}
    assert hosts - {""} == {home}


def test_the_pages_own_script_and_style_are_small_and_so_is_the_editor(site):
    files = list((site / "assets").glob("your-turn*"))
    assert len(files) == 5
    assert sum(len(gzip.compress(file.read_bytes(), 6)) for file in files) < 15_000
    code = (site / "assets" / editor.FILE).read_bytes()
    assert len(gzip.compress(code, 6)) < 130_000
    assert b"Permission is hereby granted" in code  # its licence asks for that


SHIFTS = """{
  let sum = 0;
  const add = (list) => list.forEach((shift) => (sum += shift.value));
  const observer = new PerformanceObserver((list) => add(list.getEntries()));
  observer.observe({ type: "layout-shift", buffered: true });
  window.shifted = () => (add(observer.takeRecords()), sum);
}"""


def test_the_page_holds_still_while_it_loads(turn):
    tab = turn(lambda context: context.add_init_script(SHIFTS))
    drawn(tab.page)
    assert tab.page.evaluate("shifted()") < 0.05
    tab.page.evaluate("document.querySelector('h1').style.paddingTop = '300px'")
    drawn(tab.page)
    assert tab.page.evaluate("shifted()") > 0.05  # it would have been seen


# --- What it says


def test_the_results_are_announced_and_say_what_passed(survivor):
    tab = survivor
    assert tab.results.get_attribute("aria-label") == "Results"
    said = tab.run(SOLUTION)
    assert said.startswith(PASSED)
    assert tab.results.locator("details.success").count() == len(EXERCISE.cases) + 1
    assert tab.page.get_by_text(PASSED).count() == 1
    assert tab.faults == []


def test_a_passed_summary_does_not_outlive_the_code_it_was_about(survivor):
    tab = survivor
    tab.run(SOLUTION)
    tab.code.press("End")
    tab.code.press_sequentially(" ")
    assert tab.summary == "Changed since the last run."
    assert PASSED not in tab.page.locator("body").inner_text()


def test_a_failed_check_shows_expected_beside_got_with_the_cells_that_differ(survivor):
    tab = survivor
    said = tab.run(
        SOLUTION.replace("/ root", "").replace("return output", "print(7)\n    return output")
    )
    opened = tab.results.locator("details[open]")
    assert opened.count() == 1
    expected, got = (opened.locator("table").nth(i) for i in (0, 1))
    assert expected.locator("caption").inner_text() == "expected"
    assert got.locator("caption").inner_text() == "got"
    assert got.locator("mark").all_inner_texts() == ["≠ 7.31059", "≠ 2.68941"] * 1 + [
        "≠ 2.68941",
        "≠ 7.31059",
    ]
    assert "Printed:\n\n7" in opened.inner_text()
    assert "These are the outputs of: no scaling" in said
    assert next(w for w in EXERCISE.wrong if w["name"] == "no scaling")["comes_from"] in said


def test_two_mistakes_are_named_with_the_checks_that_show_each(survivor):
    said = survivor.run(
        SOLUTION.replace("/ root", "").replace("if causal else K", "if False else K")
    )
    assert re.search(r"Checks 1, 5.* fail as with: no scaling", said)
    assert re.search(r"Checks .*\d fail as with: causal ignored", said)


def test_what_a_learner_prints_is_text_and_never_markup(survivor):
    tab = survivor
    tab.run("print('<img src=x onerror=alert(1)><b>bold</b>')\n" + SOLUTION)
    assert "<b>bold</b>" in tab.results.inner_text()
    assert tab.results.locator("img, b").count() == 0


# --- What it survives

SURVIVED = {
    "syntax error": ("def solve(Q):\n    return (1\n", r"SyntaxError: .* at line 2"),
    "a no-break space": (HEAD + "    return\u00a0V\n", r"line 2\. U\+00A0 is a no-break space"),
    "curly quotes": (HEAD + "    print(“Q”)\n", r"line 2\. U\+201C is a curly quote, .*straight"),
    "exception": (HEAD + "    x = 0\n    return 1 / x\n", r"ZeroDivisionError: .* at line 3"),
    "no solve": ("def attention(Q):\n    return Q\n", r"No function is named solve"),
    "wrong arity": ("def solve(Q):\n    return Q\n", r"TypeError: .*solve\(Q, K, V, causal\)"),
    "None": (HEAD + "    pass\n", r"solve returned None"),
    "ragged": (HEAD + "    return [[1, 2], [3]]\n", r"different lengths: \[2, 1\]"),
    "no numbers": (HEAD + "    return [['a', 2], [3, 4]]\n", r"row 0, column 0 is 'a'"),
    "NaN": (HEAD + "    return [[float('nan')] * 2] * 2\n", r"4 numbers differ.*not finite"),
    "numpy": (
        "import numpy as np\n" + HEAD + "    return np.array(V)\n",
        r"There is no numpy here",
    ),
    "a loop in Python": (
        HEAD + "    n = 0\n    while True:\n        n += 1\n",
        r"Stopped .* line [34]",
    ),
    "a loop on one line": (HEAD + "    while True: pass\n", r"Stopped after .* at line 2"),
    "a loop while loading": ("while True:\n    pass\n", r"Stopped after .* at line [12]"),
    "a generator without end": (
        HEAD + "    return list(iter(int, 1) for _ in iter(int, 1))\n",
        "line 2",
    ),
    "a loop that catches all": (
        HEAD
        + "    while True:\n        try:\n            Q[9]\n        except:\n            pass\n",
        r"Stopped after .* at line [2-6]",
    ),
    "a flood of prints": (
        HEAD + "    for i in range(20_000):\n        print('flood')\n    return V\n",
        r"and 118,000 more characters",
    ),
    "prints without end": (
        HEAD + "    while True:\n        print('x' * 999)\n",
        r"Stopped .* line [23]",
    ),
    "input": (HEAD + "    return input('?')\n", r"nobody is there to answer input.* line 2"),
    "sys.exit": ("import sys\n" + HEAD + "    sys.exit()\n", r"asked Python to exit, at line 3"),
    "an end of the process": (
        "import os\n" + HEAD + "    os._exit(1)\n",
        r"brought Python down.*line 3",
    ),
    "deep recursion": (HEAD + "    return solve(Q, K, V, causal)\n", r"RecursionError"),
    "recursion without limit": (
        "import sys\nsys.setrecursionlimit(10**9)\n" + HEAD + "    return solve(Q, K, V, causal)\n",
        r"RecursionError|brought Python down",
    ),
    "lists too deep for Python": (
        HEAD + "    a = []\n    for i in range(10**5):\n        a = [a]\n    return a\n",
        r"brought Python down|column 0 is",
    ),
    "an enormous list": (HEAD + "    return [[0.0]] * 10**6\n", r"returned 1,000,000 rows"),
    "too much memory": (HEAD + "    return [0] * 10**9\n", r"MemoryError.* line 2"),
    "changed inputs": (
        SOLUTION.replace("return output", "Q.clear()\n    return output"),
        r"output is right, but your code changed",
    ),
    "a broken module": (
        "import math\nmath.exp = None\n" + HEAD + "    return V\n",
        r"numbers? differ",
    ),
    "messages to the page": ("import js\n" + HEAD + "    js.postMessage('x')\n", r"returned None"),
}


@pytest.mark.parametrize("name", SURVIVED)
def test_the_page_survives_and_says_why_and_where(name, survivor):
    code, message = SURVIVED[name]
    before = survivor.page.evaluate("ticks")
    said = survivor.run(code)
    assert re.search(message, said), said
    assert PASSED not in said
    assert survivor.page.evaluate("ticks") > before  # the page has been alive
    # The code is still there in a tab of its own, as after a reload.
    again = Turn(survivor.context, survivor.address)
    assert again.written == code
    again.page.close()
    # And nothing of it is left in the next run.
    assert survivor.run(SOLUTION).startswith(PASSED)
    assert survivor.faults == []


def test_results_of_tuples_and_arrays_are_read_and_that_is_said(survivor):
    tab = survivor
    assert tab.run(
        SOLUTION.replace("return output", "return tuple(map(tuple, output))")
    ).startswith(PASSED)
    tab.open_details()
    assert "tuple read as lists" in tab.results.inner_text()


def test_a_loop_inside_c_code_is_stopped_by_the_button(survivor):
    tab = survivor
    tab.press_run(ENDLESS_IN_C)
    tab.reached(1, 3)
    ticks = tab.page.evaluate("ticks")
    tab.page.wait_for_function("before => ticks > before", arg=ticks)  # the page is alive
    tab.button("Stop").click()
    assert "Stopped by you, in check 1, at line 3." in tab.wait()
    assert tab.written == ENDLESS_IN_C
    assert tab.run(SOLUTION).startswith(PASSED)
    # The one that looped is gone, and does not go on unseen.
    assert len([worker for worker in tab.page.workers if "your-turn" in worker.url]) == 1


def test_the_last_words_of_an_ended_worker_do_not_end_the_next(survivor):
    """A worker that sleeps cannot end at once: it fails as its successor starts."""
    tab = survivor
    tab.run(STARTER)
    for _ in range(3):
        before = len(runtime_files(tab))
        tab.press_run("import time\n" + HEAD + "    time.sleep(30)\n")
        tab.reached(1, 3)
        tab.button("Stop").click()
        assert "Stopped by you, in check 1, at line 3." in tab.wait()
        assert tab.run(SOLUTION).startswith(PASSED)
        assert runtime_files(tab)[before:] == []
    assert tab.faults == []


def test_a_loop_inside_c_code_is_stopped_by_the_hard_limit(survivor):
    tab = survivor
    tab.run(STARTER)
    tab.press_run(ENDLESS_IN_C)
    assert re.search("Stopped after 10 seconds, in check 1, at line 3", tab.wait(30))
    assert tab.run(SOLUTION).startswith(PASSED)


def test_a_reload_in_mid_run_loses_nothing(turn):
    tab = turn()
    tab.press_run(ENDLESS_IN_C)
    tab.reached(1, 3)
    tab.reload()
    assert tab.written == ENDLESS_IN_C
    assert tab.summary == "Not run yet."
    assert tab.run(SOLUTION).startswith(PASSED)


# --- When Python can't be had


def offers_the_command(tab: Turn, why: str) -> None:
    said = tab.wait(35)
    assert said.startswith("Python could not be loaded: ")
    assert re.search(why, said), said
    offer = tab.page.locator("details.turn-local")
    assert offer.get_attribute("open") is not None
    assert "python3 your-turn.py my_solution.py" in offer.inner_text()
    link = offer.get_by_role("link").first.get_attribute("href")
    assert tab.page.evaluate("link => fetch(link).then(answer => answer.ok)", link)
    assert tab.written == SOLUTION


def test_blocked_files_are_said_and_the_command_is_offered(turn):
    tab = turn(lambda context: context.route(RUNTIME, lambda route: route.abort()))
    tab.press_run(SOLUTION)
    offers_the_command(tab, "Failed to fetch")
    tab.context.unroute(RUNTIME)
    assert tab.run().startswith(PASSED)  # and it can be tried again


def test_missing_files_are_said_and_the_command_is_offered(turn):
    tab = turn(lambda context: context.route(RUNTIME, lambda route: route.fulfill(status=404)))
    tab.press_run(SOLUTION)
    offers_the_command(tab, rf"assets/{NAME}/\S+ gives 404")


@pytest.mark.usefixtures("survivor")  # whose group comes first: it waits while others work
def test_hanging_files_are_given_up_within_a_minute(turn):
    tab = turn(lambda context: context.route("**/*.wasm", lambda route: None))
    tab.press_run(SOLUTION)
    offers_the_command(tab, "nothing was heard for 30 seconds")


def test_broken_files_are_said_and_fetched_anew_the_next_time(turn):
    broken = "**/pyodide.mjs"
    tab = turn(lambda context: context.route(broken, lambda route: route.fulfill(body="no script")))
    tab.press_run(SOLUTION)
    offers_the_command(tab, ".")
    tab.context.unroute(broken)
    assert tab.run().startswith(PASSED)


def test_a_missing_worker_is_said_and_the_command_is_offered(turn):
    tab = turn(
        lambda context: context.route("**/your-turn-worker.js*", lambda route: route.abort())
    )
    tab.press_run(SOLUTION)
    offers_the_command(tab, "the worker's script did not load")


def test_a_browser_without_webassembly_is_told_so(turn):
    tab = turn(lambda context: context.add_init_script("delete window.WebAssembly"))
    tab.press_run(SOLUTION)
    offers_the_command(tab, "no WebAssembly")
    assert runtime_files(tab) == []


def test_without_javascript_the_page_reads_and_offers_the_command(turn):
    tab = turn(java_script_enabled=False)
    box = tab.page.get_by_label("Your solution")
    assert not box.is_editable()  # what is typed before the script begins would be lost
    assert "Without JavaScript" in tab.page.locator("[data-kind=check]").inner_text()
    assert tab.button("Run checks").is_disabled()
    offer = tab.page.locator("details.turn-local")
    offer.locator("summary").click()
    assert "python3 your-turn.py my_solution.py" in offer.inner_text()


def test_code_is_judged_where_nothing_can_be_kept(turn):
    """As in a private window, or with a full disk."""
    forbid = (
        "Storage.prototype.setItem = () => { throw new Error('full') };"
        "CacheStorage.prototype.open = () => Promise.reject(new Error('full'))"
    )
    tab = turn(lambda context: context.add_init_script(forbid))
    assert tab.run(SOLUTION).startswith(PASSED)


# --- A reader's work


def test_code_is_kept_and_a_reset_can_be_undone_even_after_a_reload(turn):
    tab = turn()
    assert tab.written == STARTER
    assert not tab.button("Undo reset").is_visible()
    tab.code.fill("my work")
    tab.reload()
    assert tab.written == "my work"
    tab.button("Reset").click()
    assert tab.written == STARTER
    tab.code.press_sequentially("x")
    tab.reload()
    tab.button("Undo reset").click()
    assert tab.written == "my work"
    tab.button("Undo reset").click()  # and what stood there is not lost either
    assert "x" in tab.written


def test_the_whole_exercise_by_keyboard(turn):
    tab = turn()
    keyboard = tab.page.keyboard
    tab.page.locator("#the-task").evaluate("e => e.setAttribute('tabindex', '-1')")
    tab.page.locator("#the-task").focus()

    def tab_to(name: str) -> None:
        for _ in range(40):
            keyboard.press("Tab")
            at = "(e => e.labels?.[0]?.textContent ?? e.textContent)(document.activeElement)"
            if tab.page.evaluate(at).strip() == name:
                return
        raise AssertionError(f"Tab does not reach {name}")

    tab_to("Your solution")
    tab.page.locator("[data-kind=check] .cm-content").wait_for()
    keyboard.press("Control+A")
    keyboard.insert_text(SOLUTION)
    assert tab.written == SOLUTION
    keyboard.press("Control+Enter")
    assert tab.wait().startswith(PASSED)
    keyboard.press("Control+End")
    keyboard.type("while True: sum(range(10**12))")
    keyboard.press("Control+Enter")
    tab.reached(0, tab.written.count("\n") + 1)
    keyboard.press("Escape")
    tab_to("Stop")
    keyboard.press("Enter")
    assert "Stopped by you" in tab.wait()
    assert tab.page.evaluate("document.activeElement.textContent") == "Run checks"
    tab_to("Reset")
    keyboard.press("Enter")
    assert tab.written == STARTER
    tab_to("Undo reset")
    keyboard.press("Enter")
    assert tab.written != STARTER
    tab_to("Hint 1: where to start")
    keyboard.press("Enter")
    assert tab.page.locator("details.tip[open]").count() == 1


def test_the_editor_keeps_the_indent_and_gives_tab_back_to_who_asks(turn):
    tab = turn()
    tab.code.fill("")
    tab.page.keyboard.type("def solve():\nx = [\n1]\nif x:\nreturn x")
    lines = tab.written.split("\n")
    assert lines[1] == "    x = ["
    assert lines[3:] == ["    if x:", "        return x"]
    assert tab.page.locator("[data-kind=check] .cm-lineNumbers").inner_text().split() == list(
        "12345"
    )
    tab.page.keyboard.press("Shift+Tab")
    assert tab.written.endswith("\n    return x")
    tab.page.keyboard.press("Tab")
    assert tab.written.endswith("\n        return x")
    tab.page.keyboard.press("Escape")
    tab.page.wait_for_timeout(2200)  # CodeMirror alone would have forgotten it by then
    tab.page.keyboard.press("Tab")
    assert tab.page.evaluate("document.activeElement.textContent") == "Run checks"
    tab.page.keyboard.press("Shift+Tab")
    assert tab.written.endswith("\n        return x")  # and it is back in the editor
    tab.page.keyboard.press("Tab")
    assert tab.written.endswith("\n            return x")


def test_what_was_typed_before_the_editor_came_can_be_undone_in_it(turn):
    waiting = []
    tab = turn(lambda context: context.route("**/editor-*.js", lambda route: waiting.append(route)))
    box = tab.page.locator("[data-kind=check] textarea")
    box.press("Control+End")
    box.press_sequentially("# mine")
    until(lambda: waiting)
    waiting[0].continue_()
    tab.page.locator("[data-kind=check] .cm-content").wait_for()
    assert tab.written == STARTER + "# mine"
    tab.page.keyboard.type("!")
    assert tab.written == STARTER + "# mine!"
    for _ in range(2):
        tab.page.keyboard.press("Control+Z")
    assert tab.written == STARTER
    assert tab.faults == []


def test_the_editor_has_a_name_colours_and_letters_that_no_phone_enlarges(turn):
    tab = turn(has_touch=True, is_mobile=True, viewport={"width": 390, "height": 800})
    assert tab.code.get_attribute("role") == "textbox"
    assert tab.page.get_by_role("textbox", name="Your solution").count() == 1
    size = "element => parseFloat(getComputedStyle(element).fontSize)"
    assert tab.code.evaluate(size) == 16
    assert tab.page.locator("[data-kind=cases] textarea").evaluate(size) == 16
    colour = "element => getComputedStyle(element).color"
    keyword = tab.code.locator(".tok-keyword").first.evaluate(colour)
    assert keyword != tab.code.evaluate(colour)


def test_without_the_editor_the_plain_box_serves(turn):
    tab = turn(lambda context: context.route("**/editor-*.js", lambda route: route.abort()))
    box = tab.page.get_by_label("Your solution")
    box.fill("def solve():\n    x = 1")
    box.press("Control+End")
    box.press("Shift+Enter")
    box.press_sequentially("return x")
    assert tab.written == "def solve():\n    x = 1\n    return x"
    box.fill(SOLUTION)
    box.press("Control+Enter")
    assert tab.wait().startswith(PASSED)
    assert tab.faults == []


def test_it_works_after_instant_navigation_there_and_back(turn):
    tab = turn(load=False)
    go(tab.page, urljoin(tab.address, chapters()[-1]))
    tab.page.evaluate("window.stayed = true")
    for _ in range(2):
        tab.page.locator(f"a.md-nav__link[href$='{PAGE}']").first.click()
        tab.page.wait_for_url(f"**/{PAGE}")
        tab.page.locator("[data-mounted]").first.wait_for()
        assert tab.run(SOLUTION).startswith(PASSED)
        tab.page.locator("a.md-footer__link--next").click()
        tab.page.wait_for_url(lambda url: PAGE not in url)
    assert tab.page.evaluate("window.stayed") is True
    assert tab.faults == []


def test_it_works_in_a_folder_of_a_host(site, browser, runtime):
    """As on a page that belongs to one repository among others."""
    handler = type("FolderHandler", (Handler,), {"prefix": "/some/folder/"})
    handler = functools.partial(handler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        context = browser.new_context()
        tab = Turn(context, f"http://127.0.0.1:{server.server_port}/some/folder/")
        assert tab.run(SOLUTION).startswith(PASSED)
        context.close()
        server.shutdown()


def test_verdicts_fit_and_are_accessible(turn):
    axe = need(importable("axe_playwright_python.sync_playwright"), "axe-playwright-python").Axe()
    tab = turn()
    tab.run(
        EXERCISE.wrong[0]["program"].replace("return output", "print(output)\n    return output")
    )
    cases = tab.page.locator("[data-kind=cases]")
    cases.get_by_role("button", name="Run the wrong programs").click()
    cases.get_by_text("Your cases catch").wait_for()
    tab.open_details()
    background = set()
    for width, scheme in product((360, 1280), ("light", "dark")):
        tab.page.set_viewport_size({"width": width, "height": 800})
        tab.page.emulate_media(color_scheme=scheme)
        drawn(tab.page)
        background.add(tab.page.evaluate("getComputedStyle(document.body).backgroundColor"))
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert tab.page.evaluate(wide) == 0
        found = axe.run(tab.page).response["violations"]
        assert [(f["id"], [node["html"] for node in f["nodes"]]) for f in found] == []
    assert len(background) == 2


# --- The other way round


def test_a_learners_cases_are_held_against_the_wrong_programs(turn):
    tab = turn()
    box = tab.page.locator("[data-kind=cases]")
    said = box.get_by_role("status", name="What was caught")
    box.locator("textarea").focus()
    text = box.locator(".cm-content")
    run = box.get_by_role("button", name="Run the wrong programs")
    run.click()
    summary = said.locator(f".turn-summary:text-matches('catch \\\\d+ of {WRONG}')")
    summary.wait_for(timeout=60_000)
    few = int(re.search(r"catch (\d+) of", summary.inner_text())[1])
    assert 0 < few < WRONG
    assert said.locator("li strong").count() == WRONG - few
    assert "causal ignored" in said.inner_text()
    lines = [
        ", ".join(f"{name}={case[name]}" for name in ("Q", "K", "V", "causal"))
        for case in EXERCISE.cases
    ]
    text.fill("\n".join(lines))
    text.press("Control+Enter")
    said.get_by_text(f"Your cases catch {WRONG} of {WRONG}").wait_for()
    assert said.locator("li strong").count() == 0
    text.fill("Q=[[1, 0]], K=[[1]], V=[[1]], causal=True\nnonsense")
    run.click()
    said.get_by_text("Not run").wait_for()
    assert "line 1: a row of Q has 2 numbers, one of K 1" in said.inner_text()
    assert "line 2: cannot read 'nonsense'" in said.inner_text()
    tab.reload()
    assert box.locator("textarea").input_value().endswith("nonsense")
    assert tab.faults == []
