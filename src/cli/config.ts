/** `.podexit.yaml`: the gates of a project, beside its manifests. */
import { readFileSync } from 'node:fs';
import { PodexitError } from '../errors.ts';

/** As commander hands them over, and as a config file has them. */
export interface GateWords {
  maxDuration?: string;
  maxGraceUsed?: string;
  minDrainLead?: string;
  /** Codes, each word may hold several with commas between. */
  failOn?: string[];
  warnOnly?: boolean;
  /** Of the config file only: false never asks before a deletion. */
  confirm?: boolean;
  /** --max-lost; where requests were sent it is 0 by itself. */
  maxLost?: string;
}

export interface Config {
  /** As it is named in errors. */
  file: string;
  words: GateWords;
}

/** In the working directory; used where it is there. */
const configFile = '.podexit.yaml';

/**
 * Reads the file that --config names, or the working directory's own; `false` reads none. Throws PodexitError
 * `config.missing` for a named file that is not there, `config.unreadable` for one that is there and cannot be read, and
 * `config.invalid` for unknown keys or values.
 */
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

async function parseConfig(text: string, file: string): Promise<GateWords> {
  const { loadAll } = await import('js-yaml');
  let documents: unknown[];
  try {
    // Aliases may be nested or refer to themselves, and expand without end.
    documents = loadAll(text, { maxAliases: 0 });
  } catch (cause) {
    const [reason = ''] = (cause as Error).message.split('\n');
    throw invalid(`${file} is no YAML: ${reason}`, `It holds lines such as: max-duration: 30s`, cause);
  }
  const [document] = documents;
  if (documents.length > 1)
    throw invalid(`${file} holds more than one document`, `It holds lines such as: max-duration: 30s`);
  if (document === null || document === undefined) return {};
  if (typeof document !== 'object' || Array.isArray(document))
    throw invalid(`${file} holds no keys`, `It holds lines such as: max-duration: 30s`);
  return Object.entries(document).reduce<GateWords>(
    (words, [key, value]) => ({ ...words, ...wordOf(key, value, file) }),
    {},
  );
}

type Reader = (value: unknown) => GateWords | undefined;

/** What each key may hold; undefined: not that. */
const keys: Record<string, { read: Reader; like: string }> = {
  'max-duration': { read: (value) => withText(value, (maxDuration) => ({ maxDuration })), like: '30s' },
  'max-grace-used': { read: (value) => withText(value, (maxGraceUsed) => ({ maxGraceUsed })), like: '80%' },
  'min-drain-lead': { read: (value) => withText(value, (minDrainLead) => ({ minDrainLead })), like: '5s' },
  'fail-on': { read: (value) => withList(value, (failOn) => ({ failOn })), like: '[drain-race, last-endpoint]' },
  confirm: {
    read: (value) => (typeof value === 'boolean' ? { confirm: value } : undefined),
    like: 'false',
  },
  'warn-only': {
    read: (value) => (typeof value === 'boolean' ? { warnOnly: value } : undefined),
    like: 'true',
  },
};

function wordOf(key: string, value: unknown, file: string): GateWords {
  // A YAML key may be `constructor`, which every object has.
  const known = Object.hasOwn(keys, key) ? keys[key] : undefined;
  if (!known)
    throw invalid(`${file}: there is no key "${key.slice(0, 80)}"`, `There are: ${Object.keys(keys).join(', ')}`);
  const words = known.read(value);
  if (!words) throw invalid(`${file}: ${key} cannot be ${shown(value)}`, `Write it like ${key}: ${known.like}`);
  return words;
}

/** YAML reads `80` and `0` as numbers. */
const withText = (value: unknown, make: (text: string) => GateWords): GateWords | undefined =>
  typeof value === 'string' || typeof value === 'number' ? make(String(value)) : undefined;

function withList(value: unknown, make: (list: string[]) => GateWords): GateWords | undefined {
  const list = Array.isArray(value) ? (value as unknown[]) : [value];
  return list.every((one): one is string => typeof one === 'string') ? make(list) : undefined;
}

const shown = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 80);

const invalid = (message: string, hint: string, cause?: unknown): PodexitError =>
  new PodexitError('config.invalid', message, hint, { cause });
