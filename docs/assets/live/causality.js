// Chapter four: the causality probe. Raise a score that the query must not see, and look what
// moves: with the mask before the softmax nothing may, by not one bit.

import { live } from "./figure.js";
import { fixed, parseNumber, softmax, sum } from "./numbers.js";

live("probe", (figure) => {
  const { tokens, scores, visible } = figure.data;
  const pair = figure.field("pair");
  // Steps of one half as far as most scores go, then longer ones, to where a weight underflows.
  const [FINE, STEP] = [20, 5];
  const moveSlider = figure.slide("score",
    (place) => String(place <= FINE ? place : FINE + Math.round(STEP * (place - FINE) ** 2)),
    (score) => (score <= FINE ? score : FINE + Math.sqrt((score - FINE) / STEP)));
  const rows = (these, mask) => these.map((row, i) => softmax(row, mask && visible[i]));
  const hide = (weights) => weights.map((row, i) => row.map((weight, j) => (visible[i][j] ? weight : 0)));
  const before = { first: rows(scores, true), last: hide(rows(scores)) };
  let now = null;

  // Another pair begins with its own score.
  pair.addEventListener("input", () => {
    const [i, j] = pair.value.split(",");
    figure.field("score").value = String(scores[i][j]);
  });

  function show(kind, name, value, was) {
    const moved = !Object.is(value, was);
    const arrow = moved ? (value > was ? "↑ " : value < was ? "↓ " : "≠ ") : "";
    const cell = figure.put(name, arrow + (value === 0 ? "0" : fixed(value)));
    cell.classList.toggle("moved", moved);
    now.moved[kind] += moved;
  }

  function update() {
    const [i, j] = pair.value.split(",").map(Number);
    const score = figure.read("score", parseNumber);
    if (score === null) {
      for (const cell of figure.form.querySelectorAll(".moved")) cell.classList.remove("moved");
      return;
    }
    moveSlider(score);
    const changed = scores.map((row) => [...row]);
    changed[i][j] = score;
    now = { i, j, score, first: rows(changed, true), last: hide(rows(changed)), moved: { first: 0, last: 0 } };
    for (const kind of ["first", "last"])
      now[kind].forEach((row, r) => {
        row.forEach((weight, c) => visible[r][c] && show(kind, `${kind}${r}${c}`, weight, before[kind][r][c]));
        figure.put(`${kind}sum${r}`, fixed(sum(row)));
      });
    figure.put("movedfirst", count(now.moved.first));
    figure.put("movedlast", count(now.moved.last));
    figure.put("mended", mended());
  }

  const count = (moved) => (moved ? figure.tell("some", { count: moved }) : figure.tell("none"));

  function mended() {
    const kept = sum(now.last[now.i]);
    const token = tokens[now.i];
    if (kept === 0) return figure.tell("lost", { token });
    const row = now.last[now.i].map((weight) => weight / kept).filter((_, c) => visible[now.i][c]);
    return figure.tell("mended", { token, row: row.map((w) => fixed(w)).join(", ") });
  }

  const say = () =>
    `“${tokens[now.i]}” scores the hidden “${tokens[now.j]}” at ${figure.field("score").value}. ` +
    `Mask first: ${count(now.moved.first)}. Mask last: ${count(now.moved.last)}. Mended, ${mended()}.`;
  return { update, say };
});
