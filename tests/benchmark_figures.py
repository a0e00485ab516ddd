"""How long an update of each live figure takes in Chromium, layout and all; no test, for a busy
machine proves nothing. Beside the time on the clock stands the processor's, which other programs
lengthen less.

    python tests/benchmark_figures.py SITE      a built site's folder
"""

import functools
import http.server
import statistics
import sys
import threading
from pathlib import Path

from helpers import Handler
from playwright.sync_api import sync_playwright
from test_live_figures import FIGURES

UPDATES = 150
# Each update changes a field as typing or dragging does, then asks for the layout that follows.
MEASURE = """([id, i]) => {
  const form = document.querySelector(`#${id}`);
  const fields = [...form.querySelectorAll("input[type=text], input[type=range]")];
  const field = fields[i % fields.length], kept = field.value;
  field.value = field.type === "range" ? Number(field.min) + i % 5 : ["2", "64", "512"][i % 3];
  const start = performance.now();
  field.dispatchEvent(new Event("input", { bubbles: true }));
  form.offsetHeight;
  const time = performance.now() - start;
  field.value = kept;
  return time;
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


def line(name: str, kind: str, times: list[float]) -> str:
    middle, high = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    return f"{name:10} {kind:9} median {middle:5.2f} ms, 95th percentile {high:5.2f} ms"


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
            tools = tab.context.new_cdp_session(tab)
            tools.send("Performance.enable", {"timeDomain": "threadTicks"})

            def spent(tools=tools) -> float:
                """What the page's main thread has cost the processor, in ms."""
                counts = tools.send("Performance.getMetrics")["metrics"]
                kinds = "ScriptDuration", "LayoutDuration", "RecalcStyleDuration"
                return 1000 * sum(c["value"] for c in counts if c["name"] in kinds)

            tab.goto(f"http://127.0.0.1:{server.server_port}/{page}", wait_until="networkidle")
            tab.locator(f"#{name} fieldset:not([disabled])").wait_for()
            if name == "lab":
                before = spent()
                times = tab.evaluate(FRAMES)
                print(line(name, "clock", times))
                print(
                    f"{name:10} processor mean {(spent() - before) / len(times):5.2f} ms a picture"
                )
                continue
            clock, processor = [], []
            for update in range(UPDATES):
                before = spent()
                clock.append(tab.evaluate(MEASURE, [name, update]))
                processor.append(spent() - before)
            print(line(name, "clock", clock))
            print(line(name, "processor", processor))
        chromium.close()
    server.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])
