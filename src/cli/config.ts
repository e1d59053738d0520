/** The gates of a project may also be in `.podexit.yaml`, beside its manifests. */
import { readFileSync } from 'node:fs';
import { PodexitError } from '../errors.ts';
import type { GateFlags } from './command.ts';

interface Config {
  /** As errors name it. */
  file: string;
  words: ConfigWords;
}

/** The gates, and `confirm`: false never asks before a deletion. */
type ConfigWords = GateFlags & { confirm?: boolean };

/** Read from the working directory if it exists. */
const configFile = '.podexit.yaml';

/** --config's file, or the working directory's own; `false`: none. Throws `config.missing`, `.unreadable` and `.invalid`. */
export async function readConfig(named: string | boolean | undefined): Promise<Config> {
  const file = typeof named === 'string' ? named : configFile;
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
  if (value === undefined)
    throw invalid(`${file}: ${key} cannot be ${shown(raw)}`, `Write it like ${key}: ${known.like}`);
  return [known.name, value];
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 80);

const invalid = (message: string, hint: string, cause?: unknown): PodexitError =>
  new PodexitError('config.invalid', message, hint, { cause });
