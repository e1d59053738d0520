import { PodexitError } from '../../errors.ts';
import { TransportFailure } from './failure.ts';

/** The body of an answer, as a stream. Reading throws if the connection breaks. */
export interface Body extends AsyncIterable<unknown> {
  /** Discards the rest. */
  resume(): unknown;
  /** Aborts the answer, and with HTTP/1.1 its connection. */
  destroy(): unknown;
}

/** ms without a byte inside an answer, in real time, as for all sockets. The API server ends a request after 60 s. */
export const maxSilenceMs = 65_000;

/**
 * Reads the whole body as JSON; undefined if it is not JSON. Throws TransportFailure if the connection breaks, PodexitError
 * `server.endless-answer` beyond `maxBytes` (by default more than any page of a list has), and the abort error.
 */
export async function readJson(
  body: Body,
  signal: AbortSignal | undefined,
  maxBytes = 256 * 2 ** 20,
): Promise<unknown> {
  const silence = setTimeout(() => body.destroy(), maxSilenceMs);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      silence.refresh();
      bytes += (chunk as Buffer).length;
      // Leaving the loop destroys the body.
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    if (signal?.aborted || isTooLarge(error)) throw error;
    const options = { sent: true, code: 'ECONNRESET', cause: error };
    throw new TransportFailure('the connection broke in the middle of the answer', options);
  } finally {
    clearTimeout(silence);
  }
  return parseJson(Buffer.concat(chunks).toString('utf8'));
}

const tooLarge = (maxBytes: number): PodexitError =>
  new PodexitError(
    tooLargeCode,
    `a response of the API server is too large: more than ${maxBytes / 2 ** 20} MiB`,
    'Check the proxy or gateway in front of the API server; compare with: kubectl get --raw',
  );

export const isTooLarge = (error: unknown): error is PodexitError =>
  error instanceof PodexitError && error.code === tooLargeCode;

const tooLargeCode = 'server.endless-answer';

/** Undefined if it is not JSON, or nested too deeply for the parser. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
