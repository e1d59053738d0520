/** The edits and checks of attached.yaml. */
import { expect } from 'vitest';
import { editing, markOf, stampOf } from '../../helpers/cases.ts';
import type { Check, Edit } from './case.ts';
import { deletionIn, each, eachStatus, only, statusesIn } from './edits.ts';

/** The kubelet makes up the exit of this container (trap 24). */
export const lostTrackOf = (container: string): Edit =>
  eachStatus(({ name, state }) => {
    if (name === container && state['terminated'])
      state['terminated'] = { exitCode: 137, reason: 'ContainerStatusUnknown', startedAt: null, finishedAt: null };
  });

/** The container exited with 2, ten minutes before each state that reports it. */
export const crashedLongAgo = each('pod', (one, { at }) => {
  for (const { state } of statusesIn(one))
    if (state['terminated']) Object.assign(state['terminated'], { exitCode: 2, finishedAt: stampOf(at - 600_000) });
  return one;
});

/** The run starts 14 s after the deletion. */
export const acknowledgedSinceTheDeletion: Check = (report, rawObservations) => {
  const marked = (rawObservations[0]?.at ?? NaN) - 14_000;
  expect(Date.parse(markOf(report, 'acknowledged').at.earliest)).toBeLessThanOrEqual(marked + 50);
};

/** The pod's stream breaks 5 ms before the deletion. */
export const blind = only(
  (one, { at }) => !(one.kind === 'changed' && ['pod', 'siblings'].includes(one.stream) && one.at >= at - 5),
);

export const refused: Edit = (all) => all.map((one) => (one.kind === 'answered' ? { ...one, status: 429 } : one));

/** The removal may be anywhere between the last state, 5 ms before the deletion, and the list without the pod. */
export const removalIsBetween: Check = (report, rawObservations) => {
  const list = rawObservations.findLast((one) => one.kind === 'listed' && one.stream === 'pod');
  const { earliest, latest } = markOf(report, 'removed').at;
  const removed = (list?.at ?? NaN) - 400;
  expect(Date.parse(earliest)).toBeLessThanOrEqual(removed);
  expect(Date.parse(latest)).toBeGreaterThanOrEqual(removed);
};

const versionOf = (one: { metadata: Record<string, unknown> }): number => Number(one.metadata['resourceVersion']);

export const neverSeenRunning: Edit = (all) => {
  const { pod: marked } = deletionIn(all);
  return editing(all, 'pod', (one) =>
    versionOf(one) > versionOf(marked) && statusesIn(one).some(({ state }) => 'running' in state) ? undefined : one,
  );
};

/** No state shows a running container before the deletion; each starts this long after it. */
export const startedAfter =
  (ms: number): Edit =>
  (all) => {
    const { at, pod: marked } = deletionIn(all);
    return editing(all, 'pod', (one) => {
      for (const status of statusesIn(one)) {
        const [kind = ''] = Object.keys(status.state);
        status.state =
          versionOf(one) <= versionOf(marked)
            ? { waiting: { reason: 'ContainerCreating' } }
            : { [kind]: { ...(status.state[kind] as object), startedAt: stampOf(at + ms) } };
      }
      return one;
    });
  };
