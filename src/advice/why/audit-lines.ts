/**
 * Audit logs (audit.k8s.io/v1 JSON lines, plain or gzip) of any size → the lines that name a pod. Lines are searched
 * as bytes, in constant memory; only those with the name in them are decoded.
 */
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { PodexitError } from '../../errors.ts';
import { createSplitter } from '../../kube/lines.ts';

/** A longer line is no audit event: the API server limits requests to a few MB. */
const maxLineBytes = 32 * 1024 * 1024;

/** Why lines are missing. `cut`: the file breaks off, like a gzip file whose writer was stopped. */
export type ReadProblem = 'too-long' | 'cut';

/** Yields lines with any of the texts. File `-`: standard input. Throws `audit.unreadable` if nothing can be read. */
export async function* linesWith(
  file: string,
  texts: readonly string[],
  onProblem: (problem: ReadProblem) => void = () => undefined,
): AsyncGenerator<string> {
  const wanted = texts.map((text) => Buffer.from(text));
  const split = createSplitter(maxLineBytes);
  let hasRead = false;
  try {
    for await (const chunk of withLastLineFeed(await opened(file))) {
      hasRead = true;
      for (const { bytes, cut } of split(chunk, 0)) {
        if (cut) onProblem('too-long');
        else if (wanted.some((text) => bytes.includes(text))) yield bytes.toString('utf8');
      }
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
}

/** So that a last line without a line feed is a line too. */
async function* withLastLineFeed(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* chunks;
  yield Buffer.from('\n');
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
