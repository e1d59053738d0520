/** `--check`: has anything got worse than bench/baseline.json says? By ratio, never by absolute time. */
import { existsSync, readFileSync } from 'node:fs';
import type { Contest } from './contest.ts';

/** Name of a row → ratio of its medians. */
export type Baseline = Record<string, number>;

export const baselineFile = (root: string): string => `${root}bench/baseline.json`;

/** A ratio may be this much larger than the baseline's: shared machines are noisy, and a real loss is larger. */
const tolerance = 1.5;
/** What was worse is measured again this often: noise passes, a loss stays. */
const moreTries = 3;

/** 1 where something is worse, in its median and in its minimum, each time it is measured. */
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
    for (let tries = 0; suspects.length > 0 && tries < moreTries; tries += 1) {
      suspects.forEach(({ text }) => process.stdout.write(`measured again: ${text}\n`));
      const names = new Set(suspects.map(({ name }) => name));
      suspects = (await measure()).filter(({ name }) => names.has(name)).flatMap((one) => worse(one, baseline));
    }
    suspects.forEach(({ text }) => process.stdout.write(`WORSE: ${text}\n`));
    isWorse ||= suspects.length > 0;
  }
  return isWorse ? 1 : 0;
}

/** A row without a reference (there is no kubectl) has no ratio, and one that is new has nothing to be worse than. */
function worse({ name, ours, reference, ratio }: Contest, baseline: Baseline): { name: string; text: string }[] {
  if (reference === undefined || ratio === undefined) return [];
  const most = (baseline[name] ?? Infinity) * tolerance;
  const least = Math.min(ratio, ours.min / reference.min);
  return least > most ? [{ name, text: `${name}: ${least.toFixed(2)}, at most ${most.toFixed(2)}` }] : [];
}
