// Chapter three: what sharpens the weights of one trial, and a lab that draws fresh trials.

import { live, plot } from "./figure.js";
import { entropy, fixed, mean, median, normals, parseWhole, range, shown, softmax, standardError, trial } from "./numbers.js";

// Two to this power, as it is written.
function power(place) {
  const value = 2 ** place;
  return value >= 1 ? String(Math.round(value * 100) / 100) : String(Number(value.toPrecision(3)));
}

live("sharpness", (figure) => {
  const { scaled, maximum } = figure.data; // the scores of one trial, divided by the root of its width
  let now;

  function update() {
    const [d_k, length, temperature] = ["d_k", "times", "temperature"].map((name) => 2 ** figure.slider(name, power));
    const divided = scaled.map((score) => (score * length) / temperature);
    const scores = { raw: divided.map((score) => score * Math.sqrt(d_k)), scaled: divided };
    now = {};
    for (const kind of ["raw", "scaled"]) {
      const weights = softmax(scores[kind]);
      weights.forEach((weight, i) => {
        figure.put(`${kind}score${i}`, fixed(scores[kind][i], 2));
        figure.put(`${kind}${i}`, fixed(weight)).style.setProperty("--share", weight);
      });
      now[kind] = fixed(entropy(weights));
      figure.put(`${kind}bits`, now[kind]);
      figure.put(`${kind}keys`, fixed(2 ** entropy(weights), 2));
    }
  }

  const say = () => figure.tell("bits", { ...now, maximum: fixed(maximum) });
  return { update, say };
});

const SLICE = 3; // ms of drawing between two pictures: the page stays quick while trials come in
const KINDS = ["raw", "scaled", "rawNorm", "scaledNorm"]; // what `trial` gives, in its order

live("lab", (figure) => {
  const { widths, page } = figure.data;
  const seed = figure.field("seed");
  const progress = figure.form.querySelector("[data-text=progress]");
  const settings = () => ["trials", "keys", "seed"].map((name) => figure.field(name));
  let run = null; // { key, ... } of the drawing that goes on or has ended
  let now = null; // for each width: [mean, standard error] of entropies, [median, mean] of norms

  figure.form.querySelector("[data-do=draw]").onclick = () => {
    seed.value = fresh();
    figure.changed();
  };

  function update() {
    const [trials, keys] = ["trials", "keys"].map((name, i) => Number(figure.read(name, parseWhole, 2n, [2000n, 32n][i])));
    if (!seed.value.trim() && settings().some((field) => field.value !== field.defaultValue)) seed.value = fresh();
    const start = seed.value.trim() ? figure.read("seed", parseWhole, 0n, 2n ** 48n) : null;
    const key = settings().map((field) => field.value).join();
    if (figure.wrong.length) return stop();
    if (start === null) {
      stop();
      show(page, figure.data.trials, figure.data.keys);
      progress.textContent = figure.tell("own");
    } else if (run?.key !== key) {
      stop();
      run = { key, trials, keys, drawn: 0, draw: normals(Number(start)), found: widths.map(() => KINDS.map(() => [])) };
      go(run);
    } else summary(run);
  }

  function stop() {
    run = null;
    progress.textContent = "";
  }

  function go(mine) {
    if (run !== mine || !figure.form.isConnected) return;
    const until = performance.now() + SLICE;
    do {
      widths.forEach((d_k, w) => drawTrial(mine, d_k).forEach((value, kind) => mine.found[w][kind].push(value)));
      mine.drawn++;
    } while (mine.drawn < mine.trials && performance.now() < until);
    summary(mine);
    progress.textContent = `${mine.drawn} of ${mine.trials} trials drawn.`;
    if (mine.drawn < mine.trials) requestAnimationFrame(() => go(mine));
    else figure.settle();
  }

  function summary({ found, drawn, keys }) {
    if (drawn > 1) show(found.map(summed), drawn, keys); // one trial has no standard error
  }

  function show(rows, drawn, keys) {
    now = { rows, drawn, maximum: Math.log2(keys) };
    put(figure, now);
  }

  const say = () => (run && run.drawn < run.trials ? "" : `${now.drawn} trials a width. Entropy in bits, ${spoken(now.rows, widths)}`);
  return { update, say };
});

const fresh = () => String(crypto.getRandomValues(new Uint32Array(1))[0]);

function drawTrial({ keys, draw }, d_k) {
  const [query, ...rows] = range(keys + 1).map(() => {
    const row = new Float64Array(d_k);
    for (let i = 0; i < d_k; i++) row[i] = draw();
    return row;
  });
  return trial(query, rows);
}

function summed([raw, scaled, rawNorm, scaledNorm]) {
  const both = (values) => [mean(values), standardError(values)];
  const norms = (values) => [median(values), mean(values)];
  return { raw: both(raw), scaled: both(scaled), rawNorm: norms(rawNorm), scaledNorm: norms(scaledNorm) };
}

function put(figure, { rows, maximum }) {
  const { widths } = figure.data;
  rows.forEach((row, w) => {
    for (const kind of ["raw", "scaled"]) {
      figure.put(`${kind}${w}`, `${fixed(row[kind][0], 2)}±${fixed(row[kind][1], 3)}`);
      figure.put(`${kind}median${w}`, brief(row[`${kind}Norm`][0]));
      figure.put(`${kind}mean${w}`, brief(row[`${kind}Norm`][1]));
    }
  });
  figure.put("maximum", fixed(maximum, 2));
  plot(figure.form.querySelector("svg"), {
    x: widths,
    ticks: range(Math.ceil(maximum) + 1),
    series: ["raw", "scaled"].map((kind) => ({ values: rows.map((row) => row[kind][0]), errors: rows.map((row) => row[kind][1]) })),
    said: `Mean entropy by width. ${spoken(rows, widths)}`,
  });
}

const spoken = (rows, widths) => ["raw", "scaled"].map((kind) =>
  `${kind}: ${rows.map((row, w) => `${fixed(row[kind][0], 2)} at ${widths[w]}`).join(", ")}.`).join(" ");

// Two digits, as the page's own table of norms writes them.
function brief(value) {
  if (!Number.isFinite(value)) return shown(value);
  const text = Number(value.toPrecision(2));
  return text !== 0 && Math.abs(text) < 0.0001 ? text.toExponential().replace(/e-(\d)$/, "e-0$1") : String(text);
}
