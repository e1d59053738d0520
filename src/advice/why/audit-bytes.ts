/** A file of text of any size, as UTF-8 bytes: gzip, Zstandard and UTF-16 are told by their first bytes. */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';

type Bytes = AsyncIterable<Buffer>;

/** File `-`: standard input. Throws if the file cannot be read, and where packed data breaks off. */
export async function* textIn(file: string): AsyncGenerator<Buffer> {
  const source =
    file === '-'
      ? createReadStream('', { fd: 0, autoClose: false, highWaterMark: chunkSize })
      : createReadStream(file, { highWaterMark: chunkSize });
  yield* unpacked(source);
}

const chunkSize = 1024 * 1024;

/** By the bytes at the start, whatever the file is called. */
const formats: readonly { magic: readonly number[]; unpack: (packed: Bytes) => Bytes }[] = [
  // The pipeline's error is thrown by whoever reads it.
  { magic: [0x1f, 0x8b], unpack: (packed) => pipeline(packed, createGunzip({ chunkSize }), () => undefined) },
  { magic: [0x28, 0xb5, 0x2f, 0xfd], unpack: unzstd },
  // What PowerShell writes for `>`.
  { magic: [0xff, 0xfe], unpack: (bytes) => decoded(bytes, 'utf-16le') },
  { magic: [0xef, 0xbb, 0xbf], unpack: (bytes) => decoded(bytes, 'utf-8') },
];

async function* unpacked(bytes: Bytes): AsyncGenerator<Buffer> {
  const rest = bytes[Symbol.asyncIterator]();
  const first = await rest.next();
  if (first.done === true) return;
  const all = (async function* () {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => rest };
  })();
  const format = formats.find(({ magic }) => magic.every((byte, at) => first.value[at] === byte));
  yield* format ? unpacked(format.unpack(all)) : all;
}

/** In JavaScript, because zlib knows Zstandard from Node 22.15 on only. */
async function* unzstd(packed: Bytes): AsyncGenerator<Buffer> {
  const { Decompress } = await import('fzstd');
  let unpacked: Uint8Array[] = [];
  const stream = new Decompress((chunk) => unpacked.push(chunk));
  for await (const chunk of packed) {
    stream.push(chunk);
    for (const bytes of unpacked) yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    unpacked = [];
  }
  stream.push(new Uint8Array(0), true);
}

async function* decoded(bytes: Bytes, encoding: string): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(encoding);
  for await (const chunk of bytes) yield Buffer.from(decoder.decode(chunk, { stream: true }));
}
