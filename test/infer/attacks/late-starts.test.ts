/** A sync that was under way when the deletion came starts what it meant to start, and stops it then (SIGNALS.md §2 S2). */
import { describe, expect, it } from 'vitest';
import type { Sighting } from '../../../src/model/observation.ts';
import type { Story } from '../../sim/story.ts';
import { drains } from '../../sim/plain-story.ts';
import { alone, containerOf, deaf, editing, judged, markedIn, stampOf, told } from '../../helpers/cases.ts';
import { statusesIn } from '../../helpers/raw-edits.ts';

const events = { queueMs: [2, 6], dropped: ['Killing'] } satisfies Story['events'];

/** Until the deletion has been seen nothing of it ran, and nothing tells that the kubelet stopped it. */
function startedLate(change: Partial<Story>): Sighting[] {
  const sightings = told({ ...change, events });
  const { resourceVersion } = markedIn(sightings).object.metadata;
  const startedAt = stampOf(markedIn(sightings).at);
  return editing(sightings, 'pod', (pod) => {
    const isEarly = Number(pod.metadata['resourceVersion']) <= Number(resourceVersion);
    for (const status of statusesIn(pod)) {
      const [kind = ''] = Object.keys(status.state);
      status.state = isEarly
        ? { waiting: { reason: 'ContainerCreating' } }
        : { [kind]: { ...(status.state[kind] as object), startedAt } };
    }
    return pod;
  });
}

describe('a container that was started after the deletion', () => {
  it('ran, and is not said to have needed no stop', () => {
    const report = judged(startedLate(alone({ app: drains(1500), logged: false })));
    expect(containerOf(report).outcome).toBe('completed');
    expect(report.verdict.outcome).toBe('graceful');
  });

  it('may have been killed at the end of a grace that nobody saw begin', () => {
    const report = judged(startedLate(alone({ app: deaf, logged: false })));
    expect(containerOf(report)).toMatchObject({ outcome: 'unknown', exit: { code: 137 } });
    expect(report.verdict).toMatchObject({ outcome: 'unknown', exitCode: 4 });
  });

  it('is known by the time of its start alone, where no state showed it running', () => {
    const unseen = startedLate(alone({ app: deaf, logged: false }));
    const { resourceVersion } = markedIn(unseen).object.metadata;
    const report = judged(
      editing(unseen, 'pod', (pod) => {
        const isBetween =
          Number(pod.metadata['resourceVersion']) > Number(resourceVersion) &&
          statusesIn(pod).some(({ state }) => 'running' in state);
        return isBetween ? undefined : pod;
      }),
    );
    expect(report.verdict.outcome).toBe('unknown');
  });

  it('never ran where its end bears no time of a start', () => {
    const made = editing(startedLate(alone({ app: deaf, logged: false })), 'pod', (pod) => {
      for (const status of statusesIn(pod))
        if (!('waiting' in status.state))
          status.state = {
            terminated: { exitCode: 137, reason: 'ContainerStatusUnknown', startedAt: null, finishedAt: null },
          };
      return pod;
    });
    expect(judged(made).verdict.outcome).toBe('removed');
  });
});
