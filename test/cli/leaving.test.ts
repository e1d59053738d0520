/** The built command ends early: on a signal, at a time limit, on a closed pipe, on a full disk. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { bin, podexit } from '../helpers/built.ts';
import { serving } from '../helpers/serving.ts';

interface Left {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** The server accepts the watch of the pod, and never answers. */
const silentPod = { kind: 'silent', resource: 'pods', verb: 'watch' } as const;

/** Runs the command and signals it once the deletion is under way. */
function leave(words: readonly string[], signal: NodeJS.Signals): Promise<Left> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, ...words], {
      env: { ...process.env, KUBECONFIG: '', NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    let isSignalled = false;
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      if (isSignalled || !/accepted/.test(stdout)) return;
      isSignalled = true;
      child.kill(signal);
    });
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

describe.concurrent('a signal', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)(
    '%s prints at once that the pod is still terminating, and exits with %i and the report so far',
    async (signal, code) => {
      await serving('prestop-sleep', {}, async ({ server, flags }) => {
        const left = await leave([server.pod, ...flags, '-o', 'ndjson'], signal);
        expect(left.code).toBe(code);
        expect(left.stderr).toContain(`${signal}: pod "${server.pod}" is still terminating`);
        const last = JSON.parse(left.stdout.trimEnd().split('\n').at(-1) ?? '') as { report?: ExitReport } & ExitReport;
        const report = last.report ?? last;
        expect(report.verdict.exitCode).toBe(code);
        expect(report.marks.map(({ name }) => name)).toContain('accepted');
        // At once: the pod is removed 6 s after the DELETE.
        expect(report.marks.map(({ name }) => name)).not.toContain('removed');
        expect(server.deletesAccepted).toBe(1);
      });
    },
  );

  it('when repeated ends the process at once, even while it waits for a collector', async () => {
    const collector = createServer(() => {}).listen(0, '127.0.0.1');
    await once(collector, 'listening');
    const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
    await serving('prestop-sleep', {}, async ({ server, flags }) => {
      const child = spawn(process.execPath, [bin, server.pod, ...flags, '-o', 'ndjson', '--otlp'], {
        env: { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const ended = once(child, 'close');
      let stdout = '';
      const said = async (words: RegExp): Promise<void> => {
        while (!words.test(stdout)) stdout += String((await once(child.stdout, 'data'))[0]);
      };
      await said(/accepted/);
      child.kill('SIGINT');
      await said(/"exitCode":130/);
      await once(collector, 'request');
      expect(child.exitCode).toBeNull();
      const again = performance.now();
      child.kill('SIGINT');
      expect((await ended)[0]).toBe(130);
      // The exporter waits 10 s for a collector.
      expect(performance.now() - again).toBeLessThan(9000);
    }).finally(() => {
      collector.closeAllConnections();
      collector.close();
    });
  });

  it('ends a rollout at once, also just after its command has ended', async () => {
    await serving('graceful-exit', {}, async ({ flags }) => {
      const words = ['rollout', 'deploy/checkout', ...flags, '--', process.execPath, '-e', 'console.error("released")'];
      const child = spawn(process.execPath, [bin, ...words], { stdio: ['ignore', 'ignore', 'pipe'] });
      const ended = once(child, 'close');
      let stderr = '';
      while (!stderr.includes('released')) stderr += String((await once(child.stderr, 'data'))[0]);
      await new Promise((resolve) => setTimeout(resolve, 300));
      child.kill('SIGINT');
      expect((await ended)[0]).toBe(130);
    });
  });

  it('before the pod was read prints that nothing was deleted, and completes the recording', async () => {
    await serving('exit-143', { faults: [silentPod] }, async ({ server, flags, folder }) => {
      const file = join(folder, 'left.ndjson');
      const words = [server.pod, ...flags, '-o', 'json', '--record', file];
      const child = spawn(process.execPath, [bin, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
      let [stdout, stderr] = ['', ''];
      child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
      while (!server.requests.some((one) => one.resource === 'services'))
        await new Promise((resolve) => setTimeout(resolve, 20));
      child.kill('SIGTERM');
      expect((await once(child, 'close'))[0]).toBe(143);
      expect(JSON.parse(stdout)).toMatchObject({ kind: 'Error', code: 'run.left' });
      expect(stderr).toContain(`pod "${server.pod}" was not deleted by this command`);
      const [, first, ...others] = readFileSync(file, 'utf8').trim().split('\n');
      expect(first).toContain('"kind":"began"');
      expect(others.at(-1)).toContain('"signal":"SIGTERM"');
      expect(server.deletesAccepted).toBe(0);
    });
  });

  it('before any deletion prints that the pod was not deleted', async () => {
    await serving('taint-evicted', { attachDelayMs: 60_000 }, async ({ server, flags }) => {
      const words = [server.pod, ...flags, '--attach', '-o', 'json'];
      const child = spawn(process.execPath, [bin, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
      let stderr = '';
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
      const watching = () => server.requests.some((one) => one.resource === 'endpointslices');
      while (!watching()) await new Promise((resolve) => setTimeout(resolve, 20));
      child.kill('SIGINT');
      const code = await new Promise((resolve) => child.on('close', resolve));
      expect(code).toBe(130);
      expect(stderr).toContain(`pod "${server.pod}" was not deleted by this command`);
      expect(server.deletesAccepted).toBe(0);
    });
  });
});

describe.concurrent('the message about the deletion after an interrupt', () => {
  /** The command's stderr if it is interrupted as soon as `ready` is true. */
  async function stderrOnInterrupt(words: readonly string[], ready: (stdout: string) => boolean): Promise<string> {
    const child = spawn(process.execPath, [bin, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    while (!ready(stdout) && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill('SIGINT');
    expect((await once(child, 'close'))[0]).toBe(130);
    return stderr;
  }

  it('says that the pod is still terminating, if another client deleted it', async () => {
    await serving('taint-evicted', {}, async ({ server, flags }) => {
      const said = await stderrOnInterrupt([server.pod, ...flags, '--attach', '-o', 'ndjson'], (out) =>
        out.includes('accepted'),
      );
      expect(said).toContain(`SIGINT: pod "${server.pod}" is still terminating`);
    });
  });

  it('says that the pod is gone, after its removal', async () => {
    await serving('exit-143', {}, async ({ server, flags }) => {
      const words = [server.pod, ...flags, '--wait-replacement', '-o', 'ndjson'];
      const said = await stderrOnInterrupt(words, (out) => out.includes('"name":"removed"'));
      expect(said).toContain(`SIGINT: pod "${server.pod}" is gone`);
    });
  });
});

describe.concurrent('--timeout ends the run, and names what it is waiting for', () => {
  it.each([
    ['prestop-sleep', '4s', /waiting for app to exit/],
    ['finalizer', '4s', /waiting for finalizers example\.com\/audit/],
    ['node-down', '10s', /waiting for the kubelet on node1(?!,)/],
  ])('%s', async (name, timeout, words) => {
    await serving(name, {}, async ({ server, flags }) => {
      const ran = await podexit([server.pod, ...flags, '--timeout', timeout, '-o', 'lines']);
      expect(ran.code).toBe(3);
      expect(ran.stdout).toMatch(/✖ Stuck/);
      expect(ran.stdout.replace(/\s+/g, ' ')).toMatch(words);
    });
  });

  it('with an error if the server never answers about the pod', async () => {
    await serving('exit-143', { faults: [silentPod] }, async ({ server, flags }) => {
      const ran = await podexit([server.pod, ...flags, '--timeout', '1s', '-o', 'json']);
      expect(ran.code).toBe(1);
      expect(ran.stderr).toContain(
        `pod "${server.pod}" in namespace "${server.namespace}" could not be read within 1 s`,
      );
      expect(JSON.parse(ran.stdout)).toMatchObject({ kind: 'Error', code: 'pod.unread' });
      expect(server.deletesAccepted).toBe(0);
    });
  });
});

describe.concurrent('a reader that closes the pipe', () => {
  it('ends the process with 141 and without a message, and the recording names the reason', async () => {
    await serving('exit-143', {}, async ({ server, flags, folder }) => {
      const file = join(folder, 'closed.ndjson');
      const child = spawn(process.execPath, [bin, server.pod, ...flags, '-o', 'ndjson', '--record', file], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let stderr = '';
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
      child.stdout.once('data', () => child.stdout.destroy());
      const code = await new Promise((resolve) => child.on('close', resolve));
      expect({ code, stderr }).toEqual({ code: 141, stderr: '' });
      expect(readFileSync(file, 'utf8').trim().split('\n').at(-1)).toContain('"signal":"SIGPIPE"');
      expect((await podexit(['replay', file, '-o', 'json'])).code).toBe(141);
    });
  });

  it('gets no suggestions after a demo', async () => {
    const child = spawn(process.execPath, [bin, 'demo', 'exit-143'], { stdio: ['ignore', 'pipe', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.stdout.once('data', () => child.stdout.destroy());
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect(code).toBe(141);
    expect(stderr).toMatch(/^[^\n]+\n\$ kubectl podexit [^\n]+\n\n$/);
  });
});

describe.runIf(existsSync('/dev/full')).concurrent('a full disk', () => {
  it('loses the recording, with exit code 1; the trace continues', async () => {
    await serving('exit-143', {}, async ({ server, flags }) => {
      const ran = await podexit([server.pod, ...flags, '-o', 'json', '--record', '/dev/full']);
      expect(ran.code).toBe(1);
      expect(ran.stderr).toMatch(/the recording \/dev\/full is incomplete: ENOSPC.*the trace continues/);
      expect((JSON.parse(ran.stdout) as ExitReport).verdict.outcome).toBe('graceful');
    });
  });

  it('loses a report file, with exit code 1', async () => {
    await serving('exit-143', {}, async ({ server, flags, folder }) => {
      const good = join(folder, 'report.md');
      const { symlinkSync } = await import('node:fs');
      symlinkSync('/dev/full', join(folder, 'full.json'));
      const files = ['--report', join(folder, 'full.json'), '--report', good];
      const ran = await podexit([server.pod, ...flags, '-o', 'json', ...files]);
      expect(ran.code).toBe(1);
      expect(ran.stderr).toMatch(/full\.json could not be written \(ENOSPC\)/);
      expect(existsSync(good)).toBe(true);
      expect((JSON.parse(ran.stdout) as ExitReport).verdict.outcome).toBe('graceful');
    });
  });
});

/** Runs the command, and sends a signal once stderr names what it waits for. */
function leaveWaiting(words: readonly string[], signal: NodeJS.Signals): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, ...words], {
      env: { ...process.env, KUBECONFIG: '', NO_COLOR: '1' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let isSignalled = false;
    child.stderr.on('data', (chunk: Buffer) => {
      if (isSignalled || !chunk.includes('waiting for the next')) return;
      // By then its watches are open.
      setTimeout(() => {
        isSignalled = true;
        child.kill(signal);
      }, 500);
    });
    child.on('error', reject);
    child.on('close', resolve);
  });
}

it('a signal ends the process while it waits for a workload', () =>
  serving('graceful-exit', {}, async ({ flags }) => {
    expect(await leaveWaiting(['deploy/checkout', '--attach', ...flags], 'SIGINT')).toBe(130);
  }));

it('a file that cannot be written ends the process even while a workload is watched', () =>
  serving('rolling-update', { attachDelayMs: 1000 }, async ({ flags, folder }) => {
    const ran = await podexit([
      'deploy/checkout',
      '--attach',
      `--record=${join(folder, 'none', 'x.ndjson')}`,
      ...flags,
    ]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(/cannot write the recording/);
  }));
