"""How long an update of each live figure takes in Chromium, layout and all; no test, for a busy
machine proves nothing.

    python tests/benchmark_figures.py SITE      a built site's folder
"""

import functools
import http.server
import statistics
import sys
import threading
from pathlib import Path

from conftest import Handler
from playwright.sync_api import sync_playwright
from test_live_figures import FIGURES

UPDATES = 300
# Each update changes a field as typing or dragging does, then asks for the layout that follows.
MEASURE = """([id, updates]) => {
  const form = document.querySelector(`#${id}`), times = [];
  const fields = [...form.querySelectorAll("input[type=text], input[type=range]")]
    .filter(field => id !== "lab");
  for (let i = 0; i < updates; i++) {
    const field = fields[i % fields.length], kept = field.value;
    field.value = field.type === "range" ? Number(field.min) + i % 5 : ["2", "64", "512"][i % 3];
    const start = performance.now();
    field.dispatchEvent(new Event("input", { bubbles: true }));
    form.offsetHeight;
    times.push(performance.now() - start);
    field.value = kept;
  }
  return times;
}"""
# The lab draws on between pictures: what counts is how long it holds the page each time.
FRAMES = """() => new Promise(done => {
  const form = document.querySelector("#lab"), times = [], ask = window.requestAnimationFrame;
  window.requestAnimationFrame = (step) => ask(() => {
    const start = performance.now();
    step();
    form.offsetHeight;
    times.push(performance.now() - start);
  });
  const seed = form.elements.seed;
  seed.value = "1";
  form.elements.trials.value = "1000";
  seed.dispatchEvent(new Event("input", { bubbles: true }));
  const wait = setInterval(() => {
    if (!form.querySelector("[data-text=progress]").textContent.startsWith("1000 of")) return;
    clearInterval(wait);
    done(times);
  }, 100);
})"""


def main(site: str) -> None:
    handler = functools.partial(Handler, directory=str(Path(site).resolve()))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path="/usr/bin/chromium",
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        for name, page in FIGURES.items():
            tab = chromium.new_page()
            tab.goto(f"http://127.0.0.1:{server.server_port}/{page}", wait_until="networkidle")
            times = (
                tab.evaluate(FRAMES) if name == "lab" else tab.evaluate(MEASURE, [name, UPDATES])
            )
            cut = statistics.quantiles(times, n=20)
            print(
                f"{name:10} {len(times)} updates: median {statistics.median(times):.2f} ms, "
                f"95th percentile {cut[-1]:.2f} ms, longest {max(times):.2f} ms"
            )
        chromium.close()
    server.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])
