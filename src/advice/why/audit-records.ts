/** A file of any layout → the texts that name a pod: lines, or JSON documents. Searched as bytes. */
import { PodexitError } from '../../errors.ts';
import { parseJson } from '../../kube/http/body.ts';
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

/** Lines; of a file that gives each document several lines, documents. */
async function* recordsIn(
  chunks: AsyncIterable<Buffer>,
  onProblem: (problem: ReadProblem) => void,
): AsyncGenerator<Buffer> {
  const split = createSplitter(maxBytes);
  let waiting: Buffer[] = [];
  let join: ((lines: readonly Buffer[], isEnd: boolean) => readonly Buffer[]) | undefined;
  const recordsOf = (chunk: Buffer, isEnd: boolean): readonly Buffer[] => {
    const lines = split(chunk, 0).flatMap(({ bytes, cut }) => {
      if (cut) onProblem('too-long');
      return cut || bytes.length === 0 ? [] : [bytes];
    });
    waiting = waiting.concat(lines);
    const isSample = waiting.length >= 20 || waiting.some(({ length }) => length >= sampleBytes);
    if (!join && !isSample && !isEnd) return [];
    join ??= areRecords(waiting) ? (all) => all : documents(onProblem);
    const ready = waiting;
    waiting = [];
    return join(ready, isEnd);
  };
  try {
    for await (const chunk of chunks) yield* recordsOf(chunk, false);
  } finally {
    // What was read of a file that breaks off counts, and so does a last line without a line feed.
    yield* recordsOf(Buffer.from('\n'), true);
  }
}
const sampleBytes = 256 * 1024;

function areRecords(lines: readonly Buffer[]): boolean {
  const texts = lines.slice(0, 20).map((line) => line.toString('utf8', 0, sampleBytes));
  const [first = '', second = ''] = texts;
  // A document does not begin again in its second line.
  const areBroken = first.startsWith('{') && second.startsWith('{');
  const isJson = (line: string): boolean => /^[[{]./.test(line) && parseJson(line) !== undefined;
  return areBroken || !/^\s*[[{]/.test(texts.join('\n')) || texts.some(isJson);
}

/** A document in several lines ends with one that begins with the bracket that closes it. */
function documents(onProblem: (problem: ReadProblem) => void) {
  let text: Buffer[] = [];
  let length = 0;
  let closing = '';
  const isLast = (line: Buffer): boolean => {
    if (text.length > 0) return line.toString('latin1', 0, 16).trimEnd() === closing;
    const first = line.toString('latin1').trim();
    closing = first.startsWith('[') ? ']' : '}';
    return !/^[[{]/.test(first) || first.endsWith(closing);
  };
  return (lines: readonly Buffer[], isEnd: boolean): Buffer[] => {
    const texts = lines.flatMap((line) => {
      if (!isLast(line) && length <= maxBytes) {
        text.push(line, Buffer.from('\n'));
        length += line.length;
        return [];
      }
      const isTooLong = length > maxBytes;
      if (isTooLong) onProblem('too-long');
      const whole = isTooLong ? [] : [text.length === 0 ? line : Buffer.concat([...text, line])];
      [text, length] = [[], 0];
      return whole;
    });
    if (isEnd && length > 0) onProblem('cut');
    return texts;
  };
}
