/** A live run: one set-up of its streams, recording, time limits and signals, however many pods it is about. */
import type { PodexitError } from '../../errors.ts';
import type { Pod } from '../../model/kube.ts';
import type { Interrupted } from '../../model/observation.ts';
import { afterInput } from '../clock.ts';
import { leaveOnSignals } from '../ending/leaving.ts';
import type { TraceOptions } from '../options.ts';
import { warnOn } from '../ports.ts';
import { run, type RunOptions } from '../run.ts';
import type { Session } from '../session.ts';
import type { CommandOptions } from '../streams/live-run.ts';
import { liveSource, type Live } from '../streams/live.ts';
import type { Group, GroupListener } from './group.ts';

interface LiveSetUp<T> extends Pick<RunOptions, 'traces' | 'audience'> {
  readonly group: Group;
  readonly listener?: GroupListener;
  /** Ends the wait for further pods; open traces continue to their end. */
  readonly finishOn?: AbortSignal;
  /** Called before a signal ends the run. */
  onSignal?(signal: Interrupted['signal'], live: Live): void;
  /** Called at the end, while signals are still handled. `isRecorded`: no recording is incomplete. */
  end(how: { isRecorded: boolean; interruptedBy: Interrupted['signal'] | undefined }): Promise<T>;
}

/** The one pod of a run: the pod that was found, or the first of a group that terminates. */
export interface TracedPod extends Pick<LiveSetUp<unknown>, 'group' | 'listener' | 'finishOn'> {
  /** Which of several terminating pods is traced. */
  wants?(pod: Pod): boolean;
  /** `attach.not-started` (exit 3): no pod terminated. */
  notStarted?(): PodexitError;
  close?(): void;
}

type RunLiveOptions = CommandOptions & Pick<TraceOptions, 'record' | 'logText' | 'timeoutMs'>;

/** V8's heap grows to several times of what is kept: of 254 MiB these save 150 on bench:watch, of 187 40 with 500 pods. */
export const heapBounds = ['--heap-growing-percent=40', '--semi-space-growth-factor=1'];

/** Throws `record.unwritable`, and the error that ends the run. */
export async function runLive<T>(session: Session, options: RunLiveOptions, setUp: LiveSetUp<T>): Promise<T> {
  const { cluster, deadline, ports } = session;
  const { clock, stdout, version } = ports;
  const { group, listener, traces, audience } = setUp;
  const { logText } = options;
  // Before the screen is used: an unwritable file is an error, and nothing has begun.
  const warn = warnOn(ports);
  const recorder =
    options.record === undefined
      ? undefined
      : (await import('../../output/report-files.ts')).recorderFor(options.record, logText, ports, ({ message }) =>
          warn(`the recording ${options.record} is incomplete: ${message}; the trace continues`),
        );
  if (!group.isOne) heapBounds.forEach((await import('node:v8')).setFlagsFromString);
  const defaultMs = stdout.isTty && !group.isEndless ? null : 'by-grace';
  const timeoutMs = options.timeoutMs === undefined ? defaultMs : options.timeoutMs;
  const { until } = deadline;
  const live = liveSource({ ...options, cluster, clock, group, listener, timeoutMs, until, version, warn });
  setUp.finishOn?.addEventListener('abort', live.finish, { once: true });
  let interruptedBy: Interrupted['signal'] | undefined;
  const stopListening = leaveOnSignals(ports, (signal) => {
    interruptedBy = signal;
    setUp.onSignal?.(signal, live);
    live.interrupt(signal);
  });
  try {
    await run({ ...live, logText, traces, record: recorder?.write, audience, afterInput });
    return await setUp.end({ isRecorded: !recorder?.failure, interruptedBy });
  } finally {
    live.stop();
    stopListening();
    recorder?.close();
  }
}
