import { describe, expect, it } from 'vitest';
import type { Cursor, Next, Outcome } from '../../src/kube/decide.ts';
import { decide } from '../../src/kube/decide.ts';
import { TransportFailure } from '../../src/kube/http/failure.ts';
import { readRefusal } from '../../src/kube/status.ts';

const fresh: Cursor = { failures: 0, behind: 0, relists: 0, dead: 0, foreign: 0, reached: false };
const reached: Cursor = { ...fresh, reached: true };
const at7: Cursor = { ...reached, resourceVersion: '7' };
const failing: Cursor = { ...at7, failures: 3 };

const answer = (status: number, retryAfterMs?: number): Outcome => ({
  kind: 'refused',
  refusal: { ...readRefusal(status, undefined), retryAfterMs },
  isErrorLine: false,
  verb: 'watch',
});
const frame = (status: number): Outcome => ({
  kind: 'refused',
  refusal: readRefusal(status, undefined),
  isErrorLine: true,
  verb: 'watch',
});
const failure = (code: string) => new TransportFailure('no answer', { sent: false, code });

const table: [string, Outcome, Cursor, Next][] = [
  ['a watch that ended resumes at once', { kind: 'ended' }, at7, { next: 'resume', wait: [0, 0] }],
  ['one that ends again and again waits longer', { kind: 'ended' }, failing, { next: 'resume', wait: [500, 1000] }],
  ['patience has an end', { kind: 'cut' }, { ...at7, failures: 99 }, { next: 'resume', wait: [2500, 5000] }],
  ['a broken connection resumes at once', { kind: 'cut' }, at7, { next: 'resume', wait: [0, 0] }],
  ['a broken first list lists again', { kind: 'cut' }, reached, { next: 'relist', wait: [0, 0] }],
  ['a dead stream resumes from the cursor', { kind: 'dead' }, at7, { next: 'resume', wait: [0, 0] }],
  ['a dead stream after an outage resumes too', { kind: 'dead' }, failing, { next: 'resume', wait: [0, 0] }],
  [
    'a stream that is dead again shows a server that stands still: it lists',
    { kind: 'dead' },
    { ...at7, dead: 1 },
    { next: 'relist', wait: [0, 0], lost: 'disconnected', notOlder: true },
  ],
  [
    'a server never reached stops',
    { kind: 'unanswered', failure: failure('ECONNREFUSED') },
    fresh,
    { next: 'stop', because: 'unreachable' },
  ],
  [
    'a server that went away is waited for',
    { kind: 'unanswered', failure: failure('ECONNREFUSED') },
    failing,
    { next: 'resume', wait: [500, 1000] },
  ],
  [
    'a certificate nobody trusts stops',
    { kind: 'unanswered', failure: failure('CERT_HAS_EXPIRED') },
    at7,
    { next: 'stop', because: 'untrusted' },
  ],
  ['401 stops, since the client has renewed already', answer(401), at7, { next: 'stop', because: 'unauthorized' }],
  ['403 costs the lane', answer(403), at7, { next: 'refuse' }],
  ['404 of a resource costs the lane', answer(404), fresh, { next: 'refuse' }],
  ['400 costs the lane: it stays as it is', answer(400), reached, { next: 'refuse' }],
  ['410 as a status lists again, with a gap', answer(410), at7, { next: 'relist', wait: [0, 0], lost: 'expired' }],
  ['410 as a line lists again, with a gap', frame(410), at7, { next: 'relist', wait: [0, 0], lost: 'expired' }],
  ['410 again and again waits', answer(410), failing, { next: 'relist', wait: [500, 1000], lost: 'expired' }],
  [
    '410 after lists that all succeeded waits too',
    frame(410),
    { ...at7, relists: 3 },
    { next: 'relist', wait: [500, 1000], lost: 'expired' },
  ],
  ['new credentials go on from the cursor', { kind: 'renewed' }, at7, { next: 'resume', wait: [0, 0] }],
  [
    'a stream that stands nowhere lists, with a gap',
    { kind: 'ahead' },
    at7,
    { next: 'relist', wait: [0, 0], lost: 'behind' },
  ],
  [
    'a login page may be a bad moment',
    { kind: 'foreign' },
    { ...reached, foreign: 2 },
    { next: 'relist', wait: [125, 250] },
  ],
  [
    'a login page and nothing else stops',
    { kind: 'foreign' },
    { ...reached, foreign: 3 },
    { next: 'stop', because: 'foreign' },
  ],
  [
    'a login page later is waited out',
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
  ['an unknown status is tried again', answer(302), at7, { next: 'resume', wait: [125, 250] }],
  ['no streaming list means list and watch', { kind: 'no-streaming-list' }, reached, { next: 'relist', wait: [0, 0] }],
  [
    'a line too long lists again, with a gap',
    { kind: 'oversized', verb: 'watch' },
    at7,
    { next: 'relist', wait: [0, 0], lost: 'disconnected' },
  ],
  [
    'a line too long that is all that ever came is an error',
    { kind: 'oversized', verb: 'watch' },
    reached,
    { next: 'stop', because: 'oversized' },
  ],
  [
    'a line too long that comes again and again is one too',
    { kind: 'oversized', verb: 'watch' },
    { ...at7, relists: 3 },
    { next: 'stop', because: 'oversized' },
  ],
  [
    'a change without version lists again, with a gap',
    { kind: 'unversioned' },
    at7,
    { next: 'relist', wait: [0, 0], lost: 'disconnected' },
  ],
  [
    'a list from the past is asked for anew, not older',
    { kind: 'behind' },
    at7,
    { next: 'relist', wait: [0, 0], notOlder: true },
  ],
  [
    'a past that stays is taken, with a gap',
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
