/** Counts the requests that were settled since the last observation: memory does not grow with their number. */
import { bucketOf } from '../model/probe-numbers.ts';
import type { NotMeasuredReason, ProbeConnection, ProbeCounts, ProbeFailures } from '../model/probe-observation.ts';
import type { Result } from './result.ts';

/** One request that was settled; client clock, ms. */
export interface Settled {
  connection: ProbeConnection;
  result: Result;
  sentAt: number;
  settledAt: number;
  latencyMs: number;
}

export type Tally = ReturnType<typeof createTally>;

export function createTally(probe: number, hasKept: boolean, start: number) {
  let slice = emptySlice(probe, hasKept, start);
  let latency = new Map<number, number>();
  let isEmpty = true;
  return {
    add({ connection, result, sentAt, settledAt, latencyMs }: Settled): void {
      isEmpty = false;
      if (result.kind === 'not-measured') return countMissed(slice, result.reason, 1);
      const tally = connection === 'kept' && slice.kept ? slice.kept : slice.new;
      tally.sent += 1;
      if (result.kind === 'succeeded' || result.isAnswer) {
        const bucket = bucketOf(latencyMs);
        latency.set(bucket, (latency.get(bucket) ?? 0) + 1);
      }
      if (result.kind === 'succeeded') return countAnswered(slice, sentAt);
      tally.failed += 1;
      const { failure: kind, status } = result;
      countFailure(slice, { kind, connection, status }, kind === 'timeout' || kind === 'dns' ? sentAt : settledAt);
    },
    /** Counts requests that were due but never sent. */
    miss(reason: NotMeasuredReason, count: number): void {
      isEmpty = false;
      countMissed(slice, reason, count);
    },
    /** What was added since the last call; undefined if nothing was. The next slice begins `at`. */
    take(at: number): ProbeCounts | undefined {
      if (isEmpty) {
        slice.since = at;
        return undefined;
      }
      const taken = { ...slice, latency: [...latency] };
      slice = emptySlice(probe, hasKept, at);
      latency = new Map();
      isEmpty = true;
      return taken;
    },
  };
}

const emptySlice = (probe: number, hasKept: boolean, since: number): ProbeCounts => ({
  kind: 'probe-counts',
  probe,
  since,
  new: { sent: 0, failed: 0 },
  kept: hasKept ? { sent: 0, failed: 0 } : undefined,
  failures: [],
  latency: [],
});

function countAnswered(slice: ProbeCounts, sentAt: number): void {
  const { first = sentAt, lastSent = sentAt } = slice.answered ?? {};
  slice.answered = { first: Math.min(first, sentAt), lastSent: Math.max(lastSent, sentAt) };
}

function countFailure(
  slice: ProbeCounts,
  { kind, connection, status }: Pick<ProbeFailures, 'kind' | 'connection' | 'status'>,
  at: number,
): void {
  const known = slice.failures.find(
    (entry) => entry.kind === kind && entry.connection === connection && entry.status === status,
  );
  if (!known) return void slice.failures.push({ kind, connection, status, first: at, last: at, count: 1 });
  known.first = Math.min(known.first, at);
  known.last = Math.max(known.last, at);
  known.count += 1;
}

function countMissed(slice: ProbeCounts, reason: NotMeasuredReason, count: number): void {
  slice.notMeasured ??= [];
  const known = slice.notMeasured.find((entry) => entry.reason === reason);
  if (known) known.count += count;
  else slice.notMeasured.push({ reason, count });
}
