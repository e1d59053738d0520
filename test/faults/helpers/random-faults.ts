/** Random faults of any kind that a cluster or a network may have, at any time of an exit. */
import type { Fault, FaultKind, Where } from '../../sim/faults/fault.ts';

type Random = () => number;

const between = (random: Random, from: number, to: number): number => Math.round(from + random() * (to - from));
/** Short times are more frequent: the order of magnitude is drawn first. */
const lasting = (random: Random, from: number, to: number): number => Math.round(from * (to / from) ** random());
const pick = <T>(random: Random, all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;

/** Streams that a fault may affect; undefined: all. */
const streams = [undefined, 'pods', 'endpointslices', 'events', 'nodes', 'leases', 'log'] as const;

const about = (random: Random): Where => {
  const stream = pick(random, streams);
  if (stream === undefined) return { verb: 'watch' };
  return stream === 'log' ? { verb: 'log' } : { resource: stream, verb: 'watch' };
};

/** Between one and three, for an exit that takes `lastMs`; the server goes down once at most. */
export function drawFaults(random: Random, lastMs: number): Fault[] {
  const all = Array.from({ length: between(random, 1, 3) }, () => draw(random, lastMs)).flat();
  const down = all.find(({ kind }) => kind === 'down');
  return all.filter((fault) => fault.kind !== 'down' || fault === down);
}

function draw(random: Random, lastMs: number): Fault[] {
  const make = pick(random, makers);
  const from: Pick<Where, 'afterMs'> = { afterMs: between(random, 0, lastMs) };
  return make(random, from);
}

const makers: ((random: Random, from: Pick<Where, 'afterMs'>) => Fault[])[] = [
  (random, from) => [{ kind: 'drop', ...about(random), ...from }],
  (random, from) => [{ kind: 'drop', ...from, forMs: lasting(random, 100, 8000) }],
  (random, from) => [{ kind: 'down', ...from, forMs: lasting(random, 200, 20_000) }],
  (random, from) => [{ kind: 'silent', ...about(random), ...from }],
  (random, from) => [{ kind: 'half-line', ...about(random), ...from, times: between(random, 1, 3) }],
  (random, from) => [{ kind: 'garbage', ...about(random), bytes: '\u0000\u001b]0;x\u0007{"type":\n', ...from }],
  (random, from) => [{ kind: 'expire', as: pick(random, ['frame', 'status'] as const), ...from }],
  // Shorter than `delivery-lag`.
  (random, from) => [{ kind: 'delay', ms: between(random, 50, 2000), verb: 'watch', forMs: 60_000, ...from }],
  (random, from) => [{ kind: 'behind', forMs: between(random, 200, 2000), ...from }],
  (random, from) => reopened(from, status(random)),
  (random) => [{ ...status(random), times: between(random, 1, 6) }],
  (_random, from) => [{ kind: 'keepalive-race', times: 4, ...from }],
  (random) => onDeletion(pick(random, deletions), between(random, 1, 3)),
];

const status = (random: Random): Fault => ({
  kind: 'status',
  code: pick(random, [410, 429, 500, 503, 504]),
  retryAfterSeconds: 1,
  verb: 'watch',
  times: between(random, 1, 6),
});

/** A status answers a request, so after the start a stream must first break and be opened again. */
const reopened = (from: Pick<Where, 'afterMs'>, fault: Fault): Fault[] => [
  { kind: 'drop', ...from },
  { ...fault, ...from },
];

const deletions: readonly FaultKind[] = [
  { kind: 'delete-accepted-then-cut' },
  { kind: 'delete-lost' },
  { kind: 'status', code: 429, retryAfterSeconds: 1 },
  { kind: 'status', code: 500 },
  { kind: 'keepalive-race' },
];

const onDeletion = (fault: FaultKind, times: number): Fault[] =>
  (['delete', 'evict'] as const).map((verb) => ({ ...fault, resource: 'pods', verb, times }));
