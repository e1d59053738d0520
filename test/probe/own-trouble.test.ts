/** Problems of this machine are reported, and not counted as failures of the target. */
import { expect, it } from 'vitest';
import { noKeptConnection, type ProbeClient } from '../../src/probe/client.ts';
import { createLookups } from '../../src/probe/connecting.ts';
import { resultOfError, timedOut, unexpected, type Result, createTally } from '../../src/probe/result.ts';
import { type Standstill, createSender } from '../../src/probe/sender.ts';

const error = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code });

it.each([
  ['EADDRNOTAVAIL', { kind: 'not-measured', reason: 'no-local-port' }],
  ['EMFILE', { kind: 'not-measured', reason: 'no-file-handle' }],
  ['ENETUNREACH', { kind: 'not-measured', reason: 'no-network' }],
  ['ECONNREFUSED', { kind: 'failed', failure: 'refused' }],
  ['EHOSTUNREACH', { kind: 'failed', failure: 'refused' }],
  ['EPIPE', { kind: 'failed', failure: 'reset' }],
  ['ETIMEDOUT', { kind: 'failed', failure: 'timeout' }],
  ['EAI_AGAIN', { kind: 'failed', failure: 'dns' }],
  ['CERT_HAS_EXPIRED', { kind: 'failed', failure: 'tls' }],
  ['ERR_TLS_CERT_ALTNAME_INVALID', { kind: 'failed', failure: 'tls' }],
  ['HPE_INVALID_CONSTANT', { kind: 'failed', failure: 'http' }],
])('%s is told from what the target did: %o', (code, result) => {
  expect(resultOfError(error(code))).toMatchObject(result);
});

it('looks up two names at once, and no name for a request that was cancelled before its turn', () => {
  const asked: { host: string; answer(): void }[] = [];
  const newLookup = createLookups((host, _, callback) => asked.push({ host, answer: () => callback(null, '::1', 6) }));
  const answered: string[] = [];
  const hosts = ['first', 'second', 'cancelled', 'fourth'];
  const cancels = hosts.map((host) => {
    const { lookup, cancel } = newLookup();
    lookup(host, {}, () => answered.push(host));
    return cancel;
  });
  const hostsAsked = () => asked.map(({ host }) => host);
  expect(hostsAsked()).toEqual(['first', 'second']);
  expect([cancels[0]?.(), cancels[2]?.()]).toEqual([true, false]);
  asked[1]?.answer();
  expect([hostsAsked(), answered]).toEqual([['first', 'second', 'fourth'], ['second']]);
});

it('counts a request that waited for the lookups of earlier ones as not measured', () => {
  expect(timedOut('lookup-waits')).toMatchObject({ kind: 'not-measured', reason: 'too-many-waiting' });
});

it('counts a refusal over one address family, even if this machine cannot use the other', () => {
  const both = new AggregateError([error('ENETUNREACH'), error('ECONNREFUSED')]);
  expect(resultOfError(both)).toMatchObject({ kind: 'failed', failure: 'refused' });
});

/** Requests that all end with this result. */
const clientWith = (result: Result): ProbeClient => ({
  ...noKeptConnection,
  send: (_, settle) => (settle(result), () => undefined),
});

function countsOf(result: Result, standstill?: Standstill) {
  const tally = createTally(0, false, 0);
  const sender = createSender({
    ...{ client: clientWith(result), tally, timeoutMs: 1000, hasKept: false, now: Date.now },
    standstill: () => standstill,
    onSettled: tally.add,
  });
  for (let sent = 0; sent < 30; sent++) sender.send();
  return tally.take(1);
}

/** An answer of the API server's proxy, which says why it reached no backend. */
const proxied: Result = { kind: 'failed', failure: 'reset', isAnswer: false, status: 502, said: 'EOF' };

it.each<[string, Result, inBusy: 'failed' | 'doubtful', inSleep: 'failed' | 'doubtful']>([
  ['an unexpected answer', unexpected(503, 'HTTP 503'), 'failed', 'failed'],
  ["the API server's message that the backend was gone", proxied, 'failed', 'failed'],
  ['a refused connection', resultOfError(error('ECONNREFUSED')), 'failed', 'doubtful'],
  ['a reset', resultOfError(error('ECONNRESET')), 'failed', 'doubtful'],
  ['garbage', resultOfError(error('HPE_INVALID_CONSTANT')), 'failed', 'doubtful'],
  ['a timeout', timedOut(undefined), 'doubtful', 'doubtful'],
  ['a name that did not resolve in time', timedOut('dns'), 'doubtful', 'doubtful'],
])('%s while this process did not run, and while its machine slept', (_, result, inBusy, inSleep) => {
  const kindOf = (standstill?: Standstill) => (countsOf(result, standstill)?.notMeasured ? 'doubtful' : 'failed');
  expect([kindOf(), kindOf('busy'), kindOf('asleep')]).toEqual(['failed', inBusy, inSleep]);
});
