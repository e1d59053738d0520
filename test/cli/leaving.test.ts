/** Leaving early, through the built command: signals, a time limit, a reader that goes away, a disk that is full. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ExitReport } from '../../src/trace/report.ts';
import { bin, podexit } from '../helpers/built.ts';
import { serving } from '../helpers/serving.ts';

interface Left {
  code: number | null;
  stdout: string;
  stderr: string;
  /** ms from the signal to the message, and to the end. */
  toldAfter: number;
  leftAfter: number;
}

/** Runs the command and signals it once the deletion is under way (a second time at once, if asked for). */
function leave(words: readonly string[], signal: NodeJS.Signals, again = false): Promise<Left> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, ...words], {
      env: { ...process.env, KUBECONFIG: '', NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    let signalled = 0;
    let told = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
      if (signalled > 0 || !/accepted/.test(stdout)) return;
      signalled = performance.now();
      child.kill(signal);
      if (again) setTimeout(() => child.kill(signal), 30);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (told === 0) told = performance.now();
      stderr += chunk.toString();
    });
    child.on('error', reject);
    child.on('close', (code) =>
      resolve({ code, stdout, stderr, toldAfter: told - signalled, leftAfter: performance.now() - signalled }),
    );
  });
}

describe.concurrent('a signal', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)(
    '%s says at once that the deletion goes on, and leaves with %i and the report so far',
    async (signal, code) => {
      await serving('prestop-sleep', {}, async ({ server, flags }) => {
        const left = await leave([server.pod, ...flags, '-o', 'ndjson'], signal);
        expect(left.code).toBe(code);
        expect(left.stderr).toContain(`${signal}: the deletion of pod "${server.pod}" goes on without us`);
        expect(left.toldAfter).toBeLessThan(1000);
        expect(left.leftAfter).toBeLessThan(2500);
        const last = JSON.parse(left.stdout.trimEnd().split('\n').at(-1) ?? '') as { report?: ExitReport } & ExitReport;
        const report = last.report ?? last;
        expect(report.verdict.exitCode).toBe(code);
        expect(report.marks.map(({ name }) => name)).toContain('accepted');
        expect(report.marks.map(({ name }) => name)).not.toContain('removed');
        expect(server.deletesAccepted).toBe(1);
      });
    },
  );

  it('a second one leaves without more', async () => {
    await serving('prestop-sleep', {}, async ({ server, flags }) => {
      const left = await leave([server.pod, ...flags, '-o', 'lines'], 'SIGINT', true);
      expect(left.code).toBe(130);
      expect(left.stderr).toContain('goes on without us');
    });
  });

  it('before anything was deleted says that', async () => {
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

describe.concurrent('--timeout ends as stuck, with what it is waiting for', () => {
  it.each([
    ['prestop-sleep', '2s', /waiting for app to end/],
    ['finalizer', '4s', /waiting for finalizers: .*example\.com\/audit/],
    ['node-down', '2s', /waiting for a sign of the kubelet/],
  ])('%s', async (name, timeout, words) => {
    await serving(name, {}, async ({ server, flags }) => {
      const ran = await podexit([server.pod, ...flags, '--timeout', timeout, '-o', 'lines']);
      expect(ran.code).toBe(3);
      expect(ran.stdout).toMatch(/stuck/);
      expect(ran.stdout.replace(/\s+/g, ' ')).toMatch(words);
    });
  });
});

describe.concurrent('a reader that goes away', () => {
  it('ends it quietly with 141', async () => {
    await serving('exit-143', {}, async ({ server, flags }) => {
      const child = spawn(process.execPath, [bin, server.pod, ...flags, '-o', 'ndjson'], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let stderr = '';
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
      child.stdout.once('data', () => child.stdout.destroy());
      const code = await new Promise((resolve) => child.on('close', resolve));
      expect({ code, stderr }).toEqual({ code: 141, stderr: '' });
    });
  });
});

describe.runIf(existsSync('/dev/full')).concurrent('a full disk', () => {
  it('costs the recording, and exit code 1; the trace goes on', async () => {
    await serving('exit-143', {}, async ({ server, flags }) => {
      const ran = await podexit([server.pod, ...flags, '-o', 'json', '--record', '/dev/full']);
      expect(ran.code).toBe(1);
      expect(ran.stderr).toMatch(/the recording \/dev\/full is incomplete: ENOSPC.*the trace goes on/);
      expect((JSON.parse(ran.stdout) as ExitReport).verdict.outcome).toBe('graceful');
    });
  });

  it('costs a report file, and exit code 1', async () => {
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
