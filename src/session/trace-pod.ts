/** Traces one pod of a cluster: connects, runs the live source through the loop, shows and records it. */
import type { ConnectOptions } from '../cluster/connect-options.ts';
import type { Surroundings } from '../cluster/surroundings.ts';
import { openRecorder } from '../recording/recorder.ts';
import { recordingVersion } from '../recording/header.ts';
import type { Mode } from '../trace/observation.ts';
import type { Policy } from '../verdict/judge.ts';
import type { LookOptions } from './audience.ts';
import { openStage } from './audience.ts';
import { finish } from './finish.ts';
import type { ReportFile } from './finish.ts';
import type { Format } from './formats.ts';
import { leaveOnSignals } from './leaving.ts';
import { liveSource } from './live.ts';
import type { Ports } from './ports.ts';
import { run } from './run.ts';

export interface TraceOptions {
  connection: ConnectOptions;
  name: string;
  mode: Exclude<Mode, 'check'>;
  graceSeconds: number | null;
  /** A grace flag was given. */
  insist: boolean;
  /** ms; null: never; absent: never at a terminal, else effective grace + 120 s. */
  timeoutMs?: number | null;
  waitReplacement: boolean;
  followLogs: boolean;
  /** Show and record the text of log lines. */
  logText: boolean;
  format: Format;
  look: LookOptions;
  record?: string;
  reports: readonly ReportFile[];
  policy: Policy;
  verbosity: number;
}

/** The exit code. Throws PodexitError where the work could not be done. */
export async function tracePod(options: TraceOptions, ports: Ports): Promise<number> {
  const { connect } = await import('../cluster/connect.ts');
  const cluster = await connect(options.connection, surroundingsOf(ports, options.verbosity));
  const recorder = options.record === undefined ? undefined : openRecorder(options.record, headerOf(options, ports));
  const stage = await openStage(options.format, options.look, ports);
  const warn = (message: string): void => ports.stderr.write(`podexit: ${message}\n`);
  const live = liveSource({
    cluster,
    clock: ports.clock,
    namespace: cluster.namespace,
    name: options.name,
    mode: options.mode,
    graceSeconds: options.graceSeconds,
    insist: options.insist,
    timeoutMs: options.timeoutMs === undefined ? (ports.stdout.isTty ? null : 'by-grace') : options.timeoutMs,
    waitReplacement: options.waitReplacement,
    followLogs: options.followLogs,
    warn,
  });
  const leaving = leaveOnSignals(ports, live, { name: options.name, namespace: cluster.namespace });
  try {
    let warned = false;
    const trace = await run({
      source: live.sightings,
      logText: options.logText,
      record: (observation) => {
        recorder?.write(observation);
        if (!recorder?.failure || warned) return;
        warned = true;
        warn(`the recording ${options.record} is incomplete: ${recorder.failure.message}; the trace goes on`);
      },
      audience: stage,
      onTrace: live.onTrace,
    });
    if (leaving.closed) return 141;
    return await finish(trace, options.policy, stage, options.reports, ports, recorder?.failure !== undefined);
  } finally {
    leaving.stop();
    stage.close();
    recorder?.close();
    cluster.close();
  }
}

const headerOf = ({ logText }: TraceOptions, { clock, version }: Ports) => ({
  podexit: recordingVersion,
  program: version,
  recorded: new Date(clock.now()).toISOString(),
  logText,
});

function surroundingsOf({ env, stderr, stdinIsTty, clock, random }: Ports, verbosity: number): Surroundings {
  return {
    env,
    stderr,
    stdinIsTty,
    now: clock.now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const done = (): void => {
          cancel();
          signal?.removeEventListener('abort', done);
          resolve();
        };
        const cancel = clock.setTimeout(done, ms);
        signal?.addEventListener('abort', done, { once: true });
        if (signal?.aborted) done();
      }),
    random,
    log: (level, message) => void (level <= verbosity && stderr.write(`podexit: ${message}\n`)),
  };
}
