/** Findings that would be untrue for a story. Whether true ones are found is tested by cases and recordings. */
import type { Facts } from './facts.ts';
import type { World } from './world.ts';

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
