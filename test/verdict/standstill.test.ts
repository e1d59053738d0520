/** An API server that stands still breaks no stream: only a late Lease renewal and a late answer together show it. */
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { RawObservation } from '../../src/model/observation.ts';
import { editing } from '../helpers/cases.ts';
import { mustRender, observationsOf, rawObservationsIn, traceOf } from '../helpers/recordings.ts';

const fileOf = (name: string): string => fileURLToPath(new URL(`recordings/${name}.ndjson`, import.meta.url));

/** The headline if some observations are changed, or left out (undefined). */
async function headline(change: (one: RawObservation) => RawObservation | undefined): Promise<string> {
  const all = await rawObservationsIn(fileOf('api-server-stood-still'));
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

it('both are not enough if the renewal was written in time: it may have waited for the connection of this machine', async () => {
  const all = await rawObservationsIn(fileOf('api-server-stood-still'));
  const inTime = editing(all, 'lease', ({ metadata, spec, ...lease }) => {
    const time = `${String(spec['renewTime']).slice(0, 19)}Z`;
    return { ...lease, spec, metadata: { ...metadata, managedFields: [{ manager: 'kubelet', time }] } };
  });
  expect(mustRender(traceOf(observationsOf(inTime))).answer.headline).not.toContain('API server');
});
