/** A run over several pods: every one of a target that terminates, until its rollout is done, or those that were named. */
import { PodexitError } from '../errors.ts';
import type { ConnectOptions } from '../kube/connect-options.ts';
import type { Interrupted } from '../model/observation.ts';
import { lossCodes, probeReportsOf } from './probe-results.ts';
import { createTraces } from './traces.ts';
import { forTerminal } from '../render/safe-text.ts';
import { signalCodes } from '../verdict/exit-code.ts';
import { summaryOf } from '../verdict/rollout.ts';
import type { PodSelector } from './candidates.ts';
import { advisingSameCluster, connectCluster } from './connected.ts';
import { createDeadline } from './deadline.ts';
import { assertDistinct } from './distinct-files.ts';
import type { Live } from './live-run.ts';
import { liveSource } from './live.ts';
import type { Ports } from './ports.ts';
import { recorderFor } from './recording-file.ts';
import { assertRecordable, assertWritable } from './writable.ts';
import { selectorInTime } from './resolve-target.ts';
import type { Rollout } from './rollout.ts';
import { shortcomingOf, notFollowedText, waitingText } from './rollout-end.ts';
import type { RolloutOutput } from './rollout-output.ts';
import { rolloutOutput } from './rollout-output.ts';
import type { SeveralTarget } from './rollout-owners.ts';
import { followOwners } from './rollout-owners.ts';
import { createProgress } from './rollout-progress.ts';
import type { RolloutStart } from './start-rollout.ts';
import { commandOf, runCommand } from './start-rollout.ts';
import { createResults } from './results.ts';
import { run } from './run.ts';
import type { Several } from './live-run.ts';
import { targetText, workloadKinds } from './target.ts';
import type { TraceOptions } from './trace-options.ts';
import { missedText } from './unseen.ts';
import { createWaitingLimit } from './waiting-limit.ts';
import { nameOf as podName, podsTarget, uidOf } from './watched.ts';

/** The exit code: the worst of all pods'. Throws PodexitError where the target cannot be read. */
export async function traceSeveral(
  options: TraceOptions & { target: SeveralTarget; start?: RolloutStart | undefined },
  terminal: Ports,
): Promise<number> {
  const { record, reports, timeoutMs } = options;
  if (record !== undefined) assertDistinct({ file: record, what: '--record' }, reports);
  await assertRecordable(record);
  await assertWritable(reports);
  const output = rolloutOutput(advisingSameCluster(options), terminal);
  const ports = writingThrough(output, terminal);
  const { clock, stdout, stderr } = ports;
  const cluster = await connectCluster(options.connection, ports, options.verbosity);
  const deadline = createDeadline(clock, timeoutMs ?? null);
  let going = (): number => 0;
  const limit = createWaitingLimit({ clock, timeoutMs, stdout }, () => going() > 0);
  try {
    const selector = await selectorInTime(cluster, options.target, deadline);
    const progress = createProgress(() => going(), {
      waits: (owners) => stderr.write(waitingText(owners)),
      notFollowed: (owner) => stderr.write(notFollowedText(owner)),
    });
    const rollout: Rollout = {
      cluster,
      options,
      ports,
      deadline,
      progress,
      limit,
      stop: new AbortController(),
      begun: new Set(),
      reports: [],
      unseen: new Map(),
      codes: [],
      failure: undefined,
    };
    const starting = options.start && starterOf(rollout, options.start, options.connection, options.target);
    const several = {
      ...severalOf(rollout, options.target, selector, output.step !== undefined),
      ...(starting ? { start: starting } : {}),
    };
    return await follow(rollout, options.target, several, output, (count) => (going = count));
  } finally {
    limit.cancel();
    deadline.cancel();
    cluster.close();
  }
}

/** What was traced is reported also where the watching fails half-way; the error comes after it. */
async function follow(
  rollout: Rollout,
  target: SeveralTarget,
  several: Several,
  output: RolloutOutput,
  counts: (going: () => number) => void,
): Promise<number> {
  const { cluster, options, ports, stop, deadline, limit, progress, reports, unseen, codes } = rollout;
  const what = targetText(target);
  ports.stderr.write(`podexit: tracing every terminating pod of ${what}\n`);
  const warn = (message: string): void => ports.stderr.write(`podexit: ${forTerminal(message, 2000)}\n`);
  const recorder = recorderFor(options.record, options.logText, ports, warn);
  const live = liveOf(rollout, several, warn);
  counts(() => live.going);
  for (const { signal } of [deadline, limit, stop])
    signal.addEventListener('abort', () => (stop.abort(), live.finish()), { once: true });
  const unsubscribe = leaveOnSignal(rollout, live);
  const over = progress.untilOver(cluster.surroundings, stop.signal).finally(() => stop.abort());
  const failures: unknown[] = [];
  const results = createResults({ ...options, reported: rollout }, output, ports);
  const traces = createTraces(({ metadata }) => rollout.begun.has(metadata.uid));
  try {
    await run({
      source: live.sightings,
      logText: options.logText,
      traces,
      record: recorder.write,
      audience: results.audience(traces, what),
      onTrace: live.onTrace,
    });
    for (const key of traces.keys()) results.take(traces, key);
  } catch (error) {
    failures.push(error);
  } finally {
    stop.abort();
    live.stop();
    unsubscribe();
    recorder.close();
    if (failures.length > 0) output.close?.();
  }
  await results.written();
  if (rollout.failure) failures.push(rollout.failure);
  if (recorder.failure !== undefined) codes.push(notDone);
  if (failures.length > 0 && reports.length === 0 && unseen.size === 0) throw failures[0];
  const shortcoming = failures.length > 0 ? undefined : shortcomingOf(rollout, what, await over);
  if (shortcoming) ports.stderr.write(`podexit: ${shortcoming.words}\n`);
  if (shortcoming?.code !== undefined) codes.push(shortcoming.code);
  codes.push(...lossCodes(traces, options.policy));
  const summary = summaryOf(what, reports, codes, [...unseen.values()], probeReportsOf(traces, reports));
  await output.end(reports, summary);
  if (failures.length > 0) throw failures[0];
  return summary.exitCode;
}

/** ms in which an owner's new state arrives after the command that changed it has ended. */
const ownerReactionMs = 3000;

/** Starts the rollout; what it changes nothing of is over when its owner's state has arrived. */
function starterOf(
  rollout: Rollout,
  start: RolloutStart,
  connection: ConnectOptions,
  target: SeveralTarget,
): () => void {
  const { cluster, ports, stop, progress } = rollout;
  const argv = commandOf(start, targetText(target), cluster.namespace, connection, ports.env);
  return () =>
    void runCommand(argv, ports, stop.signal)
      .then(() => ports.clock.setTimeout(progress.begun, ownerReactionMs))
      .catch((error: unknown) => {
        rollout.failure = error as PodexitError;
        stop.abort();
      });
}

/** Exit code where a recording is incomplete. */
const notDone = 1;

/** Messages scroll by above the table where there is one: written beside it they would tear it. */
function writingThrough({ say }: RolloutOutput, ports: Ports): Ports {
  const { stderr } = ports;
  const write = (text: string): void => {
    if (!say?.(text)) stderr.write(text);
  };
  return { ...ports, stderr: { ...stderr, write } };
}

/** `hasTable`: each pod is shown as it begins to terminate. */
function severalOf(rollout: Rollout, target: SeveralTarget, selector: PodSelector, hasTable: boolean): Several {
  const { cluster, ports, progress, limit, stop, begun, unseen } = rollout;
  const { namespace } = cluster;
  const owners = followOwners(namespace, target, progress, (words) => {
    rollout.failure ??= stalled(words);
    stop.abort();
  });
  return {
    target: targetText(target),
    namespace,
    pods: podsTarget(namespace, selector),
    owns: selector.owns,
    ...(target.kind === 'workload' && target.resource !== 'services'
      ? { owner: { kind: workloadKinds[target.resource].kind, name: target.name } }
      : {}),
    wants(uid, pod) {
      if (!stop.signal.aborted && !begun.has(uid)) {
        begun.add(uid);
        // The table has a row for it.
        if (!hasTable) ports.stderr.write(`podexit: ${forTerminal(podName(pod))}: is terminating\n`);
      }
      return begun.has(uid);
    },
    ended(uid) {
      limit.again();
      progress.podTraced(uid);
    },
    listener: {
      ...owners,
      onAlive: progress.onAlive,
      listed(pods) {
        owners.listed(pods);
        progress.listed(pods);
      },
      seen(uid, pod) {
        if (pod) limit.saw(pod);
        progress.seen(uid, pod);
      },
      missed(pod, why) {
        unseen.set(uidOf(pod), podName(pod));
        ports.stderr.write(missedText(pod, why));
        limit.again();
        progress.missed(pod, why);
      },
    },
  };
}

/** Exit code 3: still there at the end, as at --timeout. */
const stalled = (words: string): PodexitError =>
  new PodexitError(
    'rollout.stalled',
    words,
    'See what its new pods wait for: kubectl describe the workload and its newest ReplicaSet (quota, image, probes).',
    { exitCode: 3 },
  );

function liveOf(
  { cluster, options, ports, deadline }: Rollout,
  several: Several,
  warn: (message: string) => void,
): Live {
  return liveSource({
    cluster,
    clock: ports.clock,
    namespace: cluster.namespace,
    name: '',
    several,
    mode: 'attach',
    graceSeconds: null,
    insist: false,
    timeoutMs: options.timeoutMs ?? 'by-grace',
    until: deadline.until,
    waitReplacement: false,
    followLogs: options.followLogs,
    probes: options.probes,
    userAgent: `kubectl-podexit/${ports.version}`,
    warn,
  });
}

/** The first signal ends every trace with its report so far, a second one leaves at once. Returns how to stop listening. */
function leaveOnSignal({ ports, stop, codes }: Rollout, live: Live): () => void {
  let left = false;
  const leave = (signal: Interrupted['signal']): void => {
    if (left) return ports.leave(signalCodes[signal]);
    left = true;
    codes.push(signalCodes[signal]);
    stop.abort();
    live.interrupt(signal);
  };
  void ports.stdout.closed.then(() => void (left || leave('SIGPIPE')));
  return ports.onSignal(leave);
}
