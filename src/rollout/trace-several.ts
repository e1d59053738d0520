/**
 * A run over several pods: all terminating pods of a target until its rollout is done, named pods until each has ended,
 * or all pods that end on a node while a command drains it.
 */
import type { JsonObject } from '../model/observe/read.ts';
import { PodexitError } from '../errors.ts';
import type { Interrupted } from '../model/observation.ts';
import { forTerminal } from '../render/safe-text.ts';
import { signalCodes } from '../verdict/exit-code.ts';
import { createBlockedEvictions, type BlockedEvictions } from './blocked-evictions.ts';
import { confirmDeletes } from '../run/confirm-delete.ts';
import { advisingSameCluster, connectCluster, warnOn, type Ports } from '../run/ports.ts';
import { createDeadline, createWaitingLimit } from '../run/time-limit.ts';
import { assertOutputs, recorderFor } from '../run/writable.ts';
import { leaveOnSignals } from '../run/leaving.ts';
import type { Several } from '../run/live-run.ts';
import { liveOptions, liveSource } from '../run/live.ts';
import { createResults, rolloutOutput, type RolloutOutput } from './output.ts';
import {
  notFollowedText,
  shortcomingOf,
  waitingText,
  withObstacles,
  type Rollout,
  type SeveralOptions,
} from './end.ts';
import { createObstacles } from './obstacles.ts';
import { followOwners } from './owners.ts';
import { missedText } from '../run/several.ts';
import { reportError } from '../run/report-error.ts';
import { createProgress } from './progress.ts';
import { afterInput } from '../run/clock.ts';
import { run } from '../run/run.ts';
import { readScope } from '../run/scope.ts';
import { commandOf, runCommand } from './start.ts';
import { tracesOfLog } from '../run/traces-of-log.ts';
import { nameOf as podName, uidOf } from '../run/watched.ts';

/** Returns the worst exit code of all pods. Throws PodexitError if the target cannot be read. */
export async function traceSeveral(options: SeveralOptions, terminal: Ports): Promise<number> {
  const { timeoutMs, target, start, once } = options;
  await assertOutputs(options);
  const output = rolloutOutput(advisingSameCluster(options), terminal);
  const ports = writingThrough(output, terminal);
  const { clock, stdout } = ports;
  const cluster = await connectCluster(options.connection, ports, options.verbosity);
  const deadline = createDeadline(clock, timeoutMs ?? null);
  const session = { cluster, deadline, ports };
  let openTraces = (): number => 0;
  const isEndless = target.kind === 'node' && start === undefined;
  const limit = createWaitingLimit({ clock, timeoutMs: isEndless ? null : timeoutMs, stdout }, () => openTraces() > 0);
  try {
    const warn = warnOn(ports);
    const scope = await readScope(session, target, { ignoreNotFound: options.ignoreNotFound, warn });
    const { named } = scope;
    if (named && (named.length === 0 || !(await confirmDeletes(session, options, named)))) return 0;
    if (named && once) {
      const { deleteOnce } = await import('../run/delete-once.ts');
      for (const pod of named) await deleteOnce(session, pod, { ...options, ...once });
      return 0;
    }
    const progress = createProgress(() => openTraces(), {
      waits: (owners) => ports.stderr.write(waitingText(owners)),
      notFollowed: (owner) => ports.stderr.write(notFollowedText(owner)),
    });
    const begun = new Set<string>(options.mode === 'attach' ? [] : named?.map(({ uid }) => uid));
    const seen = { begun, unseen: new Map(), codes: [], failure: undefined };
    const parts = { ...session, options, scope, progress, limit, stop: new AbortController(), ...seen };
    return await follow({ ...parts, obstacles: createObstacles(warn) }, output, (count) => (openTraces = count));
  } finally {
    limit.cancel();
    deadline.cancel();
    cluster.close();
  }
}

/** If the run fails midway, finished traces are still reported; the error follows. */
async function follow(rollout: Rollout, output: RolloutOutput, onLive: (going: () => number) => void): Promise<number> {
  const { cluster, options, scope, ports, stop, deadline, limit, progress, unseen, codes } = rollout;
  const warn = warnOn(ports);
  warn(openingText(rollout));
  const { record, logText } = options;
  const recorder = record === undefined ? undefined : recorderFor(record, logText, ports, warn);
  const several = severalOf(rollout, output.step !== undefined);
  const shared = liveOptions(rollout, options);
  const live = liveSource({ ...shared, name: '', several, waitReplacement: false, warn });
  onLive(live.openTraces);
  for (const { signal } of [deadline, limit, stop])
    signal.addEventListener('abort', () => (stop.abort(), live.finish()), { once: true });
  const interrupt = (signal: Interrupted['signal']): void => {
    codes.push(signalCodes[signal]);
    stop.abort();
    live.interrupt(signal);
  };
  const unsubscribe = leaveOnSignals(ports, interrupt);
  const over = progress.untilOver(cluster.env, stop.signal).finally(() => stop.abort());
  const failures: unknown[] = [];
  const traces = tracesOfLog(({ metadata }) => rollout.begun.has(metadata.uid));
  const results = createResults(options, scope.target, traces, output, ports);
  try {
    await run({
      source: live.source,
      logText: options.logText,
      traces,
      record: recorder?.write,
      audience: results,
      afterInput,
      onTrace: live.onTrace,
    });
    results.takeRest();
  } catch (error) {
    failures.push(error);
  } finally {
    stop.abort();
    live.stop();
    unsubscribe();
    recorder?.close();
    if (failures.length > 0) output.close?.();
  }
  await results.written();
  if (rollout.failure) failures.push(rollout.failure);
  if (recorder?.failure !== undefined) codes.push(failedCode);
  if (failures.length > 0 && results.reports.length === 0 && unseen.size === 0) throw failures[0];
  codes.push(...failures.map((failure) => (failure instanceof PodexitError ? failure.exitCode : failedCode)));
  const shortcoming = failures.length > 0 ? undefined : shortcomingOf(rollout, results.reports.length, await over);
  if (shortcoming) ports.stderr.write(`podexit: ${shortcoming.words}\n`);
  const isRollout = ['workload', 'selector'].includes(options.target.kind);
  const whyIncomplete = rollout.failure?.message ?? (shortcoming?.isIncomplete ? shortcoming.words : undefined);
  const incomplete = isRollout ? whyIncomplete : undefined;
  if (shortcoming?.code !== undefined) codes.push(shortcoming.code);
  const exitCode = await results.end({ codes, unseen: [...unseen.values()], incomplete });
  return failures.length > 0 ? failedAfterReport(failures[0], rollout) : exitCode;
}

/** Returns the error's exit code. Only ndjson shows the error on stdout: other documents are complete by then. */
function failedAfterReport(failure: unknown, { cluster, options, ports }: Rollout): number {
  const cleaned = (one: Ports['stdout']) => ({ ...one, write: (text: string) => one.write(cluster.clean(text)) });
  const spoken = options.format.kind === 'ndjson' ? 'lines' : undefined;
  return reportError(failure, spoken, { ...ports, stdout: cleaned(ports.stdout), stderr: cleaned(ports.stderr) });
}

function openingText({ options: { mode }, scope: { named, target } }: Rollout): string {
  if (!named) return `tracing every terminating pod of ${target}`;
  const names = named.map(({ name }) => name).join(', ');
  const what = { attach: 'waiting for', delete: 'deleting', evict: 'evicting' }[mode];
  return `${what} ${named.length} pods: ${names}`;
}

/** Exit code if a recording is incomplete. */
const failedCode = 1;

/** Messages are printed above the live table, which they would damage otherwise. */
function writingThrough({ say }: RolloutOutput, ports: Ports): Ports {
  const { stderr } = ports;
  const write = (text: string): void => {
    if (!say?.(text)) stderr.write(text);
  };
  return { ...ports, stderr: { ...stderr, write } };
}

/** `hasTable`: the output shows each pod when it begins to terminate. */
function severalOf(rollout: Rollout, hasTable: boolean): Several {
  const { cluster, options, scope, ports, progress, obstacles, limit, stop, begun, unseen } = rollout;
  const isWorkload = options.target.kind === 'workload';
  const named = scope.named && new Set(scope.named.map(({ uid }) => uid));
  named?.forEach((uid) => progress.hold(uid));
  const owners = followOwners(cluster.namespace, options.target, progress, obstacles, (words) => {
    rollout.failure ??= stalled(withObstacles(words, rollout));
    stop.abort();
  });
  const blocked =
    options.target.kind === 'node'
      ? createBlockedEvictions(cluster, options.target.name, ports.stderr.write, stop.signal)
      : undefined;
  const onEnded = (uid: string): void => {
    limit.restart();
    progress.release(uid);
  };
  const start = starterOf(rollout, blocked);
  return {
    ...scope,
    start,
    shouldTrace(uid, pod) {
      const isOne = !named || named.has(uid);
      if (!stop.signal.aborted && isOne && !begun.has(uid)) {
        begun.add(uid);
        // The table has a row for the pod.
        if (!hasTable) ports.stderr.write(`podexit: ${forTerminal(podName(pod))}: is terminating\n`);
      }
      return begun.has(uid);
    },
    ended(uid) {
      progress.podTraced(uid);
      onEnded(uid);
    },
    refused: named && ((pod, error) => onEnded(refusedOf(rollout, pod, error))),
    listener: {
      ...owners,
      onAlive: progress.onAlive,
      listed(pods) {
        limit.listed();
        owners.listed(pods);
        progress.listed(pods);
      },
      seen(uid, pod) {
        blocked?.seen(uid, pod);
        if (pod) limit.podSeen(pod);
        if (isWorkload) obstacles.pod(uid, pod);
        if (!named || named.has(uid)) progress.seen(uid, pod);
      },
      missed(pod, why) {
        if (named && !named.has(uidOf(pod))) return;
        unseen.set(uidOf(pod), podName(pod));
        ports.stderr.write(missedText(pod, why));
        progress.begun();
        onEnded(uidOf(pod));
      },
    },
  };
}

/** The deletion of a named pod failed: the run continues with the others. Returns the pod's uid. */
function refusedOf({ ports, codes, progress }: Rollout, pod: JsonObject, error: PodexitError): string {
  warnOn(ports)(error.message);
  codes.push(error.exitCode);
  progress.begun();
  return uidOf(pod);
}

/** ms for an owner's new state to arrive after the command that changed it has ended. */
const ownerReactionMs = 3000;

/**
 * Starts the command that the run follows. The run lasts until the command ends and a while longer: if the command
 * changed nothing, the run is over when the owner's state has arrived.
 */
function starterOf(rollout: Rollout, blocked: BlockedEvictions | undefined): (() => void) | undefined {
  const { cluster, options, scope, ports, stop, progress, limit } = rollout;
  const { target, start, connection } = options;
  // Pods of a node end for many reasons: without a command the run lasts until it is interrupted.
  if (target.kind === 'node') progress.hold('command');
  if (!start) return undefined;
  progress.hold('command');
  limit.pause();
  const argv = commandOf(start, scope.target, cluster.namespace, connection, ports.env);
  const stderr = {
    ...ports.stderr,
    write: (text: string): void => {
      blocked?.output(text);
      ports.stderr.write(text);
    },
  };
  const ended = (): void => {
    limit.restart();
    progress.begun();
    progress.release('command');
  };
  return () =>
    void runCommand(argv, { stderr }, stop.signal)
      .then(() => ports.clock.setTimeout(ended, ownerReactionMs))
      .catch((error: unknown) => {
        rollout.failure = error as PodexitError;
        stop.abort();
      });
}

/** Exit code 3, as at --timeout. */
const stalled = (words: string): PodexitError =>
  new PodexitError(
    'rollout.stalled',
    words,
    'See what its new pods wait for: kubectl describe the workload and its newest ReplicaSet (quota, image, probes).',
    { exitCode: 3 },
  );
