/** The formats of `-o` and of `--report` files, in one table for all commands. The renderers are in documents.ts and beside each command. */
import { PodexitError } from '../errors.ts';

/** What is printed: an exit or a rollout, or the document of a command. */
export type Printed = 'trace' | 'check' | 'why' | 'compare' | 'recommend' | 'signals' | 'try';

interface FormatRow {
  /** Absent: of all. */
  readonly of?: readonly Printed[];
  /** Of `--report` files. */
  readonly extensions?: readonly string[];
  /** Only for files, or chosen without `-o`. */
  readonly isUnnamed?: true;
}

/** `text` is what people read: the card of a run, the table of a command, which also calls it `table`. */
const rows = {
  live: { of: ['trace'], isUnnamed: true },
  lines: { of: ['trace'] },
  text: { extensions: ['.txt'], isUnnamed: true },
  sentence: {},
  ndjson: { of: ['trace'], extensions: ['.ndjson'] },
  json: { extensions: ['.json'] },
  yaml: { extensions: ['.yaml', '.yml'] },
  name: { of: ['trace'] },
  wide: { of: ['trace'] },
  markdown: { extensions: ['.md'] },
  html: { of: ['trace'], extensions: ['.html'] },
  svg: { of: ['trace'], extensions: ['.svg'] },
  junit: { of: ['trace', 'check'], extensions: ['.junit.xml', '.xml'] },
  // Last: `.sarif.json` is not `.json`.
  sarif: { of: ['check'], extensions: ['.sarif.json', '.sarif'] },
} as const satisfies Record<string, FormatRow>;

type NamedKind = keyof typeof rows;
/** What follows the name tells what to print. */
const templates = ['jsonpath', 'jsonpath-as-json', 'custom-columns'] as const;

export type Format = { kind: NamedKind } | { kind: (typeof templates)[number]; template: string };

export interface ReportFile {
  file: string;
  format: Format;
}

const rowsOf = (subject: Printed): [NamedKind, FormatRow][] =>
  (Object.entries(rows) as [NamedKind, FormatRow][]).filter(([, { of }]) => of?.includes(subject) ?? true);

/** The words of `-o`, templates with what follows their name: `jsonpath=`. */
export const formatNames = (subject: Printed, template = ''): string[] => [
  ...(subject === 'trace' ? [] : ['table']),
  ...rowsOf(subject).flatMap(([name, { isUnnamed }]) => (isUnnamed ? [] : name)),
  ...templates.map((name) => `${name}=${template}`),
];

/** Whether a format prints one document at the end. */
export const isDocument = ({ kind }: Format): boolean => !['live', 'lines', 'ndjson'].includes(kind);

/** Throws `usage.output`, worded like kubectl's, and `output.jsonpath` for a template that no report can fill. */
export async function readFormat(text: string, subject: Printed): Promise<Format> {
  const [, word, template] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
  const [named] = rowsOf(subject).find(([name, { isUnnamed }]) => name === word && !isUnnamed) ?? [];
  if (named && template === undefined) return { kind: named };
  if (subject !== 'trace' && ['table', 'lines', 'wide', 'text'].includes(text)) return { kind: 'text' };
  const kind = templates.find((one) => one === word);
  if (kind && template) {
    const { readTemplate, readColumns } = await import('./machine/jsonpath.ts');
    (kind === 'custom-columns' ? readColumns : readTemplate)(template);
    return { kind, template };
  }
  throw new PodexitError(
    'usage.output',
    `unable to match a printer suitable for the output format "${text.slice(0, 80)}"`,
    `Allowed formats are: ${formatNames(subject, 'TEMPLATE').join(', ')}`,
  );
}

/** File extensions that `--report FILE` accepts. */
export const reportExtensions = (subject: Printed): string[] =>
  rowsOf(subject).flatMap(([, { extensions = [] }]) => extensions);

/** A `--report FILE` with its format, by the last row whose extension fits. Throws `usage.report`. */
export function reportFile(file: string, subject: Printed): ReportFile {
  const fits = (extension: string): boolean => file.toLowerCase().endsWith(extension);
  const [kind] = rowsOf(subject).findLast(([, { extensions }]) => extensions?.some(fits)) ?? [];
  if (kind) return { file, format: { kind } };
  throw new PodexitError(
    'usage.report',
    `unsupported report file extension: ${file}`,
    `The format follows the file extension: ${reportExtensions(subject).join(' ')}`,
  );
}
