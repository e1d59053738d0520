/** What somebody did who wanted a false sentence in a report: the kubelet was stopping the pod by itself already. */
import { describe, expect, it } from 'vitest';
import type { Story } from '../../sim/story.ts';
import type { Sighting } from '../../../src/model/observation.ts';
import {
  adding,
  alone,
  attached,
  changed,
  containerOf,
  deaf,
  editing,
  eventOf,
  findingCodes,
  hasMark,
  judged,
  listed,
  markedIn,
  stampOf,
  told,
} from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import { statusesIn } from '../../helpers/raw-edits.ts';
import { plainContainer } from '../../sim/plain-story.ts';

interface Stop {
  /** ms before the deletion that the kubelet began. */
  lead: number;
  /** ms that the container lived on. */
  ran: number;
  code: number;
  message?: string;
  reason?: string;
  change?: Parameters<typeof alone>[0];
}

/** The container ends as the kubelet's own kill has it, and all that tells of it is that Killing. */
function stoppedBefore({ lead, ran, code, message = 'Stopping container app', reason, change = {} }: Stop): Sighting[] {
  const sightings = told(alone(change));
  const { at, object } = markedIn(sightings);
  const { name, uid } = object.metadata;
  const about = { kind: 'Pod', name, uid, container: 'app' };
  const killing = eventOf(about, { reason: 'Killing', message }, { at: at - lead });
  const silent = editing(sightings, 'events', () => undefined);
  const ended = editing(silent, 'pod', (pod) => {
    for (const { state } of statusesIn(pod))
      if (state['terminated'])
        Object.assign(state['terminated'], { exitCode: code, finishedAt: stampOf(at - lead + ran) });
    if (pod.status['phase'] === 'Failed' || pod.status['phase'] === 'Succeeded')
      Object.assign(pod.status, { phase: 'Failed', reason });
    return pod;
  });
  return adding(
    ended.filter((one) => one.kind !== 'line'),
    changed(at - lead + 8, 'events', killing, 'ADDED'),
  );
}

describe('what the kubelet had begun to stop', () => {
  const probe = 'Container app failed liveness probe, will be restarted';

  it.each<[string, Stop]>([
    ['node shutdown', { lead: 3000, ran: 6015, code: 137, reason: 'Terminated', change: { app: deaf } }],
    ['node shutdown, just before', { lead: 200, ran: 6015, code: 137, reason: 'Terminated', change: { app: deaf } }],
    ['a liveness probe', { lead: 3000, ran: 5015, code: 137, message: probe, change: { app: deaf } }],
  ])('was killed by the grace of %s, not before its own could have ended', (_, stop) => {
    for (const sightings of [stoppedBefore(stop), attached(stoppedBefore(stop))]) {
      const report = judged(sightings);
      expect(containerOf(report)).toMatchObject({ name: 'app', outcome: 'unknown' });
      expect(containerOf(report).stopSignal).toBeUndefined();
      expect(containerOf(report).kill).toBeUndefined();
      expect(findingCodes(report)).not.toContain('exit-nonzero');
      expect(findingCodes(report)).not.toContain('killed-at-grace');
    }
  });

  it.each<[string, Stop]>([
    ['an eviction', { lead: 1000, ran: 2500, code: 143, reason: 'Evicted' }],
    ['a deadline', { lead: 800, ran: 2500, code: 143, reason: 'DeadlineExceeded' }],
    ['a liveness probe', { lead: 1000, ran: 2500, code: 143, message: probe }],
  ])('had its hook and its signal before the deletion: %s', (_, stop) => {
    const hook = { preStop: { kind: 'sleep', seconds: 2 } } as const;
    for (const sightings of [stoppedBefore(stop), attached(stoppedBefore({ ...stop, change: hook }))]) {
      const report = judged(sightings);
      expect(containerOf(report)).toMatchObject({ outcome: 'signalled', exit: { code: 143 } });
      expect(containerOf(report).stopSignal).toBeUndefined();
      expect(containerOf(report).preStop).toBeUndefined();
    }
  });

  it('a probe that killed an earlier run says nothing of this one', () => {
    const sightings = told();
    const { at, object } = markedIn(sightings);
    const about = { kind: 'Pod', name: object.metadata.name, uid: object.metadata.uid, container: 'app' };
    const killing = eventOf(about, { reason: 'Killing', message: probe }, { at: at - 3000_000 });
    const report = judged(adding(sightings, changed(at - 100, 'events', killing, 'ADDED')));
    const { earliest, latest } = containerOf(judged(sightings)).stopSignal ?? {};
    expect(containerOf(report).stopSignal).toMatchObject({ earliest, latest });
  });

  it('a sidecar whose main container had ended was being stopped', () => {
    const story: Partial<Story> = {
      containers: [
        plainContainer({
          name: 'work',
          app: { onSignal: { kind: 'exits', afterMs: 300, code: 0 }, lost: false, lines: [] },
        }),
        plainContainer({ name: 'proxy', kind: 'sidecar', logged: false }),
      ],
    };
    const sightings = told(story);
    const { at } = markedIn(sightings);
    const over = (restartPolicy: string, stamp: number) =>
      editing(
        editing(sightings, 'events', (event) => {
          const { fieldPath = '' } = event['involvedObject'] as { fieldPath?: string };
          return fieldPath.includes('work') ? undefined : event;
        }),
        'pod',
        (pod: Raw) => {
          pod.spec['restartPolicy'] = restartPolicy;
          const done = { exitCode: 0, reason: 'Completed', finishedAt: stampOf(stamp) };
          for (const status of statusesIn(pod))
            if (status['name'] === 'work' && (stamp < at - 1000 || status.state['terminated']))
              status.state = { terminated: done };
          return pod;
        },
      );
    const done = judged(attached(over('Never', at - 4000)));
    expect(containerOf(done, 'proxy').stopSignal).toBeUndefined();
    expect(hasMark(done, 'stopping')).toBe(false);
    expect(containerOf(done, 'proxy').exit?.code).toBe(0);
    expect(containerOf(judged(attached(over('Always', at - 4000))), 'proxy').stopSignal).toBeDefined();
    expect(containerOf(judged(attached(sightings)), 'proxy').stopSignal).toBeDefined();
  });

  it.each([
    [1, 300],
    [3, 1200],
  ])('a probe’s kill (%i of them) ended the run before, which was started anew %i ms later', (count, laterMs) => {
    const sightings = told(alone({ app: deaf }));
    const { at, object } = markedIn(sightings);
    const killedAt = Math.floor((at - 1_800_000) / 1000) * 1000 + 200;
    const restarted = editing(sightings, 'pod', (one) => {
      for (const { state } of statusesIn(one))
        for (const run of [state['running'], state['terminated']])
          if (run) Object.assign(run, { startedAt: stampOf(killedAt + laterMs) });
      return one;
    });
    const about = { kind: 'Pod', name: object.metadata.name, uid: object.metadata.uid, container: 'app' };
    const killing = eventOf(about, { reason: 'Killing', message: probe }, { at: killedAt, count });
    const report = judged(adding(restarted, listed(at - 1000, 'events', killing)));
    expect(report.verdict.outcome).toBe('killed');
    expect(containerOf(report).stopSignal).toBeDefined();
  });

  it('an eviction that came after the Killing stopped nothing', () => {
    const sightings = told(alone({ app: deaf }));
    const { at, object } = markedIn(sightings);
    const about = { kind: 'Pod', name: object.metadata.name, uid: object.metadata.uid };
    const evicted = eventOf(about, { reason: 'Evicted', message: 'Usage of EmptyDir volume' }, { at: at + 3990 });
    const report = judged(adding(sightings, changed(at + 4000, 'events', evicted, 'ADDED')));
    expect(report.verdict.outcome).toBe('killed');
    expect(containerOf(report).stopSignal).toBeDefined();
  });
});
