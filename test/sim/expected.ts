/** What a correct trace of the story must conclude, if that is certain. Lists hold every correct answer. */
import { signalNumbers, type Container } from './container.ts';
import type { Facts } from './facts.ts';
import type { World } from './world.ts';

export interface Expected {
  outcomes: string[];
  triggers: string[];
  containers: { name: string; kind: 'container' | 'sidecar'; outcomes: string[] }[];
  /** Codes of findings that would be untrue. */
  untrue: string[];
  instants: TrueInstant[];
}

/** One moment, RFC 3339 with nanoseconds. */
export interface TrueInstant {
  name: InstantName;
  /** The container, slice or pod that the moment is about. */
  subject?: string;
  /** By the client's clock. */
  client: string;
}

export type InstantName =
  | 'requested'
  | 'accepted'
  | 'noticed'
  | 'prestop-start'
  | 'prestop-end'
  | 'stop-signal'
  | 'kill'
  | 'exited'
  | 'unrouted'
  | 'endpoint-removed'
  | 'containers-done'
  | 'final-delete'
  | 'removed'
  | 'replacement-created'
  | 'replacement-scheduled'
  | 'replacement-started'
  | 'replacement-ready';

/** An exit this close to the end of the grace period may be judged either way. ms. */
const graceToleranceMs = 1100;

export function expectedOf(world: World, facts: Facts): Expected {
  const containers = facts.containers.map((one) => ({
    name: one.story.name,
    kind: one.story.kind,
    outcomes: containerOutcomes(one, facts),
  }));
  const outcomes = podOutcomes(facts, containers);
  return {
    outcomes,
    triggers: triggersOf(world, facts),
    containers,
    untrue: untrueFindings(world, facts),
    instants: facts.instants,
  };
}

function containerOutcomes(container: Container, facts: Facts): string[] {
  const { truth, story, reason } = container;
  if (!facts.ranAtFirst(container)) return ['not-running'];
  // It exited before the deletion, and the API did not know yet.
  if ((truth.exitAt ?? Infinity) < (facts.acceptedAt ?? 0))
    return ['not-running', 'completed', 'failed', 'abandoned', 'unknown'];
  if (facts.nodeGone) return ['abandoned', 'unknown', 'failed'];
  if (abandoned(container, facts)) return ['abandoned'];
  if (facts.finishedAt === undefined || truth.exitAt === undefined) return ['unknown', 'abandoned'];
  if (story.app.lost) return ['unknown'];
  if (truth.exitCode === 0) return ['completed'];
  // Near the end of the grace period 137 may be from SIGKILL, and OOMKilled from an earlier kill: it sticks.
  if (reason === 'OOMKilled' && truth.exitCode === 137)
    return isFarFromGrace(container, facts) ? ['oom'] : ['oom', 'unknown'];
  if (truth.exitCode === 137) return killedOutcomes(container, facts);
  const isUntouched = mayNotBeStopped(container, facts);
  if (truth.exitCode === 128 + signalNumbers[story.stopSignal])
    return isUntouched ? ['signalled', 'unknown'] : ['signalled'];
  if (!signalCodes(truth.exitCode ?? 0)) return ['failed'];
  // It looks like a stop signal, but its sender is unknown, too.
  return isUntouched ? ['signalled', 'failed', 'unknown'] : ['signalled', 'failed'];
}

const signalCodes = (code: number): boolean => code >= 129 && code <= 143;

/** Nothing shows in time that the kubelet stopped it, or it exited before that: the sender of the signal is unknown. */
const mayNotBeStopped = ({ truth }: Container, facts: Facts): boolean =>
  facts.dropped('Killing') || facts.mayArriveLate || (truth.exitAt ?? Infinity) < (facts.noticedAt ?? Infinity);

/** An app's own exit 137 looks like a kill only at the end of the grace period (SIGNALS.md §5 "Exit codes"). */
function killedOutcomes(container: Container, facts: Facts): string[] {
  if (container.truth.killAt !== undefined) return isUnsure(facts) ? ['killed', 'failed', 'unknown'] : ['killed'];
  return isFarFromGrace(container, facts) ? ['failed'] : ['failed', 'killed', 'unknown'];
}

/** The exit is certainly before the SIGKILL at the end of the grace period. */
function isFarFromGrace({ truth }: Container, facts: Facts): boolean {
  const ran = ((truth.exitAt ?? 0) - (facts.noticedAt ?? 0)) / 1e6;
  return ran < Math.max(2, facts.grace ?? 0) * 1000 - 1000 - graceToleranceMs && !isUnsure(facts);
}

const isUnsure = (facts: Facts): boolean => facts.dropped('Killing') || facts.disturbed || facts.mayArriveLate;

const abandoned = ({ truth }: Container, facts: Facts): boolean =>
  facts.removedAt !== undefined && facts.finishedAt === undefined && (truth.exitAt ?? Infinity) > facts.removedAt;

function podOutcomes(facts: Facts, containers: Expected['containers']): string[] {
  if (facts.nodeGone) return ['forced', 'unknown', 'failed', 'removed', 'stuck'];
  const mains = containers.filter((one) => one.kind === 'container');
  const has = (outcome: string): boolean => mains.some((one) => one.outcomes.includes(outcome));
  const certain = (outcome: string): boolean => mains.some((one) => one.outcomes.every((o) => o === outcome));
  const worst = ['abandoned', 'oom', 'killed', 'failed'];
  const found: string[] = [];
  for (const outcome of worst) {
    if (has(outcome)) found.push(outcome === 'abandoned' ? 'forced' : outcome);
    if (certain(outcome)) return found;
  }
  const over = overran(facts);
  if (over !== false) found.push('overran');
  if (over === undefined || facts.containers.some((one) => endedUnwatched(one, facts))) found.push('unknown');
  if (facts.removedAt === undefined) return ['stuck', 'unknown', ...found];
  if (!containers.some((one) => !one.outcomes.includes('not-running')))
    return [...found, 'removed', 'graceful', ...(mayBeKilled(facts, containers) ? ['unknown'] : [])];
  if (over === true) return found;
  if (certain('unknown')) return [...found, 'unknown'];
  if (has('unknown')) found.push('unknown');
  if (facts.finishedAt === undefined) return [...found, 'forced', 'removed', 'unknown'];
  return mains.every((one) => one.outcomes.includes('not-running'))
    ? [...found, 'removed', 'graceful']
    : [...found, 'graceful'];
}

/** It exited 137 before the deletion without a Killing Event: by itself or by a kill. */
const mayBeKilled = (facts: Facts, expected: Expected['containers']): boolean =>
  facts.containers.some(
    ({ story, truth }) =>
      story.kind === 'container' &&
      truth.exitCode === 137 &&
      expected.some(({ name, outcomes }) => name === story.name && outcomes.includes('unknown')),
  );

/** Whether a main container outlived the grace period; undefined if it exited near the end or a silent hook decides. */
function overran(facts: Facts): boolean | undefined {
  const { noticedAt, grace } = facts;
  if (noticedAt === undefined || grace === undefined) return false;
  const answers = facts.containers.filter((one) => one.story.kind === 'container').map((one) => outlived(one, facts));
  if (answers.includes(true) && !facts.disturbed && !facts.mayArriveLate && !facts.dropped('Killing')) return true;
  // A hook that was cut off in one attempt may have completed in another.
  const isClear = facts.stopAttempts.length <= 1 || facts.hooks.size === 0;
  return answers.every((answer) => answer === false) && isClear ? false : undefined;
}

/**
 * A hook that ends silently may have used up the grace period. It certainly did not only if the exit is well before
 * the end, by more than poorly known clocks leave in doubt.
 */
function endedUnwatched(container: Container, facts: Facts): boolean {
  const { story, truth } = container;
  const hook = facts.hooks.get(story.name);
  const ranFor = ((truth.exitAt ?? 0) - (facts.noticedAt ?? 0)) / 1e6;
  return story.kind === 'container' && hook !== undefined && ranFor > (facts.grace ?? 0) * 1000 - clockDoubtMs;
}

const clockDoubtMs = 5000;

/** Counts from the last stop attempt while it ran: each starts a new grace period (SIGNALS.md §2 S11, trap 36). */
function outlived({ truth, story }: Container, facts: Facts): boolean | undefined {
  if (story.app.lost) return undefined;
  const last = facts.stopAttempts.findLast(({ at }) => at <= (truth.exitAt ?? 0));
  const end = (last?.at ?? facts.noticedAt ?? 0) + (last?.grace ?? facts.grace ?? 0) * 1e9;
  const over = (truth.exitAt ?? 0) - end;
  const cutOff = facts.hooks.get(story.name)?.outcome === 'cut-off';
  if (over > graceToleranceMs * 1e6 || (cutOff && story.preStop?.kind === 'sleep' && over > 0)) return true;
  return over < -graceToleranceMs * 1e6 && !cutOff ? false : undefined;
}

/** Some triggers leave no trace if Events are lost or someone else sent the DELETE. */
function triggersOf(world: World, facts: Facts): string[] {
  const { kind } = world.story.trigger;
  if (kind === 'namespace-deletion') return ['namespace-deletion', 'unknown'];
  if (['this-command', 'eviction-api', 'unknown'].includes(kind)) return [kind];
  return facts.deletedByTrigger ? [kind] : [kind, 'unknown'];
}

/** Codes of findings that contradict the story. */
export const untrueFindings = (world: World, facts: Facts): string[] =>
  Object.entries(allowed).flatMap(([code, isAllowed]) => (isAllowed(world, facts) ? [] : [code]));

const seconds = (from: number | undefined, to: number | undefined): number =>
  from === undefined || to === undefined ? NaN : (to - from) / 1e9;

/** The kubelet reacts more than `limit` seconds after the DELETE, or never. */
const noticedAfter = (limit: number, { acceptedAt, noticedAt }: Facts): boolean =>
  !(seconds(acceptedAt, noticedAt) <= limit);

/** Hooks may run several times, or their Events may be late: the truth of the last run is not the whole truth. */
const isUnclear = (facts: Facts): boolean =>
  facts.disturbed || facts.nodeGone || facts.mayArriveLate || facts.dropped('Killing');

const anyHook = (facts: Facts, outcome: string): boolean =>
  isUnclear(facts) || [...facts.hooks.values()].some((hook) => hook.outcome === outcome);

const hadFault = ({ story }: World, kind: string): boolean => story.faults.some((fault) => fault.kind === kind);

/** So close to the end of the grace period (s), clock drift hides whether a hook failed or was cut off. */
const graceToleranceSeconds = 0.25;

const failedAtTheEnd = (facts: Facts): boolean =>
  [...facts.hooks.values()].some(
    ({ outcome, startAt, endAt }) =>
      outcome === 'failed' && Math.abs(seconds(startAt, endAt) - (facts.grace ?? 0)) < graceToleranceSeconds,
  );

const allowed: Record<string, (world: World, facts: Facts) => boolean> = {
  'prestop-failed': (_, facts) => anyHook(facts, 'failed'),
  'prestop-cut-off': (_, facts) => anyHook(facts, 'cut-off') || failedAtTheEnd(facts),
  'sidecar-killed': (_, { containers }) =>
    containers.some(({ story, truth }) => story.kind === 'sidecar' && truth.exitCode === 137),
  // A client's DELETE with grace 0 hides the kubelet's final one.
  'finalizer-held': (_, { finalDeleteAt, removedAt, mayArriveLate, grace }) =>
    mayArriveLate || grace === 0 || !(seconds(finalDeleteAt, removedAt) < 0.4),
  'kubelet-restarted': (world) => hadFault(world, 'kubelet-restart'),
  'node-silent': (world, facts) => hadFault(world, 'freeze') || noticedAfter(7.5, facts),
  'slow-start': (_, facts) => noticedAfter(1.5, facts),
  'slow-cleanup': (_, facts) => isUnclear(facts) || !(seconds(facts.finishedAt, facts.finalDeleteAt) < 2.8),
  'stays-ready': ({ story }) => story.services.some((service) => service.publishNotReadyAddresses),
  'unmanaged-pod': ({ story }) => story.owner.kind === 'none',
  'grace-shortened-ignored': ({ story }) => story.later.some((later) => later.kind === 'delete'),
};
