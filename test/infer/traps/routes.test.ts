/** Traps 14 to 17 for a naive tool, each with the smallest case that would catch one (SIGNALS.md §6). */
import { describe, expect, it } from 'vitest';
import { drains, plainContainer, plainStory } from '../../sim/plain-story.ts';
import {
  after,
  changesOf,
  containerOf,
  editing,
  findingCodes,
  hasMark,
  judged,
  markOf,
  recorded,
  storyReport,
} from '../../helpers/cases.ts';
import { dies } from '../../helpers/story-changes.ts';

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
