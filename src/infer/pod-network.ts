/**
 * The network of one pod's exit, and the names of its moments. The moments `client`, `node` and `api` stand for clocks:
 * each is when that clock showed its reference time. When the clock shows another time, it is later by the difference,
 * give or take the drift. Reports use the client's clock.
 */
import { driftOver } from '../model/assumptions.ts';
import { isStepped, offsetAt, stepsOf, toClient, type RemoteClock } from '../model/clock.ts';
import type { Instant } from '../model/report.ts';
import { anyTime, type Span } from '../model/span.ts';
import type { Seen } from '../model/trace.ts';
import { narrowed, noLaterThan, onClient, type Estimate } from './estimate.ts';
import { Network, type Constraint } from './network.ts';

/**
 * - `stopping`: the kubelet made the first Killing Event (K in SIGNALS.md).
 * - `stop-start`: the kubelet started to stop the container. Earlier than `stopping` if a kubelet restart lost Events.
 * - `grace-start`: the kubelet started its last attempt, from which the grace counts.
 * - `served`: the container last accepted a new request;
 * - `grace-end`: the grace ends, counted from `grace-start`; `hook-grace`: the same for the hook, of whichever attempt;
 * - `hook-failure`: FailedPreStopHook, which need not be when the hook ended.
 */
type MomentName = HookMoment | 'stopping' | 'stop-start' | 'grace-start' | 'grace-end' | StopMoment;
type HookMoment = 'hook-end' | 'hook-grace' | 'hook-failure';
type StopMoment = 'stop-signal' | 'kill' | 'exit' | 'served';

export const moment = (name: MomentName, container: string): string => `${name}/${container}`;

/** The reference time of each clock, ms since the epoch. */
interface References {
  readonly client: number;
  readonly node: number;
  readonly api: number;
}

type Proof = Pick<Constraint, 'because' | 'evidence'>;

export class PodNetwork extends Network {
  readonly references: References;
  /** Clocks that were set during the run. Timestamps of these clocks are never compared with each other. */
  readonly stepped: { readonly node?: RemoteClock; readonly api?: RemoteClock };
  /** Timestamps of moments by the node's clock, exactly: two of them are compared without an allowance for drift. */
  readonly #nodeStamps = new Map<string, Span>();
  /** Earlier values of those, for withRollback. */
  readonly #undoStamps: [moment: string, stamp: Span][] = [];

  constructor(references: References, { node, api }: { readonly node: RemoteClock; readonly api: RemoteClock }) {
    super(['client', 'node'], ['client', 'node', 'api']);
    this.references = references;
    this.stepped = { node: isStepped(node) ? node : undefined, api: isStepped(api) ? api : undefined };
  }

  /**
   * A clock showed `stamp` (ms since the epoch) at a moment known by `knownAt` (client ms). `since`, used if the clock
   * was set during the run: the earliest client time at which it can have shown the stamp.
   */
  stamp(clock: 'node' | 'api', name: string, stamp: Span, knownAt: number, proof: Proof, since = -Infinity): boolean {
    const stepped = this.stepped[clock];
    if (stepped) return this.within(name, { client: toClient(stepped, stamp, knownAt, since) }, proof);
    if (clock === 'node') this.#narrowNodeStamp(name, stamp);
    const { lo, hi } = this.#sinceReference(clock, stamp);
    return this.add({ from: clock, to: name, min: lo, max: hi, ...proof });
  }

  /** The client time at which a clock showed `stamp`. `knownAt`, `since`: as for `stamp()`. */
  toClient(clock: 'node' | 'api', stamp: Span, knownAt: number, since?: number): Span {
    const stepped = this.stepped[clock];
    if (stepped) return toClient(stepped, stamp, knownAt, since);
    const reference = shifted(this.boundsOf(clock, 'client'), -this.references.client);
    const { lo, hi } = this.#sinceReference(clock, stamp);
    return { lo: reference.lo + lo, hi: reference.hi + hi };
  }

  /** Narrows an estimate by a clock's timestamp of the same moment, if there is one. `since`: as for `stamp()`. */
  narrowedByStamp(
    estimate: Estimate,
    clock: 'node' | 'api',
    stamp: Span | undefined,
    { at, seq }: Seen,
    since?: number,
  ): Estimate {
    return stamp ? narrowed(estimate, onClient(this.toClient(clock, stamp, at + 1, since), [seq])) : estimate;
  }

  /** How far a clock is ahead of the client's at a client time (ms). */
  offset(clock: 'node' | 'api', at: number): Span {
    const stepped = this.stepped[clock];
    if (stepped) return offsetAt(stepped, at);
    const ahead = this.references[clock] - this.references.client;
    const reference = this.boundsOf(clock, 'client');
    const drift = driftOver(at - this.references.client);
    return { lo: ahead - reference.hi - drift, hi: ahead - reference.lo + drift };
  }

  /** The stretches of client time in which a clock was set, oldest first. */
  stepsOf(clock: 'node' | 'api'): Span[] {
    const stepped = this.stepped[clock];
    return stepped ? stepsOf(stepped) : [];
  }

  /** The moment lies within all of these limits. */
  within(name: string, { client, node }: Partial<Pick<Estimate, 'client' | 'node'>>, proof: Proof): boolean {
    const constraints: Constraint[] = [];
    const limit = (from: string, { lo, hi }: Span) => constraints.push({ from, to: name, min: lo, max: hi, ...proof });
    if (client) limit('client', shifted(client, this.references.client));
    if (node && !this.stepped.node) limit('node', this.#sinceReference('node', node));
    if (node) this.#narrowNodeStamp(name, node);
    return this.add(...constraints);
  }

  /** The moment is no later than another one, on either clock. The other one need not be its effect. */
  notAfter(name: string, later: Estimate, because = 'no later than what followed'): boolean {
    return this.within(name, noLaterThan(later), { because, evidence: later.evidence });
  }

  /** `to` comes `min` to `max` ms after `from`. */
  follows(from: string, to: string, { min = 0, max }: { min?: number; max?: number }, proof: Proof): boolean {
    return this.add({ from, to, min, max, ...proof });
  }

  /** The bounds of a moment on both clocks, with their evidence. */
  read(name: string, basis: Instant['basis'] = 'inferred'): Estimate {
    return {
      client: shifted(this.boundsOf(name, 'client'), -this.references.client),
      node: this.stepped.node ? anyTime : this.#onNode(name),
      basis,
      evidence: this.evidenceOf(name, 'client'),
    };
  }

  override withRollback<T>(trial: () => T, isKept: (result: T) => boolean): T {
    this.#undoStamps.length = 0;
    const result = super.withRollback(trial, isKept);
    if (!isKept(result)) for (const [name, stamp] of this.#undoStamps.reverse()) this.#nodeStamps.set(name, stamp);
    return result;
  }

  /** How long after its reference time a clock showed a stamp (ms), give or take the drift. */
  #sinceReference(clock: 'node' | 'api', stamp: Span): Span {
    const { lo, hi } = shifted(stamp, this.references[clock]);
    return { lo: lo - driftOf(lo), hi: hi + driftOf(hi) };
  }

  #narrowNodeStamp(name: string, stamp: Span): void {
    const before = this.#nodeStamps.get(name) ?? anyTime;
    this.#undoStamps.push([name, before]);
    this.#nodeStamps.set(name, { lo: Math.max(before.lo, stamp.lo), hi: Math.min(before.hi, stamp.hi) });
  }

  #onNode(name: string): Span {
    const { lo, hi } = shifted(this.boundsOf(name, 'node'), -this.references.node);
    const stamp = this.#nodeStamps.get(name) ?? anyTime;
    return { lo: Math.max(lo, Math.min(stamp.lo, hi)), hi: Math.min(hi, Math.max(stamp.hi, lo)) };
  }
}

const shifted = ({ lo, hi }: Span, by: number): Span => ({ lo: lo - by, hi: hi - by });

/** ms of drift that a clock can have built up since its reference time. */
export const driftOf = (elapsed: number): number =>
  Number.isFinite(elapsed) ? driftOver(Math.max(0, Math.abs(elapsed) - driftFreeMs)) : 0;

/** The drift over so short a time is less than a printed millisecond shows. */
const driftFreeMs = 50;
