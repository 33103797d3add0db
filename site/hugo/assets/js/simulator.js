// A page's side of the Worker: starts it at the first wish, runs one scenario at a time, the
// newest wish first.
import * as where from "@params"; // the worker, the module and its integrity, as the build named them

const beside = (name) => new URL(name, import.meta.url).href;

export class Simulator {
  constructor() {
    this.last = Promise.resolve();
    this.newest = this.aborted = 0;
  }

  // ready gives what the module can simulate and how long loading took.
  ready() {
    return (this.loading ??= new Promise((resolve, reject) => {
      this.worker = new Worker(beside(where.worker));
      this.worker.addEventListener("message", ({ data }) => {
        if (data.loaded) resolve({ offer: data.loaded, seconds: data.seconds });
        else if (data.broken) this.broke(data.broken, reject);
        else if (data.progress) this.running?.progress(data.progress);
        else if (data.answer) this.running?.settle(data.answer);
      });
      this.worker.addEventListener("error", (e) => this.broke(e.message || "the Worker could not be started", reject));
      this.worker.postMessage({ load: { module: beside(where.module), integrity: where.integrity } });
    }));
  }

  // broke gives up the Worker; the next wish starts another.
  broke(why, reject) {
    this.worker.terminate();
    this.loading = undefined;
    reject(new Error(why));
    this.running?.settle({ error: why, hints: [] });
  }

  // call stops what runs and answers {result, seconds}, {error, hints}, {stopped}, or
  // {superseded} when a newer call came.
  call(name, text, progress) {
    const id = ++this.newest;
    this.stop();
    const over = () => (id !== this.newest ? { superseded: true } : id === this.aborted ? { stopped: true } : null);
    return (this.last = this.last.then(async () => {
      if (!over()) await this.ready();
      const answer = over() ?? (await new Promise((settle) => {
        this.running = { progress, settle: (a) => { this.running = undefined; settle(a); } };
        this.worker.postMessage({ id, call: name, text });
      }));
      return answer.stopped ? (over() ?? answer) : answer;
    }).catch((e) => ({ error: e.message, hints: [] })));
  }

  // warm reads what a point's run will read, so that only the run is left to wait for.
  async warm(point) {
    await this.ready();
    this.worker.postMessage({ warm: point });
  }

  run(scenario, progress) { return this.call("run", scenario, progress); }
  rerun(point, progress) { return this.call("rerun", point, progress); }

  stop() {
    if (this.running) this.worker.postMessage({ stop: true });
  }
  abort() {
    this.aborted = this.newest;
    this.stop();
  }
}
