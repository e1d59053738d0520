/** The embedded API server patches like a real one: it merges lists by key, and supports dry runs. */
import { casesIn } from '../helpers/case-file.ts';
import { describe, expect, it } from 'vitest';
import { strategicMerge } from '../../src/demo/verbs/merge.ts';
import { send, type Answer } from './helpers/client.ts';
import { playing } from './helpers/playing.ts';

const strategic = { 'content-type': 'application/strategic-merge-patch+json' };

async function patchDeployment(podSpec: object, dryRun = '?dryRun=All'): Promise<{ before: Answer; patched: Answer }> {
  const { base } = await playing('sigkill-after-grace');
  const url = `${base.replace('/api/v1', '/apis/apps/v1')}/deployments/checkout`;
  const before = await send(url);
  const body = { spec: { template: { spec: podSpec } } };
  const patched = await send(`${url}${dryRun}`, { method: 'PATCH', body, headers: strategic });
  const after = await send(url);
  expect(after.body.metadata.generation).toBe(
    dryRun === '' ? patched.body.metadata.generation : before.body.metadata.generation,
  );
  return { before, patched };
}

const sleepFor = (seconds: number, name = 'app') => ({
  containers: [{ name, lifecycle: { preStop: { sleep: { seconds } } } }],
});

describe('a strategic merge patch of an owner', () => {
  it.each(['?dryRun=All', ''])('merges containers by name (%j)', async (dryRun) => {
    const podSpec = { terminationGracePeriodSeconds: 30, ...sleepFor(10) };
    const { before, patched } = await patchDeployment(podSpec, dryRun);
    expect(patched.status).toBe(200);
    const [was, is] = [before, patched].map(({ body }) => (body.spec as { template: { spec: unknown } }).template.spec);
    const [container] = (was as { containers: object[] }).containers;
    expect(is).toMatchObject({ containers: [{ ...container, lifecycle: { preStop: { sleep: { seconds: 10 } } } }] });
    expect(is).toMatchObject({ terminationGracePeriodSeconds: 30 });
    expect(patched.body.metadata.generation).toBe((before.body.metadata.generation ?? 0) + 1);
  });
});

describe('strategicMerge', () => {
  const target = { containers: [{ name: 'a', image: 'x', env: [{ name: 'E', value: '1' }], command: ['sh', '-c'] }] };
  const cases = casesIn<{ patch: object; makes: object }>(new URL('strategic-merge.yaml', import.meta.url));
  it.each(cases)('%s', (_, { patch, makes }) => expect(strategicMerge(target, patch)).toEqual(makes));
});
