/** How late changes arrive is measured by the API server's own stamps (src/infer/arrival.ts). */
import { expect, it } from 'vitest';
import { deliveryLagOf } from '../../src/infer/arrival.ts';
import type { Sighting } from '../../src/model/observation.ts';
import { bend, bentStreams } from '../helpers/bend.ts';
import {
  mustReport,
  observationsOf,
  recordingNames,
  secondSeriesNames,
  tracedPodsOf,
  traceOf,
} from '../helpers/recordings.ts';
import { heldAgainst } from '../helpers/truth.ts';

const names = [...recordingNames, ...secondSeriesNames];
const assumed = 2500;
const lagOf = (sightings: readonly Sighting[]): number => deliveryLagOf(traceOf(observationsOf(sightings)));

it('is longer than assumed where a busy server proves it', async () => {
  const [pod] = await tracedPodsOf('apiserver-busy-delete');
  expect(lagOf(pod?.sightings ?? [])).toBeGreaterThan(3500);
});

it.each(names.filter((name) => name !== 'apiserver-busy-delete'))(
  'is the assumed one in %s, where no stamp proves more',
  async (name) => {
    for (const { sightings } of await tracedPodsOf(name)) expect(lagOf(sightings)).toBe(assumed);
  },
);

it.each(names)('keeps every instant of %s inside its interval where all streams are 5 s late', async (name) => {
  const delay = Object.fromEntries(bentStreams.map((stream) => [stream, stream === 'logs' ? 0 : 5000]));
  const still = { offset: 0, drift: 0 };
  for (const { sightings, truths } of await tracedPodsOf(name)) {
    const report = mustReport(traceOf(observationsOf(bend(sightings, { api: still, node: still, delay }, truths))));
    expect(heldAgainst(report, truths).filter(({ hit }) => !hit)).toEqual([]);
  }
});
