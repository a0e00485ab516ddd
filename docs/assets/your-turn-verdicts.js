// What the exercise page shows of a verdict.

export const el = (name, options = {}, ...children) => {
  const node = Object.assign(document.createElement(name), options);
  node.append(...children);
  return node;
};

// Several matrices stand below each other, with an empty row between them: each gets its name.
function table(name, rows, wrong, outputs) {
  const names = outputs.length > 1 ? [...outputs] : [];
  const heading = () => names.length ? [el("tr", {}, el("th", {}, names.shift()))] : [];
  const line = (row, i) => el("tr", {}, ...row.map((cell, j) =>
    el("td", {}, wrong.some(([r, c]) => r === i && c === j) ? el("mark", {}, `≠ ${cell}`) : cell)));
  const body = [...heading(), ...rows.flatMap((row, i) => row.length ? [line(row, i)] : heading())];
  return el("table", {}, el("caption", {}, name), el("tbody", {}, ...body));
}

const pre = (text, label) => el("div", { className: "turn-text" }, el("p", {}, label), el("pre", {}, el("code", {}, text)));

const trace = (steps) =>
  steps.length
    ? [pre(steps.map((s) => (s.line ? `line ${s.line}: ${s.code}` : s.code)).join("\n"), "In your code:")]
    : [];

const printed = (text) => (text ? [pre(text, "Printed:")] : []);

function caseView(one, open, outputs) {
  const kind = one.state === "passed" ? "success" : "failure";
  const call = Object.entries(one.call).map(([name, text]) => `${name} = ${text}`);
  const parts = [pre(call.join("\n"), one.why)];
  if (one.expected) {
    const got = one.got.length ? table("got", one.got, one.wrong, outputs) : null;
    parts.push(el("div", { className: "turn-tables md-typeset__scrollwrap" }, table("expected", one.expected, one.wrong, outputs), ...(got ? [got] : [])));
    if (one.returned) parts.push(pre(one.returned, "Returned:"));
    parts.push(...trace(one.trace), ...printed(one.printed));
    if (one.note) parts.push(el("p", {}, one.note));
  }
  const message = one.state === "failed" ? `failed: ${one.message}` : one.message;
  return el("details", { className: kind, open }, el("summary", {}, `Check ${one.number} ${message}`), ...parts);
}

export function checkView(verdict) {
  const parts = [];
  if (verdict.problem)
    parts.push(el("p", { className: "turn-problem" }, verdict.problem.message), ...trace(verdict.problem.trace));
  for (const { says, comes_from } of verdict.recognised)
    parts.push(
      el("div", { className: "admonition tip turn-known" },
        el("p", { className: "admonition-title" }, says),
        el("p", {}, comes_from)),
    );
  parts.push(...printed(verdict.printed));
  const first = verdict.cases.find((one) => one.state === "failed");
  const checks = verdict.cases
    .filter((one) => one.state !== "not run")
    .map((one) => caseView(one, one === first, verdict.outputs));
  const all = verdict.passed === verdict.total;
  if (all) return [...parts, el("details", { className: "success" }, el("summary", {}, "The checks"), ...checks)];
  return [...parts, ...checks];
}

// One line, with what comes next for who is done.
export function summaryOf({ summary, next }) {
  if (!next) return [summary];
  const link = el("a", { href: `../${next.page}/` }, next.title);
  return [`${summary}. `, el("span", {}, `${next.says} `, link)];
}

const list = (items) => el("ul", {}, ...items.map((item) => el("li", {}, ...item)));

export function casesView({ problems, caught, escaped, beyond = [] }) {
  const parts = problems.length ? [list(problems.map((text) => [text]))] : [];
  if (escaped.length)
    parts.push(
      el("p", {}, "These got away:"),
      list(escaped.map(({ name, comes_from }) => [el("strong", {}, name), `. ${comes_from}`])),
    );
  for (const name of beyond)
    parts.push(el("p", {}, `Told apart as well, though equal on ordinary numbers: ${name}.`));
  if (caught.length)
    parts.push(el("details", { className: "success" }, el("summary", {}, "Those that were caught"),
      list(caught.map(({ name, line }) => [`${name}: by line ${line}`]))));
  return parts;
}
