/**
 * Reads YAML as kubectl and the tools of cloud providers write a kubeconfig: block mappings and lists whose values are
 * plain words or quoted without escapes. Undefined for everything else, which is left to the YAML library: this saves 22
 * of 265 ms of a first start, and 4 of 207 later. The result is the library's (test/kube/plain-yaml.test.ts).
 */
export function readPlainYaml(text: string): unknown {
  const lines = text.replace(/\n+$/, '').split('\n').map(readLine);
  if (!lines.every((line) => line !== undefined)) return undefined;
  try {
    const [value, end] = readBlock(lines, 0, 0);
    return end === lines.length ? value : undefined;
  } catch (error) {
    if (error === notPlain) return undefined;
    throw error;
  }
}

interface Line {
  indent: number;
  /** Without its indentation: `key:`, `key: value`, or either after `- `. */
  rest: string;
}

/** Thrown if a text is not plain YAML; never leaves this file. */
const notPlain = new Error('not plain YAML');

function readLine(line: string): Line | undefined {
  const match = /^( *)([ -~]*[!-~])$/.exec(line);
  return match ? { indent: (match[1] ?? '').length, rest: match[2] ?? '' } : undefined;
}

/** The value that begins at line `at` with this indent, and the index of the line after it. */
function readBlock(lines: readonly Line[], at: number, indent: number): [unknown, number] {
  return lines[at]?.rest.startsWith('- ') ? readList(lines, at, indent) : readMapping(lines, at, indent);
}

function readList(lines: readonly Line[], at: number, indent: number): [unknown[], number] {
  const items: unknown[] = [];
  for (let line = lines[at]; line?.indent === indent && line.rest.startsWith('- '); line = lines[at]) {
    const rest = line.rest.slice(2);
    if (keyed.test(rest)) {
      const inner = lines.with(at, { indent: indent + 2, rest });
      const [item, next] = readMapping(inner, at, indent + 2);
      items.push(item);
      at = next;
    } else {
      items.push(readScalar(rest));
      at += 1;
    }
  }
  return [items, at];
}

const keyed = /^([A-Za-z][\w.-]*):(?: (.*))?$/;

function readMapping(lines: readonly Line[], at: number, indent: number): [Record<string, unknown>, number] {
  const found: Record<string, unknown> = {};
  for (let line = lines[at]; line?.indent === indent && !line.rest.startsWith('- '); line = lines[at]) {
    const [, key = '', value] = keyed.exec(line.rest) ?? [];
    if (key === '' || isReserved(key) || Object.hasOwn(found, key)) throw notPlain;
    const next = lines[at + 1];
    const isNested = next && (next.indent > indent || (next.indent === indent && next.rest.startsWith('- ')));
    if (value === undefined) [found[key], at] = isNested ? readBlock(lines, at + 1, next.indent) : [null, at + 1];
    else [found[key], at] = [readScalar(value), at + 1];
  }
  // A deeper line continues the value above it, or is wrong.
  if ((lines[at]?.indent ?? 0) > indent) throw notPlain;
  return [found, at];
}

function readScalar(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === '{}') return {};
  if (text === '[]') return [];
  const quoted = /^(?:"([^"\\]*)"|'([^']*)')$/.exec(text);
  if (quoted) return quoted[1] ?? quoted[2] ?? '';
  if (!/^[A-Za-z/][\w./:@+=-]*$/.test(text) || text.endsWith(':') || isReserved(text)) throw notPlain;
  return text;
}

/** Words that some version of YAML does not read as text. */
const isReserved = (word: string): boolean => /^(?:y|n|yes|no|on|off|true|false|null|inf|nan)$/i.test(word);
