/** An API server that stands still breaks no stream: only a late Lease renewal and a late answer together show it. */
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { RawObservation } from '../../src/model/observation.ts';
import { deletedText } from '../../src/output/pod-facts.ts';
import { editing } from '../helpers/cases.ts';
import { mustRender, observationsOf, rawObservationsIn, traceOf } from '../helpers/recordings.ts';

const fileOf = (name: string): string => fileURLToPath(new URL(`recordings/${name}.ndjson`, import.meta.url));

type Change = (one: RawObservation) => RawObservation | undefined;

/** The headline if some observations are changed, or left out (undefined). */
const headline = async (change: Change): Promise<string> =>
  (await reportIf('api-server-stood-still', change)).answer.headline;

async function reportIf(name: string, change: Change) {
  const all = await rawObservationsIn(fileOf(name));
  return mustRender(traceOf(observationsOf(all.flatMap((one) => change(one) ?? []))));
}

/** The first two lines of the card. */
async function linesIf(name: string, change: Change): Promise<string> {
  const report = await reportIf(name, change);
  return `${report.answer.headline}\n${deletedText(report)}`;
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

it('is that of its storage only if it answers from memory meanwhile', async () => {
  const lines = await linesIf('storage-stood-still', (one) =>
    one.kind === 'dated' && one.read === 'cached' ? undefined : one,
  );
  expect(lines).toMatch(/the API server did not answer for up to 8\.2s/);
});

it('what it answers from memory as it goes on does not show that its storage stood still', async () => {
  const lines = await linesIf('api-server-paused', (one) =>
    one.kind === 'dated' && one.read === 'cached' ? { ...one, sentAt: one.at - 500 } : one,
  );
  expect(lines).toContain('waiting for the API server');
  expect(lines).not.toContain('etcd');
});

it.each(['storage-stood-still', 'api-server-paused'])('is not that of %s if it answers us at once', async (name) => {
  const lines = await linesIf(name, (one) => (one.kind === 'dated' ? { ...one, sentAt: one.at } : one));
  expect(lines).toMatch(/waiting for the kubelet on node1|until the kubelet reported/);
});

type Read = Extract<RawObservation, { kind: 'dated' }>;

const ofThree = 'waiting for the kubelet on node1, its container runtime or the API server';

it.each([
  ['one of our questions failed', (read: Read): Read => ({ ...read, read: 'failed' })],
  ['one of our questions waited', (read: Read): Read => ({ ...read, sentAt: read.at - 1500 })],
  ['none of our questions was about what is stored', ({ read: _, ...dated }: Read): Read => dated],
])('may have been what the kubelet waited for, if %s and no renewal arrived', async (_why, change) => {
  const lines = await linesIf('runtime-frozen-api-server-well', (one) =>
    'stream' in one && one.stream === 'lease' ? undefined : one.kind === 'dated' && one.read ? change(one) : one,
  );
  expect(lines).toContain(ofThree);
});

it("may have held up the kubelet's report, if nothing shows how long it took with the first one", async () => {
  const all = await rawObservationsIn(fileOf('runtime-frozen-api-server-well'));
  const old = editing(all, 'pod', ({ status, ...pod }) => ({
    ...pod,
    status: { ...status, observedGeneration: undefined },
  }));
  expect(deletedText(mustRender(traceOf(observationsOf(old))))).toContain(ofThree);
});

const isRenewal = (one: RawObservation): boolean => one.kind === 'changed' && one.stream === 'lease';

it('is not what the kubelet waited for if it answered us, but the connection of the node may be', async () => {
  const lines = await linesIf('runtime-frozen-api-server-well', (one) => (isRenewal(one) ? undefined : one));
  expect(lines).toContain('waiting for the kubelet on node1, its container runtime or its connection');
});
