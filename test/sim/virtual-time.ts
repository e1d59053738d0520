/**
 * Virtual time: a queue of scheduled calls, and processes (generators) that sleep in it. True time is in whole
 * nanoseconds since the story's beginning; nothing here uses a wall clock.
 */

/** What a process waits for: a moment, a length of time, or the earlier of both. */
export interface Wait {
  moment?: Moment;
  ns: number;
}

export type Process = Generator<Wait, void, void>;

export const nanoseconds = (ms: number): number => Math.round(ms * 1e6);

export const sleep = (ms: number): Wait => ({ ns: Math.max(0, nanoseconds(ms)) });

/** Waits for the moment, at most `ms`. */
export const until = (moment: Moment, ms = Infinity): Wait => ({
  moment,
  ns: ms === Infinity ? Infinity : Math.max(0, nanoseconds(ms)),
});

/** Something that happens once, at `at` (ns). */
export class Moment {
  at?: number;
  #waiting: (() => void)[] = [];

  happen(at: number): void {
    if (this.at !== undefined) return;
    this.at = at;
    const waiting = this.#waiting;
    this.#waiting = [];
    waiting.forEach((resume) => resume());
  }

  then(resume: () => void): void {
    this.#waiting.push(resume);
  }
}

interface Entry {
  at: number;
  run: () => void;
}

/** Calls in the order of their time, then of scheduling. */
export class VirtualTime {
  /** ns since the story's beginning. */
  now = 0;
  #queue: Entry[] = [];

  schedule(at: number, run: () => void): void {
    const entry = { at: Math.max(at, this.now), run };
    this.#queue.splice(this.#queue.findLastIndex((one) => one.at <= entry.at) + 1, 0, entry);
  }

  /** Runs everything up to and including `end`. */
  play(end: number): void {
    for (let head = this.#queue[0]; head && head.at <= end; head = this.#queue[0]) {
      this.#queue.shift();
      this.now = head.at;
      head.run();
    }
  }
}

/** Where processes run. It can freeze, and it can be killed with its processes; new ones can then be started. */
export class Host {
  readonly #time: VirtualTime;
  #life = 0;
  #frozenUntil = 0;

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  /** Starts the process now. The returned moment happens when the process ends by itself. */
  spawn(process: Process): Moment {
    const ended = new Moment();
    this.#time.schedule(this.#time.now, this.#stepper(process, ended));
    return ended;
  }

  /** Ends all processes of this host at once. */
  kill(): void {
    this.#life++;
  }

  /** No process continues before `until` (ns; Infinity: never again). */
  freeze(until: number): void {
    this.#frozenUntil = until;
  }

  #stepper(process: Process, ended: Moment): () => void {
    const life = this.#life;
    const step = (): void => {
      if (life !== this.#life || this.#frozenUntil === Infinity) return;
      if (this.#frozenUntil > this.#time.now) return this.#time.schedule(this.#frozenUntil, step);
      const next = process.next();
      if (next.done) ended.happen(this.#time.now);
      else this.#await(next.value, step);
    };
    return step;
  }

  #await(wait: Wait, resume: () => void): void {
    let resumed = false;
    const once = (): void => {
      if (resumed) return;
      resumed = true;
      resume();
    };
    if (wait.moment?.at !== undefined) return this.#time.schedule(this.#time.now, once);
    wait.moment?.then(() => this.#time.schedule(this.#time.now, once));
    if (wait.ns !== Infinity) this.#time.schedule(this.#time.now + wait.ns, once);
  }
}
