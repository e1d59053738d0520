/** `--max-duration`, `--max-grace-used`, `--min-drain-lead`, `--fail-on`, `--warn-only`: words turned into a Policy. */
import { gateCodes, type GateSpec, type Policy } from '../verdict/policy.ts';
import { readConfig, type GateWords } from './config.ts';
import { parseDuration } from './duration.ts';
import { usageError } from './usage.ts';

export interface GateFlags extends GateWords {
  /** --config FILE; --no-config: false. */
  config?: string | boolean;
}

/** A flag wins over the same word of the file. Throws PodexitError for words that mean nothing, wherever they stand. */
export async function policyFrom({ config, ...flags }: GateFlags): Promise<Policy> {
  const { file, words } = await readConfig(config);
  const inFile = `in ${file}`;
  const specs: GateSpec[] = [
    ...limit(flags.maxDuration, words.maxDuration, 'max-duration', inFile, maxDuration),
    ...limit(flags.maxGraceUsed, words.maxGraceUsed, 'max-grace-used', inFile, maxGraceUsed),
    ...limit(flags.minDrainLead, words.minDrainLead, 'min-drain-lead', inFile, minDrainLead),
    ...limit(flags.maxLost, undefined, 'max-lost', inFile, maxLost),
    ...limit(flags.failOn, words.failOn, 'fail-on', inFile, failOn).flat(),
  ];
  return { gates: specs, warnOnly: flags.warnOnly ?? words.warnOnly ?? false };
}

/** `where` names the word as its writer knows it. */
function limit<W, S>(
  flag: W | undefined,
  word: W | undefined,
  name: string,
  inFile: string,
  parse: (word: W, where: string) => S,
): S[] {
  if (flag !== undefined) return [parse(flag, `--${name}`)];
  return word === undefined ? [] : [parse(word, `${name} ${inFile}`)];
}

/** `3`, `0`, `0.1%`. */
function maxLost(text: string, where: string): GateSpec {
  const [, number, sign] = /^(\d{1,9}(?:\.\d{1,6})?)\s*(%?)$/.exec(text.trim()) ?? [];
  if (number === undefined || (sign === '' && number.includes('.')))
    throw usageError(
      'max-lost',
      `${where}: "${text.slice(0, 80)}" is no number of requests`,
      'Write it like 0, 3 or 0.1%.',
    );
  return sign === '%' ? { kind: 'max-lost', share: Number(number) / 100 } : { kind: 'max-lost', count: Number(number) };
}

const maxDuration = (text: string, where: string): GateSpec => ({
  kind: 'max-duration',
  ms: parseDuration(text, where),
});

const minDrainLead = (text: string, where: string): GateSpec => ({
  kind: 'min-drain-lead',
  ms: parseDuration(text, where),
});

function maxGraceUsed(text: string, where: string): GateSpec {
  const match = /^(\d{1,6}(?:\.\d{1,6})?)\s*(%?)$/.exec(text.trim());
  const share = Number(match?.[1]);
  // 0.8 without a sign could be meant as either, and one of them would fail every exit.
  if (!match || (match[2] === '' && share > 0 && share < 1))
    throw usageError('percentage', `${where}: "${text.slice(0, 80)}" is not a percentage`, 'Write it like 80%.');
  return { kind: 'max-grace-used', share: share / 100 };
}

function failOn(words: readonly string[], where: string): GateSpec[] {
  const codes = new Set(words.flatMap((word) => word.split(',')).map((word) => word.trim()));
  return [...codes].map((text) => {
    const code = gateCodes.find((one) => one === text);
    if (code) return { kind: 'fail-on', code };
    throw usageError(
      'finding',
      `${where}: there is no finding "${text.slice(0, 80)}"`,
      `There are: ${gateCodes.join(', ')}`,
    );
  });
}

/** Whether to ask before a deletion at a terminal, by the config file. Throws as `policyFrom`. */
export const confirmFrom = async ({ config }: GateFlags): Promise<boolean> =>
  (await readConfig(config)).words.confirm ?? true;
