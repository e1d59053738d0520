/** What this machine cannot do is said, and never counted as the target's failure. */
import { expect, it } from 'vitest';
import type { ProbeClient } from '../../src/probe/client.ts';
import { resultOfError } from '../../src/probe/failure-kind.ts';
import { createSender } from '../../src/probe/sender.ts';
import { createTally } from '../../src/probe/tally.ts';

const error = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code });

it.each([
  ['EADDRNOTAVAIL', 'no-local-port'],
  ['EMFILE', 'no-file-handle'],
  ['ENFILE', 'no-file-handle'],
  ['ENETUNREACH', 'no-network'],
])('%s is not measured', (code, reason) => {
  expect(resultOfError(error(code))).toMatchObject({ kind: 'not-measured', reason });
});

it.each([
  ['ECONNREFUSED', 'refused'],
  ['EHOSTUNREACH', 'refused'],
  ['ECONNRESET', 'reset'],
  ['EPIPE', 'reset'],
  ['ETIMEDOUT', 'timeout'],
  ['ENOTFOUND', 'dns'],
  ['EAI_AGAIN', 'dns'],
  ['CERT_HAS_EXPIRED', 'tls'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
  ['HPE_INVALID_CONSTANT', 'http'],
])("%s is the target's", (code, failure) => {
  expect(resultOfError(error(code))).toMatchObject({ kind: 'failed', failure });
});

it('counts what the target refused over one address family, whatever this machine lacks for the other', () => {
  const both = new AggregateError([error('ENETUNREACH'), error('ECONNREFUSED')]);
  expect(resultOfError(both)).toMatchObject({ kind: 'failed', failure: 'refused' });
});

it.each([
  ['EADDRNOTAVAIL', 'no-local-port'],
  ['EMFILE', 'no-file-handle'],
])('counts %s apart, and no failure', (code, reason) => {
  const tally = createTally(0, false, 0);
  const client: ProbeClient = {
    send: (_, settle) => (settle(resultOfError(error(code))), () => undefined),
    ...{ isKeptFree: false, resent: 0, forgetKept: () => undefined, close: () => undefined },
  };
  const sender = createSender({
    ...{ client, tally, timeoutMs: 1000, hasKept: false, now: Date.now, isStandingStill: () => false },
    onSettled: tally.add,
  });
  for (let sent = 0; sent < 30; sent++) sender.send();
  expect(tally.take(1)).toMatchObject({ new: { sent: 0, failed: 0 }, notMeasured: [{ reason, count: 30 }] });
});
