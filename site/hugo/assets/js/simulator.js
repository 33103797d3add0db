// A page's side of the Worker: starts it at the first wish, runs one scenario at a time, the
// newest wish first. A Worker that does not stop when told to is ended; the next wish starts another.
import * as where from "@params"; // the worker, the module and its integrity, as the build named them

const grace = 500; // ms in which a run that a newer one replaces may stop by itself, which keeps the Worker
const beside = (name) => new URL(name, import.meta.url).href;

export class Simulator {
  constructor() {
    this.last = Promise.resolve();
    this.newest = this.aborted = 0;
  }

  // ready gives what the module can simulate and how long loading took.
  ready() {
    return (this.loading ??= new Promise((resolve, reject) => {
      const worker = (this.worker = new Worker(beside(where.worker)));
      const broke = (why) => {
        reject(new Error(why));
        this.end({ died: true, error: why, hints: [] });
      };
      worker.addEventListener("message", ({ data }) => {
        if (worker !== this.worker) return; // of one that was ended
        if (data.loaded) resolve({ offer: data.loaded, seconds: data.seconds });
        else if (data.broken) broke(data.broken);
        else if (data.progress) this.running?.progress(data.progress);
        else if (data.answer) this.running?.settle(data.answer);
      });
      worker.addEventListener("error", (e) => {
        if (worker === this.worker) broke(e.message || "the Worker could not be started");
      });
      worker.postMessage({ load: { module: beside(where.module), integrity: where.integrity } });
    }));
  }

  // end gives up the Worker, and answers what runs in it.
  end(answer) {
    this.worker.terminate();
    this.worker = this.loading = undefined;
    this.running?.settle(answer);
  }

  // call stops what runs and answers {result, seconds}, {error, hints}, {stopped}, or
  // {superseded} when a newer call came. An error without a refusal behind it has died too.
  call(name, text, progress) {
    const id = this.supersede();
    const over = () => (id !== this.newest ? { superseded: true } : id === this.aborted ? { stopped: true } : null);
    return (this.last = this.last.then(async () => {
      if (!over()) await this.ready();
      const answer = over() ?? (await new Promise((settle) => {
        this.running = { progress, settle: (a) => { this.running = undefined; settle(a); } };
        this.worker.postMessage({ id, call: name, text });
      }));
      return answer.stopped ? (over() ?? answer) : answer;
    }).catch((e) => ({ died: true, error: e.message, hints: [] })));
  }

  // warm reads what a point's run will read, so that only the run is left to wait for.
  async warm(point) {
    await this.ready();
    this.worker.postMessage({ warm: point });
  }

  run(scenario, progress) { return this.call("run", scenario, progress); }
  rerun(point, progress) { return this.call("rerun", point, progress); }

  // supersede asks what runs to stop, and makes what was asked so far out of date.
  supersede() {
    const old = this.running;
    if (old) {
      this.worker.postMessage({ stop: true });
      setTimeout(() => { if (this.running === old) this.end({ stopped: true }); }, grace);
    }
    return ++this.newest;
  }

  // abort ends what runs, whatever it is doing.
  abort() {
    this.aborted = this.newest;
    if (this.running) this.end({ stopped: true });
  }
}
