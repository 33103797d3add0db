// The simulator in a Worker: loads the module, runs one scenario at a time, stops when told to.
// In: {load}, {warm}, {id, call, text}, {stop}. Out: {loaded}, {id, progress}, {id, answer}; {broken} is the last.
/*! Holds wasm_exec.js, copyright The Go Authors; its licence is in licenses/go.txt. */
import "./wasm_exec.js";

const calls = { run: "blisRun", rerun: "blisRerun" };
let stopping = false, last = "";

// A program that ends says why before; what runs in it then fails with words that help no reader.
const log = console.log;
console.log = (...words) => {
  if (words.join(" ").includes("out of memory")) last = "the simulator ran out of memory";
  log(...words);
};

// load gives the program its functions. The file is compressed by the site, so that no server's
// settings decide how much is sent; its integrity is checked before a byte is compiled.
async function load({ module, integrity }) {
  const started = performance.now();
  const file = await fetch(module, { integrity }).catch((e) => {
    throw new Error(`the simulator is not to be had, or is not the one this page names: ${e.message}`);
  });
  if (!file.ok) throw new Error(`${module}: status ${file.status}`);
  const plain = new Response(file.body.pipeThrough(new DecompressionStream("gzip")), { headers: { "Content-Type": "application/wasm" } });
  const go = new Go();
  go.env = { GOGC: "1600", GOMEMLIMIT: "256MiB" }; // a run of a second need not collect: a third less time
  const { instance } = await WebAssembly.instantiateStreaming(plain, go.importObject);
  go.exit = (code) => postMessage({ broken: last || `the simulator stopped with code ${code}` });
  go.run(instance);
  const offer = blisOffer();
  if (offer.error) throw new Error(offer.error);
  postMessage({ loaded: JSON.parse(offer.result), seconds: (performance.now() - started) / 1000 });
}

async function call({ id, call, text }) {
  stopping = false;
  const started = performance.now();
  const answer = await self[calls[call]](text, (ended, total) => {
    postMessage({ id, progress: { ended, total } });
    return stopping;
  });
  postMessage({ id, answer: { ...answer, seconds: (performance.now() - started) / 1000 } });
}

addEventListener("message", ({ data }) => {
  if (data.stop) stopping = true;
  else if (data.warm) blisRerun(data.warm, () => true); // stops once it could begin
  else if (data.load) load(data.load).catch((e) => postMessage({ broken: e.message }));
  else call(data).catch((e) => postMessage({ broken: e.message }));
});
