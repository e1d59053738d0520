/** The output of the build: the same bytes each time, and a small start. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bundle, startSize } from '../../scripts/bundle.mjs';
import { root } from '../helpers/built.ts';

async function built(): Promise<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'podexit-build-'));
  await bundle(root, folder);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const bytes = readFileSync(join(parentPath, name));
      expect(bytes.includes(root), `${name} names the folder of the build`).toBe(false);
      return [name, createHash('sha256').update(bytes).digest('hex')];
    }),
  );
}

it('is the same if it is built twice', async () => {
  const first = await built();
  expect(Object.keys(first)).toContain('podexit.cjs');
  expect(await built()).toEqual(first);
});

/** Bytes. It was 288,036 when this limit was set. Never raise the limit. */
const mostAtStart = 300_000;

it('a plain trace loads little code before its DELETE (npm run size)', async () => {
  const { total, places, inputs } = await startSize(root);
  expect(total).toBeLessThanOrEqual(mostAtStart);
  expect(places.map(([place]) => place)).toContain('commander');
  const late = [
    'src/verdict/report.ts',
    'src/output/text/card.ts',
    'src/output/documents.ts',
    'src/run/group/finish.ts',
  ];
  for (const one of late) expect(inputs).not.toContain(one);
  for (const large of ['src/probe', 'src/advice', 'src/demo', 'src/export', 'string-width', 'yaml', 'js-yaml'])
    expect(places.map(([place]) => place)).not.toContain(large);
  for (const large of ['@kubernetes/client-node', 'https-proxy-agent', '@opentelemetry/api'])
    expect(places.map(([place]) => place)).not.toContain(large);
});
