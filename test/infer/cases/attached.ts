/** The edits and checks of attached.yaml. */
import { expect } from 'vitest';
import type { RawObservation } from '../../../src/model/observation.ts';
import { adding, after, editing, listed, markOf, stampOf } from '../../helpers/cases.ts';
import { statusesIn } from '../../helpers/raw-edits.ts';
import type { Check, Edit } from './case.ts';
import { also, deletionIn, each, eachStatus, only } from './edits.ts';

export const neverAgain = each('pod', (one) => ({ ...one, spec: { ...one.spec, restartPolicy: 'Never' } }));

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

/** `back`: how long after the removal the next list arrives, without the pod. */
export const streamLost =
  (back?: number): Edit =>
  (all) => {
    const { at, removed } = deletionIn(all);
    const to = removed + (back ?? 0);
    const gap: RawObservation = {
      ...{ kind: 'gap', at: at - 5, stream: 'pod', from: at - 5, cause: 'disconnected' },
      ...(back !== undefined && { to }),
    };
    const timeout: RawObservation = { kind: 'timer', at: removed + 5000, name: 'timeout' };
    return adding(blind(all), gap, back === undefined ? timeout : listed(to, 'pod'));
  };

export const refused: Edit = (all) => all.map((one) => (one.kind === 'answered' ? { ...one, status: 429 } : one));

/** The removal may be anywhere between the last state, 5 ms before the deletion, and the list without the pod. */
export const removalIsBetween: Check = (report, rawObservations) => {
  const list = rawObservations.findLast((one) => one.kind === 'listed' && one.stream === 'pod');
  const { earliest, latest } = markOf(report, 'removed').at;
  const removed = (list?.at ?? NaN) - 400;
  expect(Date.parse(earliest)).toBeLessThanOrEqual(removed);
  expect(Date.parse(latest)).toBeGreaterThanOrEqual(removed);
};

export const removedAfterTheRequest: Check = (report) => {
  expect(markOf(report, 'requested').at.basis).toBe('observed');
  expect(after(report, markOf(report, 'removed').at).earliest).toBeGreaterThanOrEqual(0);
};

/** The run reaches its limit 5 s after the removal. */
export const timesOutAfterRemoval = also(({ removed }): RawObservation => ({
  kind: 'timer',
  at: removed + 5000,
  name: 'timeout',
}));

const versionOf = (one: { metadata: Record<string, unknown> }): number => Number(one.metadata['resourceVersion']);

/** No state shows a running container before the deletion; each starts at the deletion. */
export const startedLate: Edit = (all) => {
  const { at, pod: marked } = deletionIn(all);
  return editing(all, 'pod', (one) => {
    for (const status of statusesIn(one)) {
      const [kind = ''] = Object.keys(status.state);
      status.state =
        versionOf(one) <= versionOf(marked)
          ? { waiting: { reason: 'ContainerCreating' } }
          : { [kind]: { ...(status.state[kind] as object), startedAt: stampOf(at) } };
    }
    return one;
  });
};

/** The same, but each container starts `ms` after the deletion. */
export const startedAfter =
  (ms: number): Edit =>
  (all) => {
    const { at } = deletionIn(all);
    return editing(startedLate(all), 'pod', (one) => {
      for (const { state } of statusesIn(one))
        for (const run of Object.values(state) as Record<string, unknown>[])
          if ('startedAt' in run) run['startedAt'] = stampOf(at + ms);
      return one;
    });
  };

export const neverSeenRunning: Edit = (all) => {
  const { pod: marked } = deletionIn(all);
  return editing(all, 'pod', (one) =>
    versionOf(one) > versionOf(marked) && statusesIn(one).some(({ state }) => 'running' in state) ? undefined : one,
  );
};

export const madeUpEnd = eachStatus((status) => {
  if (!('waiting' in status.state))
    status.state = {
      terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', startedAt: null, finishedAt: null },
    };
});
