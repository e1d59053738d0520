/** That no Killing was told says something only where it would certainly have been (SIGNALS.md §2.1). */
import { describe, expect, it } from 'vitest';
import type { Sighting } from '../../../src/model/observation.ts';
import { drains, plainStory } from '../../sim/plain-story.ts';
import {
  adding,
  alone,
  changed,
  changesOf,
  containerOf,
  editing,
  judged,
  markedIn,
  recorded,
  told,
  without,
} from '../../helpers/cases.ts';
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

describe('a hook that ran past its grace, of which nobody heard', () => {
  const sightings = told(
    alone(
      { preStop: { kind: 'sleep', seconds: 2 }, app: { ...drains(0), lines: [] }, logged: false },
      { pod: { ...plainStory().pod, graceSeconds: 1 } },
    ),
  );
  const outcome = (...more: Sighting[]) => judged(adding(without(sightings, 'events'), ...more)).verdict.outcome;
  const { at } = markedIn(sightings);
  const gap = (from: number, to?: number): Sighting => ({
    ...{ kind: 'gap', at: from, stream: 'events', from, cause: 'disconnected' },
    ...(to === undefined ? {} : { to }),
  });

  it('is told by its Events', () => expect(judged(sightings).verdict.outcome).toBe('overran'));

  it('may have eaten it where the stream of Events was lost and never came back', () => {
    expect(outcome(gap(at - 1000))).toBe('unknown');
    expect(outcome(gap(at + 500))).toBe('unknown');
  });

  it('has not where that stream came back with all of them, or was lost after the pod was gone', () => {
    expect(outcome(gap(at - 1000, at + 500))).toBe('graceful');
    expect(outcome(gap((sightings.at(-1)?.at ?? 0) + 100))).toBe('graceful');
  });
});

/** One of several containers whose Killing never came, while the others' did; its name is that of the recording. */
const unheardOf = async (container: string): Promise<Sighting[]> =>
  editing(await recorded('multi-container'), 'events', (event) => {
    const { reason, involvedObject } = event as { reason?: string; involvedObject?: { fieldPath?: string } };
    return reason === 'Killing' && involvedObject?.fieldPath === `spec.containers{${container}}` ? undefined : event;
  });

/** The stream of Events is lost so long after the first Killing, or before it, and does not come back. */
function lostAfter(sightings: readonly Sighting[], ms: number): Sighting[] {
  const killing = changesOf(sightings, 'events').find(({ object }) => object['reason'] === 'Killing');
  const at = (killing?.at ?? NaN) + ms;
  return adding(sightings, { kind: 'gap', at, stream: 'events', from: at, cause: 'disconnected' });
}

describe.each(['legacy', 'worker', 'web'])('the Killing of %s, which never came while others did', (container) => {
  it.each([10, 1000, 7000])('is no less absent where the stream is lost %d ms after theirs', async (ms) => {
    const sightings = await unheardOf(container);
    const [whole, lost] = [judged(sightings), judged(lostAfter(sightings, ms))];
    expect(containerOf(lost, container).outcome).toBe(containerOf(whole, container).outcome);
    expect(lost.verdict.outcome).toBe(whole.verdict.outcome);
  });
});
