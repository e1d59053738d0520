import type { OutgoingHttpHeaders } from 'node:http';

/**
 * Headers whose values go out as the bytes of their UTF-8, as Go's and so kubectl's do: Node writes one byte for each
 * character, and refuses those beyond Latin-1. A body beside them must not be a string, since Node would then send the
 * headers in the body's encoding too.
 */
export function inUtf8(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.map(bytesOf) : bytesOf(value)]),
  );
}

const bytesOf = <T>(value: T): T | string =>
  typeof value === 'string' ? Buffer.from(value, 'utf8').toString('latin1') : value;
