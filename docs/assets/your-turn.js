// The exercise page: a text box whose code a worker runs and judges. Nothing of Python is
// fetched before the reader types or presses a button.

const PATIENCE = 30; // seconds in which something must arrive while files are fetched
const SLOWEST = 50; // seconds for each step of Python's start, on the slowest of phones
const LIMIT = 10; // seconds for a run; loops in Python are stopped long before, inside

const here = (name) => new URL(name, import.meta.url);

const el = (name, options = {}, ...children) => {
  const node = Object.assign(document.createElement(name), options);
  node.append(...children);
  return node;
};

// The worker, one for the page: it starts once and is started anew after each stop.

const python = {
  worker: null,
  run: null, // { kind, text, tell(message), end(message) } of the run that goes on

  start(setting) {
    if (this.worker) return;
    this.setting = setting; // { runtime, exercise, version }
    this.failed = false;
    this.heard(PATIENCE);
    try {
      if (typeof WebAssembly !== "object") throw new Error("it has no WebAssembly");
      this.worker = new Worker(here(`your-turn-worker.js?${setting.version}`), { type: "module" });
    } catch (error) {
      this.fail(`this browser cannot run Python: ${error.message}`);
      return;
    }
    this.worker.onmessage = ({ data }) => this.told(data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.fail(event.message || "the worker's script did not load");
    };
    this.worker.postMessage(setting);
  },

  told(message) {
    if (Object(message) !== message) return; // from a learner who found postMessage
    if (message.loaded) {
      this.heard(PATIENCE);
      this.run?.tell(message);
    } else if (message.starting) {
      this.heard(SLOWEST);
    } else if (message.ready) {
      this.heard(0);
      this.ready = true;
      this.run?.tell(message);
    } else if (message.running) {
      this.heard(LIMIT);
    } else if (message.at) {
      this.at = message.at;
    } else if (message.result) {
      this.heard(0);
      this.end(message);
    } else if (this.ready) {
      // Python itself broke down in a run: the next run gets a fresh one.
      this.stop(`Your code brought Python down${this.place()}: ${message.failed}`);
    } else {
      this.fail(message.failed);
    }
  },

  // Wait for the next message so many seconds, 0 for ever.
  heard(seconds) {
    clearTimeout(this.timer);
    if (seconds)
      this.timer = setTimeout(() => {
        if (this.ready)
          this.stop(
            `Stopped after ${LIMIT} seconds${this.place()}: a single call there ` +
              "goes on and on. Does it count very far, or make a very long list?",
          );
        else this.fail(`nothing was heard for ${seconds} seconds`);
      }, seconds * 1000);
  },

  place() {
    if (!this.at) return "";
    const [check, line] = this.at;
    return `, ${check ? `in check ${check}, ` : ""}at line ${line}`;
  },

  end(message) {
    const run = this.run;
    this.run = null;
    run?.end(message);
  },

  quit() {
    this.heard(0);
    if (this.worker) {
      // It may still fail as it ends, after the next one has begun: nobody is to hear that.
      this.worker.onmessage = null;
      this.worker.onerror = (event) => event.preventDefault();
      this.worker.terminate();
    }
    this.worker = null;
    this.ready = false;
  },

  // End the run that goes on, and make Python ready for the next.
  stop(why) {
    const again = this.ready;
    this.quit();
    this.end({ stopped: why });
    if (again) this.start(this.setting);
  },

  fail(why) {
    this.quit();
    this.failed = true;
    // What the browser kept may be what is broken.
    window.caches?.delete(here(`${this.setting.runtime}/`).href).catch(() => {});
    this.end({ failed: why });
  },

  begin(setting, run) {
    this.run = run;
    this.at = null;
    this.start(setting);
    this.worker?.postMessage({ kind: run.kind, text: run.text });
  },
};

// What is kept in the browser, where it lets us.

const memory = {
  key: (name) => here(name).pathname,
  read(name) {
    try { return localStorage.getItem(this.key(name)); } catch { return null; }
  },
  write(name, text) {
    try { localStorage.setItem(this.key(name), text); } catch { /* then it is not kept */ }
  },
};

// Verdicts

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
  const kind = { passed: "success", failed: "failure" }[one.state] ?? "note";
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

function checkView(verdict) {
  const parts = [];
  if (verdict.next) {
    const { says, page, title } = verdict.next;
    parts.push(el("p", { className: "turn-next" }, `${says} `, el("a", { href: `../${page}/` }, title)));
  }
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
  return [...parts, ...verdict.cases.map((one) => caseView(one, one === first, verdict.outputs))];
}

const list = (items) => el("ul", {}, ...items.map((item) => el("li", {}, ...item)));

function casesView({ problems, caught, escaped, beyond = [] }) {
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

// The page

function mount(box) {
  const { kind, runtime, exercise, version, bytes } = box.dataset;
  const setting = { runtime, exercise, version };
  const name = `${exercise}-${kind}`; // what this box is kept as: each exercise has its own
  const [run, stop, reset, undo] = ["run", "stop", "reset", "undo"].map((name) =>
    box.querySelector(`[data-do=${name}]`));
  const code = box.querySelector("textarea");
  const bar = box.querySelector("progress");
  const results = box.querySelector(".turn-results");
  const starter = code.defaultValue;

  const show = (summary, ...parts) =>
    results.replaceChildren(el("p", { className: "turn-summary" }, summary), ...parts);

  // What was said is no longer about what stands in the box.
  const stale = () => {
    if (!python.run && results.childElementCount > 1)
      results.querySelector(".turn-summary").textContent = "Changed since the last run.";
  };

  const edited = () => {
    memory.write(name, code.value);
    stale();
  };

  const busy = (now) => {
    stop.disabled = !now;
    bar.hidden = !now || python.ready;
    bar.removeAttribute("value");
  };

  const ended = (text, { failed, stopped, result }) => {
    if (document.activeElement === stop) run.focus();
    busy(false);
    if (failed) {
      show(`Python could not be loaded: ${failed}. Run the same checks on your own computer, as said below.`);
      document.querySelector("details.turn-local").open = true;
    } else if (stopped) {
      show(stopped);
    } else {
      show(result.summary, ...(kind === "check" ? checkView : casesView)(result));
      if (code.value !== text) stale();
    }
  };

  run.onclick = () => {
    if (python.run) return;
    const text = code.value;
    memory.write(name, text);
    show(python.ready ? "Running …" : "Loading Python …");
    busy(true);
    python.begin(setting, {
      kind,
      text,
      tell(message) {
        bar.hidden = Boolean(message.ready);
        if (message.loaded) bar.value = message.loaded / bytes;
      },
      end: (message) => ended(text, message),
    });
  };

  stop.onclick = () => python.stop(`Stopped by you${python.place()}.`);

  // What a reset takes away stays within reach, also after a reload.
  const taken = `${name}-before-reset`;
  const swap = (text) => {
    memory.write(taken, code.value);
    code.value = text;
    edited();
    undo.hidden = false;
  };
  reset.onclick = () => code.value !== starter && swap(starter);
  undo.onclick = () => swap(memory.read(taken) ?? starter);
  undo.hidden = memory.read(taken) === null;

  code.oninput = () => {
    edited();
    if (!python.failed) python.start(setting);
  };
  code.onkeydown = (event) => {
    if (event.key !== "Enter") return;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      run.click();
    } else if (event.shiftKey) {
      event.preventDefault();
      const line = code.value.slice(0, code.selectionStart).split("\n").pop();
      document.execCommand("insertText", false, `\n${line.match(/^ */)[0]}`); // can be undone
    }
  };

  code.value = memory.read(name) ?? starter;
  code.readOnly = run.disabled = reset.disabled = false; // what was typed before would be lost
}

// With instant navigation this module runs once, and its page comes and goes.
function arrive() {
  const boxes = document.querySelectorAll(".turn");
  if (![...boxes].some((box) => box.dataset.mounted)) {
    python.run = null;
    python.quit();
  }
  for (const box of boxes)
    if (!box.dataset.mounted) {
      box.dataset.mounted = "yes";
      mount(box);
    }
}

if (window.document$) document$.subscribe(arrive);
else arrive();
