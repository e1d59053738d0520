import { expect, it } from 'vitest';
import type { DeleteStep, Tried } from '../../src/kube/delete-decide.ts';
import { decideDelete } from '../../src/kube/delete-decide.ts';
import { TransportFailure } from '../../src/kube/http/failure.ts';
import { readRefusal } from '../../src/kube/status.ts';
import { status } from './helpers/api.ts';

const refused = (code: number, body: unknown = '<html>', headers = {}): Tried => ({
  kind: 'refused',
  refusal: readRefusal(code, body, headers),
});
const failed = (sent: boolean, code: string): Tried => ({
  kind: 'failed',
  failure: new TransportFailure('no answer', { sent, code }),
});
const budget = status(429, 'TooManyRequests', 'Cannot evict', { causes: [{ reason: 'DisruptionBudget' }] });
const successor = status(409, 'Conflict', 'the UID in the precondition (a) does not match the UID in record (b)');
const twoBudgets = status(500, 'InternalError', 'This pod has more than one PodDisruptionBudget');

const table: [string, Tried, number, DeleteStep][] = [
  ['an accepted request is done', { kind: 'accepted' }, 0, { next: 'done' }],
  [
    'a request without a connection was not executed, and is sent again',
    failed(false, 'ECONNREFUSED'),
    3,
    { next: 'again', ms: 800 },
  ],
  ['a server that stays unreachable ends the tries', failed(false, 'ECONNREFUSED'), 24, { next: 'give-up' }],
  ['an untrusted certificate is not tried again', failed(false, 'CERT_HAS_EXPIRED'), 0, { next: 'give-up' }],
  [
    'a certificate that became untrusted during a request is not tried again',
    failed(true, 'DEPTH_ZERO_SELF_SIGNED_CERT'),
    0,
    { next: 'give-up' },
  ],
  ['after a lost answer a GET decides', failed(true, 'ECONNRESET'), 0, { next: 'look', ms: 100 }],
  ['after the last lost answer a GET decides too', failed(true, 'ECONNRESET'), 8, { next: 'last-look' }],
  ['429 waits as long as the server says', refused(429, {}, { 'retry-after': '3' }), 0, { next: 'again', ms: 3000 }],
  ['429 is not retried for ever', refused(429, {}), 24, { next: 'give-up' }],
  ['a refusal by a PodDisruptionBudget is not tried again', refused(429, budget), 0, { next: 'give-up' }],
  ['a 409 because of another uid is not tried again', refused(409, successor), 0, { next: 'give-up' }],
  ['after another 409 a GET decides', refused(409, status(409, 'Conflict', 'x')), 0, { next: 'look', ms: 100 }],
  ['a pod with two PodDisruptionBudgets is not tried again', refused(500, twoBudgets), 0, { next: 'give-up' }],
  ['after a 500 a GET decides', refused(500), 1, { next: 'look', ms: 200 }],
  ['after the last 504 a GET decides too', refused(504), 8, { next: 'last-look' }],
  ["a proxy's 404 says nothing about the pod: a GET decides", refused(404), 0, { next: 'look', ms: 100 }],
  ["a proxy's 403 says nothing about the pod: a GET decides", refused(403), 0, { next: 'look', ms: 100 }],
  [
    "the API server's 404 is final",
    refused(404, status(404, 'NotFound', 'pods "web" not found')),
    0,
    { next: 'give-up' },
  ],
  [
    'the refusal of an admission webhook, which may have no reason, is not tried again',
    refused(400, status(400, '', 'admission webhook "guard" denied the request: not now')),
    0,
    { next: 'give-up' },
  ],
  ['a 403 is not tried again', refused(403, status(403, 'Forbidden', 'forbidden')), 0, { next: 'give-up' }],
];

const byStore = status(409, 'Conflict', 'Precondition failed: UID in precondition: a, UID in object meta: b');

it('recognizes a 409 because of another uid in the wording of etcd storage too', () => {
  expect(decideDelete(refused(409, byStore), 0)).toEqual({ next: 'give-up' });
});

it.each([
  ['is sent again if the answer was lost', failed(true, 'ECONNRESET'), 0, { next: 'again', ms: 100 }],
  ['ends after the last try', refused(504), 8, { next: 'give-up' }],
  ['is done if it was accepted', { kind: 'accepted' as const }, 0, { next: 'done' }],
])('a dry run %s: no GET can show its result', (_, tried, failures, step) => {
  expect(decideDelete(tried, failures, true)).toEqual(step);
});

it.each(table)('%s', (_, tried, failures, step) => {
  expect(decideDelete(tried, failures)).toEqual(step);
});
