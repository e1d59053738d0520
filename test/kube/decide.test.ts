import { describe, expect, it } from 'vitest';
import type { Cursor, Next, AttemptEnd } from '../../src/kube/decide.ts';
import { decide } from '../../src/kube/decide.ts';
import { TransportFailure } from '../../src/kube/http/failure.ts';
import { readRefusal } from '../../src/kube/status.ts';
import { status as statusOf } from './helpers/api.ts';

const fresh: Cursor = { failures: 0, behind: 0, relists: 0, dead: 0, foreign: 0, reached: false };
const reached: Cursor = { ...fresh, reached: true };
const at7: Cursor = { ...reached, resourceVersion: '7' };
const failing: Cursor = { ...at7, failures: 3 };

const answer = (status: number, retryAfterMs?: number): AttemptEnd => ({
  kind: 'refused',
  refusal: { ...readRefusal(status, statusOf(status, 'Refused', 'no')), retryAfterMs },
  isErrorLine: false,
  verb: 'watch',
});
const page = (status: number): AttemptEnd => ({
  kind: 'refused',
  refusal: readRefusal(status, '<html>'),
  verb: 'watch',
});
const frame = (status: number): AttemptEnd => ({
  kind: 'refused',
  refusal: readRefusal(status, undefined),
  isErrorLine: true,
  verb: 'watch',
});
const failure = (code: string) => new TransportFailure('no answer', { sent: false, code });

const table: [string, AttemptEnd, Cursor, Next][] = [
  ['a watch that ended resumes at once', { kind: 'ended' }, at7, { next: 'resume', wait: [0, 0] }],
  ['a watch that ends repeatedly waits longer', { kind: 'ended' }, failing, { next: 'resume', wait: [500, 1000] }],
  ['the wait has an upper limit', { kind: 'cut' }, { ...at7, failures: 99 }, { next: 'resume', wait: [2500, 5000] }],
  ['a broken connection resumes at once', { kind: 'cut' }, at7, { next: 'resume', wait: [0, 0] }],
  ['a broken first list lists again', { kind: 'cut' }, reached, { next: 'relist', wait: [0, 0] }],
  ['a dead stream resumes from the cursor', { kind: 'dead' }, at7, { next: 'resume', wait: [0, 0] }],
  ['a dead stream after an outage resumes too', { kind: 'dead' }, failing, { next: 'resume', wait: [0, 0] }],
  [
    'a stream that is dead twice lists again, with a gap',
    { kind: 'dead' },
    { ...at7, dead: 1 },
    { next: 'relist', wait: [0, 0], lost: 'disconnected', notOlder: true },
  ],
  [
    'a server that was never reached stops the stream',
    { kind: 'unanswered', failure: failure('ECONNREFUSED') },
    fresh,
    { next: 'stop', because: 'unreachable' },
  ],
  [
    'a server that went away is tried again later',
    { kind: 'unanswered', failure: failure('ECONNREFUSED') },
    failing,
    { next: 'resume', wait: [500, 1000] },
  ],
  [
    'an untrusted certificate stops the stream',
    { kind: 'unanswered', failure: failure('CERT_HAS_EXPIRED') },
    at7,
    { next: 'stop', because: 'untrusted' },
  ],
  [
    '401 stops the stream: the client has already renewed its credentials',
    answer(401),
    at7,
    { next: 'stop', because: 'unauthorized' },
  ],
  ['403 ends the stream for good', answer(403), at7, { next: 'refuse' }],
  ["a proxy's 403 page after the first list is an outage", page(403), at7, { next: 'resume', wait: [125, 250] }],
  ["a proxy's 404 page after the first list is an outage", page(404), failing, { next: 'resume', wait: [500, 1000] }],
  ["a proxy's 404 page before the first list ends the stream", page(404), reached, { next: 'refuse' }],
  ['404 of a resource ends the stream for good', answer(404), fresh, { next: 'refuse' }],
  ['400 ends the stream for good', answer(400), reached, { next: 'refuse' }],
  ['410 as a status lists again, with a gap', answer(410), at7, { next: 'relist', wait: [0, 0], lost: 'expired' }],
  ['410 as a line lists again, with a gap', frame(410), at7, { next: 'relist', wait: [0, 0], lost: 'expired' }],
  [
    'a repeated 410 waits before it lists',
    answer(410),
    failing,
    { next: 'relist', wait: [500, 1000], lost: 'expired' },
  ],
  [
    'a repeated 410 waits too if every list succeeds',
    frame(410),
    { ...at7, relists: 3 },
    { next: 'relist', wait: [500, 1000], lost: 'expired' },
  ],
  [
    'a cursor ahead of the server lists again, with a gap',
    { kind: 'ahead' },
    at7,
    { next: 'relist', wait: [0, 0], lost: 'behind' },
  ],
  [
    'a few login pages at first are tried again',
    { kind: 'foreign' },
    { ...reached, foreign: 2 },
    { next: 'relist', wait: [125, 250] },
  ],
  [
    'only login pages stop the stream',
    { kind: 'foreign' },
    { ...reached, foreign: 3 },
    { next: 'stop', because: 'foreign' },
  ],
  [
    'a login page on a running stream is tried again',
    { kind: 'foreign' },
    { ...at7, foreign: 9 },
    { next: 'resume', wait: [125, 250] },
  ],
  ['429 waits as long as the server says', answer(429, 2000), at7, { next: 'resume', wait: [2000, 2400] }],
  ['429 without a delay waits a little', answer(429), at7, { next: 'resume', wait: [125, 250] }],
  ['500 waits a little', answer(500), at7, { next: 'resume', wait: [125, 250] }],
  ['a 500 line waits a little', frame(500), at7, { next: 'resume', wait: [125, 250] }],
  ['a 403 line ends one watch only', frame(403), at7, { next: 'resume', wait: [125, 250] }],
  ['504 with a delay waits as long as the server says', answer(504, 1000), at7, { next: 'resume', wait: [1000, 1200] }],
  [
    '503 after a loss still lists',
    answer(503),
    { ...at7, lost: 'expired' },
    { next: 'relist', wait: [125, 250], lost: 'expired' },
  ],
  ['an unexpected status is tried again', answer(302), at7, { next: 'resume', wait: [125, 250] }],
  [
    'a server without streaming lists gets a list and a watch',
    { kind: 'no-streaming-list' },
    reached,
    { next: 'relist', wait: [0, 0] },
  ],
  [
    'a line that is too long lists again, with a gap',
    { kind: 'oversized', verb: 'watch' },
    at7,
    { next: 'relist', wait: [0, 0], lost: 'disconnected' },
  ],
  [
    'a line that is too long stops a stream that never received another',
    { kind: 'oversized', verb: 'watch' },
    reached,
    { next: 'stop', because: 'oversized' },
  ],
  [
    'repeated lines that are too long stop the stream',
    { kind: 'oversized', verb: 'watch' },
    { ...at7, relists: 3 },
    { next: 'stop', because: 'oversized' },
  ],
  [
    'a change without a resourceVersion lists again, with a gap',
    { kind: 'unversioned' },
    at7,
    { next: 'relist', wait: [0, 0], lost: 'disconnected' },
  ],
  [
    'an outdated list is requested again as NotOlderThan',
    { kind: 'behind' },
    at7,
    { next: 'relist', wait: [0, 0], notOlder: true },
  ],
  [
    'an outdated list is accepted after many tries, with a gap',
    { kind: 'behind' },
    { ...at7, behind: 11 },
    { next: 'relist', wait: [0, 0], lost: 'behind' },
  ],
];

describe('decide', () => {
  it.each(table)('%s', (_, outcome, cursor, next) => {
    expect(decide(outcome, cursor)).toEqual(next);
  });
});
