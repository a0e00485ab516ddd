// The chapter on positions: a pair of a query and one of a key, each turned by its position.

import { live } from "./figure.js";
import { attentionScores, fixed, rotaryEmbedding } from "./numbers.js";

const DEGREES = 180 / Math.PI; // of a radian

live("rotation", (figure) => {
  const { pairs } = figure.data;
  let now;

  function turn(name, position) {
    const turned = rotaryEmbedding(pairs[name], position);
    const angle = fixed(position * DEGREES, 1);
    figure.put(`${name}position`, String(position));
    figure.put(`${name}angle`, `${angle}°`);
    turned.forEach((entry, i) => figure.put(`${name}${i}`, fixed(entry)));
    const tilt = fixed(-Math.atan2(turned[1], turned[0]) * DEGREES, 1);
    figure.form.querySelector(`[data-arrow=${name}]`).setAttribute("transform", `rotate(${tilt})`);
    return { turned, angle };
  }

  function update() {
    const [m, n, shift] = ["query", "key", "shift"].map((name) => figure.slider(name));
    const [query, key] = [turn("query", m + shift), turn("key", n + shift)];
    const distance = Math.abs(m - n);
    const dot = fixed(attentionScores(query.turned, [key.turned], 1)[0]);
    now = { distance, dot };
    figure.put("distance", String(distance));
    figure.put("between", `${fixed(distance * DEGREES, 1)}°`);
    figure.put("dot", dot);
    figure.form.querySelector("svg").setAttribute("aria-label", figure.tell("drawn", { query: query.angle, key: key.angle }));
  }

  const say = () => figure.tell("dot", now);
  return { update, say };
});
