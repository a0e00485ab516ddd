// The chapter on a trained model: its two heads on letters that one types, from moments of its
// training, and what becomes of its answers when something is taken away.

import { live } from "./figure.js";
import { attentionScores, fixed, range, softmax, sum } from "./numbers.js";

const [STEP, LEFT, ABOVE, BELOW] = [24, 52, 100, 124]; // as in figures/viewer.py
const [FAINT, TOLD] = [0.02, 0.05];
const READS = ["query", "key", "value", "output"];

// The model, as attention.induction has it

// A signed byte a weight, in steps of 1/64.
export function readModel(text, shapes) {
  const bytes = Int8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  let start = 0;
  const part = (shape) => {
    if (!shape.length) return bytes[start++] / 64;
    return range(shape[0]).map(() => part(shape.slice(1)));
  };
  const [embedding, positions, layers, unembedding] = shapes.map(part);
  return { embedding, positions, layers, unembedding };
}

const plus = (a, b) => a.map((x, i) => x + b[i]);

// A row times a matrix.
function times(row, matrix) {
  const product = new Array(matrix[0].length).fill(0);
  for (let i = 0; i < row.length; i++)
    for (let j = 0; j < product.length; j++) product[j] += row[i] * matrix[i][j];
  return product;
}

export function runInduction(model, tokens, patterns = [], reads = READS) {
  const embedded = tokens.map((token) => model.embedding[token]);
  let [stream, last] = [embedded, null];
  const run = { patterns: [], scores: [] };
  for (const [layer, [wQ, wK, wV, wO]] of model.layers.entries()) {
    const read = (name) => (reads.includes(name) ? stream : embedded);
    const placed = (name, w) => read(name).map((x, i) => times(plus(x, model.positions[i]), w));
    const [queries, keys] = [placed("query", wQ), placed("key", wK)];
    const scores = queries.map((query, i) => attentionScores(query, keys.slice(0, i + 1)));
    const pattern = patterns[layer] ?? scores.map((row) => softmax(row));
    const values = read("value").map((x) => times(times(x, wV), wO));
    last = pattern.map((row) => {
      const mixed = new Array(values[0].length).fill(0);
      row.forEach((weight, j) => weight && values[j].forEach((v, k) => { mixed[k] += weight * v; }));
      return mixed;
    });
    stream = stream.map((x, i) => plus(x, last[i]));
    run.patterns.push(pattern);
    run.scores.push(scores);
  }
  if (!reads.includes("output")) stream = embedded.map((x, i) => plus(x, last[i]));
  run.logits = stream.map((x) => times(x, model.unembedding));
  return run;
}

// Patterns to put in place of a head's own: a row has a weight for each place up to its own.
export const WAYS = {
  off: (tokens) => each(tokens, () => 0),
  back1: (tokens) => each(tokens, (i, j) => Number(j === Math.max(i - 1, 0))),
  back2: (tokens) => each(tokens, (i, j) => Number(j === Math.max(i - 2, 0))),
  alike: (tokens) => each(tokens, (i) => 1 / (i + 1)),
  induction: (tokens) =>
    each(tokens, (i, j) => Number(j > 0 && tokens[j - 1] === tokens[i])).map((row, i) => {
      const total = sum(row);
      return row.map((weight, j) => (total ? weight / total : Number(j === i)));
    }),
};

const each = (tokens, weight) => tokens.map((_, i) => range(i + 1).map((j) => weight(i, j)));

// What came after earlier places with the same token, each once, the latest first.
export const followers = (tokens, place) =>
  [...new Set(range(place).filter((j) => tokens[j] === tokens[place]).map((j) => tokens[j + 1]).reverse())];

// The figure

live("viewer", (figure) => {
  const { letters, steps, shapes } = figure.data;
  const { form } = figure;
  const [back, moment] = [figure.field("back"), figure.field("moment")];
  const [picture, ...small] = form.querySelectorAll("svg");
  const rows = form.querySelector("details tbody");
  const models = { [steps.at(-1)]: readModel(figure.data.model, shapes) };
  let now;

  const longest = Number(back.max);
  form.addEventListener("reset", () => { back.max = longest; });

  // What is not the last moment of training lies in a file, which few visitors need.
  let asked = false;
  const load = async () => {
    asked = true;
    form.dataset.loading = "";
    try {
      const file = await fetch(new URL("../../a-trained-model.json", import.meta.url));
      for (const [step, text] of Object.entries((await file.json()).moments)) models[step] = readModel(text, shapes);
    } finally {
      delete form.dataset.loading;
      figure.changed();
    }
  };

  // A letter is chosen by pointing at it too; its slider does it by keyboard. Under a pointer that
  // rests, each drawing is a new thing to be over: that chooses nothing.
  let over;
  const placeOf = (event) => event.target.closest("[data-place]")?.dataset.place;
  const choose = (place) => {
    const wanted = String(now.tokens.length - 1 - place);
    if (place === undefined || back.value === wanted) return;
    back.value = wanted;
    figure.changed();
  };
  picture.addEventListener("click", (event) => choose(placeOf(event)));
  picture.addEventListener("pointerleave", () => { over = undefined; });
  picture.addEventListener("pointerover", (event) => {
    const place = placeOf(event);
    if (event.pointerType !== "mouse" || place === over) return;
    over = place;
    choose(place);
  });

  function parse(text) {
    const typed = [...text.toUpperCase().replace(/\s/g, "")];
    const stray = typed.find((letter) => !letters.includes(letter));
    if (!typed.length) throw new Error("is empty: write letters");
    if (stray) throw new Error(`has ${stray}: the model knows ${letters[0]} to ${letters.at(-1)} alone`);
    if (typed.length > longest + 1) throw new Error(`has ${typed.length} letters: the model takes ${longest + 1}`);
    return typed.map((letter) => letters.indexOf(letter));
  }

  function update() {
    const tokens = figure.read("letters", parse);
    if (!tokens) return;
    back.max = tokens.length - 1;
    const chosen = tokens.length - 1 - Number(back.value);
    const step = steps[moment.value];
    const model = models[step];
    if (!model && !asked) load().catch(() => {});
    if (!model && !("loading" in form.dataset)) figure.fault("moment", "could not be loaded");
    if (!model) return;
    const patterns = [0, 1].map((layer) => WAYS[figure.field(`layer${layer}`).value]?.(tokens));
    const run = runInduction(model, tokens, patterns, READS.filter((name) => figure.field(name).checked));
    const shares = run.logits.map((row) => softmax(row));
    const said = shares.map((row) => row.indexOf(Math.max(...row)));
    const hits = tokens.map((_, i) => {
      const known = followers(tokens, i);
      return known.length ? known.includes(said[i]) : null;
    });
    now = { tokens, chosen, run, shares: shares[chosen], said, hits };
    figure.put("looks", place(chosen));
    back.setAttribute("aria-valuetext", place(chosen));
    figure.put("moment", String(step));
    moment.setAttribute("aria-valuetext", String(step));
    draw();
    list();
  }

  const name = (i) => letters[now.tokens[i]];
  const place = (i) => figure.tell("place", { letter: name(i), place: i });
  const percent = (share) => `${fixed(100 * share, 0)}%`;

  function told() {
    const { tokens, chosen, shares, said } = now;
    const known = followers(tokens, chosen);
    const how = !known.length ? "new" : known.includes(said[chosen]) ? "right" : "wrong";
    return figure.tell(how, {
      letter: name(chosen),
      known: known.map((token) => letters[token]).join(figure.tell("or")),
      said: letters[said[chosen]],
      share: percent(shares[said[chosen]]),
    });
  }

  function drawn() {
    const parts = now.run.patterns.map((pattern, layer) => {
      const row = pattern[now.chosen];
      const most = row.indexOf(Math.max(...row));
      if (!row[most]) return figure.tell("blind", { layer });
      return figure.tell("most", { layer, where: place(most), share: percent(row[most]) });
    });
    return `${place(now.chosen)}. ${parts.join(" ")}`;
  }

  const score = () => [now.hits.filter((hit) => hit).length, now.hits.filter((hit) => hit !== null).length];

  function draw() {
    const { tokens, chosen, run, said, hits } = now;
    const n = tokens.length;
    const parts = [[60, "layer 1"], [112, "letter"], [164, "layer 0"], [220, "it says"]].map(
      ([y, text]) => `<text x="0" y="${y}">${text}</text>`);
    [[BELOW, 1], [ABOVE, -1]].forEach(([base, up], layer) =>
      run.patterns[layer][chosen].forEach((weight, j) => parts.push(arc(chosen, j, weight, base, up))));
    tokens.forEach((token, i) => {
      const [kind, mark] = hits[i] === null ? ["idle", "·"] : hits[i] ? ["hit", "✓"] : ["miss", "✗"];
      const x = at(i);
      parts.push(
        `<g data-place="${i}" class="chip${i === chosen ? " query" : ""}"><rect x="${x - 11}" y="${ABOVE}" ` +
        `width="22" height="${BELOW - ABOVE}" rx="3"></rect><text x="${x}" y="112" class="middle">${letters[token]}</text></g>` +
        `<text x="${x}" y="220" class="middle ${kind}">${letters[said[i]]}</text>` +
        `<text x="${x}" y="240" class="middle ${kind}">${mark}</text>`);
    });
    picture.setAttribute("viewBox", `0 0 ${LEFT + STEP * n} 252`);
    picture.style.minWidth = `${20 * n}px`;
    picture.innerHTML = parts.join("");
    picture.setAttribute("aria-label", drawn());
    const frame = picture.parentElement; // to scroll it, a keyboard must reach it
    if (frame.scrollWidth > frame.clientWidth) frame.tabIndex = 0;
    else frame.removeAttribute("tabindex");
    small.forEach((svg, layer) => {
      svg.setAttribute("viewBox", `0 0 ${n} ${n}`);
      svg.innerHTML = squares(run.patterns[layer], chosen);
    });
  }

  function list() {
    const { tokens, chosen, run, shares } = now;
    figure.put("told", told());
    figure.put("score", score().join(" of "));
    shares.map((share, token) => [share, token]).sort((a, b) => b[0] - a[0]).slice(0, 5).forEach(([share, token], i) => {
      figure.put(`next${i}`, letters[token]);
      figure.put(`share${i}`, fixed(share)).style.setProperty("--share", fixed(share));
    });
    if (rows.children.length !== tokens.length)
      rows.innerHTML = tokens.map((_, j) => {
        const cells = [0, 1].map((layer) => `<td data-out="score${layer}${j}"></td><td data-out="weight${layer}${j}"></td>`);
        return `<tr><th scope="row">${j}</th><td></td>${cells.join("")}</tr>`;
      }).join("");
    tokens.forEach((token, j) => {
      rows.children[j].children[1].textContent = letters[token];
      for (const layer of [0, 1]) {
        const seen = j <= chosen;
        figure.put(`score${layer}${j}`, seen ? fixed(run.scores[layer][chosen][j]) : "hidden");
        figure.put(`weight${layer}${j}`, fixed(seen ? run.patterns[layer][chosen][j] : 0));
      }
    });
  }

  const say = () => {
    const [right, known] = score();
    return `${drawn()} ${told()} ${figure.tell("summary", { right, known })}`;
  };
  return { update, say };
});

const at = (place) => LEFT + STEP * place + STEP / 2;

// An arc as thick as a weight, and the weight beside it.
function arc(start, end, weight, base, up) {
  if (weight < FAINT) return "";
  const [a, b] = [at(start), at(end)];
  const across = Math.max(Math.abs(a - b) / 2, 7);
  const high = Math.min(across, up < 0 ? 76 : 54);
  const ends = start === end ? [a - 5, a + 5] : [a, b];
  const sweep = Number((ends[1] > ends[0]) === up < 0);
  const path =
    `<path d="M${ends[0]} ${base}A${across.toFixed(1)} ${high.toFixed(1)} 0 0 ${sweep} ${ends[1]} ${base}" ` +
    `class="arc weight" stroke-width="${(1 + 6 * weight).toFixed(1)}" stroke-opacity="${(0.3 + 0.7 * weight).toFixed(2)}"></path>`;
  if (weight < TOLD) return path;
  const peak = base + up * (start === end ? 20 : high + 10);
  return `${path}<text x="${((a + b) / 2).toFixed(0)}" y="${peak.toFixed(0)}" class="middle">${weight.toFixed(2)}</text>`;
}

// All weights of a head as squares, its chosen row in a frame.
function squares(pattern, chosen) {
  const parts = [`<path d="M0 0${"h1v1".repeat(pattern.length)}H0z" class="track"></path>`];
  pattern.forEach((row, i) => row.forEach((weight, j) => {
    if (weight >= FAINT)
      parts.push(`<rect x="${j}" y="${i}" width="1" height="1" class="weight" fill-opacity="${weight.toFixed(2)}"></rect>`);
  }));
  parts.push(`<rect x="0" y="${chosen}" width="${chosen + 1}" height="1" class="frame query"></rect>`);
  return parts.join("");
}
