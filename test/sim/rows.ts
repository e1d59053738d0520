/** The rows of a scenario, and the recorder that receives them: each stream keeps its order. */
import type { Clock } from './clock.ts';
import { nanoseconds, type VirtualTime } from './virtual-time.ts';

export const resources = [
  'pods',
  'services',
  'endpointslices',
  'events',
  'nodes',
  'node-events',
  'replicasets',
  'deployments',
  'statefulsets',
  'jobs',
] as const;
export type Resource = (typeof resources)[number];
/** Leases are recorded, but not part of the simulated store. */
type RecordedResource = Resource | 'leases';

export type Change = 'ADDED' | 'MODIFIED' | 'DELETED';

/** A Kubernetes object as JSON. */
export type Json = Record<string, unknown>;

/** One line of a recording; `at` is the client's clock, RFC 3339 with ms, floored. */
export type RecordedRow =
  | { type: 'about'; scenario: string; about: string; kubernetes: string; runtime: string }
  | { at: string; type: 'list'; resource: RecordedResource; path: string; query?: string; date: string; list: Json }
  | { at: string; type: 'ready' }
  | { at: string; type: 'request'; method: string; path: string; body: Json }
  | {
      at: string;
      type: 'response';
      method: string;
      path: string;
      status: number;
      date: string;
      tookMs: number;
      body: Json;
    }
  | { at: string; type: 'watch'; resource: RecordedResource; event: { type: Change; object: Json } }
  | { at: string; type: 'log-open'; pod: string; container: string; status: number }
  | { at: string; type: 'log'; pod: string; container: string; line: string }
  | { at: string; type: 'log-end'; pod: string; container: string };

type WithoutTime<R> = R extends { at: string } ? Omit<R, 'at'> : never;
export type Message = WithoutTime<RecordedRow>;

interface Arrival {
  at: number;
  row: Message;
}

export class Recorder {
  readonly #time: VirtualTime;
  readonly #arrivals: Arrival[] = [];
  readonly #last = new Map<string, number>();

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  /** Sends `row` now. It arrives `delayMs` later, but not before earlier rows of its stream. */
  send(stream: string, delayMs: number, row: Message): number {
    const at = Math.max(this.#time.now + nanoseconds(delayMs), this.#last.get(stream) ?? 0);
    this.#last.set(stream, at);
    this.#arrivals.push({ at, row });
    return at;
  }

  /** The rows that arrived until `end` (ns), in order of arrival. */
  rows(client: Clock, end: number): RecordedRow[] {
    return this.#arrivals
      .filter((arrival) => arrival.at <= end)
      .sort((a, b) => a.at - b.at)
      .map(({ at, row }) => ({ at: client.milliseconds(at), ...row }));
  }
}
