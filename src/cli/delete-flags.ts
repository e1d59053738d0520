/** Flags for which pod is deleted, and how: those of kubectl delete, and our own. */
import type { AnyTarget } from '../run/choosing/target.ts';
import type { TracedPods, TraceOptions } from '../run/options.ts';
import { flagOf, usageError, valueOf, wholeNumber } from './usage.ts';
import type { Flags } from './flags.ts';
import { parseAnyTarget } from './target.ts';

const leaveOne = 'Leave out one of the two.';

type Chosen = TracedPods &
  ReturnType<typeof decideGrace> &
  Pick<TraceOptions, 'ignoreNotFound' | 'interactive' | 'retryEvict' | 'mode' | 'pick' | 'once'>;

/** Throws usageError for flags that contradict each other, or that podexit refuses. */
export function deletionOptions(words: readonly string[], flags: Flags): Chosen {
  const { attach = false, allTerminating = false, evict = false, retryEvict = false, ignoreNotFound = false } = flags;
  if (flags.cascade !== undefined)
    throw usageError(
      'cascade',
      '--cascade is not supported: a pod has no dependents',
      'Leave it out; to delete an owner with its pods use kubectl delete, and trace them with --attach.',
    );
  const grace = decideGrace(flags);
  const deletionFlag = deletionFlagIn(flags) || (grace.insist && graceFlagIn(flags));
  if ((attach || allTerminating) && deletionFlag)
    throw usageError(
      'attach',
      `--${attach ? 'attach' : 'all-terminating'} never deletes and cannot be combined with ${deletionFlag}`,
      leaveOne,
    );
  if (retryEvict && !evict)
    throw usageError('evict', '--retry-evict needs --evict', 'A plain deletion respects no budget.');
  const once = onceOf(flags);
  const target = parseAnyTarget(words, flags);
  const isNode = target.kind === 'node';
  // Another command deletes the pods of a node, such as kubectl drain.
  if (isNode && deletionFlag)
    throw usageError(
      'node',
      `node/NAME deletes nothing and cannot be combined with ${deletionFlag}`,
      'Write: kubectl podexit node/NAME -- kubectl drain NAME',
    );
  const onePodFlag =
    (flags.pick !== undefined && '--pick') ||
    (flags.waitReplacement && '--wait-replacement') ||
    (ignoreNotFound && target.kind !== 'pods' && '--ignore-not-found');
  if ((allTerminating || isNode || target.kind === 'pods') && onePodFlag)
    throw usageError(
      'all-terminating',
      `${onePodFlag} is for one pod, and ${allTerminating ? '--all-terminating traces several' : 'several are traced'}`,
      leaveOne,
    );
  const isAwaited = attach && flags.pick === undefined && once === undefined;
  return {
    ...tracedPods(target, allTerminating, isAwaited),
    ...grace,
    pick: pickOf(flags),
    mode: attach || allTerminating || isNode ? 'attach' : evict ? 'evict' : 'delete',
    ignoreNotFound,
    interactive: flags.interactive ?? false,
    retryEvict,
    once,
  };
}

/** `isAwaited`: of several pods, the next one that terminates. */
function tracedPods(target: AnyTarget, areAll: boolean, isAwaited: boolean): TracedPods {
  if (areAll && (target.kind === 'pod' || target.kind === 'pods'))
    throw usageError('all-terminating', '--all-terminating needs a workload or -l', 'For one pod use --attach.');
  if (target.kind === 'pod') return { pods: 'one', target };
  if (areAll || target.kind === 'pods' || target.kind === 'node') return { pods: 'all', target };
  return isAwaited ? { pods: 'next', target } : { pods: 'one', target };
}

/** The first flag that means nothing if nothing is deleted. */
const deletionFlagIn = ({ evict, dryRun = 'none', wait = 'true', interactive }: Flags): string | false | undefined =>
  (evict && '--evict') ||
  (dryRun !== 'none' && '--dry-run') ||
  (wait !== 'true' && '--wait') ||
  (interactive && '--interactive');

/** The flag that sets the grace period. */
const graceFlagIn = ({ now, force }: Flags): string => (force ? '--force' : now ? '--now' : '--grace-period');

export const pickOf = ({ pick }: Flags): TraceOptions['pick'] =>
  pick === undefined ? undefined : valueOf(pick, '--pick');

function onceOf(flags: Flags): TraceOptions['once'] {
  const { dryRun = 'none', wait = 'true', output } = flags;
  const how = valueOf(dryRun, '--dry-run');
  const waits = valueOf(wait, '--wait') === 'true';
  if (how === 'none' && waits) return undefined;
  const flag = how === 'none' ? '--wait=false' : `--dry-run=${how}`;
  // What only a trace gives.
  const gates = ['maxDuration', 'maxGraceUsed', 'minDrainLead', 'failOn'] as const;
  const ofTrace = ['record', 'report', 'waitReplacement', 'probe', ...gates] as const;
  const named = ofTrace.find((name) => flags[name] !== undefined);
  const asked = named ? flagOf(named) : output !== undefined && output !== 'name' && `-o ${output}`;
  if (asked)
    throw usageError(
      'once',
      `${flag} traces nothing, so ${asked} has no effect`,
      `Leave out one of the two; -o name works with ${flag}.`,
    );
  return { dryRun: how, nameOnly: output === 'name' };
}

/**
 * kubectl's meaning of the three flags (kubectl delete.go): negative is unset, 0 without --force becomes 1.
 * `graceSeconds`: null for the pod's own grace period. `insist`: a flag sets it, so it is requested even if the pod is
 * already terminating.
 */
export function decideGrace({ gracePeriod, now, force }: Flags): Pick<TraceOptions, 'graceSeconds' | 'insist'> {
  const given = wholeNumber(gracePeriod, '--grace-period', 'seconds');
  const asked = given !== undefined && given >= 0 ? given : undefined;
  const together = (names: string, hint: string): Error =>
    usageError('grace', `${names} cannot be used together`, hint);
  if (now && asked !== undefined)
    throw together('--now and --grace-period', 'Use --now, or --grace-period=1 which means the same.');
  if (now && force) throw together('--force and --now', 'Use --force for a grace period of 0 s, or --now for 1 s.');
  if (force && asked !== undefined && asked > 0)
    throw together('--force and --grace-period greater than 0', 'Leave out --force for a graceful deletion.');
  const graceSeconds = force ? 0 : now || asked === 0 ? 1 : (asked ?? null);
  return { graceSeconds, insist: graceSeconds !== null };
}
