/** Grace periods that differ from the requested one: lowered, raised, restarted, 0 from the start, or unknown. */
import { expect } from 'vitest';
import { drains } from '../../sim/plain-story.ts';
import type { AppStory, Story } from '../../sim/story.ts';
import { alone, changed, changesOf, ignoresSignal, listed, markOf, stampOf } from '../../helpers/cases.ts';
import type { RawObservation } from '../../../src/model/observation.ts';
import { asked, kubelet, pod, anotherClient } from '../../helpers/story-changes.ts';
import type { Case, Edit } from './case.ts';
import { also, arriving, attach, startingAfter, each, ending, only, withoutStreams } from './edits.ts';

const exits137 = (afterMs: number): AppStory => ({
  onSignal: { kind: 'exits', afterMs, code: 137 },
  lost: false,
  lines: [],
});

/** Our DELETE keeps the pod's own grace period; another client lowers it to 1 s at `atMs`. */
const loweredAt = (atMs: number, app: AppStory, graceSeconds: number): Partial<Story> => ({
  ...alone({ app, logged: false }),
  ...pod({ graceSeconds }),
  ...asked(null),
  later: [{ kind: 'delete', atMs, graceSeconds: 1 }],
});

/** The grace period drops from 30 s to 1 s at 0.4 s; the kubelet starts termination after `noticeMs`. */
const loweredFirst = (app: AppStory, noticeMs: number): Partial<Story> => ({
  ...loweredAt(400, app, 30),
  ...alone({ app }),
  ...kubelet({ noticeMs: [noticeMs, noticeMs] }),
});

/** A probe's status update acknowledges the DELETE after 0.6 s; then the pod's stream is late. */
const probedAndDelayed = (heldMs: number): Edit[] => [
  arriving((one, { at }) => {
    const until = at + 1300 + heldMs;
    const isHeld = one.kind === 'changed' && ['pod', 'siblings'].includes(one.stream) && one.at > at && one.at < until;
    return isHeld ? until : one.at;
  }),
  also(({ at, pod: { metadata, status, ...object } }) => {
    const fields = metadata['managedFields'] as { subresource?: string }[];
    const time = stampOf(at + 1000);
    const managedFields = fields.map((one) => (one.subresource === 'status' ? { ...one, time } : one));
    const observedGeneration = metadata['generation'];
    return changed(at + 600, 'pod', {
      ...object,
      metadata: { ...metadata, managedFields },
      status: { ...status, observedGeneration },
    });
  }),
];

const lowered: Case[] = [
  {
    sentence: 'the kubelet counts a grace period that was lowered before it started termination',
    of: loweredFirst(ignoresSignal, 8000),
    expect: {
      outcome: 'killed',
      says: { 'killed-at-grace': /^app was SIGKILLed .* after SIGTERM, when its 1s grace period ended/ },
      report: { grace: { specSeconds: 30, effectiveSeconds: 1 } },
    },
  },
  {
    sentence: 'ofGrace refers to a grace period that was lowered before the kubelet started termination',
    of: loweredFirst(drains(1500), 8000),
    expect: {
      outcome: 'overran',
      says: { 'grace-nearly-spent': /past its 1s grace period \(not killed\)$/m },
      ofGrace: { drain: { after: 1 } },
    },
  },
  {
    sentence: 'either grace period may count if it was lowered about when the kubelet started termination',
    of: loweredFirst(ignoresSignal, 1500),
    expect: { says: { 'killed-at-grace': /when its 1–30s grace period ended/ }, ofGrace: { drain: { until: 1 } } },
  },
  ...[[1600, 0] as const, [1600, 400] as const, [3000, 2000] as const].map(([noticeMs, heldMs]): Case => ({
    sentence: `a probe’s status update does not show which one counts (notice ${noticeMs} ms, delay ${heldMs} ms)`,
    of: { ...loweredAt(1300, ignoresSignal, 30), ...kubelet({ noticeMs: [noticeMs, noticeMs] }) },
    edit: probedAndDelayed(heldMs),
    expect: { containers: { app: { outcome: ['killed', 'unknown'] } } },
  })),
  {
    sentence:
      'a grace period lowered after the kubelet started does not count: 137 before the first one ends is no kill',
    of: loweredAt(3300, exits137(4600), 6),
    expect: { containers: { app: { outcome: 'failed' } }, without: ['killed-at-grace'] },
  },
  {
    sentence: '137 is unknown if the Killing may have arrived late, so that the lowered one may count',
    of: loweredAt(1300, exits137(2600), 6),
    expect: { containers: { app: { outcome: 'unknown' } }, without: ['killed-at-grace'] },
  },
  {
    sentence: '137 is unknown if there is no Killing and a probe may have caused the status update',
    of: loweredAt(1300, exits137(2600), 6),
    edit: [withoutStreams('events')],
    expect: { containers: { app: { outcome: 'unknown' } } },
  },
  {
    sentence: 'an exit 0 within the first grace period stays graceful',
    of: loweredAt(1300, { ...exits137(0), onSignal: { kind: 'exits', afterMs: 2600, code: 0 } }, 6),
    expect: { outcome: 'graceful' },
  },
  {
    sentence: 'a kill at the end of the first grace period stays a kill',
    of: loweredAt(1300, ignoresSignal, 6),
    expect: { outcome: 'killed' },
  },
  {
    sentence: 'a grace period lowered after the kill gives no grace-shortened-ignored finding',
    of: 'sigkill-after-grace',
    edit: [
      (all) => {
        const ended = changesOf(all, 'pod').find(({ object }) =>
          JSON.stringify(object.status).includes('"terminated"'),
        );
        if (!ended) throw new Error('no end was received');
        const { at, object } = ended;
        const { metadata, ...rest } = object;
        const resourceVersion = String(BigInt(String(metadata['resourceVersion'])) + 1n);
        const marked = { deletionGracePeriodSeconds: 1, deletionTimestamp: stampOf(at + 300), resourceVersion };
        return also(() => changed(at + 300, 'pod', { ...rest, metadata: { ...metadata, ...marked } }))(all);
      },
    ],
    expect: { outcome: 'killed', without: ['grace-shortened-ignored'] },
  },
];

/** Another client deletes the pod with 30 s, and lowers the grace period to 1 s at 3 s. */
const loweredByOther = (app: AppStory): Partial<Story> => ({
  ...alone({ app }),
  ...pod({ graceSeconds: 30 }),
  ...anotherClient,
  later: [{ kind: 'delete', atMs: 3000, graceSeconds: 1 }],
});
const raised = (app: AppStory): Partial<Story> => ({
  ...alone({ app }),
  trigger: { kind: 'unknown', atMs: 1240, graceSeconds: 60 },
  later: [{ kind: 'delete', atMs: 2000, graceSeconds: 5 }],
});
const held = (graceSeconds: number, change: Partial<Story> = {}): Partial<Story> => ({
  ...alone({ app: drains(2000) }),
  ...pod({ graceSeconds, finalizers: ['example.com/audit'] }),
  later: [{ kind: 'remove-finalizers', atMs: 30_000 }],
  ...change,
});
/** No state of the pod arrives until a list after a gap, 5 s after its final DELETE. */
const seenAfterFinalDelete: Edit = (all) => {
  const final = changesOf(all, 'pod').find(({ object }) => object.metadata['deletionGracePeriodSeconds'] === 0);
  const at = (final?.at ?? NaN) + 5000;
  const lost = also(
    ({ at: marked }): RawObservation => ({
      at,
      kind: 'gap',
      stream: 'pod',
      from: marked - 500,
      to: at,
      cause: 'expired',
    }),
    () => listed(at, 'pod', final?.object),
  );
  return lost(all).filter((one) => !(one.kind === 'changed' && one.stream === 'pod' && one.at < at));
};

const changedBeforeAttach: Case[] = [
  {
    sentence: 'a drain within the first grace period does not exceed the lowered one',
    of: loweredByOther(drains(20_000)),
    edit: [attach, startingAfter(5000)],
    expect: {
      outcome: 'graceful',
      without: ['grace-nearly-spent'],
      ofGrace: { drain: { from: 1, until: 1 } },
      noPhases: ['overtime'],
    },
  },
  {
    sentence: '137 at the end of the first grace period is a kill',
    of: loweredByOther(ignoresSignal),
    edit: [attach, startingAfter(5000)],
    expect: { containers: { app: { outcome: 'killed' } } },
  },
  {
    sentence: '137 between the ends of both grace periods is unknown',
    of: loweredByOther(exits137(15_000)),
    edit: [attach, startingAfter(5000)],
    expect: { containers: { app: { outcome: 'unknown' } } },
  },
  {
    sentence: 'the final DELETE does not show the first grace period, nor when the deletion was accepted',
    of: held(10, { ...alone({}), ...anotherClient }),
    edit: [attach, seenAfterFinalDelete],
    expect: {
      without: ['grace-nearly-spent'],
      holds: (report, rawObservations) => {
        const gap = rawObservations.find((one) => one.kind === 'gap');
        const marked = (gap?.kind === 'gap' ? gap.from : NaN) + 500;
        expect(Date.parse(markOf(report, 'accepted').at.earliest)).toBeLessThanOrEqual(marked);
        expect(Date.parse(markOf(report, 'accepted').at.latest)).toBeGreaterThanOrEqual(marked - 10);
      },
    },
  },
  {
    sentence: 'the first grace period may have been longer than 0, even if the pod’s own and the final one are 0',
    of: held(0, {
      ...alone({ preStop: { kind: 'sleep', seconds: 2 }, app: drains(100) }),
      trigger: { kind: 'unknown', atMs: 1240, graceSeconds: 3 },
      later: [{ kind: 'remove-finalizers', atMs: 40_000 }],
    }),
    edit: [attach, startingAfter(20_000)],
    expect: {
      containers: { app: { outcome: 'completed' } },
      findings: ['finalizer-held'],
      without: ['prestop-cut-off', 'grace-nearly-spent'],
    },
  },
  ...[['drains', drains(20_000), 'graceful'] as const, ['ignores its signal', ignoresSignal, 'killed'] as const].map(
    ([what, app, outcome]): Case => ({
      sentence: `the first grace period may have been longer than all that podexit received: the application ${what}`,
      of: raised(app),
      edit: [attach, startingAfter(3000)],
      expect: { outcome, without: ['grace-nearly-spent'], noPhases: ['overtime'], noMessage: /its grace of/ },
    }),
  ),
];

/** The pod's own grace period is 30 s; the other client asks for 10 s. */
const ownIs30 = each('pod', (one) => ({ ...one, spec: { ...one.spec, terminationGracePeriodSeconds: 30 } }));
/** The same deletion with another grace period. */
export const lasting = (grace: number): Edit =>
  each('pod', (one) => {
    const { deletionTimestamp, deletionGracePeriodSeconds: before } = one.metadata;
    if (typeof before !== 'number' || before === 0) return one;
    const deadline = stampOf(Date.parse(String(deletionTimestamp)) + (grace - before) * 1000);
    const marked = { deletionGracePeriodSeconds: grace, deletionTimestamp: deadline };
    return { ...one, metadata: { ...one.metadata, ...marked } };
  });

const shorterThanSpec: Case[] = [
  ...[500, 3000].map((ms): Case => ({
    sentence: `an attach that starts ${ms} ms after the deletion reports the kill at the end of that grace period`,
    of: { ...alone({ app: ignoresSignal }), ...anotherClient },
    edit: [attach, ownIs30, startingAfter(ms)],
    expect: { outcome: 'killed', findings: ['killed-at-grace'] },
  })),
  ...[[5000, 'failed'] as const, [15_000, 'unknown'] as const].map(([ms, outcome]): Case => ({
    sentence: `137 after ${ms} ms of a 10s grace period is ${outcome}`,
    of: { ...alone({ app: exits137(ms) }), ...pod({ graceSeconds: 30 }), ...anotherClient },
    edit: [attach, lasting(10), only((one, { at }) => one.kind !== 'listed' || one.at >= at)],
    expect: { containers: { app: { outcome } } },
  })),
];

const zero: Case[] = [
  {
    sentence: 'the summary names a 1s grace period and the kubelet’s minimum of 2s',
    of: { ...alone({ app: ignoresSignal }), ...asked(1) },
    expect: {
      outcome: 'killed',
      sentence:
        /app showed no reaction to SIGTERM for ≈2\.0s \(1s grace period; the kubelet waits at least 2s after SIGTERM\)$/,
    },
  },
  ...[
    ['from this command', held(0), []] as const,
    ['from another client', held(0), [attach]] as const,
    [
      'from another client during termination',
      held(20, {
        later: [
          { kind: 'delete', atMs: 500, graceSeconds: 0 },
          { kind: 'remove-finalizers', atMs: 30_000 },
        ],
      }),
      [],
    ] as const,
  ].map(([who, of, edit]): Case => ({
    sentence: `after a DELETE with grace period 0 ${who}, the finalizer alone holds the pod`,
    of,
    edit,
    expect: {
      phases: ['finalize'],
      noPhases: ['cleanup'],
      marks: { finalizing: true },
      says: { 'finalizer-held': /^finalizer \S+ (held|has held) the pod for/ },
      lasting: { finalize: { after: 20, before: 31 } },
    },
  })),
  {
    sentence: "a finalizer of Kubernetes' own is explained: the garbage collector waits for dependents",
    of: held(5, pod({ graceSeconds: 5, finalizers: ['foregroundDeletion'] })),
    edit: [attach],
    expect: { says: { 'finalizer-held': /garbage collector waits until the pod's dependents are gone/ } },
  },
  {
    sentence: 'finalizer-held says how long the finalizer held the pod',
    of: held(5),
    edit: [attach],
    expect: { says: { 'finalizer-held': /^finalizer \S+ held the pod for 2\d/ } },
  },
  {
    sentence: 'finalizer-held gives a minimum if the finalizer held the pod before podexit started',
    of: held(5),
    edit: [
      attach,
      (all) => {
        const final = changesOf(all, 'pod').find(({ object }) => object.metadata['deletionGracePeriodSeconds'] === 0);
        return startingAfter(({ at }) => (final?.at ?? at) + 16_000)(all);
      },
    ],
    expect: { says: { 'finalizer-held': /^finalizer \S+ held the pod for at least 1\d/ } },
  },
];

const oom = (of: Partial<Story>, sentence: string, wanted: Case['expect']): Case => ({
  sentence: `OOMKilled ${sentence}`,
  of,
  edit: [ending({ reason: 'OOMKilled' })],
  expect: wanted,
});
const outOfMemory: Case[] = [
  oom(alone({ app: ignoresSignal }), 'at the end of the grace period: either may be the cause of the kill', {
    containers: { app: { outcome: 'unknown', kill: false } },
    says: { 'oom-on-exit': /SIGKILLed, either for lack of memory or at the end of its grace period/ },
  }),
  oom(
    { ...alone({ app: exits137(1900) }), ...pod({ graceSeconds: 1 }) },
    'within the kubelet’s minimum grace period is unknown, because a kill is possible',
    { outcome: 'unknown', exitCode: 4 },
  ),
  oom(
    alone({ app: exits137(300) }),
    'well within the grace period, after the stop signal, happened while shutting down',
    {
      containers: { app: { outcome: 'oom' } },
      says: { 'oom-on-exit': /^app was OOMKilled while it was shutting down$/m },
    },
  ),
  oom(
    alone({ app: { ...exits137(300), ownExit: { atMs: 700, code: 137 } } }, { ...kubelet({ noticeMs: [2000, 2000] }) }),
    'before the kubelet reacted may have happened before the stop signal',
    {
      containers: { app: { outcome: 'oom' } },
      says: { 'oom-on-exit': /during the deletion, perhaps before its stop signal/ },
    },
  ),
];

const restarted = (drainMs: number): Partial<Story> => ({
  ...alone({ app: drains(drainMs) }),
  faults: [{ kind: 'kubelet-restart', atMs: 2000, downMs: 2000 }],
});
/** No Event shows that the kubelet started a second stop attempt. */
const laterAttemptUnseen: Edit = (all) => {
  const first = changesOf(all, 'events').find(({ object }) => object['reason'] === 'Killing')?.at ?? 0;
  return all.filter(
    (one) => !(one.kind === 'changed' && ['events', 'node-events'].includes(one.stream) && one.at > first),
  );
};

const restartedGrace: Case[] = [
  {
    sentence: 'counts from the last stop attempt',
    of: restarted(12_000),
    expect: {
      truth: true,
      outcome: 'graceful',
      noPhases: ['overtime'],
      without: ['grace-nearly-spent'],
      findings: ['kubelet-restarted'],
    },
  },
  {
    sentence: 'is nearly spent if the time of the last stop attempt is',
    of: restarted(14_000),
    expect: { outcome: 'graceful', says: { 'grace-nearly-spent': /^app used ≈(7|8|9)\.\ds of its 10s grace period/ } },
  },
  {
    sentence: 'contains an exit that is within the time of the last stop attempt',
    of: restarted(14_500),
    expect: { outcome: 'graceful' },
  },
  {
    sentence: 'is not exceeded by an exit without a kill: the kubelet made a second attempt that podexit did not see',
    of: restarted(14_500),
    edit: [laterAttemptUnseen],
    expect: { outcome: 'graceful', without: ['grace-nearly-spent'], noPhases: ['overtime'] },
  },
];

export const graces = {
  'a lowered grace period': lowered,
  'a grace period that changed before podexit started': changedBeforeAttach,
  'a grace period shorter than the pod’s own': shorterThanSpec,
  'short grace periods and finalizers': zero,
  'OOMKilled during the grace period': outOfMemory,
  'a grace period that restarts with the kubelet': restartedGrace,
};
