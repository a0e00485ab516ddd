// Chapter one: the three-key worksheet. Change any entry, and each column follows; step by step,
// one column at a time comes into view, and the reader may predict the weights before they show.

import { live } from "./figure.js";
import { attentionScores, entropy, fixed, parseNumber, range, softmax, sum, weightedSum } from "./numbers.js";

const STEPS = [
  ["score", "Score: multiply the query with each key entry by entry, and add up."],
  ["scaled", "Scale: divide by the root of the width."],
  ["exp", "Exponential: every score becomes positive, and their sum stands below."],
  ["weight", "Weight: divide each by the sum. They add up to one."],
  ["result", "Output: add up the values, each times its weight."],
];

live("worksheet", (figure) => {
  const { form, data } = figure;
  const { names, d_k, d_v } = data;
  const text = (name) => form.querySelector(`[data-text="${name}"]`);
  const steps = figure.field("steps");
  const next = form.querySelector("[data-do=next]");
  const guesses = [...form.querySelectorAll("[data-guess]")];
  let shown = 0; // how many of STEPS have been revealed
  let guess = null;
  let now = null;

  const vector = (name, width) => range(width).map((i) => figure.read(`${name}${i}`, parseNumber));

  function compute() {
    const query = vector("q", d_k);
    const keys = names.map((_, row) => vector(`k${row}`, d_k));
    const values = names.map((_, row) => vector(`v${row}`, d_v));
    return figure.wrong.length ? null : attend(query, keys, values);
  }

  function update() {
    now = compute();
    form.classList.toggle("stepwise", steps.checked);
    STEPS.forEach(([step], i) => form.classList.toggle(`hide-${step}`, steps.checked && i >= shown));
    text("step").textContent = !steps.checked ? "" : shown ? STEPS[shown - 1][1] : "Which key will get the largest weight? Choose, then show the columns.";
    next.disabled = shown === STEPS.length;
    guesses.forEach((button, i) => button.setAttribute("aria-pressed", i === guess));
    text("verdict").textContent = verdict();
    text("note").textContent = now ? notes(now) : "";
    if (now) show(figure, now);
  }

  function verdict() {
    if (guess === null || !steps.checked || !now) return "";
    return shown < 4 ? `You say: ${names[guess]}.` : judged(names, now.weights, guess);
  }

  next.onclick = () => {
    shown = Math.min(shown + 1, STEPS.length);
    figure.changed();
  };
  guesses.forEach((button, i) => (button.onclick = () => {
    guess = i;
    figure.changed();
  }));
  steps.addEventListener("input", () => {
    shown = 0;
    guess = null;
  });

  const say = () => {
    if (steps.checked) return [text("step").textContent, text("verdict").textContent].join(" ");
    const weights = names.map((name, i) => `${name} ${fixed(now.weights[i])}`).join(", ");
    return `Weights: ${weights}. Entropy ${fixed(now.bits)} bits. ${text("note").textContent}`;
  };
  return { update, say };
});

function attend(query, keys, values) {
  const scores = attentionScores(query, keys, 1);
  const scaled = scores.map((score) => score / Math.sqrt(query.length));
  const weights = softmax(scaled);
  const exps = scaled.map(Math.exp);
  return { scores, scaled, exps, weights, output: weightedSum(weights, values), bits: entropy(weights) };
}

function show(figure, now) {
  const { names } = figure.data;
  names.forEach((_, row) => {
    figure.put(`score${row}`, fixed(now.scores[row]));
    figure.put(`scaled${row}`, fixed(now.scaled[row]));
    figure.put(`exp${row}`, fixed(now.exps[row]));
    const cell = figure.put(`weight${row}`, fixed(now.weights[row]));
    cell.style.setProperty("--share", now.weights[row] || 0);
  });
  figure.put("expsum", fixed(sum(now.exps)));
  figure.put("weightsum", fixed(sum(now.weights)));
  now.output.forEach((entry, i) => figure.put(`output${i}`, fixed(entry)));
  figure.put("entropy", fixed(now.bits));
  figure.put("maximum", fixed(Math.log2(names.length)));
}

function notes({ scores, exps, output }) {
  if (scores.some(Number.isNaN)) return "A score is too large for a number of 64 bits, so there are no weights.";
  const said = [];
  const stored = (what) => said.push(`${what} to be stored; the weights are right all the same, for the largest score is subtracted first.`);
  if (exps.includes(Infinity)) stored("An exponential is too large");
  if (exps.every((e) => e === 0)) stored("Every exponential is too small");
  if (!output.every(Number.isFinite)) said.push("The output is too large for a number of 64 bits.");
  return said.join(" ");
}

function judged(names, weights, guess) {
  if (weights.some(Number.isNaN)) return "There are no weights to compare with.";
  const most = Math.max(...weights);
  const top = names.filter((_, i) => weights[i] === most);
  const right = weights[guess] === most;
  const tie = top.length > 1 ? `It is a tie of ${top.join(" and ")}` : `The largest weight is that of ${top[0]}`;
  return `You said ${names[guess]}: ${right ? "right" : "not so"}. ${tie}, ${fixed(most)}.`;
}
