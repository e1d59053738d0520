/** kubectl's connection flags, in the positions and forms that kubectl accepts. */
import { expect, it } from 'vitest';
import { connectionOf } from '../../src/cli/options.ts';
import { buildProgram } from '../../src/cli/main.ts';
import { commandName } from '../../src/cli/program.ts';
import type { Flags } from '../../src/cli/flags.ts';
import { wordsForCommander } from '../../src/cli/words.ts';
import { selfSigned } from '../helpers/self-signed.ts';
import { serving } from '../helpers/serving.ts';
import { runMain } from './helpers/in-process.ts';

async function parse(...words: string[]): Promise<Flags> {
  const ports = { env: {}, version: '0', stdout: { write: () => {}, isTty: false } } as never;
  const program = await buildProgram(ports, () => {});
  program.action(() => {});
  program.parse(wordsForCommander(words, program), { from: 'user' });
  return program.opts();
}

it('every connection flag reaches the connection', async () => {
  const flags = await parse(
    ...['web', '--kubeconfig=k', '--context', 'c', '--cluster=cl', '--user=u', '-n=shop', '-s=https://h', '--token=t'],
    ...['--username=n', '--password=p', '--as=a', '--as-group=g1', '--as-group=g2', '--as-uid=7'],
    ...['--as-user-extra=k=v', '--certificate-authority=ca', '--client-certificate=cc', '--client-key=ck'],
    ...['--insecure-skip-tls-verify=true', '--tls-server-name=s', '--request-timeout=5'],
    ...['--cache-dir=/tmp', '--disable-compression'],
  );
  expect(connectionOf(flags, '1')).toEqual({
    version: '1',
    kubeconfig: 'k',
    context: 'c',
    cluster: 'cl',
    user: 'u',
    namespace: 'shop',
    server: 'https://h',
    token: 't',
    username: 'n',
    password: 'p',
    as: 'a',
    asGroup: ['g1', 'g2'],
    asUid: '7',
    asUserExtra: ['k=v'],
    certificateAuthority: 'ca',
    clientCertificate: 'cc',
    clientKey: 'ck',
    insecureSkipTlsVerify: true,
    tlsServerName: 's',
    requestTimeoutMs: 5000,
  });
});

it('switches may be true or false, short flags may have "=", and words after "--" stay as they are', async () => {
  expect((await parse('web', '--insecure-skip-tls-verify=false')).insecureSkipTlsVerify).toBeUndefined();
  expect((await parse('web', '-v=6')).v).toBe('6');
  expect((await parse('web', '--dry-run')).dryRun).toBe('client');
  await expect(parse('web', '--now=perhaps')).rejects.toThrow();
  expect((await parse('web', '-l=app in (a,b)')).selector).toBe('app in (a,b)');
});

it('--server and --token need no kubeconfig', () =>
  serving('graceful-exit', { token: 'sesame', tls: selfSigned() }, async ({ server }) => {
    const where = ['-n', server.namespace, '--server', server.url, '--insecure-skip-tls-verify'];
    const words = [server.pod, '--dry-run=client', '-o', 'name', ...where];
    const env = { KUBECONFIG: '/nowhere' };
    expect(await runMain([...words, '--token=sesame'], { env })).toMatchObject({
      code: 0,
      stdout: `pod/${server.pod}\n`,
    });
    expect((await runMain([...words, '--token=wrong'], { env })).code).toBe(1);
  }));

it('-v=6 logs requests on stderr, without secrets', () =>
  serving('graceful-exit', { token: 'sesame', tls: selfSigned() }, async ({ flags, server }) => {
    const ran = await runMain([server.pod, '--dry-run=client', '-v=6', '--token=sesame', ...flags]);
    expect(ran.stderr).toMatch(
      /GET https:\/\/127\.0\.0\.1:\d+\/api\/v1\/namespaces\/graceful-exit\/pods\/\S+ 200 in \d+ ms/,
    );
    expect(ran.stderr).not.toContain('sesame');
  }));

it('help shows the name by which the command was called', async () => {
  expect(commandName({ KUBECTL_PATH: '/usr/bin/kubectl' })).toBe('kubectl podexit');
  expect(commandName({ _: '/usr/local/bin/kubectl' })).toBe('kubectl podexit');
  expect(commandName({ _: '/usr/local/bin/kubectl-podexit' })).toBe('kubectl-podexit');
  const help = await runMain(['--help'], { env: { KUBECTL_PATH: '/usr/bin/kubectl' } });
  expect(help).toMatchObject({ code: 0, stderr: '' });
  expect(help.stdout).toMatch(/^Usage: kubectl podexit TARGET/m);
});
