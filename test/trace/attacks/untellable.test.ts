/** That no Killing was told says something only where it would certainly have been (SIGNALS.md §2.1). */
import { describe, expect, it } from 'vitest';
import type { Sighting } from '../../../src/trace/observation.ts';
import { plainStory } from '../../../src/loopback/kubelet/plain-story.ts';
import { adding, alone, changed, containerOf, judged, told } from '../../helpers/cases.ts';
import { podBefore } from '../../helpers/raw-edits.ts';

/** Gone by its stop signal before the kubelet has told that it knows; its Killing never came. */
const unheard = (): Sighting[] =>
  told(
    alone(
      { app: { onSignal: { kind: 'dies' }, lost: false, lines: [] }, logged: false },
      {
        kubelet: { ...plainStory().kubelet, ackMs: [700, 800] },
        events: { queueMs: [2, 6], dropped: ['Killing'] },
      },
    ),
  );

/** What the kubelet tells of a pod that starts. */
function started(sightings: readonly Sighting[], count: number): Sighting[] {
  const { name, uid, creationTimestamp } = podBefore(sightings).metadata;
  return Array.from({ length: count }, (_, index) =>
    changed(sightings[0]?.at ?? 0, 'events', {
      kind: 'Event',
      metadata: { name: `${name}.${index}`, uid: `started-${index}`, creationTimestamp },
      type: 'Normal',
      reason: 'Started',
      message: 'Container started',
      reportingComponent: 'kubelet',
      involvedObject: { kind: 'Pod', name, uid },
      firstTimestamp: creationTimestamp,
      lastTimestamp: creationTimestamp,
      count: 1,
    }),
  );
}

describe('143 of a container without a Killing', () => {
  it('may be of its own choice where the kubelet had all its Events left', () =>
    expect(containerOf(judged(unheard())).outcome).toBe('unknown'));

  it('is its stop signal where the start of the pod may have spent them', () => {
    const sightings = unheard();
    const report = judged(adding(sightings, ...started(sightings, 12)));
    expect(containerOf(report).outcome).toBe('signalled');
    expect(report.verdict).toMatchObject({ outcome: 'graceful', exitCode: 0 });
  });

  it('is so too where Killings were merged into one', () => {
    const sightings = unheard();
    const { name, uid } = podBefore(sightings).metadata;
    const merged = {
      kind: 'Event',
      metadata: { name: `${name}.merged`, uid: 'merged' },
      type: 'Normal',
      reason: 'Killing',
      message: '(combined from similar events): Stopping container other',
      reportingComponent: 'kubelet',
      involvedObject: { kind: 'Pod', name, uid, fieldPath: 'spec.containers{other}' },
      count: 4,
    };
    const last = sightings.at(-1)?.at ?? 0;
    expect(containerOf(judged(adding(sightings, changed(last - 2500, 'events', merged)))).outcome).toBe('signalled');
  });
});
