// Chapter five: a dial for what a layer costs, and a detective who reaches a published total.

import { live, plot } from "./figure.js";
import { attentionFlops, countParameters, crossoverLength, fixed, layerFlops, matrixFlops, parseWhole, range, scoreBytes, scoreEntries, shownWhole } from "./numbers.js";

const LENGTHS = range(13).map((i) => 4 ** i); // from one token to more than the field takes

live("dial", (figure) => {
  const most = { n: 10n ** 7n, D: 10n ** 6n, H: 10n ** 7n, h: 10n ** 4n };
  const sliders = Object.fromEntries(Object.keys(most).map((name) =>
    [name, figure.slide(name, (power) => String(2 ** power), (value) => Math.log2(Number(value)))]));
  let now = null;

  function update() {
    const [n, D, H, h] = ["n", "D", "H", "h"].map((name) => {
      const value = figure.read(name, parseWhole, 1n, most[name]);
      if (value !== null) sliders[name](value);
      return value;
    });
    if (figure.wrong.length) return;
    if (D % h) return figure.fault("h", "must divide D");
    const matrices = matrixFlops(n, D, H);
    const quadratic = attentionFlops(n, D);
    const share = Number((quadratic * 1000000n) / (matrices + quadratic)) / 10000;
    const crossover = crossoverLength(D, H);
    now = { n, share, crossover, bytes: scoreBytes(n, h) };
    const results = {
      scores: scoreEntries(n), allscores: scoreEntries(n, h), bytes: scoreBytes(n, h),
      matrices, quadratic, layer: layerFlops(n, D, H), crossover,
    };
    for (const [name, count] of Object.entries(results)) figure.put(name, shownWhole(count));
    figure.put("memory", memory(now.bytes));
    figure.put("share", `${fixed(share, 1)}%`);
    figure.put("side", side());
    const lines = [matrixFlops, (n, D) => attentionFlops(n, D)].map((flops) => ({ values: LENGTHS.map((n) => Number(flops(BigInt(n), D, H))) }));
    const every = lines.flatMap((line) => line.values);
    const [low, high] = [Math.floor(Math.log10(Math.min(...every))), Math.ceil(Math.log10(Math.max(...every)))];
    plot(figure.form.querySelector("svg"), {
      x: LENGTHS, log: true, at: Number(n), series: lines, xTicks: [1, 100, 1e4, 1e6],
      ticks: range(high - low + 1).filter((i) => (high - low - i) % 3 === 0 || i === 0).map((i) => 10 ** (low + i)),
      said: figure.tell("plot", { crossover: shownWhole(crossover) }),
    });
  }

  const side = () => figure.tell(now.n === now.crossover ? "at" : now.n < now.crossover ? "below" : "above");

  function memory(bytes) {
    const { units } = figure.data;
    let unit = 0;
    let size = Number(bytes);
    while (size >= 1024 && unit < units.length - 1) {
      size /= 1024;
      unit++;
    }
    return `${Number.isInteger(size) ? size : fixed(size, 2)} ${units[unit]}`;
  }

  const say = () => `${shownWhole(now.n)} tokens: the n² part is ${fixed(now.share, 1)}% of the work, and the scores fill ${memory(now.bytes)}. ` +
    `The crossover is at ${shownWhole(now.crossover)} tokens; you are ${side()}.`;
  return { update, say };
});

const SIZES = { vocabulary: 1n, D: 1n, L: 1n, h: 1n, H: 1n, positions: 0n, token_types: 0n, outer_norms: 0n };
const USUAL = ["d_k", "kv_heads"]; // left empty for the usual

live("detective", (figure) => {
  const { published } = figure.data;
  const choices = Object.keys(published[0].model).filter((name) => typeof published[0].model[name] === "boolean");
  const targets = published.map(({ model }) => countParameters(exact(model)));
  const compare = figure.field("compare");
  let now = null;

  figure.form.querySelector("[data-do=fill]").onclick = () => {
    const { model } = published[figure.field("target").value];
    for (const [name, value] of Object.entries(model)) {
      const field = figure.field(name);
      if (field.type === "checkbox") field.checked = value;
      else field.value = value ?? "";
    }
    figure.changed();
  };

  function read() {
    const model = {};
    for (const [name, least] of Object.entries(SIZES)) model[name] = figure.read(name, parseWhole, least);
    for (const name of USUAL)
      model[name] = figure.field(name).value.trim() ? figure.read(name, parseWhole, 1n) : (figure.mark(figure.field(name), false), null);
    for (const name of choices) model[name] = figure.field(name).checked;
    if (figure.wrong.length) return null;
    try {
      return countParameters(model);
    } catch (error) {
      // The two rules that join fields: heads divide the width, and kv_heads the heads.
      if (error.message.startsWith("kv_heads")) figure.fault("kv_heads", "must divide h");
      else figure.fault("h", "must divide D");
      return null;
    }
  }

  function update() {
    const target = Number(figure.field("target").value);
    const { name, total } = published[target];
    figure.form.classList.toggle("comparing", compare.checked);
    const counts = read();
    now = null;
    if (!counts) return;
    for (const [part, count] of Object.entries(counts)) {
      figure.put(`yours-${part}`, shownWhole(count));
      const theirs = figure.put(`theirs-${part}`, shownWhole(targets[target][part]));
      theirs.classList.toggle("same", targets[target][part] === count);
    }
    now = verdict(name, BigInt(total), counts.total);
    figure.put("verdict", now);
    figure.cell("verdict").classList.toggle("solved", counts.total === BigInt(total));
  }

  function verdict(name, wanted, have) {
    const off = have < wanted ? wanted - have : have - wanted;
    const which = have === wanted ? "solved" : have < wanted ? "few" : "many";
    return figure.tell(which, { name, wanted: shownWhole(wanted), off: shownWhole(off) });
  }

  return { update, say: () => now };
});

// Sizes as BigInts; what is true, false or left to the usual stays so.
const exact = (model) =>
  Object.fromEntries(Object.entries(model).map(([name, value]) => [name, typeof value === "number" ? BigInt(value) : value]));
