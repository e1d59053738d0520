/** The API server's own timestamps measure how late changes arrive (src/infer/arrival.ts). */
import { expect, it } from 'vitest';
import { deliveryLagOf } from '../../src/infer/arrival.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import { emptyTrace } from '../../src/model/trace.ts';
import { delayedStreams, distort } from '../helpers/distort.ts';
import {
  allNames,
  mustReport,
  observationsOf,
  rawObservationsOf,
  tracedPodsOf,
  traceOf,
} from '../helpers/recordings.ts';
import { rounds } from '../helpers/sweep.ts';
import { heldAgainst } from '../helpers/truth.ts';

const assumed = 2500;
/** Some pods of one recording; they share the API server. */
const somePodsOf = async (name: string) => (await tracedPodsOf(name)).slice(0, rounds(4, Infinity));
const lagOf = (rawObservations: readonly RawObservation[]): number =>
  deliveryLagOf(traceOf(observationsOf(rawObservations)));

it('the delivery lag is longer than assumed if a busy server’s timestamps prove it', async () => {
  const [pod] = await tracedPodsOf('apiserver-busy-delete');
  expect(deliveryLagOf(pod?.trace ?? emptyTrace)).toBeGreaterThan(3500);
});

it.each(allNames.filter((name) => name !== 'apiserver-busy-delete'))(
  'the delivery lag is the assumed one in %s, where no timestamp proves more',
  async (name) => {
    for (const { trace } of await somePodsOf(name)) expect(deliveryLagOf(trace)).toBe(assumed);
  },
);

it('the delivery lag is longer if a late Event was stored in the same second as an earlier one', async () => {
  const all = await rawObservationsOf('multi-container');
  const isKilling = (one: RawObservation): boolean =>
    one.kind === 'changed' && (one.object as { reason?: unknown }).reason === 'Killing';
  const [, ...later] = all.filter(isKilling);
  expect(later.length).toBeGreaterThan(0);
  expect(lagOf(all.map((one) => (later.includes(one) ? { ...one, at: one.at + 7000 } : one)))).toBeGreaterThan(6000);
});

/** Every pod whose removal the run receives. All changes on the API server's watches arrive 5 s late. */
async function latePods(name: string) {
  const delay = Object.fromEntries(delayedStreams.map((stream) => [stream, stream === 'logs' ? 0 : 5000]));
  const still = { offset: 0, drift: 0 };
  const pods = await somePodsOf(name);
  return pods.flatMap(({ rawObservations, truths }) => {
    const trace = traceOf(observationsOf(distort(rawObservations, { api: still, node: still, delay }, truths)));
    return trace.gone?.value === 'deleted' ? [{ trace, truths, removedBy: trace.gone.at - 5000 }] : [];
  });
}

/** Nothing proves the lag: no timestamp is newer than the first list, or there are too few `Date` headers. */
const unproved = ['finalizer', 'forced-by-other'];

it.each(allNames.filter((name) => !unproved.includes(name)))(
  'lets every instant of %s be as early as it was where all streams are 5 s late',
  async (name) => {
    for (const { trace, truths, removedBy } of await latePods(name)) {
      const report = mustReport(trace);
      const removed = report.marks.find((mark) => mark.name === 'removed');
      expect(Date.parse(removed?.at.earliest ?? '')).toBeLessThanOrEqual(removedBy);
      expect(heldAgainst(report, truths).filter(({ hit }) => !hit)).toEqual([]);
    }
  },
);
