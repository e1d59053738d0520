/** Evictions that are not refused by a PodDisruptionBudget. */
import { expect, it } from 'vitest';
import { askDeletion } from '../../src/run/deleting/ask-deletion.ts';
import { type Handler, connected, json, serve, status } from '../kube/helpers/api.ts';
import { testEnv } from '../kube/helpers/env.ts';
import { all, stopping } from '../kube/helpers/observed.ts';

const target = { namespace: 'shop', name: 'web', uid: 'uid-web', graceSeconds: null, evict: true };
const pod = { metadata: { name: 'web', uid: 'uid-web', labels: { app: 'web' } } };
const denied = status(403, 'Forbidden', 'admission webhook "guard.example.com" denied the request: not on Fridays');
const budget = {
  metadata: { name: 'web', resourceVersion: '1' },
  spec: { selector: { matchLabels: { app: 'web' } } },
  status: { disruptionsAllowed: 1 },
};

/** The result on a server with a budget that covers the pod. */
async function evicted(answer: Handler) {
  const api = await serve((asked, response, request) => {
    if (asked.method === 'POST') return answer(asked, response, request);
    json(response, 200, { kind: 'PodDisruptionBudgetList', metadata: { resourceVersion: '1' }, items: [budget] });
  });
  const cluster = await connected(api, { env: testEnv({ speed: 100 }) });
  const asking = { signal: stopping(3000), retryEvict: true, warn: () => {} };
  const error = await all(askDeletion(cluster, target, pod, asking)).then(
    () => undefined,
    (thrown: unknown) => thrown as Error,
  );
  return { error, sent: api.asked.filter(({ method }) => method === 'POST'), asked: api.asked };
}

it('a denied eviction is reported with the message of the server and not repeated, and budgets are not read', async () => {
  const { error, sent, asked } = await evicted((_, response) => json(response, 403, denied));
  expect(error).toMatchObject({ code: 'evict.denied', hint: expect.stringContaining('that policy') as unknown });
  expect(error?.message).not.toContain('PodDisruptionBudget');
  expect(sent).toHaveLength(1);
  expect(asked).toEqual(sent);
});

it('an eviction that a budget refuses is sent again until it is accepted', async () => {
  let tries = 0;
  const { error, sent } = await evicted((_, response) => {
    tries += 1;
    const causes = [{ reason: 'DisruptionBudget', message: 'needs 2 healthy pods' }];
    if (tries === 1) json(response, 429, status(429, 'TooManyRequests', 'Cannot evict', { causes }));
    else json(response, 201, { kind: 'Status', status: 'Success' });
  });
  expect(error).toBeUndefined();
  expect(sent).toHaveLength(2);
});
