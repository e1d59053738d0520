/** What a run writes to GitHub Actions and sends to a collector. Neither may change the exit code. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { startReceiver } from '../export/helpers/receiver.ts';
import { podexit } from '../helpers/built.ts';
import { recordingFile } from '../helpers/recordings.ts';
import { runMain } from './helpers/in-process.ts';

const replay = (name: string, flags: string[], env: Record<string, string> = {}) =>
  runMain(['replay', recordingFile(name), '--no-config', ...flags], { env });

it('keeps the summary of a step in GitHub Actions below its size limit, including what the step wrote before', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'podexit-')), 'summary.md');
  writeFileSync(file, 'x'.repeat(1024 * 1024 - 2000));
  await replay('graceful-exit', ['--github'], { GITHUB_STEP_SUMMARY: file });
  expect(readFileSync(file).length).toBeLessThanOrEqual(1024 * 1024);
});

describe('--otlp', () => {
  afterEach(() => vi.unstubAllEnvs());

  const collecting = async (flags: string[], env: (url: string) => Record<string, string>) => {
    const collector = await startReceiver();
    Object.entries(env(collector.url)).forEach(([name, value]) => vi.stubEnv(name, value));
    const printed = await replay('graceful-exit', flags, env(collector.url));
    await collector.close();
    return { ...printed, requests: collector.received.length };
  };

  it('sends the exit to the collector of the environment', async () => {
    const printed = await collecting(['--otlp'], (url) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url }));
    expect(printed).toMatchObject({ code: 0, requests: 1, stderr: '' });
  });

  it.each<[number, (url: string) => Record<string, string>]>([
    [1, (url) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url })],
    [0, () => ({})],
    [0, () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: '' })],
  ])(
    'sends %i requests with =auto, by the collector of the environment: an empty address is none',
    async (requests, env) => {
      expect(await collecting(['--otlp=auto'], env)).toMatchObject({ code: 0, requests, stderr: '' });
    },
  );

  it('is off by default, even if the environment names a collector', async () => {
    expect(await collecting([], (url) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url }))).toMatchObject({ requests: 0 });
  });

  it('prints a warning if no collector listens, and keeps the exit code', async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:secret@127.0.0.1:9', OTEL_EXPORTER_OTLP_TIMEOUT: '200' };
    Object.entries(env).forEach(([name, value]) => vi.stubEnv(name, value));
    const { code, stderr } = await replay('graceful-exit', ['--otlp'], env);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^podexit: the trace was not exported: .+\n$/);
    expect(stderr).not.toContain('secret');
  });

  it.each(['http/protobuf', 'http/json'])(
    'works over %s in the built command, where packages are bundled',
    async (protocol) => {
      const collector = await startReceiver();
      const printed = await podexit(['replay', recordingFile('exit-143'), '-o', 'name', '--no-config', '--otlp'], {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      });
      await collector.close();
      expect(printed).toMatchObject({ code: 0, stderr: '' });
      expect(collector.received[0]?.body.toString('latin1')).toContain('k8s.pod.uid');
    },
  );
});
