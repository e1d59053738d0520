/**
 * Audit logs (audit.k8s.io/v1 JSON lines, plain or gzip) of any size → the lines that name a pod. Read as bytes in constant
 * memory: a line is parsed only where the name is in it.
 */
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { PodexitError } from '../../errors.ts';

/** Longer ones are no audit events: the API server's requests are limited to a few MB. */
const longestLine = 32 * 1024 * 1024;
const lineFeed = 0x0a;

/** What keeps a line from being read: `cut` is the rest of a file that breaks off, as a gzip does whose writer was stopped. */
export type Trouble = 'too-long' | 'cut';

/** Lines with any of the texts. `file` `-`: standard input. Throws `audit.unreadable` where nothing at all can be read. */
export async function* linesWith(
  file: string,
  texts: readonly string[],
  onTrouble: (trouble: Trouble) => void = () => undefined,
): AsyncGenerator<string> {
  const wanted = texts.map((text) => Buffer.from(text));
  const isWanted = (line: Buffer): boolean => wanted.some((text) => line.includes(text));
  let rest: Buffer[] = [];
  let [size, isTooLong, hasRead] = [0, false, false];
  try {
    for await (const chunk of await opened(file)) {
      hasRead = true;
      let from = 0;
      for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
        const line = size === 0 ? chunk.subarray(from, end) : Buffer.concat([...rest, chunk.subarray(from, end)]);
        const isWhole = !isTooLong;
        [rest, size, from, isTooLong] = [[], 0, end + 1, false];
        if (isWhole && isWanted(line)) yield line.toString('utf8');
      }
      if (from === chunk.length || isTooLong) continue;
      // A copy: a slice would keep the whole chunk alive.
      rest.push(Buffer.from(chunk.subarray(from)));
      size += chunk.length - from;
      if (size <= longestLine) continue;
      [rest, size, isTooLong] = [[], 0, true];
      onTrouble('too-long');
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (hasRead) return onTrouble('cut');
    throw new PodexitError(
      'audit.unreadable',
      `the audit log ${file} cannot be read (${code ?? message})`,
      'Name a file of audit.k8s.io/v1 JSON lines, or - for standard input.',
      { cause: error },
    );
  }
  const last = Buffer.concat(rest);
  if (last.length > 0 && isWanted(last)) yield last.toString('utf8');
}

const gzipMark = Buffer.from([0x1f, 0x8b]);

/** Unpacked where it begins as gzip does, whatever it is called. */
async function opened(file: string): Promise<AsyncIterable<Buffer>> {
  const source =
    file === '-'
      ? createReadStream('', { fd: 0, autoClose: false, highWaterMark: chunkSize })
      : createReadStream(file, { highWaterMark: chunkSize });
  await once(source, 'readable');
  const first = source.read() as Buffer | null;
  if (first === null) return source as AsyncIterable<Buffer>;
  source.unshift(first);
  if (!first.subarray(0, 2).equals(gzipMark)) return source as AsyncIterable<Buffer>;
  const unpacked = createGunzip({ chunkSize });
  source.on('error', (error) => unpacked.destroy(error));
  return source.pipe(unpacked) as AsyncIterable<Buffer>;
}

const chunkSize = 1024 * 1024;
