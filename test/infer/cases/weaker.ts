/** The same exits with less evidence, or with evidence that came late: they must not claim more, or anything untrue. */
import { expect } from 'vitest';
import { drains, plainContainer } from '../../sim/plain-story.ts';
import { timelineOf } from '../../../src/infer/conclude.ts';
import type { RawObservation, StreamName } from '../../../src/model/observation.ts';
import { adding, alone, editing, ignoresSignal, stampOf } from '../../helpers/cases.ts';
import { observationsOf, traceOf } from '../../helpers/recordings.ts';
import { asked, dies, kubelet, pod } from '../../helpers/story-changes.ts';
import { withoutEvents, withoutLeases } from '../../helpers/views.ts';
import type { Case, Edit } from './case.ts';
import { also, arriving, attach, deletionIn, ending, only, startingAfter } from './edits.ts';

/** The first list has the node as Unknown, and its changes until `ms` do not arrive. */
const unreachableBefore =
  (ms: number): Edit =>
  (all) => {
    const { at } = deletionIn(all);
    return editing(all, 'node', (node, { kind, at: arrived }) => {
      if (kind === 'changed') return arrived < at + ms ? undefined : node;
      const ready = (node.status['conditions'] as Record<string, unknown>[]).find((one) => one['type'] === 'Ready');
      if (ready) ready['status'] = 'Unknown';
      return node;
    });
  };

/** The stream was cut at `from`; a list at `to` no longer has the pod. ms after the deletion. */
const goneIn =
  (from: number, to: number): Edit =>
  (all) => {
    const { at } = deletionIn(all);
    const stream = 'pod' satisfies StreamName;
    const isLost = (one: RawObservation) => one.kind === 'changed' && one.stream === stream && one.at > at + from;
    return adding(
      all.filter((one) => !isLost(one)),
      { at: at + to, kind: 'gap', stream, from: at + from, to: at + to, cause: 'expired' },
      { at: at + to, kind: 'listed', stream, resourceVersion: '9999999', objects: [], name: 'batch-1' },
    );
  };

/** The log opens only `ms` after the deletion. */
const logOpensAfter =
  (ms: number): Edit =>
  (all) => {
    const { at } = deletionIn(all);
    const gap: RawObservation = { at, kind: 'gap', stream: 'logs', container: 'app', from: at, cause: 'not-synced' };
    const late = all.flatMap((one): RawObservation[] => {
      if (one.kind === 'log-opened') return [{ ...one, at: at + ms }];
      return one.kind === 'line' && one.at < at + ms ? [] : [one];
    });
    return adding(late, gap);
  };

const silent = { ...alone({ app: ignoresSignal }), ...pod({ graceSeconds: 6 }) };

export const weaker: Readonly<Record<string, Case[]>> = {
  'less evidence, or late evidence': [
    {
      sentence: 'a kubelet that stood still in a sleep hook shows in the late log line, even without Events',
      of: 'kubelet-frozen-in-sleep-hook',
      edit: [withoutEvents],
      expect: { containers: { app: { preStopEnd: { until: 6.5 }, stopSignal: { until: 6.5 } } } },
    },
    {
      sentence: 'a node that goes from Unknown to False became NotReady before',
      of: 'node-down',
      edit: [unreachableBefore(55_000)],
      expect: { marks: { 'node-not-ready': false } },
    },
    {
      sentence: 'a kubelet that waits for a postStart hook does not count as silent if no Lease may be read',
      of: 'poststart-hang',
      edit: [withoutLeases],
      expect: { findings: ['slow-start'], without: ['node-silent'] },
    },
    {
      sentence: 'a container whose postStart hook runs counts as running, once an Event shows its start',
      of: 'poststart-hang',
      edit: [only((one, { at }) => one.at < at + 2000)],
      expect: { containers: { app: { outcome: 'unknown' } } },
    },
    {
      sentence: 'a silent container was killed if its log was followed all the time',
      of: silent,
      expect: { outcome: 'killed', says: { 'killed-at-grace': /^app was SIGKILLed/ } },
    },
    {
      sentence: 'a silent container was only probably killed if its log opened late',
      of: silent,
      edit: [logOpensAfter(3000)],
      expect: { outcome: 'killed', says: { 'killed-at-grace': /^app was probably SIGKILLed/ } },
    },
    {
      sentence: 'a silent container was only probably killed if its log broke off',
      of: silent,
      edit: [
        only((one, { at }) => one.kind !== 'log-ended' && !(one.kind === 'line' && one.at > at + 2000)),
        also(({ at }) => ({ at: at + 2000, kind: 'log-ended', container: 'app', clean: false })),
      ],
      expect: { outcome: 'killed', says: { 'killed-at-grace': /^app was probably SIGKILLed/ } },
    },
    {
      sentence: 'a finishedAt long before the Killing of its container is not believed',
      of: 'grace-shortened',
      edit: [ending(({ at }) => ({ finishedAt: stampOf(at - 60_000) }))],
      expect: {
        containers: { app: { outcome: 'killed', exit: { until: 32 } } },
        without: ['exit-nonzero', 'endpoint-not-removed', 'slow-cleanup'],
        holds: (_, rawObservations) => {
          const { contradictions } = timelineOf(traceOf(observationsOf(rawObservations))) ?? {};
          expect(contradictions).toEqual([{ about: 'exit/app', because: 'finishedAt (§5)' }]);
        },
      },
    },
    {
      sentence: 'a pod that finalizers keep is not removed by a DELETE with grace 0, so nobody knows what still ran',
      of: {
        ...alone({ app: drains(300), logged: false }),
        ...pod({ name: 'batch-1', graceSeconds: 0, finalizers: ['batch.kubernetes.io/job-tracking'] }),
        ...asked(0),
        owner: { kind: 'job', name: 'batch' },
      },
      edit: [goneIn(200, 4000)],
      expect: { notOutcome: 'forced', containers: { app: { outcome: 'unknown' } }, without: ['force-deleted'] },
    },
    {
      sentence: 'a kubelet that stood still ends logs long after their containers',
      of: {
        ...alone({ app: drains(2950) }),
        ...pod({ name: 'batch-1', graceSeconds: 20 }),
        faults: [{ kind: 'freeze', atMs: 3000, forMs: 25_000 }],
        readsLeases: true,
      },
      edit: [arriving((one) => (one.kind === 'log-ended' ? one.at + 800 : one.at)), goneIn(200, 33_000)],
      expect: { marks: { 'exited/app': { from: 3, until: 3 } } },
    },
    {
      sentence: 'a container that outlives its deadline shows a second attempt for the others too, even without Events',
      of: {
        containers: [
          plainContainer({ name: 'slow', preStop: { kind: 'exec', takesMs: 25_000, fails: false }, app: dies }),
          plainContainer({ app: { ...dies, onSignal: { kind: 'oom', afterMs: 34 } } }),
        ],
        ...pod({ graceSeconds: 30 }),
        ...asked(null),
        ...kubelet({ failedKills: 1 }),
      },
      edit: [withoutEvents],
      expect: { containers: { app: { stopSignal: { until: 35 } } } },
    },
    {
      sentence: 'the kubelet did not report an exit late that the first list has already',
      of: { ...alone({ state: { kind: 'crashed', code: 1 } }), ...asked(null), ...kubelet({ noticeMs: [1900, 1900] }) },
      edit: [attach, startingAfter(700), only(({ kind }) => kind !== 'dated')],
      expect: { without: ['slow-cleanup'] },
    },
    ...['graceful-exit', 'prestop-sleep', 'sigkill-after-grace', 'node-down'].map((of): Case => ({
      sentence: `a run that starts late and gets no Date header prints only numbers (${of})`,
      of,
      edit: [attach, startingAfter(2700), only(({ kind }) => kind !== 'dated')],
      expect: { holds: (report) => expect(JSON.stringify(report)).not.toContain('NaN') },
    })),
  ],
};
