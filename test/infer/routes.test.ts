/** Cases that try to make podexit report something false: each is a recording with one change. */
import { describe, expect, it } from 'vitest';
import { adding, attached, changed, judged, markedIn, recorded, stampOf } from '../helpers/cases.ts';
import { podBefore } from '../helpers/raw-edits.ts';

describe('an older sibling', () => {
  it('from before the deletion is the replacement only in a rollout', async () => {
    const rawObservations = attached(await recorded('graceful-exit'));
    const { at, object } = markedIn(rawObservations);
    const { deletionTimestamp: _, ...metadata } = podBefore(rawObservations).metadata;
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
    const report = judged(adding(rawObservations, changed(at - 1000, 'siblings', sibling, 'ADDED')));
    expect(report.replacement?.name).toBe(judged(rawObservations).replacement?.name);
    expect(judged(await recorded('rolling-update')).replacement).toBeDefined();
  });
});
