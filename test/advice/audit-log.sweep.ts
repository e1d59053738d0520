/** Reads 2 GB of audit log in constant memory. Too slow to run for every change. */
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { recordsWith } from '../../src/advice/why/audit-records.ts';

const size = 2 * 1024 ** 3;

it('finds the lines of one pod in 2 GB without growing memory', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
  const file = join(folder, 'audit.log');
  const line = `${JSON.stringify({ kind: 'Event', apiVersion: 'audit.k8s.io/v1', objectRef: { resource: 'configmaps', name: 'other' }, padding: 'x'.repeat(1500) })}\n`;
  const block = line.repeat(2000);
  const stream = createWriteStream(file);
  for (let written = 0; written < size; written += block.length) if (!stream.write(block)) await once(stream, 'drain');
  stream.end('{"objectRef":{"name":"web-0"}}\n');
  await once(stream, 'finish');
  const before = process.memoryUsage().rss;
  const started = performance.now();
  let most = 0;
  const found: string[] = [];
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 50);
  for await (const one of recordsWith(file, ['"web-0"'])) found.push(one);
  clearInterval(watch);
  rmSync(folder, { recursive: true });
  const grown = (most - before) / 1024 / 1024;
  process.stderr.write(
    `2 GB in ${((performance.now() - started) / 1000).toFixed(1)} s, ${grown.toFixed(0)} MB more memory\n`,
  );
  expect(found).toEqual(['{"objectRef":{"name":"web-0"}}']);
  expect(grown).toBeLessThan(150);
});
