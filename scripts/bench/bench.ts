/**
 * `npm run bench`: speed and memory as ratios in one run. `--check` compares them with bench/baseline.json, `--save`
 * writes that file, `--quick` takes few rounds, `--json FILE` names where the figures go. docs/bench.md explains.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Contest } from './contest.ts';
import { markLatency } from './mark-latency.ts';
import { peakMemory } from './peak-memory.ts';
import { hasKubectl } from './program.ts';
import { reduceCost } from './reduce-cost.ts';
import { smallCommands } from './small-commands.ts';
import { table } from './table.ts';
import { untilDelete } from './until-delete.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const baselineFile = `${root}bench/baseline.json`;

/** A ratio may be this much larger than the baseline's: shared machines are noisy, and a real loss is larger. */
const tolerance = 1.5;

type Baseline = Record<string, number>;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      check: { type: 'boolean' },
      save: { type: 'boolean' },
      quick: { type: 'boolean' },
      json: { type: 'string', default: `${root}coverage/bench.json` },
    },
  });
  if (!hasKubectl) process.stderr.write('bench: there is no kubectl on the PATH, so some rows have no reference\n');
  const results = await measure(values.quick ?? false);
  process.stdout.write(printed(results));
  mkdirSync(dirname(values.json), { recursive: true });
  writeFileSync(values.json, `${JSON.stringify({ node: process.version, results }, null, 2)}\n`);
  if (values.save) save(results);
  return values.check ? check(results) : 0;
}

async function measure(quick: boolean): Promise<Contest[]> {
  const rounds = quick ? 3 : 10;
  return [
    ...(await untilDelete(rounds)),
    ...(await smallCommands(rounds)),
    ...(await markLatency(quick ? 2 : 5)),
    ...(await reduceCost(rounds)),
    ...(await peakMemory(quick ? 1 : 3, quick ? 5 : 20)),
  ];
}

const printed = (results: readonly Contest[]): string =>
  table(
    ['what', 'min', 'median', 'max', 'unit', 'against', 'min', 'median', 'max', 'ratio', 'promised', 'note'],
    results.map(({ name, ours, unit, reference, ratio, promised, note = '' }) => [
      name,
      ...[ours.min, ours.median, ours.max].map(figure),
      unit,
      reference?.name ?? '',
      ...[reference?.min, reference?.median, reference?.max].map(figure),
      ratio?.toFixed(2) ?? '–',
      promised?.toFixed(1) ?? '–',
      note,
    ]),
  );

const figure = (value: number | undefined): string => value?.toFixed(value < 10 ? 2 : 0) ?? '–';

function save(results: readonly Contest[]): void {
  mkdirSync(dirname(baselineFile), { recursive: true });
  const baseline = Object.fromEntries(
    results.flatMap(({ name, ratio }) => (ratio === undefined ? [] : [[name, Number(ratio.toFixed(3))]])),
  );
  writeFileSync(baselineFile, `${JSON.stringify(baseline, null, 2)}\n`);
}

/** By ratio, never by absolute time. 1 where something got worse, in its median and in its minimum: noise moves one of them. */
function check(results: readonly Contest[]): number {
  if (!existsSync(baselineFile)) throw new Error('there is no bench/baseline.json; make one with --save');
  const baseline = JSON.parse(readFileSync(baselineFile, 'utf8')) as Baseline;
  const worse = results.flatMap(({ name, ratio, ours, reference }) => {
    if (ratio === undefined) return [];
    const most = (baseline[name] ?? Infinity) * tolerance;
    const least = reference ? Math.min(ratio, ours.min / reference.min) : ratio;
    return least > most ? [`${name}: ${least.toFixed(2)}, at most ${most.toFixed(2)}`] : [];
  });
  worse.forEach((line) => process.stdout.write(`WORSE: ${line}\n`));
  return worse.length > 0 ? 1 : 0;
}

process.exitCode = await main();
