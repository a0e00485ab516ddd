// What every live figure does: wake when its page is shown, keep its state in the page's address,
// say what is wrong with a field, reset. The build has written the whole figure, with its numbers
// (docs/_lesson/figures/): here it is only brought to life, so nothing on the page moves.

import { shownWhole } from "./numbers.js";

const DELAY = 300; // ms after the last change until the address and the spoken summary follow

// `start(figure)` returns { update(), say() }: `update` shows the numbers for what the fields hold
// now, `say` puts them into one sentence.
export function live(name, start) {
  const arrive = () => {
    for (const form of document.querySelectorAll(`form[data-live="${name}"]:not([data-mounted])`)) {
      form.dataset.mounted = "yes";
      // In a task of its own: as a page opens, a reader may want to scroll meanwhile.
      setTimeout(() => form.isConnected && wake(new Figure(form), start));
    }
  };
  // With instant navigation a module runs once, and its page comes and goes. It may arrive on a
  // page that stands already: let the whole module be read before its figures wake.
  queueMicrotask(() => (window.document$ ? document$.subscribe(arrive) : arrive()));
}

class Figure {
  constructor(form) {
    this.form = form;
    this.data = JSON.parse(form.dataset.given);
    this.problem = form.querySelector(".live-problem");
    this.wrong = [];
  }

  field(name) { return this.form.elements[name]; }

  // The cell or box that shows a result.
  cell(name) { return this.form.querySelector(`[data-out="${name}"]`); }

  put(name, text) {
    const cell = this.cell(name);
    if (cell && cell.textContent !== text) cell.textContent = text;
    return cell;
  }

  // A sentence that the build has handed over, its {holes} filled.
  tell(name, values = {}) {
    return this.data.words[name].replace(/\{(\w+)\}/g, (_, hole) => values[hole]);
  }

  // What a text field holds, read by `parse`; null if that is wrong, which is then said.
  read(name, parse, ...limits) {
    const field = this.field(name);
    try {
      const value = parse(field.value, ...limits);
      this.mark(field, false);
      return value;
    } catch (error) {
      this.fault(name, error.message);
      return null;
    }
  }

  fault(name, message) {
    const field = this.field(name);
    const shown = field.value.trim() ? `“${field.value.trim()}” ` : "";
    // Beside the first of them: a phone shows little at once.
    if (!this.wrong.length) field.closest(".live-scroll, .live-dial, .live-field").after(this.problem);
    this.wrong.push(`${field.dataset.name ?? field.labels[0].textContent.trim()}: ${shown}${message}.`);
    this.mark(field, true);
  }

  mark(field, wrong) {
    const say = { "aria-invalid": "true", "aria-describedby": this.problem.id };
    for (const [name, value] of Object.entries(say))
      if (wrong) field.setAttribute(name, value);
      else field.removeAttribute(name);
  }

  // A slider moves the text field it stands beside, which holds the state and takes any number.
  slide(name, fromSlider, toSlider) {
    const slider = this.form.querySelector(`[data-slider="${name}"]`);
    slider.addEventListener("input", () => { this.field(name).value = fromSlider(Number(slider.value)); });
    return (value) => {
      if (document.activeElement !== slider) slider.value = toSlider(value);
      slider.setAttribute("aria-valuetext", this.field(name).value);
    };
  }

  // Every result gives way to a dash while a field is wrong: better no number than a wrong one.
  blank() {
    for (const cell of this.form.querySelectorAll("[data-out]")) {
      cell.textContent = "–";
      cell.style.removeProperty("--share");
    }
    for (const drawing of this.form.querySelectorAll(".live-plot svg[data-x]")) drawing.replaceChildren();
  }
}

function wake(figure, start) {
  const { form } = figure;
  const fields = [...form.elements].filter((field) => field.name);
  const said = form.querySelector("[role=status]");
  const path = location.pathname;
  const { update, say } = start(figure);

  const refresh = () => {
    figure.wrong = [];
    update();
    if (figure.wrong.length) figure.blank();
    const text = figure.wrong.join(" ");
    if (figure.problem.textContent !== text) figure.problem.textContent = text;
  };

  let due;
  const settle = () => {
    // On the way to another page the address is that page's already.
    if (!form.isConnected || location.pathname !== path) return;
    keep(form.id, String(state(fields)));
    said.textContent = figure.wrong.length ? "" : say();
    delete form.dataset.due;
  };
  const changed = () => {
    refresh();
    form.dataset.due = ""; // who looks at the address or listens may want to wait
    clearTimeout(due);
    due = setTimeout(settle, DELAY);
  };
  Object.assign(figure, { changed, settle });

  const restore = () => {
    if (!form.isConnected) return removeEventListener("hashchange", restore);
    const kept = states();
    if (!kept.has(form.id)) return;
    form.reset();
    setState(fields, new URLSearchParams(kept.get(form.id)));
    changed();
    if ([...kept.keys()][0] === form.id) form.closest("figure").scrollIntoView();
  };

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", changed);
  form.addEventListener("reset", () => setTimeout(changed)); // the fields are reset only then
  addEventListener("hashchange", restore);
  for (const button of form.querySelectorAll("[data-tool]"))
    button.onclick = async () => {
      settle();
      (await import("./tools.js"))[button.dataset.tool](form, button);
    };
  form.querySelector("fieldset").disabled = false;
  refresh();
  restore();
}

// The states of a page's figures stand side by side in its address: `#dial?n=5;detective?D=8`. A
// link leads to the figure that comes first, which is the one that was changed last.
function states() {
  const parts = location.hash.slice(1).split(";").map((part) => part.split("?"));
  return new Map(parts.filter((part) => part.length > 1).map(([id, ...rest]) => [id, rest.join("?")]));
}

function keep(id, changes) {
  const kept = states();
  if ((kept.get(id) ?? "") === changes) return;
  kept.delete(id);
  const all = [...(changes ? [[id, changes]] : []), ...kept];
  const hash = all.map(([name, what]) => `${name}?${what}`).join(";");
  // Material keeps how far the page is scrolled in history.state.
  history.replaceState(history.state, "", hash ? `#${hash}` : location.pathname + location.search);
}

// Only what differs from the build's own state goes into the address.
function state(fields) {
  const changed = new URLSearchParams();
  for (const field of fields) {
    if (field.type === "checkbox" && field.checked !== field.defaultChecked) changed.set(field.name, Number(field.checked));
    else if (field.type !== "checkbox" && field.value !== initial(field)) changed.set(field.name, field.value);
  }
  return changed;
}

function setState(fields, wanted) {
  for (const field of fields) {
    const value = wanted.get(field.name);
    if (value === null) continue;
    if (field.type === "checkbox") field.checked = value === "1";
    else field.value = value;
    if (field.type === "select-one" && !field.value) field.value = initial(field);
  }
}

const initial = (field) =>
  field.type === "select-one" ? [...field.options].find((o) => o.defaultSelected)?.value ?? field.options[0].value : field.defaultValue;

// Lines over an axis of powers of two, in the form of the build's own curves (figures/svg.py).
// `series` is a list of { values, errors? }; `ticks` the values on the upright axis.
const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [360, 230, 48, 18, 24, 40];
const MARKS = [
  (x, y, r) => `<circle cx="${x}" cy="${y}" r="${r}"`,
  (x, y, r) => `<path d="M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z"`,
  (x, y, r) => `<path d="M${x} ${y - r - 1}l${r + 1} ${2 * r + 1}h${-2 * r - 2}z"`,
];

export function plot(svg, { x, ticks, series, log = false, at = null, said, xTicks = x }) {
  const scale = log ? Math.log10 : (value) => value;
  const [low, high] = [scale(ticks[0]), scale(ticks.at(-1))];
  const [first, last] = [Math.log2(x[0]), Math.log2(x.at(-1))];
  const clip = (value) => Math.min(Math.max(value, 0), 1);
  const across = (value) => round(LEFT + clip((Math.log2(value) - first) / (last - first)) * (WIDTH - LEFT - RIGHT));
  const up = (value) => round(HEIGHT - BOTTOM - clip((scale(value) - low) / (high - low)) * (HEIGHT - TOP - BOTTOM));
  const parts = ticks.map((tick) =>
    `<path d="M${LEFT} ${up(tick)}H${WIDTH - RIGHT}" class="grid"/>` +
    `<text x="${LEFT - 6}" y="${up(tick)}" class="end">${tickText(tick)}</text>`);
  for (const tick of xTicks)
    parts.push(`<text x="${across(tick)}" y="${HEIGHT - BOTTOM + 14}" class="middle">${tickText(tick)}</text>`);
  parts.push(`<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 8}" class="middle">${svg.dataset.x}</text>`);
  parts.push(`<text x="${LEFT - 6}" y="6" class="end">${svg.dataset.y}</text>`);
  if (at !== null) parts.push(`<path d="M${across(at)} ${TOP}V${HEIGHT - BOTTOM}" class="now"/>`);
  series.forEach(({ values, errors }, number) => {
    const points = values.map((value, i) => [across(x[i]), up(value)]);
    parts.push(`<path d="M${points.map((p) => p.join(" ")).join("L")}" class="line line-${number}"/>`);
    points.forEach(([a, b], i) => {
      if (errors) {
        const [low, high] = [up(values[i] - errors[i]), up(values[i] + errors[i])];
        parts.push(`<path d="M${a} ${low}V${high}M${a - 6} ${low}h12M${a - 6} ${high}h12" class="line-${number} error"/>`);
      }
      parts.push(`${MARKS[number](a, b, errors ? 1.5 : 4)} class="mark line-${number}"/>`);
    });
  });
  svg.innerHTML = parts.join("");
  svg.setAttribute("aria-label", said);
}

const round = (value) => Math.round(value * 10) / 10;

function tickText(value) {
  if (value >= 1e6) return `${(value).toExponential(0).replace("e+", "e")}`;
  return Number.isInteger(value) ? shownWhole(value) : String(value);
}
