/**
 * Converts recordings of a whole namespace, as a recorder beside the cluster writes them (src/demo/scenarios.ts), into
 * recordings that `replay` reads: `npx tsx scripts/convert-recording.ts NAMESPACE.ndjson... --to FOLDER`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { readRows, recordingOf } from './convert/convert.ts';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { to: { type: 'string' } } });
if (positionals.length === 0 || values.to === undefined) {
  console.error('usage: npx tsx scripts/convert-recording.ts NAMESPACE.ndjson... --to FOLDER');
  process.exit(1);
}
mkdirSync(values.to, { recursive: true });
for (const file of positionals) {
  const converted = join(values.to, basename(file));
  writeFileSync(converted, recordingOf(readRows(file)));
  console.log(converted);
}
