// Runs the judge in Python, away from the page: a loop that never ends leaves the page alive.
// It is given { runtime, exercise, version } once, then { kind, text } for each run, and tells
// { loaded } as files arrive, { starting }, { ready }, { running }, { at: [check, line] }, { result },
// or { failed } with the reason, after which it is of no more use.

const tell = postMessage.bind(self);
const file = (name) => new URL(name, import.meta.url).href;
let python;

// A file of the runtime, from the browser's own store after the first time. Servers differ
// in what they let a browser keep; this does not depend on it.
async function kept(url, type, loaded) {
  const store = await self.caches?.open(url.slice(0, url.lastIndexOf("/") + 1)).catch(() => {});
  const known = await store?.match(url);
  if (known) return known.blob();
  const reader = (await fetched(url, "default")).body.getReader();
  const parts = [];
  for (let part; !(part = await reader.read()).done; loaded(part.value.length))
    parts.push(part.value);
  const blob = new Blob(parts, { type });
  await store?.put(url, new Response(blob)).catch(() => {}); // full: fetched again next time
  return blob;
}

async function fetched(url, cache) {
  const response = await fetch(url, { cache });
  if (!response.ok) throw new Error(`${new URL(url).pathname} gives ${response.status}`);
  return response;
}

// A file whose address changes with its text, so that no copy of it is too old.
async function text(name) {
  return (await fetched(file(name), "force-cache")).text();
}

// Earlier versions take room in the reader's browser.
async function forgetAllBut(base) {
  for (const name of (await self.caches?.keys().catch(() => [])) ?? [])
    if (name.startsWith(file("pyodide-")) && name !== base) await caches.delete(name);
}

async function start({ runtime, exercise: data, version }) {
  const base = file(`${runtime}/`);
  let sum = 0;
  const loaded = (bytes) => tell({ loaded: (sum += bytes) });
  const script = "text/javascript";
  const [main, module, wasm, library, lock, judge, exercise] = await Promise.all([
    kept(`${base}pyodide.mjs`, script, loaded),
    kept(`${base}pyodide.asm.mjs`, script, loaded),
    kept(`${base}pyodide.asm.wasm`, "application/wasm", loaded),
    kept(`${base}python_stdlib.zip`, "application/zip", loaded),
    kept(`${base}pyodide-lock.json`, "application/json", loaded),
    text(`judge.py?${version}`),
    text(`../${data}?${version}`),
  ]);
  tell({ starting: true });
  const { loadPyodide } = await import(URL.createObjectURL(main));
  const { default: createPyodideModule } = await import(URL.createObjectURL(module));
  const network = self.fetch;
  self.fetch = (what, how) =>
    String(what).endsWith(".wasm") ? Promise.resolve(new Response(wasm)) : network(what, how);
  const silent = () => {};
  python = await loadPyodide({
    indexURL: base,
    createPyodideModule,
    stdLibURL: URL.createObjectURL(library),
    lockFileContents: await lock.text(),
    packageBaseUrl: base,
    stdout: silent,
    stderr: silent,
  });
  self.fetch = network;
  tell({ starting: true });
  python.FS.writeFile("judge.py", judge);
  python.globals.set("text", exercise);
  python.globals.set("reached", (check, line) => tell({ at: [check, line] }));
  python.runPython(`
import sys
from json import dumps
sys.path.insert(0, "")
import judge
exercise = judge.Exercise(text)
exercise.results
`);
  forgetAllBut(base);
}

let started;

onmessage = async ({ data }) => {
  try {
    if (data.runtime) {
      started = start(data);
      await started;
      tell({ ready: true });
      return;
    }
    await started;
    tell({ running: true });
    python.globals.set("text", data.text);
    const run =
      data.kind === "check" ? "judge.judge(text, exercise, reached=reached)" : "judge.challenge(text, exercise)";
    tell({ result: JSON.parse(python.runPython(`dumps(${run})`)) });
  } catch (error) {
    tell({ failed: String(error?.message ?? error) });
  }
};
