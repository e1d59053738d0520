/** Packs the recordings that ship as scenarios of `demo`, with their truth: `npx tsx scripts/scenarios.ts`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { shippedScenarios } from '../src/demo/scenarios.ts';

const tests = join(import.meta.dirname, '../test');
const folder = join(import.meta.dirname, '../src/demo/scenarios');

mkdirSync(folder, { recursive: true });
for (const { name, recording = name } of shippedScenarios.filter(({ plays }) => plays === undefined)) {
  const truths = JSON.parse(readFileSync(join(tests, 'recordings', `${recording}.truth.json`), 'utf8')) as object[];
  const rows = truths.map((truth) => `${JSON.stringify({ type: 'truth', ...truth })}\n`);
  const packed = gzipSync(readFileSync(join(tests, 'scenarios', `${recording}.ndjson`), 'utf8') + rows.join(''), {
    level: 9,
  });
  writeFileSync(join(folder, `${name}.ndjson.gz`), packed);
  console.log(`${name}: ${(packed.length / 1024).toFixed(1)} kB`);
}
