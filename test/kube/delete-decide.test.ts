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
  ['an accepted one is done', { kind: 'accepted' }, 0, { next: 'done' }],
  ['without a connection it was not executed', failed(false, 'ECONNREFUSED'), 3, { next: 'again', ms: 800 }],
  ['a server that stays away is given up', failed(false, 'ECONNREFUSED'), 24, { next: 'give-up' }],
  ['a certificate nobody trusts is not tried again', failed(false, 'CERT_HAS_EXPIRED'), 0, { next: 'give-up' }],
  ['nor one that changed under a request', failed(true, 'DEPTH_ZERO_SELF_SIGNED_CERT'), 0, { next: 'give-up' }],
  ['a lost answer is looked after', failed(true, 'ECONNRESET'), 0, { next: 'look', ms: 100 }],
  ['also the last one', failed(true, 'ECONNRESET'), 8, { next: 'last-look' }],
  ['flow control is heeded', refused(429, {}, { 'retry-after': '3' }), 0, { next: 'again', ms: 3000 }],
  ['but not for ever', refused(429, {}), 24, { next: 'give-up' }],
  ["a budget's no is one", refused(429, budget), 0, { next: 'give-up' }],
  ['a successor is left alone', refused(409, successor), 0, { next: 'give-up' }],
  [
    'a write that raced with ours may have won',
    refused(409, status(409, 'Conflict', 'x')),
    0,
    { next: 'look', ms: 100 },
  ],
  ['two budgets stay two', refused(500, twoBudgets), 0, { next: 'give-up' }],
  ['an error may come after the write', refused(500), 1, { next: 'look', ms: 200 }],
  ['also the last one', refused(504), 8, { next: 'last-look' }],
  ["a proxy's 404 says nothing of the pod", refused(404), 0, { next: 'look', ms: 100 }],
  ["the API server's 404 does", refused(404, status(404, 'NotFound', 'pods "web" not found')), 0, { next: 'give-up' }],
  ['a no is a no', refused(403, status(403, 'Forbidden', 'forbidden')), 0, { next: 'give-up' }],
];

const byStore = status(409, 'Conflict', 'Precondition failed: UID in precondition: a, UID in object meta: b');

it('recognizes a successor by the message of the store too', () => {
  expect(decideDelete(refused(409, byStore), 0)).toEqual({ next: 'give-up' });
});

it.each([
  ['is sent again where the answer was lost', failed(true, 'ECONNRESET'), 0, { next: 'again', ms: 100 }],
  ['is given up in the end', refused(504), 8, { next: 'give-up' }],
  ['is done when it was accepted', { kind: 'accepted' as const }, 0, { next: 'done' }],
])('a dry run, whose result no GET can show, %s', (_, tried, failures, step) => {
  expect(decideDelete(tried, failures, true)).toEqual(step);
});

it.each(table)('%s', (_, tried, failures, step) => {
  expect(decideDelete(tried, failures)).toEqual(step);
});
