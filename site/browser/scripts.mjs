// What the pages' scripts do of themselves: run by `node --test`, with a Worker and a Go program
// that do what a test says.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

const script = async (name, ...changes) => {
  let text = await readFile(new URL(`../hugo/assets/js/${name}`, import.meta.url), "utf8");
  for (const [from, to] of changes) text = text.replace(from, to);
  return import(`data:text/javascript,${encodeURIComponent(text)}`);
};

// A fake Worker loads at once; calls go to its run, which may never answer.
const workers = [];
const started = (run) => {
  globalThis.Worker = class {
    constructor() { workers.push(this); }
    addEventListener(kind, hear) { if (kind === "message") this.hear = hear; }
    postMessage(m) {
      if (m.load) queueMicrotask(() => this.say({ loaded: {}, seconds: 0 }));
      else if (m.call) run(this, m);
    }
    say(data) { this.hear({ data }); }
    terminate() { this.ended = true; }
  };
  workers.length = 0;
};
const { Simulator } = await script("simulator.js", [/import \* as where.*/, ""], ["import.meta.url", '"http://page/"'], [/where\.\w+/g, '"x"']);
const busy = async (s) => { while (!s.running) await new Promise(setImmediate); };
const answers = (w, m) => { if (m.text === "short") w.say({ answer: { result: "done" } }); };

test("stop ends a run that hears nothing, and the next run has another Worker", async () => {
  started(answers);
  const s = new Simulator(), long = s.run("long");
  await busy(s);
  s.abort();
  assert.deepEqual(await long, { stopped: true });
  assert.equal(workers[0].ended, true);
  assert.deepEqual(await s.run("short"), { result: "done" });
  assert.equal(workers.length, 2);
});

test("a newer run does not wait for one that hears nothing", async () => {
  started(answers);
  const s = new Simulator(), long = s.run("long");
  await busy(s);
  const short = s.run("short");
  assert.deepEqual(await long, { superseded: true });
  assert.deepEqual(await short, { result: "done" });
});

test("a Worker whose program ended is said to have, and replaced", async () => {
  started((w, m) => (m.text === "short" ? answers(w, m) : [{ broken: "no memory" }, { broken: "a later complaint" }].forEach((d) => w.say(d))));
  const s = new Simulator();
  assert.deepEqual(await s.run("much"), { died: true, error: "no memory", hints: [] });
  assert.deepEqual(await s.run("short"), { result: "done" });
});

test("a program that ends says why", async () => {
  for (const [words, why] of [["fatal error: out of memory", "the simulator ran out of memory"], ["panic: x", "the simulator stopped with code 2"]]) {
    const posted = [];
    Object.assign(globalThis, {
      postMessage: (m) => posted.push(m), addEventListener: (_, hear) => (globalThis.tell = hear), fetch: async () => new Response(gzipSync("code")),
      blisOffer: () => ({ result: "{}" }),
      Go: class { async run() { globalThis.go = this; } },
    });
    WebAssembly.instantiateStreaming = async () => ({ instance: {} });
    await script("worker.js", [/import "\.\/wasm_exec.js";/, `// ${words}`]);
    globalThis.tell({ data: { load: { module: "m" } } });
    while (!posted.length) await new Promise(setImmediate);
    console.log(words);
    globalThis.go.exit(2);
    assert.deepEqual(posted.at(-1), { broken: why });
  }
});

const { fields, scenarioOf } = await script("scenario.js");
const base = { engine: { kind: "vllm" }, model: "m", cluster: { instances: 1 }, workload: { inferencex: { concurrency: 9000, isl: 1, osl: 1, range_ratio: 1, num_prompts: 90000, warmups: 18000 } } };
const start = { model: "m", checkpoint: "", hardware: "h", instances: "1", concurrency: "9000", isl: "1", osl: "1", ratio: "1", prompts: "90000", args: "" };
const made = (changes) => scenarioOf(base, { ...start, ...changes }, changes);

test("a field is refused beyond its range, in the words that were typed", () => {
  for (const [id, last, beyond, range] of [
    ["concurrency", "4096", "4097", "Concurrency: 4097: is not a whole number from 1 to 4096"],
    ["concurrency", "1", "99999999999999999999", "Concurrency: 99999999999999999999: is not a whole number from 1 to 4096"],
    ["instances", "4096", "1.5", "Engine instances: 1.5: is not a whole number from 1 to 4096"],
    ["isl", "131072", "2147483647", "Prompt: 2147483647: is not a whole number from 1 to 131072"],
    ["osl", "131072", "0", "Output: 0: is not a whole number from 1 to 131072"],
    ["ratio", "0.5", "1.01", "Shortest length: 1.01: is not a number from 0 to 1"],
    ["tp", "8", "x", "Tensor parallel: x: is not a whole number from 1 to 1024"],
    ["prompts", "200000", "", "Requests: nothing: is not a whole number from 1 to 200000"],
    ["args", "a: 9007199254740991", "a: 99999999999999999999", "further arguments: a: 99999999999999999999: is beyond ±9007199254740991"],
  ]) {
    assert.doesNotThrow(() => made({ [id]: last }));
    assert.throws(() => made({ [id]: beyond }), { message: range });
  }
  assert.equal(made({ isl: "2" }).workload.inferencex.concurrency, 9000, "what was measured stands");
  for (const f of fields) assert.ok(f.kind || f.max, `${f.label} has no upper limit`);
});
