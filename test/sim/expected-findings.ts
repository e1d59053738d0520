/** Findings that are certain either way; near a threshold a story says nothing. */
import type { Expected } from './expected.ts';
import type { Facts } from './facts.ts';
import type { HookTruth } from './hook.ts';
import type { World } from './world.ts';

type Sure = boolean | undefined;

/** Which findings must and must not be there, given the outcomes that are right. */
export function expectedFindings(
  world: World,
  facts: Facts,
  outcomes: readonly string[],
  containers: Expected['containers'],
): { must: string[]; mustNot: string[] } {
  const sure = Object.entries(rules).map(([code, rule]) => [code, rule(world, facts, outcomes, containers)] as const);
  return {
    must: sure.filter(([, is]) => is === true).map(([code]) => code),
    mustNot: sure.filter(([, is]) => is === false).map(([code]) => code),
  };
}

const one = (list: readonly string[], value: string): Sure =>
  list.includes(value) ? (list.length === 1 ? true : undefined) : false;

/** More than `limit` for sure, less for sure, or too near to say. */
const above = (value: number, limit: number, margin: number): Sure =>
  value > limit + margin ? true : value < limit - margin ? false : undefined;

const seconds = (from: number | undefined, to: number | undefined): number | undefined =>
  from === undefined || to === undefined ? undefined : (to - from) / 1e9;

const anyHook = (facts: Facts, outcome: string): boolean =>
  [...facts.hooks.values()].some((hook) => hook.outcome === outcome);

/** Closer to the end of grace than a drifting clock tells apart, a hook that failed may as well have been cut off. */
const closeToGrace = 0.25;

const endedWithGrace = ({ outcome, startAt, endAt }: HookTruth, { grace }: Facts): boolean =>
  outcome === 'failed' && Math.abs((seconds(startAt, endAt) ?? 0) - (grace ?? 0)) < closeToGrace;

/** Nothing certain is seen of hooks and clean-up, or it may come too late. */
const unclear = (facts: Facts): boolean => facts.disturbed || facts.nodeGone || facts.late || facts.dropped('Killing');

const rules: Record<
  string,
  (world: World, facts: Facts, outcomes: readonly string[], containers: Expected['containers']) => Sure
> = {
  'force-deleted': (_world, _facts, outcomes) => one(outcomes, 'forced'),
  'killed-at-grace': (_world, _facts, _outcomes, containers) => {
    const answers = containers.filter((each) => each.kind === 'container').map((each) => one(each.outcomes, 'killed'));
    return answers.includes(true) ? true : answers.includes(undefined) ? undefined : false;
  },
  'oom-on-exit': (_world, _facts, outcomes) => (outcomes.includes('oom') ? one(outcomes, 'oom') : undefined),
  'prestop-failed': (_world, facts) => {
    if (unclear(facts)) return undefined;
    if ([...facts.hooks.values()].some((hook) => endedWithGrace(hook, facts))) return undefined;
    if (anyHook(facts, 'failed'))
      return facts.dropped('FailedPreStopHook') || facts.finishedAt === undefined ? undefined : true;
    return false;
  },
  'prestop-cut-off': (world, facts) => {
    if (unclear(facts)) return undefined;
    if (!anyHook(facts, 'cut-off')) return false;
    const sleeps = world.story.containers.some(
      ({ preStop, name }) => preStop?.kind === 'sleep' && facts.hooks.get(name)?.outcome === 'cut-off',
    );
    return sleeps && facts.finishedAt !== undefined ? true : undefined;
  },
  'sidecar-killed': (_world, facts) => {
    const sidecars = facts.containers.filter((container) => container.story.kind === 'sidecar');
    return sidecars.some((container) => container.truth.exitCode === 137) ? undefined : false;
  },
  'finalizer-held': (world, facts) => {
    // A request for grace 0 hides the kubelet's own.
    const { trigger, later } = world.story;
    const forced = 'graceSeconds' in trigger && trigger.graceSeconds === 0;
    if (forced || world.story.pod.graceSeconds === 0 || later.some((one) => one.kind === 'delete')) return undefined;
    const held = seconds(facts.finalDeleteAt, facts.removedAt);
    return held === undefined || facts.late ? undefined : above(held, 1, 0.6);
  },
  'kubelet-restarted': (world, facts) => {
    const restarts = world.story.faults.some((fault) => fault.kind === 'kubelet-restart');
    if (!restarts) return false;
    return facts.rounds.length > 1 ? undefined : false;
  },
  'node-silent': (world, facts) => {
    const notice = seconds(facts.acceptedAt, facts.noticedAt);
    const frozen = world.story.faults.some((fault) => fault.kind === 'freeze');
    if (notice === undefined) return frozen ? undefined : false;
    return above(notice, 10, 2.5) === false ? (frozen ? undefined : false) : undefined;
  },
  'slow-start': (_world, facts) => {
    const notice = seconds(facts.acceptedAt, facts.noticedAt);
    if (notice === undefined) return undefined;
    return above(notice, 3, 1.5) === false ? false : undefined;
  },
  'slow-cleanup': (world, facts) => {
    // A pod that finalizers hold may have had grace 0 before: then the kubelet's last DELETE shows nowhere.
    if (unclear(facts) || world.story.pod.finalizers.length > 0) return undefined;
    const cleanup = seconds(facts.finishedAt, facts.finalDeleteAt);
    return cleanup === undefined ? false : above(cleanup, 5, 2.2);
  },
  'stays-ready': (world, facts) =>
    world.story.services.some((service) => service.publishNotReadyAddresses) && facts.acceptedAt !== undefined
      ? undefined
      : false,
  'unmanaged-pod': (world) => {
    if (world.story.owner.kind !== 'none') return false;
    // Nothing is missed in a namespace that goes, where that could be read.
    return world.story.trigger.kind === 'namespace-deletion' ? undefined : true;
  },
  'grace-shortened-ignored': (world) =>
    world.story.later.some((later) => later.kind === 'delete') ? undefined : false,
};
