/** An API server that stands still breaks no stream: only a late Lease renewal and a late answer together show it. */
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { RawObservation } from '../../src/model/observation.ts';
import { deletedText } from '../../src/output/pod-facts.ts';
import { adding, changesOf } from '../helpers/cases.ts';
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

/** podexit asks about a pod that is silent for 5 s: the recording is older than that. */
it.each([
  ['which is answered with the renewal that came 4 s late', 0, /: ≈\ds waiting for the API server$/],
  ['which is answered at once', 3000, /waiting for the kubelet on node1, its container runtime or the API server$/],
])('a standstill of etcd is known by a question about the pod, %s', async (_, earlierMs, says) => {
  const all = await rawObservationsIn(fileOf('etcd-stood-still'));
  const [renewal] = changesOf(all, 'lease');
  const before = changesOf(all, 'pod').findLast(({ at }) => at < (renewal?.at ?? 0));
  const [at, sentAt] = [(renewal?.at ?? NaN) + 40 - earlierMs, (before?.at ?? NaN) + 5000];
  const answer: RawObservation = { kind: 'dated', at, sentAt, date: Math.floor(at / 1000) * 1000 };
  const report = mustRender(traceOf(observationsOf(adding(all, answer))));
  expect(deletedText(report)).toMatch(says);
});
