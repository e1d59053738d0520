import { TransportFailure } from './failure.ts';

/** The body of an answer, as it comes; reading throws where it breaks off. */
export interface Body extends AsyncIterable<unknown> {
  /** Lets the rest go by unread. */
  resume(): unknown;
  /** Ends the answer, and over HTTP/1.1 its connection. */
  destroy(): unknown;
}

/** More than any page of a list can be. */
const mostBytes = 256 * 1024 * 1024;

/**
 * The whole body as JSON; undefined where it is none. Throws TransportFailure where it breaks off, and the abort.
 */
export async function readJson(body: Body, signal: AbortSignal | undefined): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes > mostBytes) throw new Error('the answer has no end');
    }
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new TransportFailure('the connection broke in the middle of the answer', true, 'ECONNRESET', false, error);
  }
  return parseJson(Buffer.concat(chunks).toString('utf8'));
}

/** Undefined where it is no JSON; so deep a nesting that the parser gives up counts as none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
