/**
 * The network of one pod's exit, and how its moments are named and read. Its origins are three clocks: `client`, which
 * shows all that is printed, and `node` and `api` where they showed a reference stamp. A stamp lies that far from its
 * origin, give or take the drift since.
 */
import { driftOver } from '../model/assumptions.ts';
import { isStepped, offsetAt, stepsOf, toClient, type Clock } from '../model/clock.ts';
import type { Instant } from '../model/report.ts';
import { anyTime, atMost, type Span } from '../model/span.ts';
import type { Estimate } from './estimate.ts';
import { Network } from './network.ts';

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
  readonly client?: Span | undefined;
  readonly node?: Span | undefined;
}

interface Proof {
  readonly because: string;
  readonly evidence?: readonly number[];
}

export class Stage {
  readonly net = new Network(['client', 'node'], ['client', 'node', 'api']);
  readonly zeros: Zeros;
  /** Clocks that were set: of these no stamps are compared with one another. */
  readonly stepped: { readonly node?: Clock; readonly api?: Clock };
  /** What the node's clock itself showed: between two of its stamps there is no drift. */
  readonly #shown = new Map<string, Span>();
  /** What that was before each change. */
  readonly #before: [moment: string, stamp: Span][] = [];

  constructor(zeros: Zeros, clocks: { readonly node: Clock; readonly api: Clock }) {
    this.zeros = zeros;
    const stepped = (clock: Clock) => (isStepped(clock) ? clock : undefined);
    this.stepped = { node: stepped(clocks.node), api: stepped(clocks.api) };
  }

  /** A clock showed a time of `stamp` (ms since the epoch) at the moment; it was known at `near` (client ms) at the latest. */
  stamp(clock: 'node' | 'api', at: string, stamp: Span, near: number, proof: Proof, since = -Infinity): boolean {
    const set = this.stepped[clock];
    if (set) return this.within(at, { client: toClient(set, stamp, near, since) }, proof);
    const zero = this.zeros[clock];
    const [lo, hi] = [stamp.lo - zero, stamp.hi - zero];
    if (clock === 'node') this.#show(at, stamp);
    return this.net.state({ from: clock, to: at, min: lo - driftOf(lo), max: hi + driftOf(hi), ...proof });
  }

  /** A clock showed `stamp`: when that was, by all that is stated. `near`, `since`: as for `stamp`. */
  toClient(clock: 'node' | 'api', stamp: Span, near: number, since?: number): Span {
    const set = this.stepped[clock];
    if (set) return toClient(set, stamp, near, since);
    const zero = shifted(this.net.boundsOf(clock, 'client'), -this.zeros.client);
    const { lo, hi } = shifted(stamp, this.zeros[clock]);
    return { lo: zero.lo + lo - driftOf(lo), hi: zero.hi + hi + driftOf(hi) };
  }

  /** How far a clock is ahead of the client's at a client time (ms). */
  offset(clock: 'node' | 'api', at: number): Span {
    const set = this.stepped[clock];
    if (set) return offsetAt(set, at);
    const ahead = this.zeros[clock] - this.zeros.client;
    const zero = this.net.boundsOf(clock, 'client');
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
    const rows = [
      ...(client ? [{ from: 'client', to: at, span: shifted(client, this.zeros.client) }] : []),
      ...(node && !this.stepped.node ? [{ from: 'node', to: at, span: this.#sinceZero(node) }] : []),
    ];
    if (node) this.#show(at, node);
    return this.net.state(...rows.map(({ from, to, span }) => ({ from, to, min: span.lo, max: span.hi, ...proof })));
  }

  /** By either clock no later than what is known of another moment, which need not be its effect. */
  notAfter(at: string, { client, node, evidence }: Estimate, because = 'no later than what followed'): boolean {
    return this.within(at, { client: atMost(client.hi), node: atMost(node.hi) }, { because, evidence });
  }

  /** `to` follows `from`, by `min` to `max` ms. */
  follows(from: string, to: string, { min = 0, max }: { min?: number; max?: number }, proof: Proof): boolean {
    return this.net.state({ from, to, min, max, ...proof });
  }

  /** What is known of a moment. */
  read(at: string, basis: Instant['basis'] = 'inferred'): Estimate {
    return {
      client: shifted(this.net.boundsOf(at, 'client'), -this.zeros.client),
      node: this.stepped.node ? anyTime : this.#onNode(at),
      basis,
      evidence: this.net.evidenceOf(at, 'client'),
    };
  }

  /** What is stated in `trial` is taken back after it, unless it says that it is to stay. */
  suppose<T extends { readonly stays: boolean }>(trial: () => T): T {
    const begin = this.#before.length;
    const result = this.net.suppose(trial);
    if (!result.stays) for (const [at, stamp] of this.#before.splice(begin).reverse()) this.#shown.set(at, stamp);
    return result;
  }

  #sinceZero(node: Span): Span {
    const { lo, hi } = shifted(node, this.zeros.node);
    return { lo: lo - driftOf(lo), hi: hi + driftOf(hi) };
  }

  #show(at: string, stamp: Span): void {
    const before = this.#shown.get(at) ?? anyTime;
    const { lo, hi } = before;
    this.#before.push([at, before]);
    this.#shown.set(at, { lo: Math.max(lo, stamp.lo), hi: Math.min(hi, stamp.hi) });
  }

  #onNode(at: string): Span {
    const { lo, hi } = shifted(this.net.boundsOf(at, 'node'), -this.zeros.node);
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
