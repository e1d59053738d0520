/**
 * Runs that start late in a deletion, pods whose removal podexit does not see, and containers that start after it.
 */
import { expect } from 'vitest';
import { drains, plainContainer } from '../../sim/plain-story.ts';
import type { AppStory, Story } from '../../sim/story.ts';
import type { RawObservation } from '../../../src/model/observation.ts';
import { adding, after, alone, ignoresSignal, editing, listed, markOf, stampOf } from '../../helpers/cases.ts';
import { statusesIn } from '../../helpers/raw-edits.ts';
import { kubelet, pod, anotherClient } from '../../helpers/story-changes.ts';
import type { Case, Edit, Expectation } from './case.ts';
import {
  also,
  attach,
  startingAfter,
  deletionIn,
  each,
  eachStatus,
  noEvents,
  only,
  unacknowledged,
  withoutStreams,
} from './edits.ts';

const watched = (change: Partial<Story>): Partial<Story> => ({ ...anotherClient, ...change });
/** The run starts 0.3 s before the object is removed, and receives no Killing. */
const atTheEnd: Edit[] = [attach, noEvents, startingAfter(({ removed }) => removed - 300)];
const neverAgain = each('pod', (one) => ({ ...one, spec: { ...one.spec, restartPolicy: 'Never' } }));
/** The kubelet makes up the exit of this container (trap 24). */
const lostTrackOf = (container: string): Edit =>
  eachStatus(({ name, state }) => {
    if (name === container && state['terminated'])
      state['terminated'] = { exitCode: 137, reason: 'ContainerStatusUnknown', startedAt: null, finishedAt: null };
  });
/** The container exited with 2, ten minutes before each state that reports it. */
const crashedLongAgo = each('pod', (one, { at }) => {
  for (const { state } of statusesIn(one))
    if (state['terminated']) Object.assign(state['terminated'], { exitCode: 2, finishedAt: stampOf(at - 600_000) });
  return one;
});

const held: Partial<Story> = watched({
  ...alone({ app: drains(2000, 1) }),
  ...pod({ finalizers: ['example.com/audit'] }),
  later: [{ kind: 'remove-finalizers', atMs: 30_000 }],
});
const whileHeld: Edit[] = [attach, withoutStreams('events'), startingAfter(({ removed }) => removed - 5000)];

const finished: Case[] = [
  ...[
    ['was killed', ignoresSignal, ['killed', 'unknown']] as const,
    ['failed', drains(2000, 1), ['failed', 'unknown']] as const,
    ['completed', drains(2000), ['completed', 'unknown']] as const,
  ].flatMap(([what, app, outcome]) =>
    [[], [neverAgain]].map((edit): Case => ({
      sentence: `that ${what}${edit.length > 0 ? ' and never restarts' : ''} does not count as not running`,
      of: watched(alone({ app })),
      edit: [...atTheEnd, ...edit],
      expect: { notOutcome: 'removed', containers: { app: { outcome } } },
    })),
  ),
  {
    sentence: 'with restartPolicy Never may have ended before the deletion',
    of: watched(alone({ app: drains(2000, 1) })),
    edit: [...atTheEnd, neverAgain],
    expect: { outcome: 'unknown', containers: { app: { outcome: 'unknown' } } },
  },
  {
    sentence: 'may have ended earlier if another container may not have started yet',
    of: watched({ containers: ['app', 'other'].map((name) => plainContainer({ name, app: drains(2000, 1) })) }),
    edit: [...atTheEnd, neverAgain, lostTrackOf('other')],
    expect: { containers: { app: { outcome: 'unknown' } } },
  },
  {
    sentence: 'may have been waiting for a restart',
    of: watched(alone({ app: drains(2000) })),
    edit: [crashedLongAgo, ...atTheEnd],
    expect: { containers: { app: { outcome: ['unknown', 'not-running'] } } },
  },
  {
    sentence: 'may have ended before the deletion or during it if a finalizer holds it with grace period 0',
    of: held,
    edit: whileHeld,
    expect: { outcome: 'unknown', containers: { app: { outcome: 'unknown' } } },
  },
  {
    sentence: 'ended before the deletion if its last status does not acknowledge the deletion',
    of: held,
    edit: [
      ...whileHeld,
      each('pod', (one) => ({
        ...one,
        status: { ...one.status, observedGeneration: Number(one.metadata['generation']) - 1 },
      })),
    ],
    expect: { outcome: 'removed', containers: { app: { outcome: 'not-running' } } },
  },
];

const noticing = (noticeMs: number): Partial<Story> =>
  watched({
    ...alone({ app: ignoresSignal }),
    ...pod({ graceSeconds: 30 }),
    ...kubelet({ noticeMs: [noticeMs, noticeMs] }),
  });

const reactedBefore: Case[] = [
  {
    sentence: 'may be as old as the deletion if only its status is found',
    of: noticing(5),
    edit: [attach, noEvents, startingAfter(14_000)],
    expect: {
      marks: { acknowledged: true },
      holds: (report, rawObservations) => {
        const marked = (rawObservations[0]?.at ?? NaN) - 14_000;
        expect(Date.parse(markOf(report, 'acknowledged').at.earliest)).toBeLessThanOrEqual(marked + 50);
      },
    },
  },
  ...[
    ['by status and Event', []] as const,
    ['by Event', [unacknowledged]] as const,
    ['by status', [noEvents]] as const,
  ].map(([how, edit]): Case => ({
    sentence: `gives no node-silent finding (${how})`,
    of: noticing(10),
    edit: [attach, ...edit, startingAfter(14_000)],
    expect: { without: ['node-silent'] },
  })),
  {
    sentence: 'proves with its first Event how long the kubelet did not respond',
    of: noticing(20_000),
    edit: [attach, unacknowledged, startingAfter(24_000)],
    expect: { says: { 'node-silent': /did not respond for at least 1/ } },
  },
  {
    sentence: 'that is missing after 14 s gives a node-silent finding',
    of: noticing(20_000),
    edit: [attach, startingAfter(14_000)],
    expect: { findings: ['node-silent'] },
  },
];

/** The pod's stream breaks 5 ms before the deletion. */
const blind = only(
  (one, { at }) => !(one.kind === 'changed' && ['pod', 'siblings'].includes(one.stream) && one.at >= at - 5),
);
/** `back`: how long after the removal the next list arrives, without the pod. */
const streamLost =
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
const refused: Edit = (all) => all.map((one) => (one.kind === 'answered' ? { ...one, status: 429 } : one));
const unseen = { outcome: 'unknown', exitCode: 4 } as const;
/** The removal may be anywhere between the last state, 5 ms before the deletion, and the list without the pod. */
const removalHeld: Expectation = {
  holds: (report, rawObservations) => {
    const list = rawObservations.findLast((one) => one.kind === 'listed' && one.stream === 'pod');
    const { earliest, latest } = markOf(report, 'removed').at;
    const removed = (list?.at ?? NaN) - 400;
    expect(Date.parse(earliest)).toBeLessThanOrEqual(removed);
    expect(Date.parse(latest)).toBeGreaterThanOrEqual(removed);
  },
};

const gone: Case[] = [
  {
    sentence: 'is not reported as not deleted after an allowed eviction',
    of: 'evicted',
    edit: [streamLost(400)],
    expect: {
      ...unseen,
      holds: (report) => {
        expect(markOf(report, 'requested').at.basis).toBe('observed');
        expect(after(report, markOf(report, 'removed').at).earliest).toBeGreaterThanOrEqual(0);
      },
    },
  },
  { sentence: 'was removed after the request', of: 'evicted', edit: [streamLost(400)], expect: removalHeld },
  {
    sentence: 'was removed after its last state if podexit is attached',
    of: 'evicted',
    edit: [attach, streamLost(400)],
    expect: removalHeld,
  },
  {
    sentence: 'was removed after its last state if the request was refused',
    of: 'evicted',
    edit: [refused, streamLost(400)],
    expect: removalHeld,
  },
  {
    sentence: 'may be terminating while its stream is broken',
    of: 'evicted',
    edit: [streamLost()],
    expect: unseen,
  },
  {
    sentence: 'may be terminating because of another client while its stream is broken',
    of: 'evicted',
    edit: [attach, streamLost()],
    expect: { exitCode: 4 },
  },
  {
    sentence: 'was not deleted if its stream never broke and every request was refused',
    of: 'evicted',
    edit: [
      refused,
      (all) => {
        const { removed } = deletionIn(all);
        return also((): RawObservation => ({ kind: 'timer', at: removed + 5000, name: 'timeout' }))(all);
      },
      blind,
    ],
    expect: { outcome: 'not-started', exitCode: 3 },
  },
];

const versionOf = (one: { metadata: Record<string, unknown> }): number => Number(one.metadata['resourceVersion']);
/** No state shows a running container before the deletion; each starts at the deletion. */
const startedLate: Edit = (all) => {
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
const startedAfter =
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
const neverSeenRunning: Edit = (all) => {
  const { pod: marked } = deletionIn(all);
  return editing(all, 'pod', (one) =>
    versionOf(one) > versionOf(marked) && statusesIn(one).some(({ state }) => 'running' in state) ? undefined : one,
  );
};
const madeUpEnd = eachStatus((status) => {
  if (!('waiting' in status.state))
    status.state = {
      terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', startedAt: null, finishedAt: null },
    };
});
const killingLost = (app: AppStory): Partial<Story> => ({
  ...alone({ app, logged: false }),
  events: { queueMs: [2, 6], dropped: ['Killing'] },
});

// A pod sync in progress at the time of the deletion first starts its containers, then stops them (SIGNALS.md §2 S2).
const afterTheDeletion: Case[] = [
  {
    sentence: 'counts as one that ran and was stopped',
    of: killingLost(drains(1500)),
    edit: [startedLate],
    expect: { outcome: 'graceful', containers: { app: { outcome: 'completed' } } },
  },
  {
    sentence: 'gets its signal no earlier than its start',
    of: killingLost(drains(8000)),
    edit: [startedAfter(6000)],
    expect: { containers: { app: { stopSignal: { after: 3, before: 10 } } } },
  },
  {
    sentence: 'may have been killed at the end of a grace period whose start podexit did not see',
    of: killingLost(ignoresSignal),
    edit: [startedLate],
    expect: { ...unseen, containers: { app: { outcome: 'unknown', code: 137 } } },
  },
  {
    sentence: 'is recognized by its start time alone if no state shows it running',
    of: killingLost(ignoresSignal),
    edit: [startedLate, neverSeenRunning],
    expect: { outcome: 'unknown' },
  },
  {
    sentence: 'never ran if its exit has no start time',
    of: killingLost(ignoresSignal),
    edit: [startedLate, madeUpEnd],
    expect: { outcome: 'removed' },
  },
];

export const attached = {
  'a container that has ended when podexit attaches': finished,
  'a kubelet reaction from before podexit attaches': reactedBefore,
  'a pod whose removal podexit does not see': gone,
  'a container that was started after the deletion': afterTheDeletion,
};
