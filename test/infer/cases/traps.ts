/** The traps for a naive tool, by their numbers in SIGNALS.md §6, each with the smallest case that would catch it. */
import { expect } from 'vitest';
import { drains, plainContainer, plainStory } from '../../sim/plain-story.ts';
import type { Story } from '../../sim/story.ts';
import {
  after,
  alone,
  attached,
  changesOf,
  containerOf,
  ignoresSignal,
  editing,
  markOf,
  markedIn,
  storyReport,
} from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import type { ExitReport } from '../../../src/model/report.ts';
import { asked, dies, kubelet, pod, anotherClient } from '../../helpers/story-changes.ts';
import { withoutEvents } from '../../helpers/views.ts';
import type { Case, Edit, Expectation } from './case.ts';
import {
  aboutPod,
  attach,
  change,
  deletionIn,
  each,
  eachDeleted,
  eachStatus,
  list,
  unacknowledged,
  withoutStreams,
} from './edits.ts';

/** This part of the report is the same without the edits. */
const unchanged = (part: (report: ExitReport) => unknown): Expectation => ({
  holds: (report, _, untouched) => expect(part(report)).toEqual(part(untouched())),
});

const deadline: Case[] = [
  {
    sentence: '1: deletionTimestamp is neither the time of the request nor that of the kill',
    of: alone({ app: ignoresSignal }, kubelet({ noticeMs: [2500, 2500] })),
    expect: {
      marks: { accepted: { before: 0.1 } },
      containers: { app: { kill: { until: 12.4 } } },
      holds: (report) => {
        const seconds = (Date.parse(report.grace.deadline) - Date.parse(markOf(report, 'accepted').at.latest)) / 1000;
        expect(seconds).toBeGreaterThan(8.9);
        expect(after(report, containerOf(report).kill).earliest).toBeGreaterThan(seconds + 0.5);
      },
    },
  },
  {
    sentence: '2: the final DELETE rewrites the deadline and the grace period, so the first state with them counts',
    of: 'finalizer',
    expect: {
      report: { grace: { effectiveSeconds: 5 } },
      holds: ({ grace }, rawObservations) => {
        const last = changesOf(rawObservations, 'pod').at(-1)?.object.metadata;
        expect(last?.['deletionGracePeriodSeconds']).toBe(0);
        const marked = markedIn(rawObservations).object.metadata['deletionTimestamp'];
        expect(Date.parse(grace.deadline)).toBe(Date.parse(String(marked)));
        expect(grace.deadline).not.toBe(new Date(String(last?.['deletionTimestamp'])).toISOString());
      },
    },
  },
  {
    sentence: '3: a second DELETE with a shorter grace period changes the pod object but not the running kill',
    of: alone({ app: ignoresSignal }, { later: [{ kind: 'delete', atMs: 3000, graceSeconds: 2 }] }),
    expect: { containers: { app: { kill: { after: 9.9 } } }, findings: ['grace-shortened-ignored'] },
  },
  {
    sentence: '3: a second DELETE with grace period 0 removes the pod object but leaves the container running',
    of: alone({ app: ignoresSignal }, { later: [{ kind: 'delete', atMs: 3000, graceSeconds: 0 }] }),
    expect: { outcome: 'forced', containers: { app: { outcome: 'abandoned' } } },
  },
  {
    sentence: '4: a removal with grace period 0 sends MODIFIED and DELETED, and MODIFIED is no progress of the kubelet',
    of: 'force-delete',
    expect: {
      outcome: 'forced',
      marks: { 'containers-done': false, 'final-delete': false },
      // Only the Killing shows that the kubelet reacted. It arrives after the pod object is removed.
      holds: (report) =>
        expect(markOf(report, 'acknowledged').at.evidence).toEqual(markOf(report, 'stopping/app').at.evidence),
    },
  },
  ...(['unscheduled', 'finished'] as const).map((state): Case => ({
    sentence: `5: a pod that is ${state} has no kubelet phase`,
    of: pod({ state }),
    expect: { outcome: 'removed', noPhases: ['notice', 'prestop', 'drain'], without: ['node-silent'] },
  })),
  {
    sentence: '5: finalizers hold an unscheduled pod from its first DELETE on, which is also the final one',
    of: {
      ...pod({ state: 'unscheduled', finalizers: ['example.com/audit'] }),
      later: [{ kind: 'remove-finalizers', atMs: 4000 }],
    },
    expect: {
      outcome: 'removed',
      says: { 'finalizer-held': /finalizer example\.com\/audit held the pod for [34](\.\d+)?s/ },
      marks: { finalizing: { before: 0.1 } },
      without: ['slow-cleanup'],
      holds: ({ phases }) => {
        const seconds = phases.find(({ name }) => name === 'finalize')?.seconds;
        expect(seconds?.min).toBeGreaterThan(1);
        expect(seconds?.max).toBeGreaterThanOrEqual(4);
      },
    },
  },
  {
    sentence: '6: the first state comes from the API server and shows nothing about the kubelet',
    of: { faults: [{ kind: 'freeze', atMs: -100, forMs: null }], limitMs: 30_000 },
    expect: { marks: { acknowledged: false, stopping: false } },
  },
  {
    sentence: '6: a Killing that arrives before the status shows that the kubelet reacted',
    of: kubelet({ noticeMs: [5, 5], ackMs: [300, 300] }),
    expect: {
      holds: (report) =>
        expect(after(report, markOf(report, 'acknowledged').at).latest).toBe(
          after(report, markOf(report, 'stopping/app').at).latest,
        ),
    },
  },
  {
    sentence: '6: if the Killing is lost, the status shows that the kubelet reacted',
    of: { events: { queueMs: [2, 6], dropped: ['Killing'] } },
    expect: { marks: { acknowledged: { before: 0.2 } }, outcome: 'graceful' },
  },
];

const brokenBeside: Partial<Story> = {
  containers: [plainContainer(), plainContainer({ name: 'broken', state: { kind: 'crashed', code: 137 } })],
};
const notRunning: Expectation = {
  outcome: 'graceful',
  holds: (report) =>
    expect(containerOf(report, 'broken')).toEqual({ name: 'broken', kind: 'container', outcome: 'not-running' }),
};
const sidecar: Partial<Story> = {
  containers: [plainContainer(), plainContainer({ name: 'proxy', kind: 'sidecar', app: drains(200) })],
};

const containers: Case[] = [
  {
    sentence: '7: a crashed container gets no Killing and counts as not running',
    of: brokenBeside,
    expect: notRunning,
  },
  {
    sentence: '7: an older exit of a crashed container does not belong to this deletion',
    of: brokenBeside,
    edit: [
      eachStatus((status) => {
        const stamps = { startedAt: '2026-11-20T22:00:00Z', finishedAt: '2026-11-20T22:00:09Z' };
        if (status['name'] === 'broken')
          status['state'] = { terminated: { exitCode: 137, reason: 'Error', ...stamps } };
      }),
    ],
    expect: notRunning,
  },
  {
    sentence: '8: all statuses change together at the end, so exits are ordered by when they happened',
    of: 'multi-container',
    expect: {
      holds: ({ marks }) =>
        expect(marks.filter(({ name }) => name === 'exited').map(({ subject }) => subject)).toEqual([
          'worker',
          'web',
          'legacy',
        ]),
    },
  },
  {
    sentence: '9: a sidecar gets its Killing with the others and its signal after them',
    of: sidecar,
    expect: {
      marks: { 'stopping/proxy': { before: 0.2 } },
      containers: { proxy: { stopSignal: { until: 1 }, outcome: 'completed' } },
    },
  },
  {
    sentence: '10: Killing is not the signal if a sleep hook runs first',
    of: alone({ preStop: { kind: 'sleep', seconds: 3 } }),
    expect: { marks: { 'stopping/app': { before: 0.2 } }, containers: { app: { stopSignal: { after: 2.9 } } } },
  },
  {
    sentence: '10: Killing is not the signal if an exec hook runs first',
    of: alone({ preStop: { kind: 'exec', takesMs: 3000, fails: false }, logged: false }),
    expect: { containers: { app: { stopSignal: { until: 3 } } } },
  },
  {
    sentence: '11: a hook that fails is reported as failed',
    of: alone({ preStop: { kind: 'exec', takesMs: 500, fails: true } }),
    expect: { containers: { app: { preStop: 'failed' } } },
  },
  {
    sentence: '11: a hook with tcpSocket always fails, and ends no later than its Event shows',
    of: alone({ preStop: { kind: 'tcpSocket' } }),
    expect: { containers: { app: { preStop: 'failed', preStopEnd: { width: 0.2 } } }, truth: true },
  },
  {
    sentence: '11: a hook that runs to the end of the grace period is cut off, not failed',
    of: alone({ preStop: { kind: 'exec', takesMs: null, fails: false } }),
    expect: { containers: { app: { preStop: 'cut-off' } }, without: ['prestop-failed'] },
  },
  {
    sentence: '12: a hook runs with grace period 0 too, but does not complete',
    of: alone({ preStop: { kind: 'sleep', seconds: 8 } }, asked(0)),
    expect: {
      containers: { app: { preStopEnd: { before: 8 } } },
      holds: (report) => expect(containerOf(report).preStop?.outcome).not.toBe('completed'),
    },
  },
  {
    sentence: '12: a hook runs again after a failed kill',
    of: alone({ preStop: { kind: 'sleep', seconds: 2 } }, kubelet({ failedKills: 1 })),
    expect: { truth: true },
  },
  {
    sentence: '13: a pod that outlives its deadline by two or three seconds is not stuck',
    of: alone({ preStop: { kind: 'sleep', seconds: 10 }, app: drains(1500) }),
    expect: { marks: { removed: { after: 11 } }, notOutcome: 'stuck', containers: { app: { outcome: 'completed' } } },
  },
];

const published: Partial<Story> = {
  services: plainStory()
    .services.slice(0, 1)
    .map((service) => ({ ...service, publishNotReadyAddresses: true })),
};

const endpoints: Case[] = [
  {
    sentence: '14: an endpoint shows nothing about one dead container: it stays until the last container exits',
    of: { containers: [plainContainer({ app: dies }), plainContainer({ name: 'slow', app: drains(4000) })] },
    expect: {
      marks: { 'ready-lost': false },
      containers: { app: { exit: { before: 2 } } },
      holds: (report) => expect(after(report, report.endpoints[0]?.removedAt).earliest).toBeGreaterThan(3.9),
    },
  },
  {
    sentence: '15: publishNotReadyAddresses keeps an endpoint ready until it is removed',
    of: published,
    expect: {
      findings: ['stays-ready'],
      without: ['drain-race'],
      holds: (report) => expect(after(report, report.endpoints[0]?.removedAt).earliest).toBeGreaterThan(0.9),
    },
  },
  {
    sentence: '16: the endpoint is removed in the terminal phase, long before the pod, and its slice stays empty',
    of: 'finalizer',
    expect: {
      holds: (report, rawObservations) => {
        expect(changesOf(rawObservations, 'endpointslices').at(-1)?.object['endpoints'] ?? []).toEqual([]);
        const removed = after(report, markOf(report, 'removed').at).latest;
        expect(after(report, report.endpoints[0]?.removedAt).latest).toBeLessThan(removed - 4);
      },
    },
  },
  {
    sentence: '17: the trigger time on a slice is not the time of the deletion',
    of: 'graceful-exit',
    edit: [
      each('endpointslices', (slice) => {
        const annotations = { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-11-20T22:00:00Z' };
        return { ...slice, metadata: { ...slice.metadata, annotations } };
      }),
    ],
    expect: unchanged(({ endpoints }) => endpoints),
  },
];

const stopping = 'Stopping container app';
/** The Killing repeats one from half an hour earlier. */
const repeatedKilling: Edit = (all) => {
  const again = aboutPod('Killing', stopping, 8, { count: 2, firstMs: -1_800_000 })(deletionIn(all));
  return editing(all, 'events', (event) => (event['reason'] === 'Killing' ? again : event));
};
const startsNow = (report: ExitReport): void => {
  expect(after(report, markOf(report, 'stopping/app').at).earliest).toBeGreaterThanOrEqual(0);
};

const events: Case[] = [
  {
    sentence: '18: a liveness probe that fails during termination does not restart a sidecar',
    of: sidecar,
    edit: [
      change(
        605,
        'events',
        aboutPod('Unhealthy', 'Liveness probe failed: HTTP 503', 600, { container: 'proxy' }),
        'ADDED',
      ),
    ],
    expect: {
      containers: { app: { outcome: 'completed' }, proxy: { outcome: 'completed' } },
      ...unchanged(({ verdict }) => verdict.findings.map(({ code }) => code)),
    },
  },
  {
    sentence: '19: a repeated Event keeps its old name and first time; only its last time counts',
    of: {},
    edit: [repeatedKilling],
    expect: { marks: { 'stopping/app': { before: 0.2 } }, holds: startsNow },
  },
  {
    sentence: '19: a Killing from an earlier list whose count the deletion raises belongs to the deletion',
    of: {},
    edit: [repeatedKilling, list(-1200, 'events', aboutPod('Killing', stopping, -1_800_000))],
    expect: {
      marks: { 'stopping/app': { before: 0.2 } },
      containers: { app: { outcome: 'completed' } },
      without: ['kubelet-restarted'],
      holds: startsNow,
    },
  },
  ...[
    'Container app failed liveness probe, will be restarted',
    'Container app definition changed',
    'Container app resize requires restart',
  ].map((message): Case => ({
    sentence: `20: a Killing that says "${message}" does not belong to the deletion`,
    of: alone({}, kubelet({ noticeMs: [1500, 1500] })),
    edit: [change(30, 'events', aboutPod('Killing', message, 20), 'ADDED')],
    expect: { marks: { 'stopping/app': { until: 1.4 } }, without: ['kubelet-restarted'] },
  })),
  {
    sentence: '21: an Event without a uid belongs to the pod',
    of: 'taint-evicted',
    expect: { evidence: /TaintManagerEviction/ },
  },
  {
    sentence: '21: an Event with another uid belongs to another pod',
    of: alone({}, kubelet({ noticeMs: [1500, 1500] })),
    edit: [change(30, 'events', aboutPod('Killing', stopping, 20, { uid: 'uid-of-another' }), 'ADDED')],
    expect: { marks: { 'stopping/app': { until: 1.4 } } },
  },
];

/** The pod's DELETED never arrives. */
const removalUnseen: Edit = (all) => {
  const { uid } = markedIn(all).object.metadata;
  return all.filter(
    (one) =>
      one.kind !== 'changed' ||
      one.stream !== 'pod' ||
      one.change !== 'DELETED' ||
      (one.object as Raw).metadata.uid !== uid,
  );
};
const succeeded: Expectation = {
  outcome: 'graceful',
  marks: { removed: true },
  holds: (report, rawObservations) => {
    const { uid } = markedIn(rawObservations).object.metadata;
    expect(report.pod.uid).toBe(uid);
    expect(report.replacement?.uid).not.toBe(uid);
  },
};
const evicted = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' };
const withCondition = (object: Raw): Raw => ({
  ...object,
  status: { ...object.status, conditions: [...((object.status['conditions'] ?? []) as object[]), evicted] },
});
/** The condition arrives with the state after the one that sets deletionTimestamp. */
const conditionLater: Edit = (all) => {
  const first = markedIn(all).object.metadata['resourceVersion'];
  return eachDeleted((object) => (object.metadata['resourceVersion'] === first ? object : withCondition(object)))(all);
};
const asMirror = each('pod', (object) => ({
  ...object,
  metadata: { ...object.metadata, annotations: { 'kubernetes.io/config.mirror': 'a1b2' } },
}));
const logsStayOpen: Edit = (all) => all.filter((one) => one.kind !== 'log-ended');
const endedByKubelet =
  (reason: string): Edit =>
  (all) => {
    const failed = editing(all, 'pod', (object) => ({
      ...object,
      status: { ...object.status, phase: 'Failed', reason },
    }));
    return failed.filter((one) => one.at < markedIn(failed).at);
  };
/** An attached run that waits at most 60 s. */
const attachFor60: Edit = (all) => attached(all, 60);
const timesOut: Edit = (all) => [...all, { at: (all.at(-1)?.at ?? 0) + 1, kind: 'timer', name: 'timeout' }];
const held = (finalizer: string): Partial<Story> => ({
  ...pod({ finalizers: [finalizer] }),
  later: [{ kind: 'remove-finalizers', atMs: 6000 }],
});

const objects: Case[] = [
  { sentence: '22: a successor of the same name is another pod', of: 'statefulset', expect: succeeded },
  {
    sentence: '22: a successor of the same name shows that the old pod was removed, even if DELETED is lost',
    of: 'statefulset',
    edit: [removalUnseen],
    expect: succeeded,
  },
  {
    sentence: '23: the final phase only reflects exit codes: Failed with 143 is a normal shutdown',
    of: 'exit-143',
    expect: {
      outcome: 'graceful',
      holds: (_, rawObservations) =>
        expect(changesOf(rawObservations, 'pod').at(-1)?.object.status['phase']).toBe('Failed'),
    },
  },
  {
    sentence: '24: 137 ContainerStatusUnknown, which the kubelet makes up, shows no kill',
    of: alone({ app: { ...drains(1000), lost: true } }),
    expect: { containers: { app: { outcome: 'unknown', kill: false } } },
  },
  {
    sentence: '24: 137 ContainerStatusUnknown of a pod that never started means that nothing was running',
    of: pod({ state: 'never-started' }),
    expect: { outcome: 'removed', containers: { app: { outcome: 'not-running' } } },
  },
  {
    sentence: '25: podexit ignores terminated.signal, which the kubelet never sets',
    of: {},
    edit: [
      eachStatus(({ state }) => {
        const end = state['terminated'] as Record<string, unknown> | undefined;
        if (end) end['signal'] = 9;
      }),
    ],
    expect: unchanged((report) => report),
  },
  {
    sentence: '26: a DisruptionTarget added after the deletion is not its cause',
    of: anotherClient,
    edit: [conditionLater],
    expect: { trigger: 'unknown' },
  },
  {
    sentence: '26: a DisruptionTarget added with the deletion is its cause',
    of: anotherClient,
    edit: [eachDeleted(withCondition)],
    expect: { trigger: 'eviction-api' },
  },
  {
    sentence: '27: Ready=False from the node controller shows nothing about the container',
    of: alone({ app: drains(4000) }),
    edit: [
      change(900, 'pod', ({ pod: { metadata, status, ...rest } }) => {
        const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-11-20T23:04:31Z' }];
        const resourceVersion = String(Number(metadata['resourceVersion']) + 1);
        return { ...rest, metadata: { ...metadata, resourceVersion }, status: { ...status, conditions } };
      }),
    ],
    expect: { marks: { 'ready-lost': false }, containers: { app: { exit: { after: 3.9 } } } },
  },
  {
    sentence: '28: no Event reports that the grace period ended: exit code and time show the kill',
    of: 'sigkill-after-grace',
    expect: {
      containers: { app: { outcome: 'killed' } },
      holds: (_, rawObservations) =>
        expect(changesOf(rawObservations, 'events').map((one) => one.object['reason'])).not.toContain(
          'ExceededGracePeriod',
        ),
    },
  },
  {
    sentence: '29: DELETED may still list finalizers',
    of: held('example.com/audit'),
    expect: {
      marks: { removed: true },
      outcome: 'graceful',
      holds: (_, rawObservations) =>
        expect(changesOf(rawObservations, 'pod').at(-1)).toMatchObject({
          change: 'DELETED',
          object: { metadata: { finalizers: ['example.com/audit'] } },
        }),
    },
  },
  {
    sentence: '29: a Job’s pod waits until its job-tracking finalizer is removed',
    of: held('batch.kubernetes.io/job-tracking'),
    expect: { says: { 'finalizer-held': /batch\.kubernetes\.io\/job-tracking/ } },
  },
  {
    sentence: '30: the DELETE of a mirror pod stops nothing, so podexit reports neither exit nor kill',
    of: asked(0),
    edit: [asMirror, withoutStreams('events'), logsStayOpen],
    expect: {
      containers: { app: { exit: false, kill: false } },
      without: ['unmanaged-pod'],
      says: { 'force-deleted': /static pod/ },
    },
  },
  {
    sentence: '30: a mirror pod removed with grace period 0 leaves unknown whether the kubelet stopped the containers',
    of: { trigger: { ...anotherClient.trigger, graceSeconds: 0 } },
    edit: [attach, asMirror, withoutStreams('events'), logsStayOpen],
    expect: {
      outcome: 'unknown',
      exitCode: 4,
      severity: { 'force-deleted': 'info' },
      says: { 'force-deleted': /unless its manifest was removed/ },
    },
  },
  ...['Evicted', 'Preempting', 'Terminated', 'DeadlineExceeded'].map((reason): Case => ({
    sentence: `31: a pod that the kubelet ended (${reason}) is not deleted, and podexit does not wait for a deletion`,
    of: { ...pod({ state: 'finished' }), trigger: { kind: 'unknown', atMs: 40_000, graceSeconds: null } },
    edit: [attachFor60, endedByKubelet(reason)],
    expect: {
      outcome: 'not-started',
      exitCode: 3,
      report: { pod: { reason } },
      sentence: new RegExp(`the kubelet ended the pod by itself \\(${reason}\\)`),
      holds: ({ marks }) => expect(marks).toEqual([]),
    },
  })),
  {
    sentence: '32: on a node that is down, a passed deadline does not show a kill',
    of: { faults: [{ kind: 'freeze', atMs: -100, forMs: null }], limitMs: 45_000 },
    edit: [timesOut],
    expect: {
      outcome: 'stuck',
      findings: ['node-silent'],
      containers: { app: { kill: false } },
      sentence: /waiting for the kubelet on node1, which is not responding$/,
    },
  },
  {
    sentence: '32: a kubelet whose Events may not be read, and that acknowledges nothing, does not count as silent',
    of: { ...alone({ app: drains(50_000) }), ...pod({ graceSeconds: 60 }), limitMs: 20_000 },
    edit: [withoutEvents, unacknowledged, timesOut],
    expect: { outcome: 'stuck', without: ['node-silent'], sentence: /waiting for the kubelet on node1$/ },
  },
];

const exactness: Case[] = [
  ...[0, 130, 370, 620, 990].map((offset): Case => ({
    sentence: `33: finishedAt is cut to whole seconds, so the exit may be anywhere in its second (+${offset} ms)`,
    of: {
      ...alone({ app: { ...dies, onSignal: { kind: 'exits', afterMs: 2400, code: 3 } }, logged: false }),
      beganAt: plainStory().beganAt + offset,
    },
    expect: {
      holds: (report) => {
        const exit = after(report, containerOf(report).exit?.at);
        expect(exit.earliest).toBeLessThanOrEqual(2.42);
        expect(exit.latest).toBeGreaterThanOrEqual(2.4);
      },
    },
  })),
  {
    sentence: '34: a status patch that changes nothing relevant adds no mark',
    of: kubelet({ patchesResources: true }),
    expect: {
      holds: ({ marks }) =>
        expect(marks.map(({ id }) => id)).toEqual(
          storyReport(kubelet({ patchesResources: false })).marks.map(({ id }) => id),
        ),
    },
  },
  {
    sentence: '35: an accepted eviction returns no Pod object',
    of: { trigger: { kind: 'eviction-api', atMs: 1240 } },
    expect: { trigger: 'eviction-api', report: { grace: { effectiveSeconds: 10 } } },
  },
  {
    sentence: '35: a failed eviction starts no deletion',
    of: { trigger: { kind: 'eviction-api', atMs: 1240 } },
    edit: [
      (all) => {
        const { at } = markedIn(all);
        const before = all.filter((one) => one.kind !== 'answered' && one.at < at);
        return [...before, { at, kind: 'answered', verb: 'evict', status: 500 }];
      },
    ],
    expect: { marks: { accepted: false } },
  },
  {
    sentence: '36: a kubelet restart ends every log, but there is only one stop signal and the exit comes later',
    of: alone({ app: drains(8000) }, { faults: [{ kind: 'kubelet-restart', atMs: 700, downMs: 2500 }] }),
    expect: {
      findings: ['kubelet-restarted'],
      containers: { app: { exit: { after: 7 } } },
      holds: ({ marks }) => expect(marks.filter(({ name }) => name === 'stop-signal')).toHaveLength(1),
    },
  },
  {
    sentence: '37: the condition shows a preemption one write before the deletion; the Event follows',
    of: 'preempted',
    expect: { trigger: 'preemption', evidence: /PreemptionByScheduler[^]*Preempted/ },
  },
  {
    sentence: '37: the condition alone shows a preemption',
    of: 'preempted',
    edit: [withoutStreams('events')],
    expect: { trigger: 'preemption' },
  },
  {
    sentence: '38: an owner deleted in the background is removed before the pod gets its deletionTimestamp',
    of: 'owner-deleted',
    expect: { trigger: 'owner-deleted' },
  },
  {
    sentence: '38: an owner deleted in the background is recognized without Events',
    of: 'owner-deleted',
    edit: [withoutStreams('events', 'owner-events')],
    expect: { trigger: 'owner-deleted' },
  },
  {
    sentence: '38: the trigger is unknown if podexit cannot read the deleted owner',
    of: 'owner-deleted',
    edit: [withoutStreams('owner')],
    expect: { trigger: 'unknown' },
  },
];

export const traps = {
  'deadline and grace period': deadline,
  containers,
  endpoints,
  events,
  objects,
  precision: exactness,
};
