import { expect, it } from 'vitest';
import type { ClusterMemory } from '../../src/kube/cluster.ts';
import { reportShortage } from '../../src/kube/http/client.ts';
import { TransportFailure } from '../../src/kube/http/failure.ts';
import type { Env } from '../../src/kube/env.ts';

/** The messages about connections that failed with these codes, each with its `-v` level. */
function saidOf(...codes: string[]): string[] {
  const memory: ClusterMemory = { reached: true, streamingLists: 'untried' };
  const said: string[] = [];
  const log: Env['log'] = (level, message) => void said.push(`${level} ${message}`);
  for (const code of codes) reportShortage(new TransportFailure(code, { sent: false, code }), memory, { log });
  return said;
}

it('a machine that cannot open another connection is reported once for all streams, at every -v level, with a hint', () => {
  const hint = expect.stringMatching(/^0 this process may open no more files.*ulimit -n/) as string;
  expect(saidOf('ECONNREFUSED', 'EMFILE', 'EPROXY', 'EMFILE')).toEqual([hint]);
});
