/** `--save`: writes the figures of this run as the baseline of later runs, and into docs/bench.md. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname } from 'node:path';
import { baselineFile } from './check.ts';
import type { Baseline } from './check.ts';
import type { Contest } from './contest.ts';

const [from, to] = ['<!-- bench -->', '<!-- /bench -->'];

export function save(root: string, results: readonly Contest[], printed: string): void {
  const baseline: Baseline = Object.fromEntries(
    results.flatMap(({ name, ratio }) => (ratio === undefined ? [] : [[name, Number(ratio.toFixed(3))]])),
  );
  mkdirSync(dirname(baselineFile(root)), { recursive: true });
  writeFileSync(baselineFile(root), `${JSON.stringify(baseline, null, 2)}\n`);
  const page = `${root}docs/bench.md`;
  const text = readFileSync(page, 'utf8');
  const [before, rest] = text.split(from);
  const after = rest?.split(to)[1];
  if (after === undefined) throw new Error(`docs/bench.md has no place for the table: ${from} … ${to}`);
  const machine = `Node ${process.version}, ${cpus().length} cores, ${process.platform}`;
  writeFileSync(page, `${before}${from}\n\n\`\`\`\n${printed}\`\`\`\n\n${machine}\n\n${to}${after}`);
}
