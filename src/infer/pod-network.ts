/**
 * The network of one pod's exit, and how its moments are named and read. Its origins are three clocks: `client`, which
 * shows all that is printed, and `node` and `api` where they showed a reference stamp. A stamp lies that far from its
 * origin, give or take the drift since.
 */
import { driftOver } from '../model/assumptions.ts';
import { isStepped, offsetAt, stepsOf, toClient, type Clock } from '../model/clock.ts';
import type { Instant } from '../model/report.ts';
import { anyTime, type Span } from '../model/span.ts';
import type { Fact } from '../model/trace.ts';
import { narrowed, notAfter, onClient, type Estimate } from './estimate.ts';
import { Network, type Row } from './network.ts';

export type MomentName = 'stopping' | 'began' | 'counted' | 'hook-end' | 'stop-signal' | 'kill' | 'exit' | 'served';

export const moment = (name: MomentName, container: string): string => `${name}/${container}`;

/** What each origin's clock showed, ms since the epoch. */
interface Zeros {
  readonly client: number;
  readonly node: number;
  readonly api: number;
}

/** A bound by a clock's stamps, and by client times. */
interface Limits {
  readonly client?: Span;
  readonly node?: Span;
}

type Proof = Pick<Row, 'because' | 'evidence'>;

/** When an observation arrived (client ms), and which it is. */
type Arrival = Pick<Fact<unknown>, 'at' | 'seq'>;

export class PodNetwork extends Network {
  readonly zeros: Zeros;
  /** Clocks that were set: of these no stamps are compared with one another. */
  readonly stepped: { readonly node?: Clock; readonly api?: Clock };
  /** What the node's clock itself showed: between two of its stamps there is no drift. */
  readonly #shown = new Map<string, Span>();
  /** What that was before each change, in withRollback. */
  readonly #before: [moment: string, stamp: Span][] = [];

  constructor(zeros: Zeros, { node, api }: { readonly node: Clock; readonly api: Clock }) {
    super(['client', 'node'], ['client', 'node', 'api']);
    this.zeros = zeros;
    this.stepped = { node: isStepped(node) ? node : undefined, api: isStepped(api) ? api : undefined };
  }

  /** A clock showed a time of `stamp` (ms since the epoch) at the moment; it was known at `near` (client ms) at the latest. */
  stamp(clock: 'node' | 'api', at: string, stamp: Span, near: number, proof: Proof, since = -Infinity): boolean {
    const set = this.stepped[clock];
    if (set) return this.within(at, { client: toClient(set, stamp, near, since) }, proof);
    if (clock === 'node') this.#show(at, stamp);
    const { lo, hi } = this.#sinceZero(clock, stamp);
    return this.state({ from: clock, to: at, min: lo, max: hi, ...proof });
  }

  /** A clock showed `stamp`: when that was, by all that is stated. `near`, `since`: as for `stamp`. */
  toClient(clock: 'node' | 'api', stamp: Span, near: number, since?: number): Span {
    const set = this.stepped[clock];
    if (set) return toClient(set, stamp, near, since);
    const zero = shifted(this.boundsOf(clock, 'client'), -this.zeros.client);
    const { lo, hi } = this.#sinceZero(clock, stamp);
    return { lo: zero.lo + lo, hi: zero.hi + hi };
  }

  /** `known`, and no stamp of a clock that `fact` has contradicts it. `since`: as for `stamp`. */
  stamped(
    known: Estimate,
    clock: 'node' | 'api',
    stamp: Span | undefined,
    { at, seq }: Arrival,
    since?: number,
  ): Estimate {
    return stamp ? narrowed(known, onClient(this.toClient(clock, stamp, at + 1, since), [seq])) : known;
  }

  /** How far a clock is ahead of the client's at a client time (ms). */
  offset(clock: 'node' | 'api', at: number): Span {
    const set = this.stepped[clock];
    if (set) return offsetAt(set, at);
    const ahead = this.zeros[clock] - this.zeros.client;
    const zero = this.boundsOf(clock, 'client');
    const drift = driftOver(at - this.zeros.client);
    return { lo: ahead - zero.hi - drift, hi: ahead - zero.lo + drift };
  }

  /** Between which client times a clock was set, first step first. */
  stepsOf(clock: 'node' | 'api'): Span[] {
    const set = this.stepped[clock];
    return set ? stepsOf(set) : [];
  }

  /** The moment lies within these, by either clock. */
  within(at: string, { client, node }: Limits, proof: Proof): boolean {
    const rows: Row[] = [];
    const add = (from: string, { lo, hi }: Span) => rows.push({ from, to: at, min: lo, max: hi, ...proof });
    if (client) add('client', shifted(client, this.zeros.client));
    if (node && !this.stepped.node) add('node', this.#sinceZero('node', node));
    if (node) this.#show(at, node);
    return this.state(...rows);
  }

  /** By either clock no later than what is known of another moment, which need not be its effect. */
  notAfter(at: string, later: Estimate, because = 'no later than what followed'): boolean {
    return this.within(at, notAfter(later), { because, evidence: later.evidence });
  }

  /** `to` follows `from`, by `min` to `max` ms. */
  follows(from: string, to: string, { min = 0, max }: { min?: number; max?: number }, proof: Proof): boolean {
    return this.state({ from, to, min, max, ...proof });
  }

  /** What is known of a moment. */
  read(at: string, basis: Instant['basis'] = 'inferred'): Estimate {
    return {
      client: shifted(this.boundsOf(at, 'client'), -this.zeros.client),
      node: this.stepped.node ? anyTime : this.#onNode(at),
      basis,
      evidence: this.evidenceOf(at, 'client'),
    };
  }

  override withRollback<T>(trial: () => T, isKept: (result: T) => boolean): T {
    this.#before.length = 0;
    const result = super.withRollback(trial, isKept);
    if (!isKept(result)) for (const [at, stamp] of this.#before.reverse()) this.#shown.set(at, stamp);
    return result;
  }

  /** How far from its origin a clock shows a stamp, give or take the drift. */
  #sinceZero(clock: 'node' | 'api', stamp: Span): Span {
    const { lo, hi } = shifted(stamp, this.zeros[clock]);
    return { lo: lo - driftOf(lo), hi: hi + driftOf(hi) };
  }

  #show(at: string, stamp: Span): void {
    const before = this.#shown.get(at) ?? anyTime;
    this.#before.push([at, before]);
    this.#shown.set(at, { lo: Math.max(before.lo, stamp.lo), hi: Math.min(before.hi, stamp.hi) });
  }

  #onNode(at: string): Span {
    const { lo, hi } = shifted(this.boundsOf(at, 'node'), -this.zeros.node);
    const shown = this.#shown.get(at) ?? anyTime;
    return { lo: Math.max(lo, Math.min(shown.lo, hi)), hi: Math.min(hi, Math.max(shown.hi, lo)) };
  }
}

const shifted = ({ lo, hi }: Span, by: number): Span => ({ lo: lo - by, hi: hi - by });

/** ms of drift since a clock's reference; none for what is unbounded, and none that a printed millisecond could show. */
export const driftOf = (elapsed: number): number =>
  Number.isFinite(elapsed) ? driftOver(Math.max(0, Math.abs(elapsed) - tooShort)) : 0;

/** ms */
const tooShort = 50;
