/** What a right trace of the story must conclude, as far as that is certain. Lists hold every answer that is right. */
import { untrueFindings } from './untrue-findings.ts';
import type { Container } from './container.ts';
import { signalNumbers } from './container.ts';
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

/** One moment on three clocks, RFC 3339 with nanoseconds. */
export interface TrueInstant {
  name: InstantName;
  /** The container, slice or pod, where it is about one. */
  subject?: string;
  trueTime: string;
  client: string;
  node: string;
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

/** A moment that close to the end of grace may be judged either way. ms. */
const edgeMs = 1100;

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
  // It had ended before anybody deleted it, and the API did not have it yet.
  if ((truth.exitAt ?? Infinity) < (facts.acceptedAt ?? 0))
    return ['not-running', 'completed', 'failed', 'abandoned', 'unknown'];
  if (facts.nodeGone) return ['abandoned', 'unknown', 'failed'];
  if (abandoned(container, facts)) return ['abandoned'];
  if (facts.finishedAt === undefined || truth.exitAt === undefined) return ['unknown', 'abandoned'];
  if (story.app.lost) return ['unknown'];
  if (truth.exitCode === 0) return ['completed'];
  // Past the grace it may as well be the reason of an earlier kill, which sticks.
  if (reason === 'OOMKilled' && truth.exitCode === 137)
    return isFarFromGrace(container, facts) ? ['oom'] : ['oom', 'unknown'];
  if (truth.exitCode === 137) return killedOutcomes(container, facts);
  const isUntouched = untouched(container, facts);
  if (truth.exitCode === 128 + signalNumbers[story.stopSignal])
    return isUntouched ? ['signalled', 'unknown'] : ['signalled'];
  if (!signalCodes(truth.exitCode ?? 0)) return ['failed'];
  // It looks like a stop signal, and whose that was is as unsure.
  return isUntouched ? ['signalled', 'failed', 'unknown'] : ['signalled', 'failed'];
}

const signalCodes = (code: number): boolean => code >= 129 && code <= 143;

/** Nothing shows in time that the kubelet stopped it, or it had ended before the kubelet could: whose signal was it then? */
const untouched = ({ truth }: Container, facts: Facts): boolean =>
  facts.dropped('Killing') || facts.late || (truth.exitAt ?? Infinity) < (facts.noticedAt ?? Infinity);

/** 137 of its own choice looks like a kill only at the end of grace (SIGNALS.md §5 "Exit codes"). */
function killedOutcomes(container: Container, facts: Facts): string[] {
  if (container.truth.killAt !== undefined) return isUnsure(facts) ? ['killed', 'failed', 'unknown'] : ['killed'];
  return isFarFromGrace(container, facts) ? ['failed'] : ['failed', 'killed', 'unknown'];
}

/** Certainly before the kill at the end of grace can come. */
function isFarFromGrace({ truth }: Container, facts: Facts): boolean {
  const ran = ((truth.exitAt ?? 0) - (facts.noticedAt ?? 0)) / 1e6;
  return ran < Math.max(2, facts.grace ?? 0) * 1000 - 1000 - edgeMs && !isUnsure(facts);
}

const isUnsure = (facts: Facts): boolean => facts.dropped('Killing') || facts.disturbed || facts.late;

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

/** It ended with 137 before anybody deleted it, and no Killing shows that: by its own choice or by a kill. */
const mayBeKilled = (facts: Facts, expected: Expected['containers']): boolean =>
  facts.containers.some(
    ({ story, truth }) =>
      story.kind === 'container' &&
      truth.exitCode === 137 &&
      expected.some(({ name, outcomes }) => name === story.name && outcomes.includes('unknown')),
  );

/** Whether a main container outlived its grace: `undefined` where it ended about then, or a silent hook decides it. */
function overran(facts: Facts): boolean | undefined {
  const { noticedAt, grace } = facts;
  if (noticedAt === undefined || grace === undefined) return false;
  const answers = facts.containers.filter((one) => one.story.kind === 'container').map((one) => outlived(one, facts));
  if (answers.includes(true) && !facts.disturbed && !facts.late && !facts.dropped('Killing')) return true;
  // A hook that was cut off in one round may have run to its end in another.
  const isClear = facts.rounds.length <= 1 || facts.hooks.size === 0;
  return answers.every((answer) => answer === false) && isClear ? false : undefined;
}

/**
 * A hook that ended silently may have eaten the grace: that it did not is only known of an exit well before its end, further
 * from it than clocks that are hardly known leave in doubt.
 */
function endedUnwatched(container: Container, facts: Facts): boolean {
  const { story, truth } = container;
  const hook = facts.hooks.get(story.name);
  const ranFor = ((truth.exitAt ?? 0) - (facts.noticedAt ?? 0)) / 1e6;
  return story.kind === 'container' && hook !== undefined && ranFor > (facts.grace ?? 0) * 1000 - doubtMs;
}

const doubtMs = 5000;

/** Against the last time that the kubelet began while it ran: the grace counts again each time (SIGNALS.md §2 S11, trap 36). */
function outlived({ truth, story }: Container, facts: Facts): boolean | undefined {
  if (story.app.lost) return undefined;
  const last = facts.rounds.findLast(({ at }) => at <= (truth.exitAt ?? 0));
  const end = (last?.at ?? facts.noticedAt ?? 0) + (last?.grace ?? facts.grace ?? 0) * 1e9;
  const over = (truth.exitAt ?? 0) - end;
  const cutOff = facts.hooks.get(story.name)?.outcome === 'cut-off';
  if (over > edgeMs * 1e6 || (cutOff && story.preStop?.kind === 'sleep' && over > 0)) return true;
  return over < -edgeMs * 1e6 && !cutOff ? false : undefined;
}

/** Some kinds leave no trace where Events are lost or somebody else sent the DELETE. */
function triggersOf(world: World, facts: Facts): string[] {
  const { kind } = world.story.trigger;
  if (kind === 'namespace-deletion') return ['namespace-deletion', 'unknown'];
  if (['this-command', 'eviction-api', 'unknown'].includes(kind)) return [kind];
  return facts.deletedByTrigger ? [kind] : [kind, 'unknown'];
}
