/** Runs a real probe during a test, and sums up its observations as a run does. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { ProbeResult } from '../../../src/infer/probes.ts';
import type { ProbeMoments } from '../../../src/infer/probes.ts';
import { probeResultsOf } from '../../../src/infer/probes.ts';
import { emptyTrace } from '../../../src/model/trace.ts';
import { observe } from '../../../src/model/observe.ts';
import type { Observation } from '../../../src/model/observation.ts';
import type { ProbeObservation } from '../../../src/model/probe-observation.ts';
import { sumOf } from '../../../src/model/probe-numbers.ts';
import { reduce } from '../../../src/model/reduce.ts';
import type { ProxiedPod, ProxyRequest } from '../../../src/probe/http.ts';
import type { ProbeSettings } from '../../../src/probe/target.ts';
import { startProbes } from '../../../src/probe/start.ts';
import { parseProbeTarget } from '../../../src/probe/target.ts';

export interface Probed {
  result: ProbeResult;
  /** The error of `ready`. */
  trouble?: Error;
  observations: Observation[];
  /** How far a window may be from the times of the server: 100 ms, and the time in which both processes did not run. */
  nearMs: number;
}

export interface ProbingOptions extends Partial<Omit<ProbeSettings, 'target'>> {
  ask?: ProxyRequest;
  pod?: ProxiedPod;
  now?: () => number;
  moments?: ProbeMoments;
}

/** Waits until this is so: a busy machine may take a while. */
export async function eventually(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(10);
}

/** Probes `target` until `work` is done; `sent` waits until so many requests were sent and settled. */
export async function probing(
  target: string,
  options: ProbingOptions,
  work: (sent: (count: number) => Promise<void>) => Promise<unknown>,
): Promise<Probed> {
  const {
    ask = () => Promise.reject(new Error('no API server')),
    pod,
    now = Date.now,
    moments = {},
    ...rest
  } = options;
  const settings: ProbeSettings = { ...defaults, ...rest, target: parseProbeTarget(target) };
  const delays = monitorEventLoopDelay({ resolution: 5 });
  delays.enable();
  const delivered: ({ at: number } & ProbeObservation)[] = [];
  const probes = startProbes(
    { probes: [settings], now, userAgent: 'probe-test', ask, namespace: 'shop', pod },
    (one) => delivered.push(one),
    new AbortController().signal,
  );
  let trouble: Error | undefined;
  probes.ready.catch((error: Error) => (trouble = error));
  const sent = (): number =>
    sumOf(delivered.flatMap((one) => (one.kind === 'probe-counts' ? [one.new, one.kept] : []))).sent;
  await work((count) => eventually(() => sent() >= count));
  await probes.stop();
  await sleep(0);
  delays.disable();
  const observations = delivered.map((one, index) => observe(one, index + 1, { logText: false }));
  const [result] = probeResultsOf(observations.reduce(reduce, emptyTrace).probes, moments);
  if (!result) throw new Error('no probe began');
  return { result, trouble, observations, nearMs: 100 + (2 * delays.max) / 1e6 };
}

export const defaults: Omit<ProbeSettings, 'target'> = {
  ratePerSecond: 40,
  // Client and server share a process, which may be slow.
  timeoutMs: 20_000,
  method: 'GET',
  headers: {},
  expect: [{ from: 200, to: 399 }],
  keepalive: false,
  insecure: false,
};

/** The number of failures by kind, such as `refused` or `http 503`. */
export function kindsOf({ windows }: ProbeResult): Record<string, number> {
  const kinds: Record<string, number> = {};
  for (const { kind, status, count } of windows.flatMap(({ stretches }) => stretches)) {
    const name = status === undefined ? kind : `${kind} ${status}`;
    kinds[name] = (kinds[name] ?? 0) + count;
  }
  return kinds;
}

/** The number of requests that were not measured, because of this machine. */
export const unmeasuredIn = ({ notMeasured }: ProbeResult): number =>
  notMeasured.reduce((sum, { count }) => sum + count, 0);

/** Expects as many failures as the server counted, except those that a standstill of this process hides. */
export function expectFailed(result: ProbeResult, known: number): void {
  expect(known).toBeGreaterThan(0);
  expect(result.failed).toBeLessThanOrEqual(known);
  expect(result.failed + unmeasuredIn(result)).toBeGreaterThanOrEqual(known);
}
