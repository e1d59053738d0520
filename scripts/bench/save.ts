/** `--save`: writes the figures of this run as the baseline of later runs, and into docs/bench.md. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname } from 'node:path';
import { withPart } from '../docs/marked-part.ts';
import { baselineFile, type Baseline } from './check.ts';
import type { Contest } from './contest.ts';

export function save(root: string, results: readonly Contest[], printed: string): void {
  const baseline: Baseline = Object.fromEntries(
    results.flatMap(({ name, ratio }) => (ratio === undefined ? [] : [[name, Number(ratio.toFixed(3))]])),
  );
  mkdirSync(dirname(baselineFile(root)), { recursive: true });
  writeFileSync(baselineFile(root), `${JSON.stringify(baseline, null, 2)}\n`);
  const page = `${root}docs/bench.md`;
  const machine = `Node ${process.version}, ${cpus().length} cores, ${process.platform}`;
  writeFileSync(page, withPart(readFileSync(page, 'utf8'), 'bench', `\`\`\`\n${printed}\`\`\`\n\n${machine}`));
}
