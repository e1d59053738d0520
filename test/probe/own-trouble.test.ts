/** What this machine cannot do is said, and never counted as the target's failure. */
import { expect, it } from 'vitest';
import { resultOfError } from '../../src/probe/failure-kind.ts';

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
