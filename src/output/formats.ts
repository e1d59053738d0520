/** The formats of `-o` and of `--report` files, as one table. */
import { PodexitError } from '../errors.ts';

const streamFormats = ['live', 'lines', 'ndjson'] as const;
const documentFormats = ['json', 'yaml', 'name', 'wide', 'markdown', 'html', 'junit'] as const;
export const templateFormats = ['jsonpath', 'jsonpath-as-json'] as const;

export type Format =
  | { kind: (typeof streamFormats)[number] }
  | { kind: (typeof documentFormats)[number] | 'text' }
  | { kind: (typeof templateFormats)[number]; template: string };

/** Whether a format prints a whole report at the end. */
export const isDocument = ({ kind }: Format): boolean => !streamFormats.some((one) => one === kind);

/** `-o FORMAT` without a template. */
export const namedFormats = [...streamFormats.filter((one) => one !== 'live'), ...documentFormats];

/** Parses the value of `-o FORMAT`, and no template. Throws `usage.output`. */
export function parseFormat(text: string): Format {
  const [, word, template] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
  const plain = namedFormats.find((one) => one === word);
  if (plain && template === undefined) return { kind: plain };
  const templated = templateFormats.find((one) => one === word);
  if (templated && template) return { kind: templated, template };
  throw unknownFormat(text, [...namedFormats, ...templateFormats.map((one) => `${one}=TEMPLATE`)]);
}

/** Parses the value of `-o FORMAT`. Throws `usage.output`, and `output.jsonpath` for a template that no report can fill. */
export async function readFormat(text: string): Promise<Format> {
  const format = parseFormat(text);
  if ('template' in format) (await import('./machine/jsonpath.ts')).readTemplate(format.template);
  return format;
}

/** PodexitError `usage.output`, worded like kubectl's. */
export const unknownFormat = (format: string, allowed: readonly string[]): PodexitError =>
  new PodexitError(
    'usage.output',
    `unable to match a printer suitable for the output format "${format.slice(0, 80)}"`,
    `Allowed formats are: ${allowed.join(', ')}`,
  );

const fileExtensions: [string, Format][] = [
  ['.junit.xml', { kind: 'junit' }],
  ['.html', { kind: 'html' }],
  ['.md', { kind: 'markdown' }],
  ['.json', { kind: 'json' }],
  ['.ndjson', { kind: 'ndjson' }],
  ['.yaml', { kind: 'yaml' }],
  ['.yml', { kind: 'yaml' }],
  ['.txt', { kind: 'text' }],
];

/** File extensions that `--report FILE` accepts. */
export const reportExtensions: readonly string[] = fileExtensions.map(([ending]) => ending);

/** The format of a `--report FILE`, by its extension. */
export function formatOfFile(file: string): Format {
  const found = fileExtensions.find(([ending]) => file.toLowerCase().endsWith(ending));
  if (found) return found[1];
  throw unknownExtension(file, reportExtensions);
}

/** PodexitError `usage.report`. */
export const unknownExtension = (file: string, known: readonly string[]): PodexitError =>
  new PodexitError(
    'usage.report',
    `unsupported report file extension: ${file}`,
    `The format follows the file extension: ${known.join(' ')}`,
  );

/** Formats for which errors are printed on stdout too, as JSON. */
export const reportsErrorsAsJson = (format: Format): boolean =>
  format.kind === 'json' || format.kind === 'ndjson' || format.kind === 'jsonpath-as-json';
