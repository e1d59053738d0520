/** The contents of a probe's headers are never printed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bin, podexit } from '../helpers/built.ts';
import { serving } from '../helpers/serving.ts';
import { counting } from './helpers/counting.ts';

const secret = 'hunter2-hunter2';

it('shows no header in reports, in recordings, at -v=9 or in ps', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'probe-secrets-'));
  const seen = new Set<string | undefined>();
  const server = await counting((request, answer) => (seen.add(request.headers.authorization), answer.end()));
  const files = ['exit.json', 'exit.html', 'exit.md', 'exit.junit.xml'].flatMap((name) => [
    '--report',
    join(folder, name),
  ]);
  const words = [
    '--probe',
    server.url,
    '--probe',
    'service/checkout',
    '--probe-header',
    `Authorization: Bearer ${secret}`,
    '--probe-timeout',
    '10s',
  ];
  const output = await serving('graceful-exit', { backends: () => server.url }, async ({ server: cluster, flags }) => {
    const all = [cluster.pod, ...flags, ...words, ...files, '--record', join(folder, 'run.ndjson'), '-v=9'];
    const child = spawn(process.execPath, [bin, ...all], { stdio: ['ignore', 'pipe', 'pipe'] });
    let [text, commandLine] = ['', ''];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    // The DELETE was sent, so the target has answered for a second.
    const look = setInterval(() => {
      // After the end of the process there is nothing to read.
      if (cluster.deletesAccepted > 0 && process.platform === 'linux' && commandLine === '')
        commandLine = readFileSync(`/proc/${child.pid}/cmdline`, 'utf8');
    }, 50);
    await once(child, 'exit');
    clearInterval(look);
    expect(commandLine, text).toContain(process.platform === 'linux' ? 'kubectl-podexit' : '');
    return text + commandLine;
  });
  await server.close();
  const written = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  rmSync(folder, { recursive: true });
  expect(seen).toContain(`Bearer ${secret}`);
  expect(written).toHaveLength(5);
  for (const text of [output, ...written]) expect(text).not.toContain('hunter2');
});

it('prints no header if the target does not answer', async () => {
  const server = await counting((_, answer) => answer.writeHead(500).end());
  const words = ['--probe', server.url, '--probe-header', `Authorization: Bearer ${secret}`, '-v=9'];
  await serving('exit-143', {}, async ({ server: cluster, flags }) => {
    const { code, stdout, stderr } = await podexit([cluster.pod, ...flags, ...words]);
    expect(code).toBe(1);
    expect(stdout + stderr).not.toContain('hunter2');
  });
  await server.close();
});
