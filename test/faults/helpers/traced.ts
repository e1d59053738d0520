/** One live run against the loopback server: the real src/kube, source, loop and report, on a clock of its own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Env } from '../../../src/kube/env.ts';
import { connect } from '../../../src/kube/connect.ts';
import type { Loopback } from '../../sim/faults/faulty-server.ts';
import { startLoopback, type FaultyOptions } from '../../sim/faults/faulty-server.ts';
import type { Scenario, Truth } from '../../../src/demo/scenarios.ts';
import type { Clock } from '../../../src/output/ports.ts';
import type { LiveOptions } from '../../../src/run/streams/live-run.ts';
import { groupOfOne } from '../../../src/run/group/group.ts';
import { liveSource, type Live } from '../../../src/run/group/run-live.ts';
import { run } from '../../../src/run/run.ts';
import { tracesOfLog } from '../../../src/run/traces/traces.ts';
import type { Observation } from '../../../src/model/observation.ts';
import type { ExitReport } from '../../../src/model/report.ts';
import type { Trace } from '../../../src/model/trace.ts';
import { exitReportFrom } from '../../helpers/recordings.ts';
import { seeded } from '../../helpers/seeded.ts';
import { createSteppedClock } from './stepped-clock.ts';

export interface Traced {
  /** Undefined if the run fails before it receives the pod. */
  report: ExitReport | undefined;
  trace: Trace | undefined;
  observations: Observation[];
  /** The error with which the run fails. */
  error?: Error & { code?: string };
  warnings: string[];
  deletesAccepted: number;
  requests: Loopback['requests'];
  truths: Truth[];
  /** Client ms from the start of the run to its end. */
  lasted: number;
}

export interface TracedOptions {
  server?: Partial<FaultyOptions>;
  live?: Partial<LiveOptions>;
  /** Observes the run while it lasts. */
  watch?: (running: { server: Loopback; clock: Clock; live: Live }, observation: Observation) => void;
  /** Runs before the first request. */
  prepare?: (server: Loopback, clock: Clock) => void;
  seed?: number;
  /** The run starts this many ms later in its second: what whole-second timestamps prove depends on it. */
  phaseMs?: number;
}

/** No recording has this time of day. */
const start = Date.parse('2031-05-06T07:08:09.437Z');

export async function traced(scenario: Scenario, options: TracedOptions = {}): Promise<Traced> {
  const clock = createSteppedClock(start + (options.phaseMs ?? 0));
  const server = await startLoopback({ scenario, clock, ...options.server });
  options.prepare?.(server, clock);
  const folder = mkdtempSync(join(tmpdir(), 'podexit-faults-'));
  const kubeconfig = join(folder, 'config');
  writeFileSync(kubeconfig, server.kubeconfig());
  const warnings: string[] = [];
  try {
    const cluster = await connect({ kubeconfig, version: '0.0.0' }, envOf(clock, options.seed ?? 1));
    const began = clock.now();
    const live = liveSource({
      cluster,
      clock,
      group: groupOfOne(cluster.namespace, { name: server.pod }),
      mode: modeFor(scenario, server.pod),
      graceSeconds: graceFor(scenario, server.pod),
      insist: false,
      timeoutMs: 600_000,
      waitReplacement: false,
      followLogs: true,
      warn: (message) => warnings.push(message),
      ...options.live,
    });
    const observations: Observation[] = [];
    let trace: Trace | undefined;
    let error: Error | undefined;
    const running = run({
      traces: tracesOfLog(),
      source: live.source,
      logText: false,
      onTrace: (next) => {
        trace = next;
        live.onTrace(next);
      },
      audience: {
        step: (_, observation) => {
          observations.push(observation);
          options.watch?.({ server, clock, live }, observation);
        },
      },
    }).catch((cause: unknown) => void (error = cause as Error));
    await clock.runUntil(running);
    const lasted = clock.now() - began;
    cluster.close();
    return {
      report: trace && exitReportFrom(trace),
      trace,
      observations,
      ...(error ? { error } : {}),
      warnings,
      deletesAccepted: server.deletesAccepted,
      requests: server.requests,
      truths: server.truth(),
      lasted,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await server.close();
  }
}

function envOf(clock: Clock, seed: number): Env {
  return {
    variables: {},
    stderr: { write: () => {} },
    stdinIsTty: false,
    platform: process.platform,
    now: clock.now,
    setTimeout: clock.setTimeout,
    random: seeded(seed),
    log: () => {},
  };
}

type Request = { path: string; body?: { gracePeriodSeconds?: number } };

const requestOf = ({ rows }: Scenario): Request | undefined =>
  rows.find((row) => row.type === 'request') as Request | undefined;

/** What the recorder did: a DELETE of the pod, an eviction, or something else, to which we attach. */
export function modeFor(scenario: Scenario, pod: string): LiveOptions['mode'] {
  const path = requestOf(scenario)?.path ?? '';
  if (path.endsWith(`/pods/${pod}/eviction`)) return 'evict';
  return path.endsWith(`/pods/${pod}`) ? 'delete' : 'attach';
}

const graceFor = (scenario: Scenario, pod: string): number | null =>
  modeFor(scenario, pod) === 'attach' ? null : (requestOf(scenario)?.body?.gracePeriodSeconds ?? null);
