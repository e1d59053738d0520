/** A run over several pods: those of a workload until its rollout is done, named ones, or those that leave a node. */
import { PodexitError } from '../../errors.ts';
import { delay } from '../../kube/env.ts';
import { signalCodes, worstCode } from '../../verdict/policy.ts';
import { confirmDelete } from '../choosing/confirm-delete.ts';
import { readGroup } from '../choosing/read-group.ts';
import { severalView, type SeveralView } from '../../output/several.ts';
import { sayingThrough, warnOn, type Ports } from '../ports.ts';
import { createBlockedEvictions, type BlockedEvictions, commandOf, runCommand } from '../progress/start.ts';
import { followOwners, type RolloutEnd } from '../progress/progress.ts';
import { reportError } from '../../output/machine/json.ts';
import { failedCode, inSession, isIgnored, type Session } from '../session.ts';
import { nameOf, uidOf } from '../streams/watched.ts';
import { createRollout, shortcomingOf, withObstacles, type Rollout, type SeveralOptions } from './end.ts';
import type { GroupListener } from './group.ts';
import type { Deliver } from '../../model/observation.ts';
import { runLive } from './run-live.ts';

/** Returns the worst exit code of all pods. Throws PodexitError if the target cannot be read. */
export function traceSeveral(options: SeveralOptions, terminal: Ports): Promise<number> {
  let output: SeveralView | undefined;
  const ports = sayingThrough((text) => output?.say?.(text), terminal);
  return inSession(options, ports, (session, shown) => {
    output = severalView(shown.format, shown.look, terminal);
    return choosePodsAndTrace(session, shown, output);
  });
}

async function choosePodsAndTrace(session: Session, options: SeveralOptions, output: SeveralView): Promise<number> {
  const { ports } = session;
  const { target, start, once, ignoreNotFound } = options;
  const read = () => readGroup(session, target, ignoreNotFound);
  let isStarted = false;
  const group = await read().catch(async (error: unknown) => {
    // The first release: the command makes what it rolls out.
    if (start?.kind !== 'command' || (error as PodexitError).code !== 'target.not-found') throw error;
    warnOn(ports)(`${(error as Error).message}: the command has to create it`);
    await runCommand(start.argv, ports.stderr.write, session.deadline.signal);
    isStarted = true;
    return read();
  });
  const { named } = group;
  if (named && (await confirmDelete(session, options, named)).length === 0) return 0;
  if (named && once) {
    const { deleteOnce } = await import('../deleting/delete-once.ts');
    const codes: number[] = [];
    for (const pod of named)
      await deleteOnce(session, pod, { ...options, ...once }).catch((error: unknown) => {
        if (!(error instanceof PodexitError) || error.code === 'run.left') throw error;
        codes.push(isIgnored(error, options) ? 0 : reportError(error, undefined, ports));
      });
    return worstCode(codes);
  }
  const rollout = createRollout(session, options, output, { group, isStarted });
  return traceAndReport(rollout).finally(rollout.limit.cancel);
}

/** If the run fails midway, finished traces are still reported; the error follows. */
async function traceAndReport(rollout: Rollout): Promise<number> {
  const { cluster, options, results, ports, unseen, codes, held } = rollout;
  const warn = warnOn(ports);
  warn(openingText(rollout));
  const end = await traceUntilOver(rollout).catch((error: unknown) => {
    rollout.failure ??= error as Error;
    return 'left' as const;
  });
  await results.written();
  const { failure } = rollout;
  // Then the error is all that is shown, but a file that was asked for is written.
  const isNothing = failure !== undefined && results.reports.length === 0 && unseen.size === 0;
  if (failure !== undefined) codes.push(failure instanceof PodexitError ? failure.exitCode : failedCode);
  const shortcoming = failure === undefined ? shortcomingOf(rollout, end) : undefined;
  if (shortcoming) warn(shortcoming.words);
  if (shortcoming?.code !== undefined) codes.push(shortcoming.code);
  const why = shortcoming?.isIncomplete ? shortcoming.words : failure?.message;
  const refused = [...held].map((one) => one.join(': ')).join('; ') || undefined;
  const incomplete = ['workload', 'selector'].includes(options.target.kind) ? why : refused;
  const exitCode = await results.end({ codes, unseen: [...unseen.values()], incomplete }, !isNothing);
  if (isNothing) throw failure;
  if (failure === undefined) return exitCode;
  const cleaned = (one: Ports['stdout']) => ({ ...one, write: (text: string) => one.write(cluster.clean(text)) });
  // Only ndjson shows the error on stdout: other documents are complete by then.
  const format = options.format.kind === 'ndjson' ? 'lines' : undefined;
  return reportError(failure, format, { ...ports, stdout: cleaned(ports.stdout), stderr: cleaned(ports.stderr) });
}

/** Traces pods until the rollout is over and each trace has ended. Throws what ends the run before. */
async function traceUntilOver(rollout: Rollout): Promise<RolloutEnd> {
  const { cluster, options, output, group, stop, deadline, limit, progress, obstacles, codes, results } = rollout;
  for (const { signal } of [deadline, limit]) signal.addEventListener('abort', () => stop.abort(), { once: true });
  const over = progress.untilOver(cluster.env, stop.signal).finally(() => stop.abort());
  try {
    await runLive(rollout, options, {
      group,
      listener: listenerOf(rollout),
      traces: results.traces,
      audience: { ...results, take: (news) => (news.forEach(obstacles.news), results.take(news)) },
      finishOn: stop.signal,
      onSignal(signal) {
        codes.push(signalCodes[signal]);
        stop.abort();
      },
      async end({ isRecorded }) {
        results.takeRest();
        if (!isRecorded) codes.push(failedCode);
        return Promise.resolve();
      },
    });
  } catch (error) {
    output.close?.();
    throw error;
  } finally {
    stop.abort();
  }
  return over;
}

function openingText({ options: { mode }, group: { named, target } }: Rollout): string {
  if (!named) return `tracing every terminating pod of ${target}`;
  const names = named.map(({ name }) => name).join(', ');
  const what = { attach: 'waiting for', delete: 'deleting', evict: 'evicting' }[mode];
  return `${what} ${named.length} pods: ${names}`;
}

function listenerOf(rollout: Rollout): GroupListener {
  const { cluster, options, output, group, ports, progress, obstacles, limit, stop, begun, unseen, codes } = rollout;
  const warn = warnOn(ports);
  const named = group.named && new Set(group.named.flatMap(({ uid }) => uid ?? []));
  named?.forEach((uid) => progress.hold(uid));
  const owners = followOwners(options.target, progress, obstacles, (words) =>
    fail(rollout, stalled(withObstacles(words, obstacles))),
  );
  const isNode = options.target.kind === 'node';
  const blocked = isNode ? createBlockedEvictions(cluster, warn, rollout.held, stop.signal) : undefined;
  return {
    start: starterOf(rollout, blocked),
    shouldTrace(uid, pod) {
      const isOne = !named || named.has(uid);
      if (!stop.signal.aborted && isOne && !begun.has(uid)) {
        begun.add(uid);
        // Output that is kept up to date shows the pod anyway.
        if (!output.step && !output.take) warn(`${nameOf(pod)}: is terminating`);
      }
      return begun.has(uid);
    },
    ended(uid) {
      progress.podTraced(uid);
      finishPod(rollout, uid);
    },
    refused:
      named &&
      ((pod, error) => {
        if (!isIgnored(error, options)) {
          warn(error.message);
          codes.push(error.exitCode);
        }
        progress.begun();
        finishPod(rollout, uidOf(pod));
      }),
    ...owners,
    alive: (stream, isAlive) => (stream === group.pods ? progress.podsAlive(isAlive) : owners.alive(stream, isAlive)),
    listed(pods) {
      limit.listed();
      owners.listed(pods);
      progress.listed(pods);
    },
    seen(uid, pod) {
      blocked?.seen(uid, pod);
      if (pod) limit.podSeen(pod);
      if (options.target.kind === 'workload') obstacles.pod(uid, pod);
      if (!named || named.has(uid)) progress.seen(uid, pod);
    },
    missed(pod, text) {
      if (named && !named.has(uidOf(pod))) return;
      unseen.set(uidOf(pod), nameOf(pod));
      warn(text);
      progress.begun();
      finishPod(rollout, uidOf(pod));
    },
  };
}

/** Nothing more is expected of this pod. */
function finishPod({ limit, progress }: Rollout, uid: string): void {
  limit.restart();
  progress.release(uid);
}

/** Takes no further pod; the first error is reported at the end. */
function fail(rollout: Rollout, error: PodexitError): void {
  rollout.failure ??= error;
  rollout.stop.abort();
}

/**
 * Starts the command that the run follows. The run lasts until the command ends and 3 s longer: if the command changed
 * nothing, the run is over when the owner's state has arrived.
 */
function starterOf(rollout: Rollout, blocked: BlockedEvictions | undefined): GroupListener['start'] {
  const { cluster, options, group, ports, stop, progress, limit, isStarted } = rollout;
  const { target, start, connection } = options;
  // Pods of a node end for many reasons: without a command the run lasts until it is interrupted.
  if (start || target.kind === 'node') progress.hold('command');
  if (!start) return undefined;
  limit.pause();
  const argv = commandOf(start, group.target, cluster.namespace, connection, ports.env);
  const ended = (): void => {
    limit.restart();
    progress.begun();
    progress.release('command');
  };
  const writer = (deliver: Deliver) => (text: string) => {
    blocked?.output(text, (pod) =>
      deliver({ kind: 'answered', at: ports.clock.now(), verb: 'evict', pod, status: 429 }),
    );
    ports.stderr.write(text);
  };
  return (deliver) =>
    void (isStarted ? Promise.resolve() : runCommand(argv, writer(deliver), stop.signal))
      .then(() => delay(cluster.env, 3000, stop.signal))
      .then(ended)
      .catch((error: unknown) => fail(rollout, error as PodexitError));
}

/** Exit code 3, as at --timeout. */
const stalled = (words: string): PodexitError =>
  new PodexitError(
    'rollout.stalled',
    words,
    'See what its new pods wait for: kubectl describe the workload and its newest ReplicaSet (quota, image, probes).',
    { exitCode: 3 },
  );
