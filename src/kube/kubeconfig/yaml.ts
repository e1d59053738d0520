import {
  CORE_SCHEMA,
  NOT_RESOLVED,
  boolYaml11Tag,
  floatCoreTag,
  intCoreTag,
  loadAll,
  mergeTag,
  type YAMLException,
} from 'js-yaml';
import { invalid } from './parse.ts';

/**
 * Reads the first document of a kubeconfig as kubectl does: of two equal keys the last one counts. Throws PodexitError `kubeconfig.invalid`, which names the
 * file and the line.
 */
export function readYaml(text: string, file: string): unknown {
  try {
    const [document] = loadAll(text, { schema, maxAliases: 100, json: true });
    return document;
  } catch (error) {
    const { mark } = error as YAMLException;
    throw invalid(file, `it is not valid YAML${mark === undefined ? '' : ` (line ${mark.line + 1})`}`);
  }
}

/** Go's YAML reads more words as numbers than YAML's core schema. A number is refused where text is expected. */
function resolveNumber(source: string): number | typeof NOT_RESOLVED {
  if (/^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/.test(source)) return Number.NaN;
  const plain = source.replaceAll('_', '');
  const isBased = /^[-+]?0(?:x[\da-f]+|o[0-7]+|b[01]+)$/i.test(plain);
  if (isBased) return plain.startsWith('-') ? -Number(plain.slice(1)) : Number(plain.replace('+', ''));
  const value = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(plain) ? Number(plain) : Number.NaN;
  return Number.isFinite(value) ? value : NOT_RESOLVED;
}

/** YAML 1.1, where `yes` and `on` are true, and with merge keys (`<<`). */
const schema = CORE_SCHEMA.withTags(
  mergeTag,
  boolYaml11Tag,
  { ...intCoreTag, resolve: resolveNumber },
  { ...floatCoreTag, resolve: resolveNumber },
);
