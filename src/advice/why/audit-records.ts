/** A file of any layout → the texts that name a pod: lines, or JSON documents. Searched as bytes. */
import { PodexitError } from '../../errors.ts';
import { createSplitter } from '../../kube/lines.ts';
import { textIn } from './audit-bytes.ts';

/** No line is as long. An export of that many events is one only if it is a single JSON document. */
const maxBytes = 256 * 1024 * 1024;

/** Why texts are missing. `cut`: the file breaks off, like a gzip file whose writer was stopped. */
export type ReadProblem = 'no-json' | 'too-long' | 'cut';

/** Yields texts with any of `wanted`. File `-`: standard input. Throws `audit.unreadable` if nothing can be read. */
export async function* recordsWith(
  file: string,
  wanted: readonly string[],
  onProblem: (problem: ReadProblem) => void = () => undefined,
): AsyncGenerator<string> {
  const texts = wanted.map((text) => Buffer.from(text));
  let hasRead = false;
  try {
    for await (const record of recordsIn(textIn(file), onProblem)) {
      hasRead = true;
      if (texts.some((text) => record.includes(text))) yield record.toString('utf8');
      // An event that breaks off before it names a pod may have been about any.
      else if (record.includes('audit.k8s.io/') && !/[\]}"][\s,]*$/.test(record.toString('latin1', record.length - 9)))
        onProblem('no-json');
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (hasRead) return onProblem('cut');
    throw new PodexitError(
      'audit.unreadable',
      `the audit log ${file} cannot be read (${code ?? message})`,
      'Name a file of audit.k8s.io events as a log, JSON or CSV, plain, gzip or zstd; or - for standard input.',
      { cause: error },
    );
  }
}

type Split = (chunk?: Buffer) => Buffer[];
type Layout = (onProblem: (problem: ReadProblem) => void) => Split;

async function* recordsIn(
  chunks: AsyncIterable<Buffer>,
  onProblem: (problem: ReadProblem) => void,
): AsyncGenerator<Buffer> {
  let sample: Buffer | undefined = Buffer.alloc(0);
  let split: Split | undefined;
  try {
    for await (const chunk of chunks) {
      const ready: Buffer = sample ? Buffer.concat([sample, chunk]) : chunk;
      if (!split && ready.length < sampleBytes) sample = ready;
      else {
        split ??= layoutOf(ready.toString('utf8', 0, sampleBytes), false)(onProblem);
        sample = undefined;
        yield* split(ready);
      }
    }
  } finally {
    // What was read of a file that breaks off is worth as much as the rest.
    if (sample) yield* (split = layoutOf(sample.toString('utf8'), true)(onProblem))(sample);
    if (split) yield* split();
  }
}
const sampleBytes = 256 * 1024;

/** Told by the beginning of the text. `isWhole`: the sample is all there is. */
function layoutOf(sample: string, isWhole: boolean): Layout {
  if (!/^\s*[[{]/.test(sample)) return lines;
  const [first = '', second = '', ...more] = sample.split('\n', 20).slice(0, isWhole ? undefined : -1);
  // A document does not begin again in its second line.
  const areBroken = first.startsWith('{') && second.startsWith('{');
  return areBroken || [first, second, ...more].some(isJson) ? lines : documents;
}

function isJson(line: string): boolean {
  if (!/^[[{]./.test(line)) return false;
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

const lines: Layout = (onProblem) => {
  const split = createSplitter(maxBytes);
  // At the end, a last line without a line feed is a line too.
  return (chunk = Buffer.from('\n')) =>
    split(chunk, 0).flatMap(({ bytes, cut }) => {
      if (cut) onProblem('too-long');
      return cut ? [] : [bytes];
    });
};

/** Joins lines: a document in several of them ends with one that begins with the bracket that closes it. */
const documents: Layout = (onProblem) => {
  const split = lines(onProblem);
  let text: Buffer[] = [];
  let length = 0;
  let closing = '';
  const isLast = (line: Buffer): boolean => {
    if (text.length > 0) return line.toString('latin1', 0, 16).trimEnd() === closing;
    const first = line.toString('latin1').trim();
    closing = first.startsWith('[') ? ']' : '}';
    return !/^[[{]/.test(first) || first.endsWith(closing);
  };
  return (chunk) => {
    const texts: Buffer[] = [];
    for (const line of split(chunk)) {
      if (!isLast(line) && length <= maxBytes) {
        text.push(line, Buffer.from('\n'));
        length += line.length;
        continue;
      }
      if (length > maxBytes) onProblem('too-long');
      else texts.push(text.length === 0 ? line : Buffer.concat([...text, line]));
      [text, length] = [[], 0];
    }
    if (!chunk && length > 0) onProblem('cut');
    return texts;
  };
};
