// The chapter on several heads: what a verb gets from two heads, and whether it tells who is who.

import { live } from "./figure.js";
import { attentionScores, fixed, softmax, weightedSum } from "./numbers.js";

live("heads", (figure) => {
  const { sentences, heads } = figure.data;
  let gap;

  function asked(name) {
    return sentences[0].keys[0].map((_, i) => {
      const slider = figure.field(name + i);
      slider.setAttribute("aria-valuetext", slider.value);
      figure.put(name + i, slider.value);
      return Number(slider.value);
    });
  }

  function attend(query) {
    return sentences.map(({ keys, values }) => {
      const weights = softmax(attentionScores(query, keys));
      return { weights, output: weightedSum(weights, values) };
    });
  }

  function update() {
    const chosen = Number(figure.field("other").checked);
    sentences[chosen].words.forEach((word, i) => figure.put(`word${i}`, word));
    let most = 0;
    for (const name of heads) {
      const each = attend(asked(name));
      const { weights, output } = each[chosen];
      weights.forEach((w, i) => figure.put(`${name}weight${i}`, fixed(w)).style.setProperty("--share", w));
      output.forEach((entry, i) => figure.put(`${name}output${i}`, fixed(entry)));
      most = Math.max(most, ...output.map((entry, i) => Math.abs(entry - each[1 - chosen].output[i])));
    }
    gap = fixed(most);
    figure.put("gap", gap);
  }

  const say = () => figure.tell("gap", { gap });
  return { update, say };
});
