/** The built command ends early: on a signal, at a time limit, on a closed pipe, on a full disk. */
import { once } from 'node:events';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { loadRecording } from '../demo/helpers/load.ts';
import { podexit, started } from '../helpers/built.ts';
import { serving, type Serving } from '../helpers/serving.ts';
import { servingPatiently } from '../helpers/serving-patiently.ts';
import { runMain } from './helpers/in-process.ts';

/** The server accepts each request about pods, and never answers: a late command lists them if its watch is silent. */
const silentPod = { kind: 'silent', resource: 'pods' } as const;

/** Plays a recording without such rows about its pod: however late a signal or a limit is, it finds the pod there. */
const stopping = (name: string, without: RegExp, work: (serving: Serving) => Promise<void>, serve = serving<void>) => {
  const { rows, ...scenario } = loadRecording(name);
  const kept = rows.filter((row) => !/^(watch|log-end)$/.test(row.type) || !without.test(JSON.stringify(row)));
  return serve(name, { scenario: { ...scenario, rows: kept } }, work);
};
const exited = /"terminated":|"type":"(DELETED|log-end)"/;
const removed = /"type":"DELETED"/;

type When = (printed: { stdout: string; stderr: string }) => boolean;

const isAccepted: When = ({ stdout }) => stdout.includes('accepted');

/** Runs the command, and signals it once `when` is true. */
async function leave(words: readonly string[], signal: NodeJS.Signals, when: When, delayMs = 0) {
  const { child, printed, ended, until } = started(words);
  await until(() => when(printed));
  await pause(delayMs);
  child.kill(signal);
  return ended;
}

describe.concurrent('a signal', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)(
    '%s prints at once that the pod is still terminating, and exits with %i and the report so far',
    async (signal, code) => {
      await stopping('prestop-sleep', exited, async ({ server, flags }) => {
        const left = await leave([server.pod, ...flags, '-o', 'ndjson'], signal, isAccepted);
        expect(left.code).toBe(code);
        expect(left.stderr).toContain(`${signal}: pod "${server.pod}" is still terminating`);
        const last = JSON.parse(left.stdout.trimEnd().split('\n').at(-1) ?? '') as { report?: ExitReport } & ExitReport;
        const report = last.report ?? last;
        expect(report.verdict.exitCode).toBe(code);
        expect(report.marks.map(({ name }) => name)).toContain('accepted');
        expect(server.deletesAccepted).toBe(1);
      });
    },
  );

  it('when repeated ends the process at once, even while it waits for a collector', async () => {
    const collector = createServer(() => {}).listen(0, '127.0.0.1');
    await once(collector, 'listening');
    const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
    await stopping('prestop-sleep', exited, async ({ server, flags }) => {
      const words = [server.pod, ...flags, '-o', 'ndjson', '--otlp'];
      const { child, printed, ended, until } = started(words, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
      const asked = once(collector, 'request');
      await until(() => isAccepted(printed));
      child.kill('SIGINT');
      await until(() => printed.stdout.includes('"exitCode":130'));
      await asked;
      expect(child.exitCode).toBeNull();
      const again = performance.now();
      child.kill('SIGINT');
      expect((await ended).code).toBe(130);
      // The exporter waits 10 s for a collector.
      expect(performance.now() - again).toBeLessThan(9000);
    }).finally(() => {
      collector.closeAllConnections();
      collector.close();
    });
  });

  it('ends a rollout at once, also just after its command has ended', () =>
    serving('graceful-exit', {}, async ({ flags }) => {
      const words = ['rollout', 'deploy/checkout', ...flags, '--', process.execPath, '-e', 'console.error("released")'];
      const left = await leave(words, 'SIGINT', ({ stderr }) => stderr.includes('released'), 300);
      expect(left.code).toBe(130);
    }));

  it('before the pod was read prints that nothing was deleted, and completes the recording', () =>
    serving('exit-143', { faults: [silentPod] }, async ({ server, flags, folder }) => {
      const file = join(folder, 'left.ndjson');
      const left = await leave([server.pod, ...flags, '-o', 'json', '--record', file], 'SIGTERM', () =>
        server.requests.some((one) => one.resource === 'services'),
      );
      expect(left.code).toBe(143);
      expect(JSON.parse(left.stdout)).toMatchObject({ kind: 'Error', code: 'run.left' });
      expect(left.stderr).toContain(`pod "${server.pod}" was not deleted by this command`);
      const [, first, ...others] = readFileSync(file, 'utf8').trim().split('\n');
      expect(first).toContain('"kind":"began"');
      expect(others.at(-1)).toContain('"signal":"SIGTERM"');
      expect(server.deletesAccepted).toBe(0);
    }));

  it('before any deletion prints that the pod was not deleted', () =>
    serving('taint-evicted', { attachDelayMs: 60_000 }, async ({ server, flags }) => {
      const { code, stderr } = await leave([server.pod, ...flags, '--attach', '-o', 'json'], 'SIGINT', () =>
        server.requests.some((one) => one.resource === 'endpointslices'),
      );
      expect(code).toBe(130);
      expect(stderr).toContain(`pod "${server.pod}" was not deleted by this command`);
      expect(server.deletesAccepted).toBe(0);
    }));

  it.each([
    ['taint-evicted', '--attach', 'accepted', 'is still terminating', exited],
    ['statefulset', '--wait-replacement', '"name":"removed"', 'is gone', /"type":"ADDED"/],
  ])('in a run of %s with %s, after %s, says that the pod %s', (name, flag, printed, said, without) =>
    stopping(name, without, async ({ server, flags }) => {
      const words = [server.pod, ...flags, flag, '-o', 'ndjson'];
      const { code, stderr } = await leave(words, 'SIGINT', ({ stdout }) => stdout.includes(printed));
      expect(stderr).toContain(`SIGINT: pod "${server.pod}" ${said}`);
      expect(code).toBe(130);
    }),
  );

  it('ends the process while it waits for a workload', () =>
    serving('graceful-exit', {}, async ({ flags }) => {
      const words = ['deploy/checkout', '--attach', ...flags];
      // Half a second later its watches are open.
      const left = await leave(words, 'SIGINT', ({ stderr }) => stderr.includes('waiting for the next'), 500);
      expect(left.code).toBe(130);
    }));
});

describe.concurrent('--timeout ends the run, and names what it is waiting for', () => {
  it.each([
    ['prestop-sleep', exited, /waiting for app to exit/],
    ['finalizer', removed, /waiting for finalizers example\.com\/audit/],
    ['node-down', removed, /waiting for the kubelet on node1(?!,)/],
  ])('%s', async (name, without, words) => {
    const work = async ({ server, flags }: Serving): Promise<void> => {
      const ran = await runMain([server.pod, ...flags, '--timeout=8s', '-o', 'lines']);
      expect(ran.code).toBe(3);
      expect(ran.stdout).toMatch(/✖ Stuck/);
      expect(ran.stdout.replace(/\s+/g, ' ')).toMatch(words);
    };
    await stopping(name, without, work, servingPatiently<void>);
  });
});

describe.concurrent('a reader that closes the pipe', () => {
  const closingAtOnce = (words: readonly string[]) => {
    const { child, ended } = started(words);
    child.stdout.once('data', () => child.stdout.destroy());
    return ended;
  };

  it('ends the process with 141 and without a message, and the recording names the reason', async () => {
    // The pod still has seconds when the next line meets the closed pipe.
    await serving('prestop-sleep', {}, async ({ server, flags, folder }) => {
      const file = join(folder, 'closed.ndjson');
      const { code, stderr } = await closingAtOnce([server.pod, ...flags, '-o', 'ndjson', '--record', file]);
      expect({ code, stderr }).toEqual({ code: 141, stderr: '' });
      expect(readFileSync(file, 'utf8').trim().split('\n').at(-1)).toContain('"signal":"SIGPIPE"');
      expect((await runMain(['replay', file, '-o', 'json'])).code).toBe(141);
    });
  });

  it('gets no suggestions after a demo', async () => {
    const { code, stderr } = await closingAtOnce(['demo', 'exit-143']);
    expect(code).toBe(141);
    expect(stderr).toMatch(/^[^\n]+\n\$ kubectl podexit [^\n]+\n\n$/);
  });
});

describe.runIf(existsSync('/dev/full')).concurrent('a full disk', () => {
  it('loses the recording and a report file, with exit code 1; the trace and the other report continue', async () => {
    await serving('exit-143', {}, async ({ server, flags, folder }) => {
      const good = join(folder, 'report.md');
      symlinkSync('/dev/full', join(folder, 'full.json'));
      const files = ['--record', '/dev/full', '--report', join(folder, 'full.json'), '--report', good];
      const ran = await podexit([server.pod, ...flags, '-o', 'json', ...files]);
      expect(ran.code).toBe(1);
      expect(ran.stderr).toMatch(/the recording \/dev\/full is incomplete: ENOSPC.*the trace continues/);
      expect(ran.stderr).toMatch(/full\.json could not be written \(ENOSPC\)/);
      expect(existsSync(good)).toBe(true);
      expect((JSON.parse(ran.stdout) as ExitReport).verdict.outcome).toBe('graceful');
    });
  });
});
