/** The rows of a scenario, and the recorder that receives them: each stream keeps its order. */
import type { Row } from '../../src/demo/scenarios.ts';
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
export type Change = 'ADDED' | 'MODIFIED' | 'DELETED';

/** A Kubernetes object as JSON. */
export type Json = Record<string, unknown>;

type WithoutTime<R> = R extends { at: string } ? Omit<R, 'at'> : never;
type Message = WithoutTime<Row>;

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
  rows(client: Clock, end: number): Row[] {
    return this.#arrivals
      .filter((arrival) => arrival.at <= end)
      .sort((a, b) => a.at - b.at)
      .map(({ at, row }) => ({ at: client.milliseconds(at), ...row }));
  }
}
