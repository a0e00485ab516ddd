"""The search finds what a page says, and its index loads only when it is used."""

import json

import pytest

pytestmark = pytest.mark.ci

# What people search for, and the page that must come first.
FIRST = {
    "exercise": "your-turn/",
    "flash attention": "what-length-costs/",
    "gqa": "one-token-at-a-time/",
    "numerical stability": "one-query/",
    "entropy": "one-query/",
    "overflow": "one-query/",
    "sqrt(d_k)": "why-scale/",
    "square root": "why-scale/",
    "vanishing gradient": "why-scale/",
    "softmax": "one-query/",
    "temperature": "when-it-selects/",
    "causal mask": "the-causal-mask/",
    "padding": "the-causal-mask/",
    "multi-head attention": "several-heads/",
    "self-attention": "several-heads/",
    "embedding": "several-heads/",
    "rope": "positions/",
    "positional encoding": "positions/",
    "layer norm": "the-block/",
    "residual": "the-block/",
    "transformer": "the-block/",
    "parameters": "a-layer-counted/",
    "flops": "a-layer-counted/",
    "backpropagation": "the-gradient/",
    "online softmax": "what-length-costs/",
    "memory": "what-length-costs/",
    "kv cache": "one-token-at-a-time/",
    "sliding window": "one-token-at-a-time/",
    "pytorch": "three-libraries/",
    "nan": "bug-clinic/",
    "install": "run-it/",
    "colab": "run-it/",
    "vaswani": "references/",
}
# Material's own worker is asked, in its own way: what it answers is what readers see.
ASK = """async ([worker, index, queries]) => {
  const asked = new Worker(worker);
  const ask = (message) => new Promise((answer) => {
    asked.onmessage = ({ data }) => answer(data);
    asked.postMessage(message);
  });
  const data = await (await fetch(index)).json();
  await ask({ type: 0, data: { ...data, options: { suggest: false } } });
  const first = {};
  for (const query of queries) {
    const { items } = (await ask({ type: 2, data: query })).data;
    first[query] = items.map((page) => page[0].location.split("#")[0]);
  }
  return first;
}"""


def test_what_people_search_for_leads_first_to_the_page_about_it(visit):
    tab = visit("")
    setting = json.loads(tab.locator("#__config").inner_text())
    found = tab.evaluate(ASK, [setting["search"], "search/search_index.json", list(FIRST)])
    wrong = {query: found[query][:3] for query, page in FIRST.items() if found[query][:1] != [page]}
    assert len(FIRST) >= 30
    assert wrong == {}


def test_the_index_has_no_listing_no_notebook_and_no_cells_that_run_together(site):
    index = json.loads((site / "search/search_index.json").read_text("utf-8"))["docs"]
    assert [one for one in index if "ipynb" in one["location"] or "code/" in one["location"]] == []
    text = " ".join(one["text"] for one in index)
    assert "import numpy" not in text
    cells = next(one["text"] for one in index if one["location"] == "your-turn/#the-task")
    assert "argument what it holds <code>Q</code> The queries" in " ".join(cells.split())


@pytest.mark.parametrize("width", [360, 1280])
def test_search_finds_a_term_and_its_index_loads_only_when_used(width, visit):
    tab = visit("changelog/", width)
    assert not any("search_index" in response.url for response in tab.responses)
    tab.keyboard.press("s")
    tab.keyboard.type("softmax")
    tab.locator(".md-search-result__item").first.wait_for()
    tab.locator(".md-search-result__link").first.click()
    tab.wait_for_url(lambda url: not url.partition("?")[0].endswith("changelog/"))
    assert "softmax" in tab.locator("main article").first.inner_text().lower()
    assert tab.faults == []
