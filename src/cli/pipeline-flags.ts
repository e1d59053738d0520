/** Flags for pipelines: gates, GitHub Actions, OpenTelemetry. The gates of a project may also be in `.podexit.yaml`. */
import type { Publish } from '../output/publish.ts';
import type { Flags } from './flags.ts';
import { badValue, flagOf, parseDuration, usageError, valueOf } from './usage.ts';
import { gateCodes, type GateSpec, type Policy } from '../verdict/policy.ts';
import { readFileSync } from 'node:fs';
import { PodexitError } from '../errors.ts';

/** The gates as texts; a config file has them too. */
type GateFlags = Pick<Flags, 'maxDuration' | 'maxGraceUsed' | 'minDrainLead' | 'maxLost' | 'failOn' | 'warnOnly'>;

export const publishFrom = ({ github, otlp = 'never' }: Pick<Flags, 'github' | 'otlp'>): Publish => ({
  github,
  otlp: valueOf(otlp, '--otlp'),
});

/** A flag wins over the config file. `confirm`: the file lets podexit ask before a deletion. Throws for invalid values. */
export async function policyFrom({ config, ...flags }: Flags): Promise<{ policy: Policy; confirm: boolean }> {
  const { file, words } = await readConfig(config);
  /** `where`: the flag or the key, for error texts. */
  const gate = <K extends keyof GateFlags>(
    key: K,
    parse: (word: NonNullable<GateFlags[K]>, where: string) => GateSpec | GateSpec[],
  ): GateSpec[] => {
    const word = flags[key] ?? words[key];
    const where = flags[key] === undefined ? `${flagOf(key).slice(2)} in ${file}` : flagOf(key);
    return word === undefined ? [] : [parse(word, where)].flat();
  };
  const gates = [
    ...gate('maxDuration', inMs('max-duration')),
    ...gate('maxGraceUsed', maxGraceUsed),
    ...gate('minDrainLead', inMs('min-drain-lead')),
    ...gate('maxLost', maxLost),
    ...gate('failOn', failOn),
  ];
  return { policy: { gates, warnOnly: flags.warnOnly ?? words.warnOnly ?? false }, confirm: words.confirm ?? true };
}

const inMs =
  (kind: 'max-duration' | 'min-drain-lead') =>
  (text: string, where: string): GateSpec => ({ kind, ms: parseDuration(text, where) });

/** `3`, `0`, `0.1%`. */
function maxLost(text: string, where: string): GateSpec {
  const [, number, sign] = /^(\d{1,9}(?:\.\d{1,6})?)\s*(%?)$/.exec(text.trim()) ?? [];
  if (number === undefined || (sign === '' && number.includes('.')))
    throw badValue('max-lost', where, text, 'is not a number of requests', 'Write it like 0, 3 or 0.1%.');
  return sign === '%' ? { kind: 'max-lost', share: Number(number) / 100 } : { kind: 'max-lost', count: Number(number) };
}

function maxGraceUsed(text: string, where: string): GateSpec {
  const match = /^(\d{1,6}(?:\.\d{1,6})?)\s*(%?)$/.exec(text.trim());
  const share = Number(match?.[1]);
  // 0.8 could mean 0.8% or 80%, and a wrong guess of 0.8% would fail every exit.
  if (!match || (match[2] === '' && share > 0 && share < 1))
    throw badValue('percentage', where, text, 'is not a percentage', 'Write it like 80%.');
  return { kind: 'max-grace-used', share: share / 100 };
}

const failOn = (words: readonly string[], where: string): GateSpec[] =>
  findingsIn(words, gateCodes, where).map((wanted) => ({ kind: 'fail-on', wanted }));

/** Each word may contain several, separated by commas. Throws `usage.finding` for a word that is not in `known`. */
export function findingsIn<T extends string>(words: readonly string[], known: readonly T[], where: string): T[] {
  const codes = new Set(words.flatMap((word) => word.split(',')).map((word) => word.trim()));
  return [...codes].map((text) => {
    const code = known.find((code) => code === text);
    if (code !== undefined) return code;
    throw usageError('finding', `${where}: unknown finding "${text.slice(0, 80)}"`, `There are: ${known.join(', ')}`);
  });
}

/** The gates, and `confirm`: false never asks before a deletion. */
type ConfigWords = GateFlags & { confirm?: boolean };

/** --config's file, or the working directory's own; `false`: none. Throws `config.missing`, `.unreadable` and `.invalid`. */
export async function readConfig(named: string | boolean | undefined): Promise<{ file: string; words: ConfigWords }> {
  const file = typeof named === 'string' ? named : '.podexit.yaml';
  const text = named === false ? undefined : read(file, typeof named === 'string');
  return { file, words: text === undefined ? {} : await parseConfig(text, file) };
}

function read(file: string, isNamed: boolean): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    if (!isNamed && code === 'ENOENT') return undefined;
    throw new PodexitError(
      code === 'ENOENT' ? 'config.missing' : 'config.unreadable',
      `the config file ${file} cannot be read (${code})`,
      isNamed ? 'Check --config.' : 'Correct the file or its permissions, or leave it alone with --no-config.',
      { cause },
    );
  }
}

const example = 'It holds lines such as: max-duration: 30s';

async function parseConfig(text: string, file: string): Promise<ConfigWords> {
  const { loadAll } = await import('js-yaml');
  let documents: unknown[];
  try {
    // Aliases may be nested or refer to themselves, and expand without an end.
    documents = loadAll(text, { maxAliases: 0 });
  } catch (cause) {
    const [reason = ''] = (cause as Error).message.split('\n');
    throw invalid(`${file} is not valid YAML: ${reason}`, example, cause);
  }
  const [document] = documents;
  if (documents.length > 1) throw invalid(`${file} holds more than one document`, example);
  if (document === null || document === undefined) return {};
  if (typeof document !== 'object' || Array.isArray(document)) throw invalid(`${file} holds no keys`, example);
  return Object.fromEntries(Object.entries(document).map(([key, value]) => gateOf(key, value, file)));
}

/** YAML reads `80` and `0` as numbers. */
const asText = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;

const asTexts = (value: unknown): string[] | undefined => {
  const list: unknown[] = [value].flat();
  return list.every((item) => typeof item === 'string') ? list : undefined;
};

const asBoolean = (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined);

/** The property for each key, and how its value is read: undefined if the value is not valid. */
const keys: Record<string, { name: keyof ConfigWords; read: (value: unknown) => unknown; like: string }> = {
  'max-duration': { name: 'maxDuration', read: asText, like: '30s' },
  'max-grace-used': { name: 'maxGraceUsed', read: asText, like: '80%' },
  'min-drain-lead': { name: 'minDrainLead', read: asText, like: '5s' },
  'fail-on': { name: 'failOn', read: asTexts, like: '[drain-race, last-endpoint]' },
  confirm: { name: 'confirm', read: asBoolean, like: 'false' },
  'warn-only': { name: 'warnOnly', read: asBoolean, like: 'true' },
};

function gateOf(key: string, raw: unknown, file: string): [keyof ConfigWords, unknown] {
  // A YAML key may be `constructor`, which every object has.
  const known = Object.hasOwn(keys, key) ? keys[key] : undefined;
  if (!known) throw invalid(`${file}: unknown key "${key.slice(0, 80)}"`, `There are: ${Object.keys(keys).join(', ')}`);
  const value = known.read(raw);
  if (value !== undefined) return [known.name, value];
  const shown = (JSON.stringify(raw) ?? String(raw)).slice(0, 80);
  throw invalid(`${file}: ${key} cannot be ${shown}`, `Write it like ${key}: ${known.like}`);
}

const invalid = (message: string, hint: string, cause?: unknown): PodexitError =>
  new PodexitError('config.invalid', message, hint, { cause });
