/** Traps 18 to 21 for a naive tool, each with the smallest case that would catch one (SIGNALS.md §6). */
import { describe, expect, it } from 'vitest';
import { drains, plainContainer } from '../../sim/plain-story.ts';
import type { Sighting } from '../../../src/model/observation.ts';
import {
  adding,
  after,
  alone,
  changed,
  containerOf,
  editing,
  eventOf,
  findingCodes,
  judged,
  listed,
  markOf,
  markedIn,
  recorded,
  told,
} from '../../helpers/cases.ts';
import { kubelet } from '../../helpers/story-changes.ts';

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

  it('19: a Killing that was listed long before, and is counted up by the deletion, is of now', () => {
    const sightings = told();
    const { at } = markedIn(sightings);
    const times = { at: at + 8, count: 2, firstAt: at - 1_800_000 };
    const stop = (time: typeof times) => aboutPod(sightings, 'Killing', 'Stopping container app', time);
    const old = stop({ at: times.firstAt, count: 1, firstAt: times.firstAt });
    const again = editing(sightings, 'events', (event) => (event['reason'] === 'Killing' ? stop(times) : event));
    const report = judged(adding(again, listed((sightings[0]?.at ?? 0) + 30, 'events', old)));
    const stopping = after(report, markOf(report, 'stopping/app').at);
    expect(stopping.earliest).toBeGreaterThanOrEqual(0);
    expect(stopping.latest).toBeLessThan(0.2);
    expect(containerOf(report).outcome).toBe('completed');
    expect(findingCodes(report)).not.toContain('kubelet-restarted');
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
