import { PodexitError } from '../../errors.ts';
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
/** ms without a byte in the middle of an answer; sockets live in real time. The API server ends a request after 60 s. */
export const longestSilenceMs = 65_000;

/**
 * The whole body as JSON; undefined where it is none. Throws TransportFailure where it breaks off, PodexitError
 * `server.endless-answer` where it does not end (asking again would bring as much again), and the abort.
 */
export async function readJson(body: Body, signal: AbortSignal | undefined, most = mostBytes): Promise<unknown> {
  const whole = await readWhole(body, signal, most);
  if (whole === undefined)
    throw new PodexitError(
      endless,
      `an answer of the API server is too large: it went past ${most / 2 ** 20} MiB`,
      'Look at what stands between here and the API server (a proxy, a gateway); `kubectl get --raw` asks the same.',
    );
  return parseJson(whole.toString('utf8'));
}

/** Undefined, and the rest unread, where it is more than we hold in memory. */
async function readWhole(body: Body, signal: AbortSignal | undefined, most: number): Promise<Buffer | undefined> {
  const silence = setTimeout(() => body.destroy(), longestSilenceMs);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      silence.refresh();
      bytes += (chunk as Buffer).length;
      // Leaving the loop destroys the body.
      if (bytes > most) return undefined;
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    if (signal?.aborted) throw error;
    const options = { sent: true, code: 'ECONNRESET', cause: error };
    throw new TransportFailure('the connection broke in the middle of the answer', options);
  } finally {
    clearTimeout(silence);
  }
  return Buffer.concat(chunks);
}

/** Whether it is what readJson throws of a body that is too large, or has no end. */
export const isTooLarge = (error: unknown): error is PodexitError =>
  error instanceof PodexitError && error.code === endless;

const endless = 'server.endless-answer';

/** Undefined where it is no JSON; so deep a nesting that the parser gives up counts as none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
