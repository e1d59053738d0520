/**
 * A file of any layout → the texts that name a pod, lines or JSON documents, of any size and searched as bytes; and the audit
 * events wherever a text has them. None is searched for others: clients choose what objects contain.
 */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { PodexitError } from '../../errors.ts';
import { createSplitter, parseJson } from '../../kube/http/body.ts';
import { asNumber, asObject, asText, type JsonObject } from '../../model/observe/read.ts';

/** No line is as long. An export of that many events is one only if it is a single JSON document. */
const maxBytes = 256 * 1024 * 1024;

/** Why texts are missing. `cut`: the file breaks off, like a gzip file whose writer was stopped. */
type ReadProblem = 'no-json' | 'too-long' | 'cut';

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

/** Lines; those of a document, from one that is a bracket to one that begins with what closes it, as one. */
async function* recordsIn(chunks: Bytes, onProblem: (problem: ReadProblem) => void): AsyncGenerator<Buffer> {
  const split = createSplitter(maxBytes);
  let [open, length]: [Buffer[], number] = [[], 0];
  const closed = (): Buffer => {
    const [line = Buffer.alloc(0), ...more] = open;
    [open, length] = [[], 0];
    return more.length === 0 ? line : Buffer.concat([line, ...more].flatMap((one) => [one, Buffer.from('\n')]));
  };
  const recordsOf = (chunk: Buffer): Buffer[] =>
    split(chunk, 0).flatMap(({ bytes, cut }) => {
      if (cut) onProblem('too-long');
      if (cut || bytes.length === 0) return [];
      const start = bytes.toString('latin1', 0, 1);
      // The lines between are indented: what is open is no document, or breaks off here.
      const broken = open.length > 0 && /[^\s\]}]/.test(start) ? [closed()] : [];
      const isAlone = /^[[{]\r?$/.test(bytes.toString('latin1', 0, 3));
      const isLast = open.length > 0 ? /[\]}]/.test(start) : !isAlone;
      open.push(bytes);
      length += bytes.length;
      if (isLast) return [...broken, closed()];
      if (length > maxBytes) closed();
      if (open.length === 0) onProblem('too-long');
      return broken;
    });
  try {
    for await (const chunk of chunks) yield* recordsOf(chunk);
  } finally {
    // What was read of a file that breaks off counts, and so does a last line without a line feed.
    yield* recordsOf(Buffer.from('\n'));
    if (open.length > 1) onProblem('cut');
    else if (open.length > 0) yield closed();
  }
}

type Bytes = AsyncIterable<Buffer>;

/** Throws if the file cannot be read, and where packed data breaks off. */
const textIn = (file: string): Bytes =>
  unpacked(createReadStream(file, { highWaterMark: chunkSize, ...(file === '-' && { fd: 0, autoClose: false }) }));

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

/** Deeper nesting is no export of a log. */
const maxDepth = 12;

/** Undefined if the text holds no JSON, or JSON of which the beginning or the end is missing. */
export function eventsInText(text: string, depth = 0): JsonObject[] | undefined {
  const whole = parseJson(text);
  if (whole !== undefined) return eventsInValue(whole, depth);
  if (/\{\s*""/.test(text)) return eventsInFields(text, depth);
  return eventsAfterPrefix(text, depth);
}

function eventsInValue(value: unknown, depth: number): JsonObject[] {
  if (depth > maxDepth) return [];
  if (typeof value === 'string') return value.includes('{') ? (eventsInText(value, depth + 1) ?? []) : [];
  if (Array.isArray(value)) return value.flatMap((one) => eventsInValue(one, depth + 1));
  if (typeof value !== 'object' || value === null) return [];
  const { apiVersion, kind, auditID, stage, verb, protoPayload } = asObject(value);
  // Some exports leave kind and apiVersion out.
  const isNamed = typeof auditID === 'string' && typeof stage === 'string';
  if (isNamed ? typeof verb === 'string' : asText(apiVersion).startsWith('audit.k8s.io/') && kind !== 'EventList')
    return [asObject(value)];
  if (/AuditLog$/.test(asText(asObject(protoPayload)['@type']))) return [ofGoogleCloud(asObject(value))];
  return Object.values(value).flatMap((one) => eventsInValue(one, depth + 1));
}

/** Fields in quotes, with quotes in them doubled. */
function eventsInFields(record: string, depth: number): JsonObject[] | undefined {
  const fields = [...record.matchAll(/"([^"]*(?:""[^"]*)*)"/g)].map(([, field = '']) => field.replaceAll('""', '"'));
  const found = fields.filter((field) => field.includes('{')).map((field) => eventsInText(field, depth + 1));
  return found.every((events) => events === undefined) ? undefined : found.flatMap((events) => events ?? []);
}

/** JSON after the first fields of a log line. What is before must not look like JSON, as a client may have written it, nor what follows. */
function eventsAfterPrefix(line: string, depth: number): JsonObject[] | undefined {
  const start = /\{\s*"|\[\s*\{/.exec(line)?.index ?? -1;
  if (start < 0 || depth > maxDepth || /"\s*:/.test(line.slice(0, start))) return undefined;
  const end = jsonEnd(line, start);
  const value = parseJson(line.slice(start, end));
  return value === undefined || /\{\s*"/.test(line.slice(end)) ? undefined : eventsInValue(value, depth + 1);
}

/** After the bracket that closes the one at `from`. */
function jsonEnd(text: string, from: number): number {
  let depth = 0;
  for (const { 0: token, index } of text.slice(from).matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}]/gs)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    if (depth === 0) return from + index + 1;
  }
  return text.length;
}

/** A LogEntry of Google Cloud, which does not say when the request was answered. `methodName` ends with the verb. */
function ofGoogleCloud({ timestamp, protoPayload, operation }: JsonObject): JsonObject {
  const { methodName, resourceName, authenticationInfo, requestMetadata, status, request, response } =
    asObject(protoPayload);
  // core/v1/namespaces/NAMESPACE/RESOURCE/NAME/SUBRESOURCE
  const [group, version, ...path] = asText(resourceName).split('/');
  const [, namespace, resource, name, subresource] = path[0] === 'namespaces' ? path : ['', '', ...path];
  const { callerIp, callerSuppliedUserAgent } = asObject(requestMetadata);
  return {
    auditID: asObject(operation)['id'],
    stage: 'ResponseComplete',
    requestReceivedTimestamp: timestamp,
    verb: asText(methodName).split('.').at(-1),
    user: { username: asObject(authenticationInfo)['principalEmail'] },
    userAgent: callerSuppliedUserAgent,
    sourceIPs: [callerIp],
    requestURI: `/${asText(resourceName)}`,
    objectRef: { apiGroup: group, apiVersion: version, namespace, resource, name, subresource },
    // A code of gRPC, in which 0 is success.
    responseStatus: { code: asNumber(asObject(status)['code']) ? 500 : 200 },
    requestObject: request,
    responseObject: response,
  };
}
