import { describe, expect, it } from 'vitest';
import type { ConnectOptions } from '../../src/cluster/connect-options.ts';
import { reachOf } from '../../src/cluster/reach.ts';

describe('a command that is advised reaches the cluster of this run', () => {
  it.each<[string, Partial<ConnectOptions>, string]>([
    ['nothing was given', { version: '1' }, ''],
    ['a context', { context: 'far' }, ' --context=far'],
    ['a kubeconfig in a folder with a blank', { kubeconfig: '/my files/k' }, " --kubeconfig='/my files/k'"],
    ['a name with a quote', { cluster: "joe's" }, " --cluster='joe'\\''s'"],
    ['a path of Windows', { kubeconfig: 'C:\\k\\config' }, ' --kubeconfig=C:\\k\\config'],
    ['somebody else, with groups', { as: 'joe', asGroup: ['a', 'b'] }, ' --as=joe --as-group=a --as-group=b'],
    ['a switch', { insecureSkipTlsVerify: true }, ' --insecure-skip-tls-verify'],
    ['a switch that is off', { insecureSkipTlsVerify: false }, ''],
  ])('%s', (_, options, words) => expect(reachOf(options)).toBe(words));

  it('and repeats no secret', () => {
    const words = reachOf({
      token: 'secret-1',
      username: 'joe',
      password: 'secret-2',
      server: 'https://joe:secret-3@host:6443',
      context: 'far',
    });
    expect(words).toBe(' --context=far --server=https://host:6443');
  });
});
