import type { KubeRequest } from '../../../src/demo/http/api-request.ts';
import type { Moments } from '../../../src/demo/play/player.ts';
import type { Fault, FaultKind } from './fault.ts';

/** A fault with its counts so far. */
export interface Armed {
  fault: Fault;
  /** How many matching requests, streams or lines there were. */
  seen: number;
  struck: number;
  /** When the first request came that it is about. */
  since?: number;
}

/** These happen once unless `times` or `forMs` is given. If they never ended, nothing would be left to test. */
const onceByDefault: ReadonlySet<FaultKind['kind']> = new Set([
  'drop',
  'half-line',
  'expire',
  'silent',
  'lose',
  'delete-accepted-then-cut',
  'delete-lost',
  'delete-ignored',
  'keepalive-race',
  'garbage',
]);

export function arm(fault: Fault): Armed {
  return { fault, seen: 0, struck: 0 };
}

export function isKind(armed: Armed, kind: FaultKind['kind']): boolean {
  return armed.fault.kind === kind;
}

/** Whether the fault strikes this request now; counts it either way. */
export function strikes(armed: Armed, request: KubeRequest, now: number, moments: Moments): boolean {
  if (!isAbout(armed.fault, request)) return false;
  armed.since ??= now;
  if (!isActive(armed, now, moments)) return false;
  armed.seen += 1;
  const { skip = 0, times = defaultTimes(armed.fault) } = armed.fault;
  if (armed.seen <= skip || armed.struck >= times) return false;
  armed.struck += 1;
  return true;
}

function defaultTimes({ kind, forMs }: Fault): number {
  return onceByDefault.has(kind) && forMs === undefined ? 1 : Infinity;
}

/** Whether the fault applies to requests like this one, whenever it strikes. */
export function isAbout({ kind, resource, verb }: Fault, request: KubeRequest): boolean {
  if (kind.startsWith('delete-') && !isDeletion(request)) return false;
  if (kind === 'expire' && request.verb !== 'watch') return false;
  if (resource !== undefined && resource !== request.kind?.plural) return false;
  return verb === undefined || verb === verbInFaults(request);
}

/** When the fault begins; undefined while that is not known yet. */
export function beginning({ afterMs }: Fault, { startedAt, begunAt }: Moments): number | undefined {
  if (afterMs === undefined) return startedAt;
  return begunAt === undefined ? undefined : begunAt + afterMs;
}

function isActive({ fault, since }: Armed, now: number, moments: Moments): boolean {
  const from = fault.afterMs === undefined ? since : beginning(fault, moments);
  return from !== undefined && now >= from && now < from + (fault.forMs ?? Infinity);
}

function isDeletion(request: KubeRequest): boolean {
  const verb = verbInFaults(request);
  return request.kind?.plural === 'pods' && (verb === 'delete' || verb === 'evict');
}

function verbInFaults({ verb, subresource }: KubeRequest): Fault['verb'] {
  return subresource === 'log' ? 'log' : subresource === 'eviction' ? 'evict' : verb;
}
