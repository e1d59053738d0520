/** An API server that stands still breaks no stream: only a late Lease renewal and a late answer together show it. */
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { RawObservation } from '../../src/model/observation.ts';
import { mustRender, observationsOf, rawObservationsIn, traceOf } from '../helpers/recordings.ts';

const file = fileURLToPath(new URL('recordings/api-server-stood-still.ndjson', import.meta.url));

/** The headline if some observations are changed, or left out (undefined). */
async function headline(change: (one: RawObservation) => RawObservation | undefined): Promise<string> {
  const all = await rawObservationsIn(file);
  return mustRender(traceOf(observationsOf(all.flatMap((one) => change(one) ?? [])))).answer.headline;
}

const isSlow = (one: RawObservation): boolean => one.kind === 'dated' && one.at - one.sentAt > 1000;

it('both together name the API server', async () => {
  expect(await headline((one) => one)).toMatch(/the API server did not answer for up to 9\.2s$/);
});

it('a late renewal alone may be the connection of the node', async () => {
  expect(await headline((one) => (isSlow(one) ? undefined : one))).not.toContain('API server');
});

it('a late answer alone may be the connection of this machine', async () => {
  expect(await headline((one) => ('stream' in one && one.stream === 'lease' ? undefined : one))).not.toContain(
    'API server',
  );
});
