// The exercise page: a text box whose code a worker runs and judges. Python is fetched when the
// reader types, presses a button, or comes to the box over a line that is fast and not metered.

import { python } from "./your-turn-python.js";
import { casesView, checkView, el, summaryOf } from "./your-turn-verdicts.js";

const STAY = 1000; // ms for which the box is in view before Python comes unasked

const here = (name) => new URL(name, import.meta.url);

// Not where the browser does not say: a reader may pay for each byte.
const unmetered = ({ connection }) =>
  connection && !connection.saveData && connection.type !== "cellular" && connection.effectiveType === "4g";

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

// The page

function mount(box) {
  const { kind, runtime, exercise, version, bytes, editor } = box.dataset;
  const setting = { runtime, exercise, version };
  const name = `${exercise}-${kind}`; // what this box is kept as: each exercise has its own
  const [run, stop, reset, undo] = ["run", "stop", "reset", "undo"].map((name) =>
    box.querySelector(`[data-do=${name}]`));
  const code = box.querySelector("textarea");
  const bar = box.querySelector("progress");
  const time = box.querySelector(".turn-time");
  const results = box.querySelector(".turn-results");
  const starter = code.defaultValue;

  const show = (summary, ...parts) =>
    results.replaceChildren(el("p", { className: "turn-summary" }, ...[summary].flat()), ...parts);

  // What was said is no longer about what stands in the box.
  const stale = () => {
    if (!python.run && results.childElementCount > 1)
      results.querySelector(".turn-summary").textContent = "Changed since the last run.";
  };

  const edited = () => {
    memory.write(name, code.value);
    stale();
  };

  // While Python loads: how long it has taken, beside what is announced, which would chatter.
  let clock;
  const busy = (now) => {
    stop.disabled = !now;
    bar.hidden = !now || python.ready;
    bar.removeAttribute("value");
    clearInterval(clock);
    time.textContent = "";
    const begun = performance.now();
    if (!bar.hidden) clock = setInterval(() => {
      time.textContent = `${Math.round((performance.now() - begun) / 1000)} s`;
    }, 1000);
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
      show(summaryOf(result), ...(kind === "check" ? checkView : casesView)(result));
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
        if (message.ready) busy(true);
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
    code.dispatchEvent(new Event("change")); // for the editor
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

  // The editor comes over the box when that is first touched, and not where it can't be had.
  const touched = async () => {
    const before = code.value;
    const { attach } = await import(here(editor));
    if (composing) await new Promise((done) => code.addEventListener("compositionend", done, { once: true }));
    attach(code, before, { run: () => run.click(), label: box.querySelector("label"), help: box.querySelector("p[id]") });
    box.querySelector(".turn-plain").hidden = true;
    box.querySelector(".turn-rich").hidden = false;
  };
  let composing = false; // a word in Chinese, say
  code.oncompositionstart = code.oncompositionend = ({ type }) => (composing = type === "compositionstart");
  if (editor) code.addEventListener("focus", () => touched().catch(() => {}), { once: true });

  let staying;
  const near = new IntersectionObserver((seen) => {
    clearTimeout(staying); // who passes by needs no Python
    if (seen.at(-1).isIntersecting) staying = setTimeout(() => {
      near.disconnect();
      if (box.isConnected && !python.failed) python.start(setting);
    }, STAY);
  });
  // The page may open at the box: Python waits until somebody is there.
  const there = () => near.observe(box);
  if (unmetered(navigator))
    for (const sign of ["scroll", "pointermove", "keydown"])
      addEventListener(sign, there, { once: true, passive: true });

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
