/** What somebody did who wanted a false sentence in a report: each a recording with one thing changed. */
import { describe, expect, it } from 'vitest';
import {
  adding,
  attached,
  changed,
  changesOf,
  findingCodes,
  judged,
  markedIn,
  recorded,
  stampOf,
} from '../../helpers/cases.ts';
import { podBefore } from '../../helpers/raw-edits.ts';

describe('routes and successors', () => {
  /** The slice's first change, and nothing of it from then on. */
  async function cutSlice() {
    const sightings = await recorded('graceful-exit');
    const { at, object } = markedIn(sightings);
    const [first] = changesOf(sightings, 'endpointslices');
    const before = sightings.filter(
      (one) => one.kind !== 'changed' || one.stream !== 'endpointslices' || one.at < at + 300,
    );
    if (!first) throw new Error('the slice did not change');
    return { at, uid: object.metadata.uid, slice: first.object, before };
  }

  it('an endpoint that left before the containers ended keeps its own time', async () => {
    const { at, uid, slice, before } = await cutSlice();
    const endpoints = (slice['endpoints'] as { targetRef?: { uid: string } }[]).filter(
      (one) => one.targetRef?.uid !== uid,
    );
    const report = judged(adding(before, changed(at + 300, 'endpointslices', { ...slice, endpoints })));
    expect(Date.parse(report.endpoints[0]?.removedAt?.latest ?? '')).toBeLessThan(at + 310);
  });

  it('a slice that was deleted tells nothing of endpoints', async () => {
    const { at, slice, before } = await cutSlice();
    const report = judged(adding(before, changed(at + 300, 'endpointslices', slice, 'DELETED')));
    expect(findingCodes(report)).not.toContain('no-ready-endpoint');
  });

  it('a Service that never had the pod is none of its business', async () => {
    const { at, slice, before } = await cutSlice();
    const other = (ready: boolean, version: string) => ({
      ...slice,
      metadata: {
        ...slice.metadata,
        name: 'external-db-1',
        uid: 'external-db-1',
        resourceVersion: version,
        labels: { 'kubernetes.io/service-name': 'external-db' },
        managedFields: [],
      },
      endpoints: [{ addresses: ['192.0.2.7'], conditions: { ready } }],
    });
    const sightings = adding(
      before,
      changed(at - 400, 'endpointslices', other(true, '1'), 'ADDED'),
      changed(at + 1500, 'endpointslices', other(false, '2')),
    );
    expect(
      judged(sightings)
        .verdict.findings.map(({ message }) => message)
        .join(),
    ).not.toContain('external-db');
  });

  it('a sibling that was there before the deletion takes over only in a rollout', async () => {
    const sightings = attached(await recorded('graceful-exit'));
    const { at, object } = markedIn(sightings);
    const { deletionTimestamp: _, ...metadata } = podBefore(sightings).metadata;
    const sibling = {
      ...object,
      metadata: {
        ...metadata,
        name: 'checkout-754699c75f-aaaaa',
        uid: 'older',
        resourceVersion: String(BigInt(String(metadata['resourceVersion'])) - 5n),
        creationTimestamp: stampOf(at - 2000),
      },
    };
    const report = judged(adding(sightings, changed(at - 1000, 'siblings', sibling, 'ADDED')));
    expect(report.replacement?.name).toBe(judged(sightings).replacement?.name);
    expect(judged(await recorded('rolling-update')).replacement).toBeDefined();
  });
});
