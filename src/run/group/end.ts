/** What a run over several pods could not complete. */
import { forTerminal } from '../../output/safe-text.ts';
import { exitCodes } from '../../verdict/policy.ts';
import { createWaitingLimit } from '../ending/leaving.ts';
import type { Session } from '../session.ts';
import { createObstacles, type Obstacles } from '../progress/obstacles.ts';
import type { SeveralView } from '../../output/several.ts';
import { createProgress, ownersText, quietMs, type RolloutEnd } from '../progress/progress.ts';
import type { Group } from './group.ts';
import { createResults } from './finish.ts';
import type { TraceOptions } from '../options.ts';
import { warnOn } from '../ports.ts';
import { tracesOfLog } from '../traces/traces.ts';

export type SeveralOptions = Exclude<TraceOptions, { pods: 'one' }>;

export type Rollout = ReturnType<typeof createRollout>;

/** What the parts of a run over several pods share. */
export function createRollout(
  session: Session,
  options: SeveralOptions,
  output: SeveralView,
  { group, isStarted }: { group: Group; isStarted: boolean },
) {
  const { ports } = session;
  const isEndless = options.target.kind === 'node' && options.start === undefined;
  const named = options.mode === 'attach' ? [] : (group.named ?? []);
  /** Uids of pods that were seen terminating or will be deleted. */
  const begun = new Set(named.flatMap(({ uid }) => uid ?? []));
  /** Pods of a node whose eviction a budget refuses, with the reason; by namespace and name. */
  const held = new Map<string, string>();
  const traces = tracesOfLog(({ metadata }) => begun.has(metadata.uid));
  const warn = warnOn(ports);
  const running = (): number => traces.keys().length;
  return {
    ...session,
    options,
    output,
    group,
    progress: createProgress(running, warn),
    obstacles: createObstacles(warn),
    /** Applies if no --timeout was given. Begins only now: it does not run while a person is asked. */
    limit: createWaitingLimit({ ...ports, timeoutMs: isEndless ? null : options.timeoutMs }, () => running() > 0),
    /** Aborted when no further pod is taken; open traces continue to their end. */
    stop: new AbortController(),
    begun,
    held,
    results: createResults(options, { target: group.target, held }, traces, output, ports),
    /** Names of pods that are gone and have no report, by uid. */
    unseen: new Map<string, string>(),
    /** The command that the run follows has ended: what it rolls out did not exist before. */
    isStarted,
    /** Why the run had to stop: its command failed, or the rollout stalled. */
    failure: undefined as Error | undefined,
    /** Exit codes that do not come from reports: unwritable files, a signal. */
    codes: [] as number[],
  };
}

/**
 * What the run could not complete; without a `code` it is only a message. `isIncomplete`: owners have not rolled out, or
 * something blocks them. Undefined if the run completed, or a signal ended it.
 */
export function shortcomingOf(
  rollout: Rollout,
  over: RolloutEnd,
): { words: string; code?: number; isIncomplete?: boolean } | undefined {
  const { options, begun, unseen, codes, progress, obstacles, results } = rollout;
  const what = forTerminal(rollout.group.target);
  const { deadline, limit } = rollout;
  const waited = limit.signal.aborted ? `as no pod has terminated for ${limit.text()}` : undefined;
  const gaveUp = deadline.signal.aborted ? 'at --timeout' : waited;
  if (results.reports.length === 0 && unseen.size === 0) {
    if (codes.length > 0) return undefined;
    if (begun.size > 0) return { words: `what terminated of ${what} could not be traced`, code: exitCodes.stuck };
    if (options.start && over === 'done')
      return { words: `the command rolled nothing out: no pod of ${what} terminated` };
    const within = limit.signal.aborted ? ` within ${limit.text()}` : '';
    const first = options.start ? '' : 'start the rollout while this waits, or ';
    return {
      words: `no pod of ${what} was seen to terminate${within}: ${obstacles.text() ?? `${first}wait longer (--timeout)`}`,
      code: exitCodes['not-started'],
      isIncomplete: obstacles.text() !== undefined,
    };
  }
  if (gaveUp !== undefined && progress.pending().length > 0) {
    const words = `gave up ${gaveUp}: ${ownersText(progress.pending())} had not rolled out`;
    return { words: withObstacles(words, obstacles), code: exitCodes.stuck, isIncomplete: true };
  }
  if (gaveUp !== undefined && !progress.isEndKnown())
    return { words: `gave up ${gaveUp}: whether the rollout was done is not known`, code: exitCodes.stuck };
  if (gaveUp !== undefined && progress.hasLostWatch())
    return { words: `gave up ${gaveUp}: what happened since a watch was lost is not known`, code: exitCodes.unknown };
  if (over === 'quiet')
    return { words: `no pod has changed for ${quietMs / 1000} s; whether the rollout is done is not known` };
  return undefined;
}

/** The words with what blocks the rollout, if anything does. */
export function withObstacles(words: string, obstacles: Obstacles): string {
  const text = obstacles.text();
  return text === undefined ? words : `${words} (${text})`;
}
