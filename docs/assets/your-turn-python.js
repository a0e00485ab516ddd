// Python for the exercise page: a worker, one for the page.
// It starts once and is started anew after each stop.

const PATIENCE = 30; // seconds in which something must arrive while files are fetched
const SLOWEST = 50; // seconds for each step of Python's start, on the slowest of phones
const LIMIT = 10; // seconds for a run; loops in Python are stopped long before, inside


const here = (name) => new URL(name, import.meta.url);

export const python = {
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
