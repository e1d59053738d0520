/** `--check`: is anything worse than in bench/baseline.json? Compares ratios, never absolute times. */
import { existsSync, readFileSync } from 'node:fs';
import type { Contest } from './contest.ts';

/** Name of a row → ratio of its medians. */
export type Baseline = Record<string, number>;

export const baselineFile = (root: string): string => `${root}bench/baseline.json`;

/** The allowed growth of a ratio over the baseline: shared machines are noisy, and a real regression is larger. */
const maxRatioGrowth = 1.5;
/** Worse rows are measured again this many times: noise disappears, a real regression stays. */
const maxRepeats = 3;

/** Returns 1 if a row is worse each time, in its median and in its minimum. */
export async function check(
  root: string,
  groups: readonly (() => Promise<Contest[]>)[],
  results: readonly Contest[][],
): Promise<number> {
  if (!existsSync(baselineFile(root))) throw new Error('there is no bench/baseline.json; make one with --save');
  const baseline = JSON.parse(readFileSync(baselineFile(root), 'utf8')) as Baseline;
  let isWorse = false;
  for (const [index, measure] of groups.entries()) {
    let suspects = (results[index] ?? []).flatMap((one) => worse(one, baseline));
    for (let tries = 0; suspects.length > 0 && tries < maxRepeats; tries += 1) {
      suspects.forEach(({ text }) => process.stdout.write(`measured again: ${text}\n`));
      const names = new Set(suspects.map(({ name }) => name));
      suspects = (await measure()).filter(({ name }) => names.has(name)).flatMap((one) => worse(one, baseline));
    }
    suspects.forEach(({ text }) => process.stdout.write(`WORSE: ${text}\n`));
    isWorse ||= suspects.length > 0;
  }
  return isWorse ? 1 : 0;
}

/** Empty for a row without a reference (kubectl is missing) or without a baseline. */
function worse({ name, ours, reference, ratio }: Contest, baseline: Baseline): { name: string; text: string }[] {
  if (reference === undefined || ratio === undefined) return [];
  const maxRatio = (baseline[name] ?? Infinity) * maxRatioGrowth;
  const best = Math.min(ratio, ours.min / reference.min);
  return best > maxRatio ? [{ name, text: `${name}: ${best.toFixed(2)}, at most ${maxRatio.toFixed(2)}` }] : [];
}
