/**
 * Audit logs (audit.k8s.io/v1 JSON lines, plain or gzip) of any size → the lines that name a pod. Lines are searched
 * as bytes, in constant memory; only those with the name in them are decoded.
 */
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { PodexitError } from '../../errors.ts';

/** A longer line is no audit event: the API server limits requests to a few MB. */
const maxLineBytes = 32 * 1024 * 1024;
const lineFeed = 0x0a;

/** Why lines are missing. `cut`: the file breaks off, like a gzip file whose writer was stopped. */
export type ReadProblem = 'too-long' | 'cut';

/** Yields lines with any of the texts. File `-`: standard input. Throws `audit.unreadable` if nothing can be read. */
export async function* linesWith(
  file: string,
  texts: readonly string[],
  onProblem: (problem: ReadProblem) => void = () => undefined,
): AsyncGenerator<string> {
  const wanted = texts.map((text) => Buffer.from(text));
  const isWanted = (line: Buffer): boolean => wanted.some((text) => line.includes(text));
  let lineStart: Buffer[] = [];
  let [lineBytes, isTooLong, hasRead] = [0, false, false];
  try {
    for await (const chunk of await opened(file)) {
      hasRead = true;
      let from = 0;
      for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
        const lineEnd = chunk.subarray(from, end);
        const line = lineBytes === 0 ? lineEnd : Buffer.concat([...lineStart, lineEnd]);
        const isComplete = !isTooLong;
        [lineStart, lineBytes, from, isTooLong] = [[], 0, end + 1, false];
        if (isComplete && isWanted(line)) yield line.toString('utf8');
      }
      if (from === chunk.length || isTooLong) continue;
      // A copy, because a slice would keep the whole chunk in memory.
      lineStart.push(Buffer.from(chunk.subarray(from)));
      lineBytes += chunk.length - from;
      if (lineBytes <= maxLineBytes) continue;
      [lineStart, lineBytes, isTooLong] = [[], 0, true];
      onProblem('too-long');
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (hasRead) return onProblem('cut');
    throw new PodexitError(
      'audit.unreadable',
      `the audit log ${file} cannot be read (${code ?? message})`,
      'Name a file of audit.k8s.io/v1 JSON lines, or - for standard input.',
      { cause: error },
    );
  }
  const last = Buffer.concat(lineStart);
  if (last.length > 0 && isWanted(last)) yield last.toString('utf8');
}

const gzipMagic = Buffer.from([0x1f, 0x8b]);

/** The file's bytes, unpacked if it starts like gzip, whatever its name. */
async function opened(file: string): Promise<AsyncIterable<Buffer>> {
  const source =
    file === '-'
      ? createReadStream('', { fd: 0, autoClose: false, highWaterMark: chunkSize })
      : createReadStream(file, { highWaterMark: chunkSize });
  await once(source, 'readable');
  const first = source.read() as Buffer | null;
  if (first === null) return source as AsyncIterable<Buffer>;
  source.unshift(first);
  if (!first.subarray(0, 2).equals(gzipMagic)) return source as AsyncIterable<Buffer>;
  const unpacked = createGunzip({ chunkSize });
  source.on('error', (error) => unpacked.destroy(error));
  return source.pipe(unpacked) as AsyncIterable<Buffer>;
}

const chunkSize = 1024 * 1024;
