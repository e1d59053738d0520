/** Probes through the API server: failures of the target and of the API server itself. */
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import type { ProxyRequest } from '../../src/probe/http.ts';
import { eventually, kindsOf, probing } from './helpers/probing.ts';

const answering =
  (status: number, body: string | object): ProxyRequest =>
  () =>
    Promise.resolve({
      status,
      body: Readable.from([Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))]),
    });

const failure = (message: string, code = 503) => ({
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  message,
  code,
});

it.each([
  ['service/https:checkout:web', '/api/v1/namespaces/shop/services/https:checkout:web/proxy/'],
  ['pod', '/api/v1/namespaces/shop/pods/checkout-1/proxy/'],
])('requests %s at the path of its proxy', async (target, path) => {
  const asked = new Set<string>();
  const ask: ProxyRequest = (request) => {
    asked.add(`${request.method} ${request.path}`);
    return answering(200, 'well')(request);
  };
  await probing(target, { ask, pod: { name: 'checkout-1', uid: 'u1' } }, (sent) => sent(1));
  expect([...asked]).toEqual([`GET ${path}`]);
});

it.each([
  ['error trying to reach service: dial tcp 10.0.0.5:8080: connect: connection refused', 'refused 503'],
  ['error trying to reach service: dial tcp 10.0.0.5:8080: i/o timeout', 'timeout 503'],
  ['error trying to reach service: EOF', 'reset 503'],
  ['no endpoints available for service "checkout"', 'http 503'],
])('reads from the API server why it reached no backend: %s', async (message, kind) => {
  const { result } = await probing('service/checkout', { ask: answering(503, failure(message)) }, (sent) => sent(3));
  expect(Object.keys(kindsOf(result))).toEqual([kind]);
});

it.each([
  ['service/checkout', 'service/NAME:PORT'],
  ['service/checkout:http', 'Name a path'],
])('says before the deletion of %s without an endpoint what may be wrong', async (target, hint) => {
  const ask = answering(503, failure('no endpoints available for service "checkout"'));
  const { trouble } = await probing(target, { ask }, (sent) => sent(3));
  expect((trouble as { hint?: string }).hint).toContain(hint);
});

it.each<[string, ProxyRequest]>([
  ['throttles', answering(429, failure('too many', 429))],
  ['does not answer', () => Promise.reject(new Error('ECONNREFUSED'))],
])('counts requests that the API server %s as not measured', async (_, answer) => {
  let asked = 0;
  const ask: ProxyRequest = (request) => {
    asked += 1;
    return answer(request);
  };
  const { result } = await probing('service/checkout', { ask }, () => eventually(() => asked >= 3));
  expect(result.sent).toBe(0);
  expect(result.notMeasured.map(({ reason }) => reason)).toContain('api-server');
});

it('distinguishes a missing permission from a refusal of the application', async () => {
  const forbidden = failure('pods "checkout-1" is forbidden: cannot get resource "pods/proxy"', 403);
  const lacking = await probing('pod', { ask: answering(403, forbidden) }, (sent) => sent(1));
  const guarded = await probing('pod', { ask: answering(403, 'log in first') }, (sent) => sent(1));
  const codes = [lacking, guarded].map(({ trouble }) => (trouble as { code?: string }).code);
  expect(codes).toEqual(['probe.forbidden', 'probe.not-answering']);
});
