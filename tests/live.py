"""The figures that a reader moves, as tests use them."""

ONE, SCALE = "one-query/", "why-scale/"
TRAINED = "a-trained-model/"
HEADS, MASK, POSITIONS, LAYER = (
    "several-heads/",
    "the-causal-mask/",
    "positions/",
    "a-layer-counted/",
)
FIGURES = {
    "worksheet": ONE,
    "sharpness": SCALE,
    "lab": SCALE,
    "probe": MASK,
    "heads": HEADS,
    "rotation": POSITIONS,
    "viewer": TRAINED,
    "dial": LAYER,
    "detective": LAYER,
}
SLIDERS = {"sharpness", "heads", "rotation"}  # these have no field to type into
RESULTS = """(id) => Object.fromEntries([...document.querySelectorAll(`#${id} [data-out]`)]
  .map(cell => [cell.dataset.out, cell.textContent]))"""
# Awake; the address and the spoken summary have followed the last change; the lab has drawn all.
SETTLED = """(id) => {
  const form = document.getElementById(id);
  const progress = form.querySelector("[data-text=progress]")?.textContent ?? "";
  const [, drawn, trials] = progress.match(/^(\\d+) of (\\d+)/) ?? [];
  const busy = "due" in form.dataset || "loading" in form.dataset;
  return !form.querySelector("fieldset").disabled && !busy && drawn === trials;
}"""


class Figure:
    """One live figure on an open page."""

    def __init__(self, tab, name: str):
        self.tab, self.name = tab, name
        self.form = tab.locator(f"#{name}")

    def fill(self, **texts) -> None:
        for name, text in texts.items():
            field = self.form.locator(f"[name={name}]")
            field.fill(text) if isinstance(text, str) else field.set_checked(text)

    def slide(self, name: str, value: float) -> None:
        self.form.locator(f"input[type=range]:is([name={name}], [data-slider={name}])").fill(
            str(value)
        )

    def results(self) -> dict[str, str]:
        return self.tab.evaluate(RESULTS, self.name)

    def numbers(self, *names: str) -> list[float]:
        results = self.results()
        return [float(results[name].replace(",", "")) for name in names]

    def settled(self) -> "Figure":
        """This figure, when no change is under way."""
        # A reset changes the fields in a task of its own, which comes before this one.
        self.tab.evaluate("new Promise(done => setTimeout(done))")
        self.tab.wait_for_function(SETTLED, arg=self.name)
        return self

    def problem(self) -> str:
        return self.form.locator("[role=alert]").text_content()

    def said(self) -> str:
        return self.settled().form.locator("[role=status]").text_content()
