/**
 * `npm run bench`: speed and memory as ratios in one run. `--check` measures only what bench/baseline.json has a ratio
 * of, and compares; `--save` writes that file and the table in docs/bench.md, `--quick` takes few rounds, `--json FILE` says where to write the
 * figures. `--tls` measures only a whole deletion over TLS beside kubectl's, `--rollout` only a rollout on a saturated
 * machine, `--runs N` times. See docs/bench.md.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { check } from './check.ts';
import { concludeCost } from './conclude-cost.ts';
import type { Contest } from './contest.ts';
import { markLatency } from './mark-latency.ts';
import { probeCost } from './probe-cost.ts';
import { peakMemory } from './peak-memory.ts';
import { hasKubectl } from './program.ts';
import { rolloutCost } from './rollout-cost.ts';
import { rolloutSlowdown } from './rollout-slowdown.ts';
import { reduceCost } from './reduce-cost.ts';
import { save } from './save.ts';
import { smallCommands } from './small-commands.ts';
import { table } from './table.ts';
import { untilDelete } from './until-delete.ts';
import { wholeDeletion } from './whole-deletion.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      check: { type: 'boolean' },
      save: { type: 'boolean' },
      quick: { type: 'boolean' },
      tls: { type: 'boolean' },
      rollout: { type: 'boolean' },
      runs: { type: 'string', default: '30' },
      json: { type: 'string', default: `${root}coverage/bench.json` },
    },
  });
  if (!hasKubectl) process.stderr.write('bench: there is no kubectl on the PATH, so some rows have no reference\n');
  const runs = Number(values.runs);
  const all = values.tls
    ? [{ hasReference: true, measure: () => wholeDeletion(runs) }]
    : values.rollout
      ? [{ hasReference: true, measure: () => rolloutSlowdown(runs) }]
      : groupsOf(values.quick ?? false);
  const groups = all.filter(({ hasReference }) => hasReference || !values.check).map(({ measure }) => measure);
  const results: Contest[][] = [];
  for (const group of groups) results.push(await group());
  const text = printed(results.flat());
  process.stdout.write(text);
  mkdirSync(dirname(values.json), { recursive: true });
  writeFileSync(values.json, `${JSON.stringify({ node: process.version, results: results.flat() }, null, 2)}\n`);
  if (values.save) save(root, results.flat(), text);
  return values.check ? await check(root, groups, results) : 0;
}

interface Group {
  /** Of rows that another program is measured beside, so that a ratio can be compared with the baseline's. */
  hasReference: boolean;
  measure: () => Promise<Contest[]>;
}

/** Groups that are measured together, and can be measured again. */
function groupsOf(quick: boolean): Group[] {
  const rounds = quick ? 3 : 10;
  return [
    { hasReference: true, measure: () => untilDelete(rounds) },
    { hasReference: true, measure: () => smallCommands(rounds) },
    { hasReference: false, measure: () => markLatency(quick ? 3 : 25) },
    { hasReference: true, measure: () => reduceCost(rounds) },
    { hasReference: false, measure: () => concludeCost(quick ? 5 : 30) },
    { hasReference: false, measure: () => probeCost(quick ? 5 : 60) },
    { hasReference: false, measure: () => rolloutCost(quick) },
    { hasReference: true, measure: () => peakMemory(quick ? 1 : 2, quick ? 5 : 60) },
  ];
}

const printed = (results: readonly Contest[]): string =>
  table(
    ['what', 'min', 'median', 'max', 'unit', 'against', 'min', 'median', 'max', 'ratio', 'promised', 'kept', 'note'],
    results.map(({ name, ours, unit, reference, ratio, promise, note = '' }) => [
      name,
      ...[ours.min, ours.median, ours.max].map(figure),
      unit,
      reference?.name ?? '',
      ...[reference?.min, reference?.median, reference?.max].map(figure),
      ratio?.toFixed(2) ?? '–',
      promise ? `${promise.of} ${promise.most.toFixed(1)}` : '',
      promise ? (promise.value <= promise.most ? 'yes' : 'NO') : '',
      note,
    ]),
  );

const figure = (value: number | undefined): string => value?.toFixed(value < 10 ? 2 : 0) ?? '–';

process.exitCode = await main();
