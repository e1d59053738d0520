/** Siblings that arrive late or in an additional list: which of them is a replacement? */
import { describe, expect, it } from 'vitest';
import type { RawObservation } from '../../src/model/observation.ts';
import { observe } from '../../src/model/observe.ts';
import { reduce } from '../../src/model/reduce.ts';
import { emptyTrace } from '../../src/model/trace.ts';
import {
  adding,
  attached,
  changed,
  changesOf,
  judged,
  listed,
  markedIn,
  recorded,
  stampOf,
  without,
} from '../helpers/cases.ts';
import { podBefore } from '../helpers/raw-edits.ts';

it('a sibling that was created in the second of the deletion hides whether a later pod is the replacement', async () => {
  const rawObservations = await recorded('graceful-exit');
  const { at, object: own } = markedIn(rawObservations);
  const { deletionTimestamp, deletionGracePeriodSeconds, resourceVersion } = own.metadata;
  const deleted = Date.parse(String(deletionTimestamp)) - Number(deletionGracePeriodSeconds) * 1000;
  const ready = changesOf(rawObservations, 'siblings').findLast(
    ({ object }) => object.metadata.uid !== own.metadata.uid,
  );
  const version = String(BigInt(String(resourceVersion)) + 1000n);
  const created = (ms: number, name: string) => {
    const metadata = { name, uid: name, creationTimestamp: stampOf(deleted + ms), resourceVersion: version };
    return { ...ready?.object, metadata: { ...ready?.object.metadata, ...metadata } };
  };
  const comes = changed(at + 2600, 'siblings', created(2000, 'checkout-later'), 'ADDED');
  const alone = adding(without(rawObservations, 'siblings'), comes);
  expect(judged(alone).replacement?.name).toBe('checkout-later');
  expect(judged(adding(alone, listed(at + 2500, 'siblings', created(0, 'checkout-same')))).replacement).toBeUndefined();
});

it('an older sibling is the replacement only in a rollout', async () => {
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

describe('a pod of another name or namespace on the pod’s stream', () => {
  it.each([{ name: 'somebody-else' }, { namespace: 'elsewhere' }])(
    '%j is neither the pod nor its successor',
    async (other) => {
      const rawObservations = await recorded('graceful-exit');
      const { object, at } = markedIn(rawObservations);
      const metadata = { ...object.metadata, ...other, uid: 'uid-of-somebody-else' };
      const foreign = { ...object, metadata };
      const misleading = adding(
        rawObservations,
        changed(at + 500, 'pod', foreign, 'ADDED'),
        changed(at + 600, 'pod', foreign, 'DELETED'),
      );
      const [report, plain] = [judged(misleading), judged(rawObservations)];
      expect(report.replacement).toEqual(
        plain.replacement === undefined ? undefined : expect.objectContaining({ uid: plain.replacement.uid }),
      );
      const removed = ({ marks }: typeof report) => marks.find(({ name }) => name === 'removed')?.at.latest;
      expect(removed(report)).toBe(removed(plain));
    },
  );
});

describe('a list of thousands of siblings', () => {
  /**
   * CPU time of the list (ms), the best of some tries: on a busy machine, wall-clock time would measure other
   * processes.
   */
  const timeOf = (count: number): number => {
    const pod = { kind: 'Pod', spec: { containers: [] }, status: {} };
    const objects = Array.from({ length: count }, (_, n) => ({
      ...pod,
      metadata: { name: `web-${n}`, uid: `uid-${n}` },
    }));
    const list: RawObservation = { at: 0, kind: 'listed', stream: 'siblings', resourceVersion: '1', objects };
    const observation = observe(list, 1, { logText: false });
    const tries = Array.from({ length: 7 }, () => {
      const began = process.cpuUsage();
      expect(reduce(emptyTrace, observation).siblings.size).toBe(count);
      const { user, system } = process.cpuUsage(began);
      return (user + system) / 1000;
    });
    return Math.min(...tries);
  };

  it('takes time in proportion to its length, not to the square of it', () => {
    expect(timeOf(4000) / timeOf(500)).toBeLessThan(32);
  });
});
