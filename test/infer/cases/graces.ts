/** Grace periods other than the requested one: lowered, raised, started again, 0 from the start, or unknown. */
import { expect } from 'vitest';
import { drains } from '../../sim/plain-story.ts';
import type { AppStory, Story } from '../../sim/story.ts';
import { alone, changed, changesOf, ignoresSignal, listed, markOf, stampOf } from '../../helpers/cases.ts';
import type { RawObservation } from '../../../src/model/observation.ts';
import { asked, kubelet, pod, somebody } from '../../helpers/story-changes.ts';
import type { Case, Edit } from './case.ts';
import { also, arriving, attach, coming, each, ending, only, withoutStreams } from './edits.ts';

const exits137 = (afterMs: number): AppStory => ({
  onSignal: { kind: 'exits', afterMs, code: 137 },
  lost: false,
  lines: [],
});

/** Our DELETE kept the pod's own grace; somebody else's lowered it to 1 s this much later. */
const loweredAt = (atMs: number, app: AppStory, graceSeconds: number): Partial<Story> => ({
  ...alone({ app, logged: false }),
  ...pod({ graceSeconds }),
  ...asked(null),
  later: [{ kind: 'delete', atMs, graceSeconds: 1 }],
});

/** Lowered from 30 s to 1 s at 0.4 s; the kubelet started after `noticeMs`. */
const loweredFirst = (app: AppStory, noticeMs: number): Partial<Story> => ({
  ...loweredAt(400, app, 30),
  ...alone({ app }),
  ...kubelet({ noticeMs: [noticeMs, noticeMs] }),
});

/** A probe's status showed 0.6 s after the DELETE that the kubelet knew; then the pod's stream was late. */
const probedAndHeld = (heldMs: number): Edit[] => [
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
    sentence: 'before the kubelet began, it is the one that the kubelet counted',
    of: loweredFirst(ignoresSignal, 8000),
    expect: {
      outcome: 'killed',
      says: { 'killed-at-grace': /^app was SIGKILLed .* after SIGTERM, when its 1s grace period ended/ },
      report: { grace: { specSeconds: 30, effectiveSeconds: 1 } },
    },
  },
  {
    sentence: 'before the kubelet began, it counts for each share of it',
    of: loweredFirst(drains(1500), 8000),
    expect: {
      outcome: 'overran',
      says: { 'grace-nearly-spent': /past its 1s grace period \(not killed\)$/m },
      ofGrace: { drain: { after: 1 } },
    },
  },
  {
    sentence: 'about when the kubelet began, it may be either',
    of: loweredFirst(ignoresSignal, 1500),
    expect: { says: { 'killed-at-grace': /when its 1–30s grace period ended/ }, ofGrace: { drain: { until: 1 } } },
  },
  ...[[1600, 0] as const, [1600, 400] as const, [3000, 2000] as const].map(([noticeMs, heldMs]): Case => ({
    sentence: `after a probe had shown that the kubelet knew, it may be what it killed by (begun at ${noticeMs} ms, news ${heldMs} late)`,
    of: { ...loweredAt(1300, ignoresSignal, 30), ...kubelet({ noticeMs: [noticeMs, noticeMs] }) },
    edit: probedAndHeld(heldMs),
    expect: { containers: { app: { outcome: ['killed', 'unknown'] } } },
  })),
  {
    sentence: 'after the kubelet began, it does not reach its kill: 137 before the first one ended is none',
    of: loweredAt(3300, exits137(4600), 6),
    expect: { containers: { app: { outcome: 'failed' } }, without: ['killed-at-grace'] },
  },
  {
    sentence: 'it may have reached the kill where news of it may have been on its way for as long as that',
    of: loweredAt(1300, exits137(2600), 6),
    expect: { containers: { app: { outcome: 'unknown' } }, without: ['killed-at-grace'] },
  },
  {
    sentence: 'it may have reached the kill where no Killing tells, and only a status that a probe may have brought',
    of: loweredAt(1300, exits137(2600), 6),
    edit: [withoutStreams('events')],
    expect: { containers: { app: { outcome: 'unknown' } } },
  },
  {
    sentence: 'it leaves what ended in the first one graceful',
    of: loweredAt(1300, { ...exits137(0), onSignal: { kind: 'exits', afterMs: 2600, code: 0 } }, 6),
    expect: { outcome: 'graceful' },
  },
  { sentence: 'it leaves what it ended killed', of: loweredAt(1300, ignoresSignal, 6), expect: { outcome: 'killed' } },
  {
    sentence: 'after the kill it was not ignored by it',
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

/** Somebody lowered the grace from 30 s to 1 s at 3 s. */
const loweredBySomebody = (app: AppStory): Partial<Story> => ({
  ...alone({ app }),
  ...pod({ graceSeconds: 30 }),
  ...somebody,
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
/** No state of the pod arrived until 5 s after its last DELETE: a list after a gap. */
const seenOnlyAtTheEnd: Edit = (all) => {
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

const beforeAnybodyLooked: Case[] = [
  {
    sentence: 'it is not overrun by what the kubelet still gave',
    of: loweredBySomebody(drains(20_000)),
    edit: [attach, coming(5000)],
    expect: {
      outcome: 'graceful',
      without: ['grace-nearly-spent'],
      ofGrace: { drain: { from: 1, until: 1 } },
      noPhases: ['overtime'],
    },
  },
  {
    sentence: 'it ends in a kill where either of them ends',
    of: loweredBySomebody(ignoresSignal),
    edit: [attach, coming(5000)],
    expect: { containers: { app: { outcome: 'killed' } } },
  },
  {
    sentence: 'it ends in a kill nowhere else',
    of: loweredBySomebody(exits137(15_000)),
    edit: [attach, coming(5000)],
    expect: { containers: { app: { outcome: 'unknown' } } },
  },
  {
    sentence: 'it is not that of the last DELETE, where nothing was seen before it',
    of: held(10, { ...alone({}), ...somebody }),
    edit: [attach, seenOnlyAtTheEnd],
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
    sentence: 'it may have been longer than the 0 of the last DELETE, though that is the own one of the pod',
    of: held(0, {
      ...alone({ preStop: { kind: 'sleep', seconds: 2 }, app: drains(100) }),
      trigger: { kind: 'unknown', atMs: 1240, graceSeconds: 3 },
      later: [{ kind: 'remove-finalizers', atMs: 40_000 }],
    }),
    edit: [attach, coming(20_000)],
    expect: {
      containers: { app: { outcome: 'completed' } },
      findings: ['finalizer-held'],
      without: ['prestop-cut-off', 'grace-nearly-spent'],
    },
  },
  ...[['drains', drains(20_000), 'graceful'] as const, ['ignores its signal', ignoresSignal, 'killed'] as const].map(
    ([what, app, outcome]): Case => ({
      sentence: `it may have been longer than any that was seen: the application ${what}`,
      of: raised(app),
      edit: [attach, coming(3000)],
      expect: { outcome, without: ['grace-nearly-spent'], noPhases: ['overtime'], unsaid: /its grace of/ },
    }),
  ),
];

/** Somebody asked for a grace of 10 s; the pod's own is 30 s. */
const ownIs30 = each('pod', (one) => ({ ...one, spec: { ...one.spec, terminationGracePeriodSeconds: 30 } }));
/** The same deletion, with another grace. */
export const lasting = (grace: number): Edit =>
  each('pod', (one) => {
    const { deletionTimestamp, deletionGracePeriodSeconds: before } = one.metadata;
    if (typeof before !== 'number' || before === 0) return one;
    const deadline = stampOf(Date.parse(String(deletionTimestamp)) + (grace - before) * 1000);
    const marked = { deletionGracePeriodSeconds: grace, deletionTimestamp: deadline };
    return { ...one, metadata: { ...one.metadata, ...marked } };
  });

const shorterThanThePods: Case[] = [
  ...[500, 3000].map((ms): Case => ({
    sentence: `it ends in the kill at its end, for who came ${ms} ms after the deletion`,
    of: { ...alone({ app: ignoresSignal }), ...somebody },
    edit: [attach, ownIs30, coming(ms)],
    expect: { outcome: 'killed', findings: ['killed-at-grace'] },
  })),
  ...[[5000, 'failed'] as const, [15_000, 'unknown'] as const].map(([ms, outcome]): Case => ({
    sentence: `it is no kill before its end, and not known for one long after it: ${outcome} after ${ms} ms`,
    of: { ...alone({ app: exits137(ms) }), ...pod({ graceSeconds: 30 }), ...somebody },
    edit: [attach, lasting(10), only((one, { at }) => one.kind !== 'listed' || one.at >= at)],
    expect: { containers: { app: { outcome } } },
  })),
];

const zero: Case[] = [
  {
    sentence: 'below the minimum of the kubelet, both stand in the answer',
    of: { ...alone({ app: ignoresSignal }), ...asked(1) },
    expect: {
      outcome: 'killed',
      sentence: /app ignored SIGTERM for 2\.0s \(1s grace period; the kubelet leaves at least 2s\)$/,
    },
  },
  ...[
    ['by us', held(0), []] as const,
    ['by somebody', held(0), [attach]] as const,
    [
      'by somebody who forced it while it ended',
      held(20, {
        later: [
          { kind: 'delete', atMs: 500, graceSeconds: 0 },
          { kind: 'remove-finalizers', atMs: 30_000 },
        ],
      }),
      [],
    ] as const,
  ].map(([who, of, edit]): Case => ({
    sentence: `a finalizer holds a pod that was deleted with it ${who} from its end on`,
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
    sentence: 'a finalizer holds the pod for as long as was watched',
    of: held(5),
    edit: [attach],
    expect: { says: { 'finalizer-held': /^finalizer \S+ held the pod for 2\d/ } },
  },
  {
    sentence: 'a finalizer that a first look found at work had held the pod for at least as long',
    of: held(5),
    edit: [
      attach,
      (all) => {
        const final = changesOf(all, 'pod').find(({ object }) => object.metadata['deletionGracePeriodSeconds'] === 0);
        return coming(({ at }) => (final?.at ?? at) + 16_000)(all);
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
  oom(alone({ app: ignoresSignal }), 'with an end where the grace ends: by the one or by the other', {
    containers: { app: { outcome: 'unknown', kill: false } },
    says: { 'oom-on-exit': /SIGKILLed, either for lack of memory or at the end of its grace period/ },
  }),
  oom(
    { ...alone({ app: exits137(1900) }), ...pod({ graceSeconds: 1 }) },
    'within the least that is left after a signal: nobody can say that nothing was killed',
    { outcome: 'unknown', exitCode: 4 },
  ),
  oom(alone({ app: exits137(300) }), 'well inside the grace, after it was asked to stop: while it was exiting', {
    containers: { app: { outcome: 'oom' } },
    says: { 'oom-on-exit': /^app was OOMKilled while it was shutting down$/m },
  }),
  oom(
    alone({ app: { ...exits137(300), ownExit: { atMs: 700, code: 137 } } }, { ...kubelet({ noticeMs: [2000, 2000] }) }),
    'before the kubelet began with it: not while it was exiting',
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
/** Nothing shows that the kubelet started another attempt. */
const laterRoundUnheard: Edit = (all) => {
  const first = changesOf(all, 'events').find(({ object }) => object['reason'] === 'Killing')?.at ?? 0;
  return all.filter(
    (one) => !(one.kind === 'changed' && ['events', 'node-events'].includes(one.stream) && one.at > first),
  );
};

const countedAnew: Case[] = [
  {
    sentence: 'it is judged from the last time that the kubelet began',
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
    sentence: 'it is nearly spent where the last one was',
    of: restarted(14_000),
    expect: { outcome: 'graceful', says: { 'grace-nearly-spent': /^app used ≈(7|8|9)\.\ds of its 10s grace period/ } },
  },
  {
    sentence: 'an exit is in time where the last one was long enough',
    of: restarted(14_500),
    expect: { outcome: 'graceful' },
  },
  {
    sentence: 'an exit that no kill explains did not overrun the only one that was received: another began unseen',
    of: restarted(14_500),
    edit: [laterRoundUnheard],
    expect: { outcome: 'graceful', without: ['grace-nearly-spent'], noPhases: ['overtime'] },
  },
];

export const graces = {
  'a grace that was lowered': lowered,
  'a grace that was changed before anybody looked': beforeAnybodyLooked,
  'a grace that is shorter than the pod has': shorterThanThePods,
  'a grace of 0': zero,
  'a kill for memory beside it': outOfMemory,
  'a grace that counts anew': countedAnew,
};
