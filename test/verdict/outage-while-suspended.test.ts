/** An outage that podexit slept through: both changes of the EndpointSlice arrive when it wakes, with the times of their writes. */
import { expect, it } from 'vitest';
import type { RawObservation, StreamName } from '../../src/model/observation.ts';
import { changesOf, editing, findingCodes, judged, recorded, stampOf, type Raw } from '../helpers/cases.ts';

/** Slices say when they were written, as those of a live server do. */
const written = (slice: Raw, { at }: RawObservation): Raw => ({
  ...slice,
  metadata: {
    ...slice.metadata,
    managedFields: [{ manager: 'kube-controller-manager', operation: 'Update', time: stampOf(at) }],
  },
});

it('is still reported, as its length follows from these times', async () => {
  const whole = await recorded('node-down');
  const stamped = editing(whole, 'endpointslices', written);
  expect(findingCodes(judged(stamped))).toContain('no-ready-endpoint');
  const slices = changesOf(stamped, 'endpointslices');
  const [since, to] = [(slices[0]?.at ?? 0) - 1000, (slices.at(-1)?.at ?? 0) + 1000];
  const late = stamped.map((one) => (one.at > since && one.at < to ? { ...one, at: to } : one));
  const streams: StreamName[] = ['pod', 'endpointslices', 'events', 'node', 'lease'];
  const woken = streams.map((stream): RawObservation => ({ at: to - 1, kind: 'resumed', stream, since }));
  const report = judged([...late, ...woken].sort((a, b) => a.at - b.at));
  expect(findingCodes(report)).toContain('no-ready-endpoint');
});
