/** `--all-terminating`: traces every pod of a target that terminates, until its rollout is done. */
import type { Interrupted } from '../model/observation.ts';
import { signalCodes } from '../verdict/exit-code.ts';
import { summaryOf } from '../verdict/rollout.ts';
import type { PodSelector } from './candidates.ts';
import { advisingSameCluster, connectCluster } from './connected.ts';
import { createDeadline } from './deadline.ts';
import { assertDistinct } from './distinct-files.ts';
import type { Live } from './live.ts';
import type { Ports } from './ports.ts';
import { assertRecordable, assertWritable, ownNames } from './report-files.ts';
import { selectorInTime } from './resolve-target.ts';
import type { HowOver } from './rollout-end.ts';
import { shortcomingOf, untoldText, waitingText } from './rollout-end.ts';
import { rolloutOutput } from './rollout-output.ts';
import { ownersOf, watchOwner } from './rollout-owners.ts';
import type { Several } from './rollout-owners.ts';
import type { Rollout } from './rollout-pods.ts';
import { tracePods } from './rollout-pods.ts';
import { createProgress } from './rollout-progress.ts';
import { targetText } from './target.ts';
import type { TraceOptions } from './trace-pod.ts';
import { createWaitingLimit } from './waiting-limit.ts';

/** The exit code: the worst of all pods'. Throws PodexitError where the target cannot be read. */
export async function traceRollout(options: TraceOptions & { target: Several }, ports: Ports): Promise<number> {
  const { record, reports, timeoutMs } = options;
  const { clock, stdout, stderr } = ports;
  if (record !== undefined) assertDistinct({ file: record, what: '--record' }, reports);
  await assertRecordable(record);
  await assertWritable(reports);
  const output = rolloutOutput(advisingSameCluster(options), ports);
  const cluster = await connectCluster(options.connection, ports, options.verbosity);
  const deadline = createDeadline(clock, timeoutMs ?? null);
  const [stop, lives] = [new AbortController(), new Set<Live>()];
  const limit = createWaitingLimit({ clock, timeoutMs, stdout }, () => lives.size > 0);
  try {
    const selector = await selectorInTime(cluster, options.target, deadline);
    const progress = createProgress(() => lives.size, {
      waits: (owners) => stderr.write(waitingText(owners)),
      untold: (owner) => stderr.write(untoldText(owner)),
    });
    const rollout = {
      cluster,
      options,
      ports,
      deadline,
      output,
      stop,
      progress,
      limit,
      lives,
      traces: [],
      reports: [],
      unseen: new Map<string, string>(),
      nameOf: ownNames(),
      codes: [],
    };
    return await follow(rollout, options.target, selector);
  } finally {
    limit.cancel();
    deadline.cancel();
    cluster.close();
  }
}

/** What was traced is told also where the watching fails half-way; the error comes after it. */
async function follow(rollout: Rollout, target: Several, selector: PodSelector): Promise<number> {
  const { ports, stop, deadline, limit, traces, reports, unseen, codes, output } = rollout;
  const what = targetText(target);
  for (const { signal } of [deadline, limit]) signal.addEventListener('abort', () => stop.abort(), { once: true });
  const deaf = leaveAllOnSignals(rollout);
  ports.stderr.write(`podexit: tracing every terminating pod of ${what}\n`);
  const over = untilDone(rollout, target, selector);
  const failures = await failuresOf([over]);
  stop.abort();
  failures.push(...(await failuresOf(traces)));
  deaf();
  const nothing = reports.length === 0 && unseen.size === 0;
  if (nothing && failures.length > 0) throw failures[0];
  const shortcoming = failures.length > 0 ? undefined : shortcomingOf(rollout, what, await over);
  if (shortcoming) ports.stderr.write(`podexit: ${shortcoming.words}\n`);
  if (shortcoming?.code !== undefined) codes.push(shortcoming.code);
  const summary = summaryOf(what, reports, codes, [...unseen.values()]);
  await output.end(reports, summary);
  if (failures.length > 0) throw failures[0];
  return summary.exitCode;
}

async function failuresOf(works: readonly Promise<unknown>[]): Promise<unknown[]> {
  const results = await Promise.allSettled(works);
  return results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
}

/** The first signal ends every trace with its report so far, a second one leaves at once. Returns how to stop listening. */
function leaveAllOnSignals({ ports, lives, stop, codes }: Rollout): () => void {
  let left = false;
  const leave = (signal: Interrupted['signal']): void => {
    if (left) return ports.leave(signalCodes[signal]);
    left = true;
    codes.push(signalCodes[signal]);
    lives.forEach((live) => live.interrupt(signal));
    stop.abort();
  };
  void ports.stdout.closed.then(() => void (left || leave('SIGPIPE')));
  return ports.onSignal(leave);
}

/** Until the rollout is done and quiet, or nothing more can be heard of its pods. */
async function untilDone(rollout: Rollout, target: Several, selector: PodSelector): Promise<HowOver> {
  const { cluster, progress, stop } = rollout;
  const owners = ownersOf(cluster, target, selector).then(async ({ paths, untold }) => {
    untold.forEach(progress.ownerUntold);
    const watching = paths.map((path) => watchOwner(cluster, path, progress, stop.signal));
    progress.ownersKnown();
    await Promise.all(watching);
  });
  const pods = tracePods(rollout, selector).then(() => 'left' as const);
  return Promise.race([progress.untilOver(cluster.surroundings, stop.signal), pods, owners.then(() => pods)]);
}
