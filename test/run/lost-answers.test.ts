/** Errors after a run has observed the deletion may lose an answer, but never the report. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { groupOfOne } from '../../src/run/group/group.ts';
import { connected, json, status, tempDir } from '../kube/helpers/api.ts';
import { testEnv } from '../kube/helpers/env.ts';
import { onePod, runOf, terminating } from './helpers/one-pod.ts';

const env = { PATH: process.env['PATH'] ?? '' };

/** Credentials from a plugin that works only once. */
async function onceOnly(): Promise<object> {
  const used = join(await tempDir(), 'used');
  const apiVersion = 'client.authentication.k8s.io/v1';
  const credential = JSON.stringify({ apiVersion, kind: 'ExecCredential', status: { token: 'first' } });
  const script = `[ -e "${used}" ] && exit 1; touch "${used}"; echo '${credential}'`;
  return { exec: { apiVersion, command: 'sh', args: ['-c', script], interactiveMode: 'Never' } };
}

it('a plugin that fails at the last GET does not prevent the report of a stuck pod', async () => {
  const server = await onePod(terminating(), ({ path }, response) => {
    if (!path.endsWith('/pods/web')) return false;
    json(response, 401, status(401, 'Unauthorized', 'the token has expired'));
    return true;
  });
  const cluster = await connected(server, { user: await onceOnly(), env: testEnv({ variables: env }) });
  const { report } = await runOf(cluster, { mode: 'attach', timeoutMs: 700 });
  expect(server.asked.some(({ path }) => path.endsWith('/pods/web'))).toBe(true);
  expect(report?.verdict).toMatchObject({ outcome: 'stuck', exitCode: 3 });
});

describe('a request that fails', () => {
  it('is a warning if the deletion is under way, and the run continues to its report', async () => {
    const env = testEnv();
    const server = await onePod({}, ({ method }, response, { now }) => {
      if (method !== 'DELETE') return false;
      now('MODIFIED', terminating());
      env.after(100, () => json(response, 422, status(422, 'Invalid', 'not on Fridays')));
      env.after(300, () => now('DELETED'));
      return true;
    });
    const cluster = await connected(server, { env });
    const { report, warnings } = await runOf(cluster, {});
    expect(report?.marks.map(({ name }) => name)).toEqual(expect.arrayContaining(['accepted', 'removed']));
    expect(warnings).toEqual([
      'the deletion of pod "web" in namespace "shop" failed (422): not on Fridays; the pod is being deleted anyway; the report shows how',
    ]);
  });

  it.each([
    ['not repeated', false, 'pod "web" is already terminating: another client was faster, no eviction is sent', 1],
    [
      'repeated for its grace period',
      true,
      'pod "web" in namespace "shop" was gone before its eviction was requested; the report shows how',
      2,
    ],
  ])(
    'because another client deleted the pod while an eviction waited for its budget is %s',
    async (_, insist, warning, requests) => {
      const env = testEnv({ speed: 20 });
      let asked = 0;
      // Only a pod with an owner is waited for until the eviction is tried again.
      const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'rs', controller: true }];
      const server = await onePod({ ownerReferences }, ({ path }, response, { now }) => {
        if (!path.endsWith('/eviction')) return false;
        asked += 1;
        if (asked > 1) json(response, 404, status(404, 'NotFound', 'pods "web" not found'));
        else {
          const causes = [{ reason: 'DisruptionBudget', message: 'needs 2 healthy pods' }];
          json(response, 429, status(429, 'TooManyRequests', 'Cannot evict', { causes }));
          env.after(1000, () => now('MODIFIED', terminating()));
          env.after(2000, () => now('DELETED'));
        }
        return true;
      });
      const cluster = await connected(server, { env });
      const { report, warnings } = await runOf(cluster, {
        mode: 'evict',
        retryEvict: true,
        insist,
        waitReplacement: true,
        timeoutMs: 20_000,
      });
      expect(report?.marks.map(({ name }) => name)).toEqual(expect.arrayContaining(['accepted', 'removed']));
      expect(warnings).toContain(warning);
      expect(asked).toBe(requests);
    },
  );

  it('is an error if nothing else shows a deletion', async () => {
    const server = await onePod({}, ({ method }, response) => {
      if (method === 'DELETE') json(response, 422, status(422, 'Invalid', 'not on Fridays'));
      return method === 'DELETE';
    });
    await expect(runOf(await connected(server), {})).rejects.toMatchObject({ code: 'delete.failed' });
  });
});

it.each([[{ uid: undefined }], [{ uid: '' }]])('no DELETE is sent for a pod with %j', async (metadata) => {
  const server = await onePod(metadata);
  await expect(runOf(await connected(server), {})).rejects.toMatchObject({ code: 'server.not-kubernetes' });
  expect(server.asked.filter(({ method }) => method !== 'GET')).toEqual([]);
});

it('no DELETE is sent for a pod that has taken the name of the chosen one', async () => {
  const server = await onePod({});
  const group = groupOfOne('shop', { name: 'web', uid: 'the-one-that-was-chosen' });
  await expect(runOf(await connected(server), { group })).rejects.toMatchObject({ code: 'pod.replaced' });
  expect(server.asked.filter(({ method }) => method !== 'GET')).toEqual([]);
});

it('a lost stream that is then refused is reported as one gap', async () => {
  const env = testEnv();
  let ended = false;
  const server = await onePod(terminating(), ({ path, query }, response, { endWatches }) => {
    if (!path.endsWith('/pods')) return false;
    env.after(300, () => {
      ended = true;
      endWatches();
    });
    if (ended && query['watch'] !== undefined) json(response, 403, status(403, 'Forbidden', 'no more'));
    return ended;
  });
  const { report, warnings } = await runOf(await connected(server, { env }), { mode: 'attach' });
  expect(warnings.join()).toContain('can no longer be watched');
  expect(report?.gaps.filter(({ resource }) => resource === 'pods').map(({ cause }) => cause)).toEqual(['refused']);
});
