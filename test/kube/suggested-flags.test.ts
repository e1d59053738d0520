import { describe, expect, it } from 'vitest';
import type { ConnectOptions } from '../../src/kube/connect-options.ts';
import { connectionFlagsOf } from '../../src/kube/connect-options.ts';
import { createRedactor, showUrl } from '../../src/kube/redact.ts';

describe('a suggested command reaches the cluster of this run', () => {
  it.each<[string, Partial<ConnectOptions>, string]>([
    ['a context', { context: 'far' }, ' --context=far'],
    ['a kubeconfig in a folder with a blank', { kubeconfig: '/my files/k' }, " --kubeconfig='/my files/k'"],
    ['a name with a quote', { cluster: "joe's" }, " --cluster='joe'\\''s'"],
    ['a Windows path', { kubeconfig: 'C:\\k\\config' }, ' --kubeconfig=C:\\k\\config'],
    ['an impersonated user with groups', { as: 'joe', asGroup: ['a', 'b'] }, ' --as=joe --as-group=a --as-group=b'],
    ['a proxy without its password', { proxyUrl: 'http://joe:p@host:80' }, ' --proxy-url=http://host:80'],
    ['a switch that is on', { insecureSkipTlsVerify: true }, ' --insecure-skip-tls-verify'],
    ['a switch that is off', { insecureSkipTlsVerify: false }, ''],
    ['no secrets', { token: 'secret-1', username: 'joe', password: 'secret-2' }, ''],
  ])('%s', (_, options, words) => expect(connectionFlagsOf(options)).toBe(words));

  it.each([
    ['https://host:6443', 'https://host:6443'],
    ['https://host/k8s/clusters/c-1/', 'https://host/k8s/clusters/c-1/'],
    ['http://joe:p@secret@host:80', 'http://host:80'],
    ['joe:secret@host:80', 'host:80'],
    ['http://host/path?token=secret', 'http://host/path'],
    ['http://joe:secret@[::1]:80', "'http://[::1]:80'"],
    ['http://joe:secret/word@host', "'<the same address>'"],
  ])('has only the part of the server address that cannot contain a password: %s', (server, shown) =>
    expect(connectionFlagsOf({ server })).toBe(` --server=${shown}`),
  );
});

describe('an address in an error or a log', () => {
  it.each([
    ['http://joe:secret@host/path?token=secret#secret', 'http://host/path'],
    ['http://joe:p@secret@host', 'http://host'],
    ['http://http:/joe:secret@host', 'http://http'],
  ])('shows no password: %s', (url, shown) => expect(showUrl(url)).toBe(shown));

  it('in a message of another program is masked up to the last @ before its path', () =>
    expect(createRedactor().clean('no route to http://joe:p@secret@host/path')).toBe(
      'no route to http://<redacted>@host/path',
    ));
});
