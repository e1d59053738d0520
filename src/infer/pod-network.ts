/**
 * The network of one pod's exit, and the names of its moments. `client`, `node` and `api` are the moments at which
 * these clocks showed their reference time; another time is later by the difference, give or take the drift.
 */
import { driftOver } from '../model/assumptions.ts';
import type { Instant } from '../model/report.ts';
import { anyTime, atLeast, type Span } from '../model/span.ts';
import { noLaterThan, type Estimate } from './estimate.ts';
import { Network, type Constraint } from './network.ts';

/**
 * - `stopping`: the kubelet made the first Killing Event (K in SIGNALS.md).
 * - `stop-start`: the kubelet started to stop the container. Earlier than `stopping` if a kubelet restart lost Events.
 * - `grace-start`: the kubelet started its last attempt, from which the grace counts.
 * - `grace-end`: the grace ends, counted from `grace-start`;
 * - `hook-failure`: FailedPreStopHook, which need not be when the hook ended.
 */
type MomentName = HookMoment | 'stopping' | 'stop-start' | 'grace-start' | 'grace-end' | StopMoment;
type HookMoment = 'hook-end' | 'hook-failure';
type StopMoment = 'stop-signal' | 'kill' | 'exit';

export const moment = (name: MomentName, container: string): string => `${name}/${container}`;

type Proof = Pick<Constraint, 'because' | 'evidence'>;
type Limits = Partial<Pick<Estimate, 'client' | 'node'>>;

export class PodNetwork extends Network {
  readonly references: Readonly<Record<'client' | 'node' | 'api', number>>;
  /** In which stretch of client time a clock was, or may have been, set: nothing is dated by its timestamps. */
  readonly unusable: { readonly node?: Span | undefined; readonly api?: Span | undefined };

  constructor(references: PodNetwork['references'], unusable: PodNetwork['unusable']) {
    super(['client', 'node'], ['client', 'node', 'api']);
    this.references = references;
    this.unusable = unusable;
  }

  /** A clock showed `stamp` (ms since the epoch) at a moment. */
  stamp(clock: 'node' | 'api', name: string, stamp: Span, proof: Proof): boolean {
    if (this.unusable[clock]) return true;
    const { lo, hi } = this.#sinceReference(clock, stamp);
    return this.add({ from: clock, to: name, min: lo, max: hi, ...proof });
  }

  /** The client time at which a clock showed `stamp`. */
  toClient(clock: 'node' | 'api', stamp: Span): Span {
    if (this.unusable[clock]) return anyTime;
    const reference = shifted(this.boundsOf(clock, 'client'), -this.references.client);
    const { lo, hi } = this.#sinceReference(clock, stamp);
    return { lo: reference.lo + lo, hi: reference.hi + hi };
  }

  /** How far a clock is ahead of the client's at a client time (ms). */
  offset(clock: 'node' | 'api', at: number): Span {
    if (this.unusable[clock]) return anyTime;
    const ahead = this.references[clock] - this.references.client;
    const reference = this.boundsOf(clock, 'client');
    const drift = driftOver(at - this.references.client);
    return { lo: ahead - reference.hi - drift, hi: ahead - reference.lo + drift };
  }

  /** The moment lies within these spans. */
  within(name: string, { client, node }: Limits, proof: Proof): boolean {
    const constraints: Constraint[] = [];
    const limit = (from: string, { lo, hi }: Span) => constraints.push({ from, to: name, min: lo, max: hi, ...proof });
    if (client) limit('client', shifted(client, this.references.client));
    if (node && !this.unusable.node) limit('node', this.#sinceReference('node', node));
    return this.add(...constraints);
  }

  /** The moment is no later than another one, on either clock. The other one need not be its effect. */
  notAfter(name: string, later: Estimate, because = 'no later than what followed'): boolean {
    return this.within(name, noLaterThan(later), { because, evidence: later.evidence });
  }

  /** The moment is no earlier than another one, by the client's clock only: the other one may rest on an assumption. */
  notBefore(name: string, { client }: Estimate): boolean {
    return this.within(name, { client: atLeast(client.lo) }, { because: 'no earlier than what came before' });
  }

  follows(from: string, to: string, { min = 0, max }: { min?: number; max?: number }, proof: Proof): boolean {
    return this.add({ from, to, min, max, ...proof });
  }

  /** The bounds of a moment on both clocks, with their evidence. */
  read(name: string, basis: Instant['basis'] = 'inferred'): Estimate {
    const { client, node } = this.references;
    return {
      client: shifted(this.boundsOf(name, 'client'), -client),
      node: this.unusable.node ? anyTime : shifted(this.boundsOf(name, 'node'), -node),
      basis,
      evidence: this.evidenceOf(name, 'client'),
    };
  }

  /** A moment whose observation has arrived. Undefined if there is none. */
  observed(name: string): Estimate | undefined {
    return this.has(name) ? this.read(name, 'observed') : undefined;
  }

  /** How long after its reference time a clock showed a stamp (ms), give or take the drift. */
  #sinceReference(clock: 'node' | 'api', stamp: Span): Span {
    const { lo, hi } = shifted(stamp, this.references[clock]);
    return { lo: lo - driftOf(lo), hi: hi + driftOf(hi) };
  }
}

const shifted = ({ lo, hi }: Span, by: number): Span => ({ lo: lo - by, hi: hi - by });

/** ms of drift that a clock can have built up since its reference time. Over 50 ms it is less than a printed one shows. */
export const driftOf = (elapsed: number): number =>
  Number.isFinite(elapsed) ? driftOver(Math.max(0, Math.abs(elapsed) - 50)) : 0;
