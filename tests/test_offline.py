"""What was read can be read again without a network, and says so."""

from urllib.parse import urljoin

import pytest
from helpers import go

pytestmark = pytest.mark.ci
FIRST, SECOND, OTHER = "one-query/", "when-it-selects/", "why-scale/"
KEPT = """async (urls) => {
  const read = await caches.open("read");
  const found = await Promise.all(urls.map((url) => read.match(url, {ignoreSearch: true})));
  return found.every(Boolean);
}"""


@pytest.fixture
def reader(visit, address):
    """A tab of a reader who has just come to the first chapter, which is kept by now."""
    tab = visit(FIRST, service_workers="allow")
    tab.wait_for_function("navigator.serviceWorker.controller")
    files = ["assets/style.css", "assets/live/figure.js", "assets/live/worksheet.js"]
    wanted = [tab.url, *(urljoin(address, file) for file in files)]
    tab.wait_for_function(KEPT, arg=wanted)
    return tab


def test_a_page_that_was_read_is_there_offline_and_says_that_it_is_a_copy(reader, address):
    assert reader.locator(".offline").count() == 0
    reader.context.set_offline(True)
    reader.reload()
    assert "when you last opened it" in reader.locator("article .offline").text_content()
    form = reader.locator("#worksheet")
    assert form.locator("fieldset").is_enabled()
    assert reader.locator("h1").evaluate("tag => getComputedStyle(tag).fontFamily") != ""
    reader.context.set_offline(False)
    reader.reload()
    assert reader.locator(".offline").count() == 0


def test_a_page_that_was_not_read_says_which_were(reader, address):
    go(reader, urljoin(address, SECOND))
    reader.wait_for_function(KEPT, arg=[reader.url])
    reader.context.set_offline(True)
    reader.goto(urljoin(address, OTHER))
    assert reader.locator("h1").text_content() == "You are offline"
    links = reader.locator("li a")
    assert links.all_text_contents() == ["1 One query", "2 When it selects"]
    links.last.click()
    reader.locator("article .offline").wait_for()
    assert reader.locator("h1").text_content().startswith("When it selects")


def test_a_link_to_a_page_that_was_not_read_leads_there_too(reader):
    reader.context.set_offline(True)
    reader.locator(f"a[href$='{OTHER}']").first.click()
    reader.locator("h1", has_text="You are offline").wait_for()


def test_while_the_network_answers_nothing_is_taken_from_the_copies(reader):
    marked = """async () => {
      const read = await caches.open("read");
      const headers = {"Content-Type": "text/html"};
      await read.put(location.href, new Response("<h1>old</h1>", {headers}));
    }"""
    reader.evaluate(marked)
    reader.reload()
    assert "old" not in reader.locator("h1").text_content()


def test_the_exercise_runs_offline_once_its_python_was_fetched(visit, address):
    tab = visit("your-turn/", service_workers="allow")
    tab.wait_for_function("navigator.serviceWorker.controller")
    tab.reload()  # from now on all that it fetches is kept
    judged(tab)
    tab.context.set_offline(True)
    tab.reload()
    assert tab.locator("article .offline").count() == 1
    judged(tab)


def judged(tab) -> None:
    tab.get_by_role("button", name="Run checks").click()
    tab.locator(".turn [role=status]", has_text="of").first.wait_for(timeout=60_000)
