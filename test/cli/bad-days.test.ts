/** Bad input and failing clusters: one clear sentence names the object and the next step; exit 1, no stack trace. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { podexit } from '../helpers/built.ts';
import { recordingFile } from '../helpers/recordings.ts';
import { serving } from '../helpers/serving.ts';
import type { Printed } from './helpers/in-process.ts';
import { runMain } from './helpers/in-process.ts';

const scratch = (): string => mkdtempSync(join(tmpdir(), 'podexit-'));

function fileWith(text: string): string {
  const file = join(scratch(), 'file');
  writeFileSync(file, text);
  return file;
}

/** Checks what all refusals have in common. */
function refused(ran: Pick<Printed, 'stderr'> & { code: number | null }, sentence: RegExp): void {
  expect(ran.stderr).toMatch(sentence);
  expect(ran.stderr).not.toMatch(/^\s+at /m);
  expect(ran.stderr).not.toContain('unexpected error');
  expect(ran.code).toBe(1);
}

describe.concurrent('the cluster refuses', () => {
  it('no such pod', () =>
    serving('graceful-exit', {}, async ({ flags, server }) => {
      const ran = await podexit(['nope', ...flags]);
      refused(ran, /there is no pod "nope" in namespace "graceful-exit"[\s\S]*kubectl get pods -n graceful-exit/);
      expect(server.deletesAccepted).toBe(0);
    }));

  it('no such namespace', () =>
    serving('graceful-exit', {}, async ({ flags, server }) => {
      refused(
        await runMain([server.pod, ...flags, '-n', 'nowhere']),
        /namespace "nowhere" does not exist[\s\S]*kubectl get namespaces/,
      );
    }));

  it('an unreachable server', async () => {
    const kubeconfig = fileWith(
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:9' } }],
        users: [{ name: 'u', user: {} }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      }),
    );
    refused(
      await runMain(['web', '--kubeconfig', kubeconfig]),
      /the server http:\/\/127\.0\.0\.1:9\S* cannot be reached: .*ECONNREFUSED[\s\S]*kubectl cluster-info/,
    );
  });

  it('a credential plugin that never ends or cannot be started', async () => {
    const withPlugin = (command: string, args: string[]): string =>
      fileWith(
        JSON.stringify({
          clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:9' } }],
          users: [{ name: 'u', user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command, args } } }],
          contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
          'current-context': 'x',
        }),
      );
    const began = performance.now();
    const endless = [process.execPath, ['-e', 'setInterval(() => {}, 1000)']] as const;
    const kubeconfig = withPlugin(endless[0], [...endless[1]]);
    refused(await runMain(['web', '--kubeconfig', kubeconfig, '--timeout=1s']), /could not be read within 1 s/);
    // A plugin has a minute.
    expect(performance.now() - began).toBeLessThan(50_000);
    refused(await runMain(['web', '--kubeconfig', withPlugin('', [])]), /cannot be started/);
  });

  it('no kubeconfig, a broken one, an unknown context', async () => {
    refused(await runMain(['web', '--kubeconfig', '/nowhere/at/all']), /\/nowhere\/at\/all/);
    refused(await runMain(['web', '--kubeconfig', fileWith('clusters: [\n  - name: "x')]), /kubeconfig|YAML/i);
    await serving('graceful-exit', {}, async ({ flags, server }) =>
      refused(await runMain([server.pod, ...flags, '--context', 'other']), /other[\s\S]*loopback/),
    );
  });

  it.each([
    ['a template that cannot be read', ['-o', 'jsonpath={.verdict.outcome'], /never closed/],
    ['a filter that can never be evaluated', ['-o', 'jsonpath={.marks[?(@.name = )]}'], /marks\[\?\(@\.name = \)\]/],
    ['a filter with something that is not a field', ['-o', 'jsonpath={.marks[?(foo.bar>1)]}'], /"foo"/],
    [
      'a report in a folder that does not exist',
      ['--report', '/nowhere/at/all/exit.html'],
      /exit\.html \(ENOENT\)[\s\S]*--report/,
    ],
  ])('%s: no request is sent', (_, words, sentence) =>
    serving('graceful-exit', {}, async ({ flags, server }) => {
      refused(await runMain([server.pod, ...flags, ...words]), sentence);
      expect(server.requests).toEqual([]);
    }),
  );

  it('a refused DELETE, and nothing is deleted', () =>
    serving('graceful-exit', { faults: [{ kind: 'status', verb: 'delete', code: 403 }] }, async ({ flags, server }) => {
      const ran = await runMain([server.pod, ...flags, '-o', 'json']);
      refused(ran, new RegExp(server.pod));
      expect(JSON.parse(ran.stdout)).toMatchObject({
        apiVersion: 'podexit/v1',
        kind: 'Error',
        code: expect.stringMatching(/^delete\./) as unknown,
      });
      expect(server.deletesAccepted).toBe(0);
    }));

  it('an admission webhook that denies the DELETE', () =>
    serving('graceful-exit', { faults: [{ kind: 'delete-denied' }] }, async ({ flags, server }) => {
      refused(await runMain([server.pod, ...flags]), /denied by the cluster's admission: admission webhook/);
    }));

  it('a missing permission, with the Role to create', () =>
    serving(
      'graceful-exit',
      { faults: [{ kind: 'status', resource: 'pods', code: 403 }] },
      async ({ flags, server }) => {
        refused(await runMain([server.pod, ...flags]), /pods[\s\S]*kind: Role/);
      },
    ));

  it('a mirror pod, before anything is sent', () =>
    serving('exit-143', {}, async ({ flags, server }) => {
      const listed = await fetch(`${server.url}/api/v1/namespaces/${server.namespace}/pods/${server.pod}`);
      const pod = (await listed.json()) as {
        metadata: { annotations?: Record<string, string>; resourceVersion: string };
      };
      server.write('pods', 'MODIFIED', {
        ...pod,
        metadata: { ...pod.metadata, annotations: { 'kubernetes.io/config.mirror': 'x' } },
      } as never);
      refused(await runMain([server.pod, ...flags]), /mirror of a static pod: deleting it stops nothing/);
      expect(server.deletesAccepted).toBe(0);
    }));
});

const header = '{"podexit":1,"program":"0","recorded":"","logText":false}\n';
const synced = (at: number): string => `${JSON.stringify({ at, kind: 'synced', stream: 'pod' })}\n`;

describe.concurrent('the file is not a recording', () => {
  it.each([
    [
      'a newer version',
      '{"podexit":99,"program":"9.9","recorded":"2030-01-01T00:00:00Z","logText":false}\n',
      /newer podexit \(format 99/,
    ],
    ['not a recording', 'hello\nworld\n', /is not a podexit recording/],
    ['JSON, but something else', '{"kind":"Pod"}\n{"kind":"Pod"}\n', /is not a podexit recording/],
    ['empty', '', /is empty/],
    ['a broken line in the middle', `${header}{"seq":1,\n{"seq":2}\n`, /line 2 of .* is not a complete observation/],
    [
      'two recordings in one file',
      `${header}${synced(100_000)}${header}${synced(200_000)}`,
      /another recording begins in line 3 of .*[\s\S]*Split the file before that line/,
    ],
    [
      'with a line that was moved',
      `${header}${synced(100_000)}${synced(200_000)}${synced(100_000)}`,
      /line 4 of .* is earlier than the lines before it/,
    ],
  ])('%s', async (_what, text, sentence) => {
    refused(await runMain(['replay', fileWith(text)]), sentence);
  });

  it('a missing file', async () =>
    refused(await runMain(['replay', '/nowhere/file']), /\/nowhere\/file does not exist/));

  it('cut in the middle of its last line: that is reported, and the rest is shown', async () => {
    const whole = readFileSync(recordingFile('graceful-exit'), 'utf8');
    const ran = await runMain(['replay', fileWith(whole.slice(0, whole.length - 40)), '-o', 'json']);
    expect(ran.stderr).toMatch(/was cut in line \d+: the report covers what was recorded until then/);
    expect((JSON.parse(ran.stdout) as { kind: string }).kind).toBe('ExitReport');
  });
});

describe.concurrent('the arguments are wrong', () => {
  it('an empty name', async () => refused(await runMain(['']), /no pod was named/));

  it('an error is a document too under -o json', async () => {
    const ran = await runMain(['web', '-o', 'json', '--timeout', 'x']);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      apiVersion: 'podexit/v1',
      kind: 'Error',
      code: 'usage.duration',
      hint: expect.stringContaining('90s') as unknown,
    });
    expect(ran.code).toBe(1);
  });
});

it('under -o ndjson an error is one line, like all others', async () => {
  const ran = await runMain(['web-0', '--server', 'http://127.0.0.1:1', '-o', 'ndjson', '--no-config']);
  expect(ran.stdout.trimEnd().split('\n')).toHaveLength(1);
  expect(JSON.parse(ran.stdout)).toMatchObject({ type: 'error', error: { kind: 'Error', code: 'server.unreachable' } });
});

it('a server that cannot be reached is reported as such even with a selector', async () => {
  const ran = await runMain(['-l', 'app=web', '--server', 'http://127.0.0.1:1', '--no-config']);
  expect(ran.stderr).toMatch(/^error: the server http:\/\/127\.0\.0\.1:1 cannot be reached/);
});

it('the report file is written even if the jsonpath template cannot be rendered', () =>
  serving('exit-143', {}, async ({ server, flags, folder }) => {
    const file = join(folder, 'r.json');
    const ran = await runMain([server.pod, '-o', 'jsonpath={.grace[?(@.a[?(@.b>1)])]}', `--report=${file}`, ...flags]);
    expect(ran.code).toBe(1);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ kind: 'ExitReport' });
  }));

it('a signal while waiting for a terminating pod exits at once, and prints that nothing was deleted', () =>
  serving('graceful-exit', {}, async ({ server, flags }) => {
    const ran = await runMain(['deploy/checkout', '--attach', '-o', 'json', ...flags], {
      onSignal: (listener) => {
        const poll = setInterval(() => {
          if (!server.requests.some(({ resource }) => resource === 'pods')) return;
          clearInterval(poll);
          listener('SIGINT');
        }, 10);
        return () => clearInterval(poll);
      },
    });
    expect(ran.code).toBe(130);
    expect(JSON.parse(ran.stdout)).toMatchObject({ kind: 'Error', code: 'run.left', hint: 'Nothing was deleted.' });
  }));
