/** A run whose first answer came late says so. Why is unknown: credentials, the connection, or a server that stood still. */
import { expect, it } from 'vitest';
import type { RawObservation } from '../../src/model/observation.ts';
import { deletedText } from '../../src/output/pod-facts.ts';
import { mustRender, observationsOf, rawObservationsOf, traceOf } from '../helpers/recordings.ts';

it.each([
  [8000, 'gone after 4.1s · before that, reaching the API server took 8.0s'],
  [undefined, 'gone after 4.1s'],
])('a first answer after %s ms', async (ms, words) => {
  const [began, ...rest] = await rawObservationsOf('graceful-exit');
  if (began?.kind !== 'began') throw new Error('a recording begins with `began`');
  const first: RawObservation = { ...began, ...(ms !== undefined && { askedAt: began.at - ms }) };
  expect(deletedText(mustRender(traceOf(observationsOf([first, ...rest]))))).toBe(words);
});
