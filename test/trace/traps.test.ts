/** The 38 traps for a naive tool that the notes on signals list: each with the smallest case that would catch one. */
import { describe, expect, it } from 'vitest';
import { drains, plainContainer, plainStory } from '../../src/loopback/kubelet/plain-story.ts';
import type { AppStory, Story } from '../../src/loopback/kubelet/story.ts';
import type { Sighting } from '../../src/trace/observation.ts';
import {
  adding,
  after,
  alone,
  attached,
  changed,
  changesOf,
  containerOf,
  deaf,
  editing,
  eventOf,
  findingCodes,
  hasMark,
  judged,
  markOf,
  markedIn,
  recorded,
  storyReport,
  told,
  without,
} from '../helpers/cases.ts';
import type { Raw } from '../helpers/cases.ts';
import { judgeStory } from '../helpers/simulated.ts';

const kubelet = (change: Partial<Story['kubelet']>) => ({ kubelet: { ...plainStory().kubelet, ...change } });
const pod = (change: Partial<Story['pod']>) => ({ pod: { ...plainStory().pod, ...change } });
const asked = (graceSeconds: number | null) => ({
  trigger: { kind: 'this-command', atMs: 1240, graceSeconds, uid: false } as const,
});
const somebody = { trigger: { kind: 'unknown', atMs: 1240, graceSeconds: null } as const };
const dies: AppStory = { onSignal: { kind: 'dies' }, lost: false, lines: [] };

/** An Event of the kubelet about a container of the story's pod. */
function aboutPod(
  sightings: readonly Sighting[],
  reason: string,
  message: string,
  time: { at: number; count?: number; firstAt?: number },
) {
  const { name, uid } = markedIn(sightings).object.metadata;
  return eventOf({ kind: 'Pod', name, uid, container: 'app' }, { reason, message }, time);
}

const statuses = (object: Raw) => (object.status['containerStatuses'] ?? []) as Record<string, unknown>[];

describe('the deadline and the grace', () => {
  it('1: deletionTimestamp is neither the request nor the kill', () => {
    const report = storyReport(alone({ app: deaf }, kubelet({ noticeMs: [2500, 2500] })));
    const deadline = (Date.parse(report.grace.deadline) - Date.parse(markOf(report, 'accepted').at.latest)) / 1000;
    expect(deadline).toBeGreaterThan(8.9);
    expect(after(report, markOf(report, 'accepted').at).latest).toBeLessThan(0.1);
    const kill = after(report, containerOf(report).kill);
    expect(kill.earliest).toBeGreaterThan(deadline + 0.5);
    expect(kill.latest).toBeGreaterThan(12.4);
  });

  it('2: the last DELETE rewrites deadline and grace, so the first state with them counts', async () => {
    const sightings = await recorded('finalizer');
    const states = changesOf(sightings, 'pod').map((one) => one.object.metadata);
    const report = judged(sightings);
    const last = states.at(-1);
    expect(last?.['deletionGracePeriodSeconds']).toBe(0);
    expect(report.grace.effectiveSeconds).toBe(5);
    expect(Date.parse(report.grace.deadline)).toBe(
      Date.parse(String(markedIn(sightings).object.metadata['deletionTimestamp'])),
    );
    expect(report.grace.deadline).not.toBe(new Date(String(last?.['deletionTimestamp'])).toISOString());
  });

  it('3: a second DELETE with a shorter grace changes the object and not the running kill', () => {
    const shortened = storyReport(alone({ app: deaf }, { later: [{ kind: 'delete', atMs: 3000, graceSeconds: 2 }] }));
    expect(after(shortened, containerOf(shortened).kill).earliest).toBeGreaterThan(9.9);
    expect(findingCodes(shortened)).toContain('grace-shortened-ignored');
    const forced = storyReport(alone({ app: deaf }, { later: [{ kind: 'delete', atMs: 3000, graceSeconds: 0 }] }));
    expect(forced.verdict.outcome).toBe('forced');
    expect(containerOf(forced)).toMatchObject({ outcome: 'abandoned' });
  });

  it('4: a removal with grace 0 is a MODIFIED and a DELETED, and the first is no progress of the kubelet', async () => {
    const report = judged(await recorded('force-delete'));
    expect(['containers-done', 'final-delete'].filter((name) => hasMark(report, name))).toEqual([]);
    // That the kubelet knows is said by its Killing, which comes after the object is gone.
    expect(markOf(report, 'acknowledged').at.evidence).toEqual(markOf(report, 'stopping/app').at.evidence);
    expect(report.verdict.outcome).toBe('forced');
  });

  it.each(['unscheduled', 'finished'] as const)('5: a pod that is %s has no kubelet phase at all', (state) => {
    const report = storyReport(pod({ state }));
    expect(report.verdict.outcome).toBe('removed');
    expect(
      report.phases.map(({ name }) => name).filter((name) => ['notice', 'prestop', 'drain'].includes(name)),
    ).toEqual([]);
    expect(findingCodes(report)).not.toContain('node-silent');
  });

  it('6: the first state is the API server’s; that the kubelet has it is said by its status or its Killing, in either order', () => {
    const silent = storyReport({ faults: [{ kind: 'freeze', atMs: -100, forMs: null }], limitMs: 30_000 });
    expect(hasMark(silent, 'acknowledged')).toBe(false);
    expect(hasMark(silent, 'stopping')).toBe(false);
    const latest = (report: ReturnType<typeof judged>, id: string) => after(report, markOf(report, id).at).latest;
    const late = storyReport(kubelet({ noticeMs: [5, 5], ackMs: [300, 300] }));
    expect(latest(late, 'acknowledged')).toBe(latest(late, 'stopping/app'));
    const unsaid = storyReport({ events: { queueMs: [2, 6], dropped: ['Killing'] } });
    expect(latest(unsaid, 'acknowledged')).toBeLessThan(0.2);
    expect(unsaid.verdict.outcome).toBe('graceful');
  });
});

describe('what containers tell', () => {
  it('7: a container that was not running gets no Killing, and its older end is not this deletion’s', () => {
    const sightings = told({
      containers: [plainContainer(), plainContainer({ name: 'broken', state: { kind: 'crashed', code: 137 } })],
    });
    const ended = {
      exitCode: 137,
      reason: 'Error',
      startedAt: '2026-11-20T22:00:00Z',
      finishedAt: '2026-11-20T22:00:09Z',
    };
    const between = editing(sightings, 'pod', (object) => {
      for (const status of statuses(object)) if (status['name'] === 'broken') status['state'] = { terminated: ended };
      return object;
    });
    for (const report of [judged(sightings), judged(between)]) {
      expect(containerOf(report, 'broken')).toEqual({ name: 'broken', kind: 'container', outcome: 'not-running' });
      expect(report.verdict.outcome).toBe('graceful');
    }
  });

  it('8: all states change together at the end, so exits are ordered by when they happened', async () => {
    const report = judged(await recorded('multi-container'));
    expect(report.marks.filter(({ name }) => name === 'exited').map(({ subject }) => subject)).toEqual([
      'worker',
      'web',
      'legacy',
    ]);
  });

  it('9: a sidecar gets its Killing with the others and its signal after them', () => {
    const report = storyReport({
      containers: [plainContainer(), plainContainer({ name: 'proxy', kind: 'sidecar', app: drains(200) })],
    });
    expect(after(report, markOf(report, 'stopping/proxy').at).latest).toBeLessThan(0.2);
    expect(after(report, containerOf(report, 'proxy').stopSignal).latest).toBeGreaterThan(1);
    expect(containerOf(report, 'proxy').outcome).toBe('completed');
  });

  it('10: Killing is not the signal where a hook comes first', () => {
    const slept = storyReport(alone({ preStop: { kind: 'sleep', seconds: 3 } }));
    expect(after(slept, markOf(slept, 'stopping/app').at).latest).toBeLessThan(0.2);
    expect(after(slept, containerOf(slept).stopSignal).earliest).toBeGreaterThan(2.9);
    const exec = storyReport(alone({ preStop: { kind: 'exec', takesMs: 3000, fails: false }, logged: false }));
    expect(after(exec, containerOf(exec).stopSignal).latest).toBeGreaterThan(3);
  });

  it('11: a hook that failed says so in time; one that overran fails later and was cut off; tcpSocket always fails', () => {
    const outcome = (change: Partial<Story>) => containerOf(storyReport(change)).preStop?.outcome;
    expect(outcome(alone({ preStop: { kind: 'exec', takesMs: 500, fails: true } }))).toBe('failed');
    expect(outcome(alone({ preStop: { kind: 'tcpSocket' } }))).toBe('failed');
    const overran = storyReport(alone({ preStop: { kind: 'exec', takesMs: null, fails: false } }));
    expect(containerOf(overran).preStop?.outcome).toBe('cut-off');
    expect(findingCodes(overran)).not.toContain('prestop-failed');
  });

  it('12: a hook runs under grace 0 too, for a second, and again when a kill has failed', () => {
    const forced = storyReport(alone({ preStop: { kind: 'sleep', seconds: 8 } }, asked(0)));
    const hook = containerOf(forced).preStop;
    expect(hook?.outcome).not.toBe('completed');
    expect(after(forced, hook?.end).latest).toBeLessThan(8);
    const again = plainStory(alone({ preStop: { kind: 'sleep', seconds: 2 } }, kubelet({ failedKills: 1 })));
    expect(judgeStory(again).wrong).toEqual([]);
  });

  it('13: a pod may outlive its deadline by two or three seconds and is not stuck', () => {
    const hook = { kind: 'sleep', seconds: 10 } as const;
    const report = storyReport(alone({ preStop: hook, app: drains(1500) }));
    expect(after(report, markOf(report, 'removed').at).earliest).toBeGreaterThan(11);
    expect(report.verdict.outcome).not.toBe('stuck');
    expect(containerOf(report)).toMatchObject({ outcome: 'completed' });
  });
});

describe('what routes tell', () => {
  it('14: ready and serving say nothing of an application that is dead, nor does ready:false of its health', () => {
    const report = storyReport({
      containers: [plainContainer({ app: dies }), plainContainer({ name: 'slow', app: drains(4000) })],
    });
    expect(hasMark(report, 'ready-lost')).toBe(false);
    expect(after(report, containerOf(report).exit?.at).latest).toBeLessThan(2);
    expect(after(report, report.endpoints[0]?.removedAt).earliest).toBeGreaterThan(3.9);
  });

  it('15: publishNotReadyAddresses keeps an endpoint ready: it is removed without ever being unrouted', () => {
    const [service] = plainStory().services;
    const report = storyReport({ services: service ? [{ ...service, publishNotReadyAddresses: true }] : [] });
    expect(after(report, report.endpoints[0]?.removedAt).earliest).toBeGreaterThan(0.9);
    expect(findingCodes(report)).toContain('stays-ready');
    expect(findingCodes(report)).not.toContain('drain-race');
  });

  it('16: the endpoint leaves on the terminal phase, long before the object, and leaves an empty slice', async () => {
    const sightings = await recorded('finalizer');
    expect(changesOf(sightings, 'endpointslices').at(-1)?.object['endpoints'] ?? []).toEqual([]);
    const report = judged(sightings);
    expect(after(report, report.endpoints[0]?.removedAt).latest).toBeLessThan(
      after(report, markOf(report, 'removed').at).latest - 4,
    );
  });

  it('17: the trigger time on a slice is not the time of the deletion', async () => {
    const sightings = await recorded('graceful-exit');
    const key = 'endpoints.kubernetes.io/last-change-trigger-time';
    const lying = editing(sightings, 'endpointslices', (slice) => ({
      ...slice,
      metadata: { ...slice.metadata, annotations: { [key]: '2026-11-20T22:00:00Z' } },
    }));
    expect(judged(lying).endpoints).toEqual(judged(sightings).endpoints);
  });
});

describe('what Events tell', () => {
  it('18: a sidecar whose liveness probe fails meanwhile is not restarted by it', () => {
    const sightings = told({
      containers: [plainContainer(), plainContainer({ name: 'proxy', kind: 'sidecar', app: drains(200) })],
    });
    const { at, object } = markedIn(sightings);
    const about = { kind: 'Pod', name: object.metadata.name, uid: object.metadata.uid, container: 'proxy' };
    const probe = eventOf(about, { reason: 'Unhealthy', message: 'Liveness probe failed: HTTP 503' }, { at: at + 600 });
    const report = judged(adding(sightings, changed(at + 605, 'events', probe, 'ADDED')));
    expect(report.containers.map(({ outcome }) => outcome)).toEqual(['completed', 'completed']);
    expect(findingCodes(report)).toEqual(findingCodes(judged(sightings)));
  });

  it('19: an Event that repeats has the name and first time of long ago; only its last second counts', () => {
    const sightings = told();
    const { at } = markedIn(sightings);
    const repeated = editing(sightings, 'events', (event) =>
      event['reason'] === 'Killing'
        ? aboutPod(sightings, 'Killing', 'Stopping container app', { at: at + 8, count: 2, firstAt: at - 1_800_000 })
        : event,
    );
    const report = judged(repeated);
    const stopping = after(report, markOf(report, 'stopping/app').at);
    expect(stopping.earliest).toBeGreaterThanOrEqual(0);
    expect(stopping.latest).toBeLessThan(0.2);
  });

  it.each([
    'Container app failed liveness probe, will be restarted',
    'Container app definition changed',
    'Container app resize requires restart',
  ])('20: a Killing that says "%s" is not the deletion’s', (message) => {
    const sightings = told(alone({}, kubelet({ noticeMs: [1500, 1500] })));
    const { at } = markedIn(sightings);
    const other = aboutPod(sightings, 'Killing', message, { at: at + 20 });
    const report = judged(adding(sightings, changed(at + 30, 'events', other, 'ADDED')));
    expect(after(report, markOf(report, 'stopping/app').at).latest).toBeGreaterThan(1.4);
    expect(findingCodes(report)).not.toContain('kubelet-restarted');
  });

  it('21: Events are told apart by uid, but one without any is the pod’s own', async () => {
    const tainted = judged(await recorded('taint-evicted'));
    const cited = tainted.observations
      .filter(({ seq }) => tainted.trigger.evidence.includes(seq))
      .map(({ what }) => what);
    expect(cited.join('\n')).toContain('TaintManagerEviction');
    const sightings = told(alone({}, kubelet({ noticeMs: [1500, 1500] })));
    const { at, object } = markedIn(sightings);
    const successor = { kind: 'Pod', name: object.metadata.name, uid: 'uid-of-another', container: 'app' };
    const foreign = eventOf(successor, { reason: 'Killing', message: 'Stopping container app' }, { at: at + 20 });
    const report = judged(adding(sightings, changed(at + 30, 'events', foreign, 'ADDED')));
    expect(after(report, markOf(report, 'stopping/app').at).latest).toBeGreaterThan(1.4);
  });
});

describe('who and what the object is', () => {
  it('22: a successor of the same name ends the old pod’s story, also where nobody saw it go', async () => {
    const sightings = await recorded('statefulset');
    const { uid } = markedIn(sightings).object.metadata;
    const unseen = sightings.filter(
      (one) =>
        !(
          one.kind === 'changed' &&
          one.stream === 'pod' &&
          one.change === 'DELETED' &&
          (one.object as Raw).metadata.uid === uid
        ),
    );
    for (const report of [judged(sightings), judged(unseen)]) {
      expect(report.pod.uid).toBe(uid);
      expect(report.replacement?.uid).not.toBe(uid);
      expect(report.verdict.outcome).toBe('graceful');
      expect(hasMark(report, 'removed')).toBe(true);
    }
  });

  it('23: the phase at the end only mirrors exit codes: Failed with 143 is a normal shutdown', async () => {
    const sightings = await recorded('exit-143');
    expect(changesOf(sightings, 'pod').at(-1)?.object.status['phase']).toBe('Failed');
    expect(judged(sightings).verdict.outcome).toBe('graceful');
  });

  it('24: 137 ContainerStatusUnknown is made up by the kubelet: no kill, no exit, no grace', () => {
    const lost = storyReport(alone({ app: { ...drains(1000), lost: true } }));
    expect(containerOf(lost).outcome).toBe('unknown');
    expect(containerOf(lost).kill).toBeUndefined();
    const never = storyReport(pod({ state: 'never-started' }));
    expect(containerOf(never).outcome).toBe('not-running');
    expect(never.verdict.outcome).toBe('removed');
  });

  it('25: terminated.signal is never filled by the kubelet, and nothing is read from it', () => {
    const sightings = told();
    const signed = editing(sightings, 'pod', (object) => {
      for (const status of statuses(object)) {
        const end = (status['state'] as { terminated?: Record<string, unknown> }).terminated;
        if (end) end['signal'] = 9;
      }
      return object;
    });
    expect(judged(signed)).toEqual(judged(sightings));
  });

  it('26: a DisruptionTarget that came after the deletion is no cause of it', () => {
    const sightings = told(somebody);
    const later = (when: (object: Raw) => boolean) =>
      editing(sightings, 'pod', (object) => {
        if (!when(object)) return object;
        const condition = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' };
        return {
          ...object,
          status: { ...object.status, conditions: [...((object.status['conditions'] ?? []) as object[]), condition] },
        };
      });
    const first = markedIn(sightings).object.metadata['resourceVersion'];
    const isMarked = (object: Raw) => object.metadata['deletionTimestamp'] !== undefined;
    expect(
      judged(later((object) => isMarked(object) && object.metadata['resourceVersion'] !== first)).trigger.kind,
    ).toBe('unknown');
    expect(judged(later(isMarked)).trigger.kind).toBe('eviction-api');
  });

  it('27: Ready=False by the node controller says nothing about the container', () => {
    const sightings = told(alone({ app: drains(4000) }));
    const { at, object } = markedIn(sightings);
    const metadata = { ...object.metadata, resourceVersion: String(Number(object.metadata['resourceVersion']) + 1) };
    const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-11-20T23:04:31Z' }];
    const report = judged(
      adding(sightings, changed(at + 900, 'pod', { ...object, metadata, status: { ...object.status, conditions } })),
    );
    expect(hasMark(report, 'ready-lost')).toBe(false);
    expect(after(report, containerOf(report).exit?.at).earliest).toBeGreaterThan(3.9);
  });

  it('28: no Event tells of a grace that ran out: exit code and time do', async () => {
    const sightings = await recorded('sigkill-after-grace');
    expect(changesOf(sightings, 'events').map((one) => one.object['reason'])).not.toContain('ExceededGracePeriod');
    expect(containerOf(judged(sightings)).outcome).toBe('killed');
  });

  it('29: DELETED may still list finalizers, and a Job’s pod waits until it is counted', () => {
    const held = told({
      ...pod({ finalizers: ['example.com/audit'] }),
      later: [{ kind: 'remove-finalizers', atMs: 6000 }],
    });
    expect(changesOf(held, 'pod').at(-1)).toMatchObject({
      change: 'DELETED',
      object: { metadata: { finalizers: ['example.com/audit'] } },
    });
    const report = judged(held);
    expect(hasMark(report, 'removed')).toBe(true);
    expect(report.verdict.outcome).toBe('graceful');
    const tracked = pod({ finalizers: ['batch.kubernetes.io/job-tracking'] });
    const job = storyReport({ ...tracked, later: [{ kind: 'remove-finalizers', atMs: 6000 }] });
    const finding = job.verdict.findings.find(({ code }) => code === 'finalizer-held');
    expect(finding?.message).toContain('batch.kubernetes.io/job-tracking');
  });

  it('30: the DELETE of a mirror pod stops nothing, and nothing is said of its containers’ end', () => {
    const mirror = editing(told(asked(0)), 'pod', (object) => ({
      ...object,
      metadata: { ...object.metadata, annotations: { 'kubernetes.io/config.mirror': 'a1b2' } },
    }));
    const report = judged(without(mirror, 'events').filter((one) => one.kind !== 'log-ended'));
    expect(containerOf(report).exit).toBeUndefined();
    expect(containerOf(report).kill).toBeUndefined();
    expect(findingCodes(report)).not.toContain('unmanaged-pod');
    expect(report.verdict.findings.find(({ code }) => code === 'force-deleted')?.message).toMatch(/static pod/);
  });

  it.each(['Evicted', 'Preempting', 'Terminated', 'DeadlineExceeded'])(
    '31: a pod that its kubelet ended (%s) has no deletion, and nobody waits for one',
    (reason) => {
      const sightings = attached(
        told({ ...pod({ state: 'finished' }), trigger: { kind: 'unknown', atMs: 40_000, graceSeconds: null } }),
        60,
      );
      const ended = editing(sightings, 'pod', (object) => ({
        ...object,
        status: { ...object.status, phase: 'Failed', reason },
      }));
      const report = judged(ended.filter((one) => one.at < markedIn(ended).at));
      expect(report.verdict).toMatchObject({ outcome: 'not-started', exitCode: 3 });
      expect(report.marks).toEqual([]);
    },
  );

  it('32: on a node that is down a deadline that has passed means nothing', () => {
    const sightings = told({ faults: [{ kind: 'freeze', atMs: -100, forMs: null }], limitMs: 45_000 });
    const at = (sightings.at(-1)?.at ?? 0) + 1;
    const report = judged(adding(sightings, { at, kind: 'timer', name: 'timeout' }));
    expect(report.verdict.outcome).toBe('stuck');
    expect(findingCodes(report)).toContain('node-silent');
    expect(containerOf(report).kill).toBeUndefined();
  });
});

describe('how exact it is', () => {
  it('33: stamps are cut to whole seconds, wherever in its second a thing happened', () => {
    for (const offset of [0, 130, 370, 620, 990]) {
      const story = alone({ app: { ...dies, onSignal: { kind: 'exits', afterMs: 2400, code: 3 } }, logged: false });
      const report = storyReport({ ...story, beganAt: plainStory().beganAt + offset });
      const exit = after(report, containerOf(report).exit?.at);
      expect(exit.earliest).toBeLessThanOrEqual(2.42);
      expect(exit.latest).toBeGreaterThanOrEqual(2.4);
    }
  });

  it('34: a status patch with nothing of interest makes no mark', () => {
    const names = (patchesResources: boolean) => storyReport(kubelet({ patchesResources })).marks.map(({ id }) => id);
    expect(names(true)).toEqual(names(false));
  });

  it('35: an accepted eviction answers without a Pod, and one that failed began nothing', () => {
    const sightings = told({ trigger: { kind: 'eviction-api', atMs: 1240 } });
    const report = judged(sightings);
    expect(report.trigger.kind).toBe('eviction-api');
    expect(report.grace.effectiveSeconds).toBe(10);
    const refused = sightings
      .filter((one) => one.kind !== 'answered' && one.at < markedIn(sightings).at)
      .concat({ at: markedIn(sightings).at, kind: 'answered', verb: 'evict', status: 500 });
    expect(judged(refused).marks.some(({ name }) => name === 'accepted')).toBe(false);
  });

  it('36: a kubelet that restarts ends every log and counts the grace anew, with one stop signal in all', () => {
    const report = storyReport(
      alone({ app: drains(8000) }, { faults: [{ kind: 'kubelet-restart', atMs: 700, downMs: 2500 }] }),
    );
    expect(findingCodes(report)).toContain('kubelet-restarted');
    expect(report.marks.filter(({ name }) => name === 'stop-signal')).toHaveLength(1);
    expect(after(report, containerOf(report).exit?.at).earliest).toBeGreaterThan(7);
  });

  it('37: a preemption is told by its condition, one write before the deletion; its Event follows', async () => {
    const sightings = await recorded('preempted');
    const report = judged(sightings);
    const cited = report.observations
      .filter(({ seq }) => report.trigger.evidence.includes(seq))
      .map(({ what }) => what);
    expect(report.trigger.kind).toBe('preemption');
    expect(cited.join('\n')).toMatch(/PreemptionByScheduler[^]*Preempted/);
    expect(judged(without(sightings, 'events')).trigger.kind).toBe('preemption');
  });

  it('38: an owner deleted in the background is gone before the pod is marked, and no Event names it', async () => {
    const sightings = await recorded('owner-deleted');
    expect(judged(sightings).trigger.kind).toBe('owner-deleted');
    expect(judged(without(sightings, 'events', 'owner-events')).trigger.kind).toBe('owner-deleted');
    expect(judged(without(sightings, 'owner')).trigger.kind).toBe('unknown');
  });
});
