/** Evidence that the kubelet reacted, findings that need proof, and times without a bound. */
import { expect } from 'vitest';
import { drains } from '../../sim/plain-story.ts';
import type { AppStory, Story } from '../../sim/story.ts';
import { endedLikeLive } from '../../../scripts/convert/end-like-live.ts';
import type { RawObservation } from '../../../src/model/observation.ts';
import {
  after,
  alone,
  changed,
  ignoresSignal,
  editing,
  listed,
  markOf,
  slicesRefused,
  stampOf,
} from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import { mustRender, observationsOf, traceOf } from '../../helpers/recordings.ts';
import { kubelet, pod, anotherClient } from '../../helpers/story-changes.ts';
import type { Case, Edit } from './case.ts';
import {
  aboutPod,
  also,
  arriving,
  attach,
  deletionIn,
  each,
  ending,
  event,
  inList,
  unacknowledged,
  withoutStreams,
} from './edits.ts';

const probe = 'Container app failed liveness probe, will be restarted';

const long = (app: AppStory): Partial<Story> => ({ ...alone({ app }), ...pod({ graceSeconds: 30 }) });
const quietly: AppStory = { ...drains(15_000), saysOnSignal: undefined, lines: [] };
const silent: Edit[] = [withoutStreams('events'), unacknowledged];
const eventsLost =
  (ms: number): Edit =>
  (all) =>
    also(({ at }): RawObservation => ({
      at: at + ms,
      kind: 'gap',
      stream: 'events',
      from: at + ms,
      cause: 'disconnected',
    }))(all);
const eventsRefused = also(({ runStart }): RawObservation => ({
  ...slicesRefused(runStart),
  stream: 'events',
  resource: 'events',
  group: '',
}));
/** The node is dead. 30 s later PodGC writes the status and removes the pod. */
const sweptByPodGc =
  (isManaged: boolean): Edit =>
  (all) => {
    const { at, pod: object } = deletionIn(all);
    const version = BigInt(String(object.metadata['resourceVersion']));
    const field = (manager: string, time: number) => ({
      ...{ manager, operation: 'Update', subresource: 'status' },
      time: stampOf(time),
    });
    const managed = (one: Raw, time: number, later = 0n): Raw => ({
      ...one,
      metadata: {
        ...one.metadata,
        ...(later > 0n && { resourceVersion: String(version + later) }),
        managedFields: isManaged ? [field('kubelet', at - 5000), field('kube-controller-manager', time)] : [],
      },
    });
    const generation = object.metadata['generation'];
    const failed = { ...object, status: { ...object.status, phase: 'Failed', observedGeneration: generation } };
    const early = editing(all, 'pod', (one) => managed(one, at - 60_000)).filter((one) => one.at < at + 25_000);
    return also(
      () => changed(at + 30_000, 'pod', managed(failed, at + 30_000, 100n)),
      () => changed(at + 30_008, 'pod', managed(failed, at + 30_000, 101n), 'DELETED'),
    )(early);
  };

const kubeletEvidence: Case[] = [
  {
    sentence: 'a log line about the signal shows that the kubelet reacted if the namespace accepts no Events',
    of: { ...long(drains(15_000)), trigger: { kind: 'namespace-deletion', atMs: 1240 } },
    edit: [unacknowledged],
    expect: {
      without: ['node-silent'],
      holds: (report, rawObservations) => {
        const { earliest, latest } = markOf(report, 'acknowledged').at;
        const { at } = deletionIn(rawObservations);
        expect(Date.parse(earliest)).toBeLessThanOrEqual(at);
        expect(Date.parse(latest)).toBeLessThan(at + 2000);
      },
    },
  },
  {
    sentence: 'the exit alone shows that the kubelet reacted, but not when',
    of: { ...long(quietly), ...anotherClient },
    edit: silent,
    expect: { marks: { acknowledged: { from: 0.01 } } },
  },
  {
    sentence: 'node-silent is reported if an Event or a status could have shown a reaction',
    of: { ...long(quietly), ...anotherClient },
    edit: silent,
    expect: { findings: ['node-silent'] },
  },
  {
    sentence: 'node-silent is not reported if podexit may not read Events',
    of: { ...long(quietly), ...anotherClient },
    edit: [...silent, eventsRefused],
    expect: { without: ['node-silent'] },
  },
  {
    sentence: 'node-silent is not reported if Events are lost from 2 s on',
    of: { ...long(quietly), ...anotherClient },
    edit: [...silent, eventsLost(2000)],
    expect: { without: ['node-silent'] },
  },
  {
    sentence: 'node-silent is reported if Events are lost only from 12 s on',
    of: { ...long(quietly), ...anotherClient },
    edit: [...silent, eventsLost(12_000)],
    expect: { findings: ['node-silent'] },
  },
  ...[true, false].map((isManaged): Case => ({
    sentence: `a status that PodGC writes for a dead node is no kubelet reaction (managedFields: ${isManaged})`,
    of: { faults: [{ kind: 'freeze', atMs: -100, forMs: null }], limitMs: 40_000 },
    edit: [sweptByPodGc(isManaged)],
    expect: { marks: { acknowledged: false }, findings: ['node-silent'] },
  })),
];

const audited: Edit = (all) => {
  const { pod: object, removed } = deletionIn(all);
  const kept = editing(all, 'pod', (one, rawObservation) => {
    if (one.metadata.uid !== object.metadata.uid) return one;
    const later = rawObservation.kind === 'changed' && rawObservation.change === 'DELETED' ? 5n : 0n;
    const resourceVersion = String(BigInt(String(one.metadata['resourceVersion'])) + later);
    return { ...one, metadata: { ...one.metadata, finalizers: ['example.com/audit'], resourceVersion } };
  });
  return arriving((one) =>
    one.kind === 'changed' && one.change === 'DELETED' && one.at === removed ? one.at + 20_000 : one.at,
  )(kept);
};
const withoutSandboxCondition = each('pod', (one) => {
  const conditions = (one.status['conditions'] ?? []) as { type: string }[];
  const left = conditions.filter(({ type }) => type !== 'PodReadyToStartContainers');
  return { ...one, status: { ...one.status, conditions: left } };
});
const slow = kubelet({ cleanupMs: [9000, 9000] });
const longSleep = alone({ preStop: { kind: 'sleep', seconds: 60 }, logged: false, app: drains(200) });

const proved: Case[] = [
  {
    sentence:
      'a readiness probe that the kubelet cancels (1.35, 1.36.3; kubernetes#140881) is no reaction of the application',
    of: 'sigkill-after-grace',
    edit: [event('Unhealthy', 'Readiness probe errored and resulted in unknown state: context canceled', 2000)],
    expect: { findings: ['no-signal-handling'], outcome: 'killed' },
  },
  {
    sentence: 'a readiness probe that fails may be a reaction of the application',
    of: 'sigkill-after-grace',
    edit: [event('Unhealthy', 'Readiness probe failed: command failed', 2000)],
    expect: { without: ['no-signal-handling'] },
  },
  {
    sentence: 'a log that ends long before the kill does not show that the application ignored its signal',
    of: 'sigkill-after-grace',
    edit: [arriving((one, { at }) => (one.kind === 'log-ended' ? at + 1000 : one.at))],
    expect: { without: ['no-signal-handling'] },
  },
  {
    sentence: 'a finalizer holds a pod that had finished before its deletion',
    of: 'completed',
    edit: [audited],
    expect: { says: { 'finalizer-held': /20\.\ds/ } },
  },
  {
    sentence: 'slow-cleanup says that the sandbox was already gone',
    of: slow,
    expect: { says: { 'slow-cleanup': /^The sandbox was gone by then.*volumes/m } },
  },
  {
    sentence: 'slow-cleanup names the sandbox as a possible cause if no condition reports it',
    of: slow,
    edit: [withoutSandboxCondition],
    expect: { says: { 'slow-cleanup': /^It waited for the sandbox, volumes/m } },
  },
  {
    sentence: 'slow-cleanup counts from the last exit if the kubelet reports it late',
    of: { ...alone({ app: drains(1000) }), ...kubelet({ sandboxMs: [20_000, 20_000] }) },
    expect: {
      outcome: 'graceful',
      says: { 'slow-cleanup': /^it took ≈\d\ds until the kubelet reported the last exit\n/ },
      sentence:
        /^Graceful: app exited .* after SIGTERM \(.*\), then it took ≈\d\ds until the kubelet reported the last exit$/,
    },
  },
  {
    sentence: 'prestop-cut-off says that the container had only 2s after SIGTERM',
    of: longSleep,
    expect: { says: { 'prestop-cut-off': /; app had only 2s after SIGTERM$/m } },
  },
  {
    sentence: 'prestop-cut-off says that the container had already exited',
    of: longSleep,
    edit: [ending(({ at }) => ({ finishedAt: stampOf(at + 1200) }))],
    expect: { says: { 'prestop-cut-off': /, though app had already exited$/m } },
  },
  ...[
    [2000, /it was restarting app, whose probe had failed/] as const,
    [120_000, /(an image pull or )?a busy kubelet or container runtime may be the cause/] as const,
  ].map(([ms, why]): Case => ({
    sentence: `slow-start uses a probe failure ${ms} ms before the deletion as its explanation: ${why.source}`,
    of: 'node-down',
    edit: [inList('events', aboutPod('Killing', probe, -ms))],
    expect: {
      holds: (_, rawObservations) => {
        const { findings } = mustRender(traceOf(observationsOf([...endedLikeLive(rawObservations)]))).verdict;
        expect(findings.find(({ code }) => code === 'slow-start')?.why).toMatch(why);
      },
    },
  })),
];

const ahead = 60_000;
const still = { offsetMs: 0, driftPpm: 0 };
const youngPod: Partial<Story> = {
  ...alone({ app: drains(1500) }),
  trigger: { kind: 'unknown', atMs: 1240, graceSeconds: 1 },
  clocks: { api: { offsetMs: ahead, driftPpm: 0 }, node: still, controller: still, client: still },
};
/** Created 30 s before its deletion, by the API server's clock. */
const young: Edit = (all) => {
  const creationTimestamp = stampOf(deletionIn(all).at - 4 + ahead - 30_000);
  return editing(all, 'pod', (one) => ({ ...one, metadata: { ...one.metadata, creationTimestamp } }));
};
/** The run starts this many ms after the deletion. `offset`: that of the Date headers; undefined: no Date headers. */
const late =
  (afterMs: number, offset?: number): Edit =>
  (all) => {
    const start = deletionIn(all).at + afterMs;
    const last = all.findLast((one) => one.kind === 'changed' && one.stream === 'pod' && one.at < start);
    const date = Math.floor((start + (offset ?? 0)) / 1000) * 1000;
    return [
      ...all.filter(({ kind }) => kind === 'began').map((one) => ({ ...one, at: start })),
      ...(offset === undefined ? [] : [{ at: start + 1, kind: 'dated', sentAt: start, date } satisfies RawObservation]),
      listed(start + 5, 'pod', last?.kind === 'changed' ? last.object : undefined),
      ...all.filter((one) => one.at >= start + 5 && one.kind !== 'dated'),
    ];
  };
const slowToNotice: Partial<Story> = {
  ...alone({ app: ignoresSignal }),
  trigger: { kind: 'unknown', atMs: 1240, graceSeconds: 1 },
  ...kubelet({ noticeMs: [4000, 4000] }),
};

const unbounded: Case[] = [
  {
    sentence: 'an API server clock ahead of ours does not move the deletion to the start of the run',
    of: youngPod,
    edit: [attach, young, late(1200, ahead)],
    expect: {
      holds: (report, rawObservations) => {
        const accepted = (rawObservations[0]?.at ?? NaN) - 1200 - 4;
        const earliest = Date.parse(markOf(report, 'accepted').at.earliest);
        expect(earliest).toBeLessThanOrEqual(accepted);
        expect(earliest).toBeGreaterThan(accepted - 33_000);
      },
    },
  },
  {
    sentence: 'the deletion has no lower bound if the offset of the API server’s clock is unknown',
    of: youngPod,
    edit: [attach, young, late(1200)],
    expect: { holds: (report) => expect(Date.parse(markOf(report, 'accepted').at.earliest)).toBe(0) },
  },
  {
    sentence: 'a phase without a maximum of its own lasts at most from its earliest start to its latest end',
    of: slowToNotice,
    edit: [attach, late(5000, 0)],
    expect: {
      lasting: { notice: { from: 4.01, until: 3.99 } },
      holds: (report) => {
        const notice = report.phases.find(({ name }) => name === 'notice');
        const longest = after(report, notice?.end).latest - after(report, notice?.start).earliest;
        expect(notice?.seconds.max).toBeCloseTo(longest, 1);
      },
    },
  },
  {
    sentence: 'a phase is left out if the offset of the API server’s clock is unknown, too',
    of: slowToNotice,
    edit: [attach, late(5000)],
    expect: { noPhases: ['notice'] },
  },
  {
    sentence: 'the finalize phase may be longer than the part that podexit observed',
    of: {
      ...pod({ state: 'unscheduled', finalizers: ['example.com/audit'] }),
      ...anotherClient,
      later: [{ kind: 'remove-finalizers', atMs: 10_000 }],
    },
    edit: [attach, late(1500, 0)],
    expect: { lasting: { finalize: { from: 10.01, until: 9.99 } } },
  },
];

export const signs = {
  'evidence that the kubelet reacted': kubeletEvidence,
  'findings that need proof': proved,
  'times without a bound': unbounded,
};
