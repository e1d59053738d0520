/** Findings that would be untrue of a story. That a true one is found is for cases and recordings. */
import type { Facts } from './facts.ts';
import type { World } from './world.ts';

/** Codes of findings that nothing in the story allows. */
export const untrueFindings = (world: World, facts: Facts): string[] =>
  Object.entries(allowed).flatMap(([code, isAllowed]) => (isAllowed(world, facts) ? [] : [code]));

const seconds = (from: number | undefined, to: number | undefined): number =>
  from === undefined || to === undefined ? NaN : (to - from) / 1e9;

/** The kubelet began so late (s), or never. */
const noticedAfter = (limit: number, { acceptedAt, noticedAt }: Facts): boolean =>
  !(seconds(acceptedAt, noticedAt) <= limit);

/** Of hooks that ran in several rounds, or of which nothing came in time, the truth of the last one is not all. */
const isUnclear = (facts: Facts): boolean =>
  facts.disturbed || facts.nodeGone || facts.late || facts.dropped('Killing');

const anyHook = (facts: Facts, outcome: string): boolean =>
  isUnclear(facts) || [...facts.hooks.values()].some((hook) => hook.outcome === outcome);

const befell = ({ story }: World, kind: string): boolean => story.faults.some((fault) => fault.kind === kind);

/** Closer to the end of grace than a drifting clock tells apart (s), a hook that failed may as well have been cut off. */
const closeToGrace = 0.25;

const failedAtTheEnd = (facts: Facts): boolean =>
  [...facts.hooks.values()].some(
    ({ outcome, startAt, endAt }) =>
      outcome === 'failed' && Math.abs(seconds(startAt, endAt) - (facts.grace ?? 0)) < closeToGrace,
  );

const allowed: Record<string, (world: World, facts: Facts) => boolean> = {
  'prestop-failed': (_, facts) => anyHook(facts, 'failed'),
  'prestop-cut-off': (_, facts) => anyHook(facts, 'cut-off') || failedAtTheEnd(facts),
  'sidecar-killed': (_, { containers }) =>
    containers.some(({ story, truth }) => story.kind === 'sidecar' && truth.exitCode === 137),
  // A request for grace 0 hides the kubelet's own.
  'finalizer-held': (_, { finalDeleteAt, removedAt, late, grace }) =>
    late || grace === 0 || !(seconds(finalDeleteAt, removedAt) < 0.4),
  'kubelet-restarted': (world, { rounds }) => befell(world, 'kubelet-restart') && rounds.length > 1,
  'node-silent': (world, facts) => befell(world, 'freeze') || noticedAfter(7.5, facts),
  'slow-start': (_, facts) => noticedAfter(1.5, facts),
  'slow-cleanup': (_, facts) => isUnclear(facts) || !(seconds(facts.finishedAt, facts.finalDeleteAt) < 2.8),
  'stays-ready': ({ story }) => story.services.some((service) => service.publishNotReadyAddresses),
  'unmanaged-pod': ({ story }) => story.owner.kind === 'none',
  'grace-shortened-ignored': ({ story }) => story.later.some((later) => later.kind === 'delete'),
};
