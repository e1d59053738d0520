/** A manifest behind an https address, as `kubectl apply -f URL` takes it. */
import { PodexitError } from '../errors.ts';
import { exchange } from '../kube/http/exchange.ts';
import { TransportFailure } from '../kube/http/failure.ts';
import { chooseProxy, createWire } from '../kube/http/transport.ts';
import { createRedactor, showUrl } from '../kube/redact.ts';
import type { Ports } from '../run/ports.ts';

const maxBytes = 10 * 1024 * 1024;
/** For all redirects and the whole text. */
const maxSeconds = 30;
/** As many as curl and Go's client follow at most. */
const maxRedirects = 10;

/** kubectl's rule too; `C:\web.yaml` is a file. */
export const isAddress = (name: string): boolean => /^https?:\/\//i.test(name);

/** Throws PodexitError `manifest.address` and `manifest.download`; an address in them has no user and no query. */
export async function downloaded(address: string, { env, clock }: Pick<Ports, 'env' | 'clock'>): Promise<Uint8Array> {
  const outOfTime = new AbortController();
  const cancel = clock.setTimeout(() => outOfTime.abort(), maxSeconds * 1000);
  try {
    let url = secureAddress(address);
    for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
      const found = await answerOf(url, env, outOfTime.signal);
      if (!(found instanceof URL)) return found;
      url = found;
    }
    throw failed(`redirects more than ${maxRedirects} times`);
  } catch (error) {
    if (outOfTime.signal.aborted) throw failed(`did not answer completely within ${maxSeconds} s`);
    if (error instanceof PodexitError) throw error;
    const isAnswered = !(error instanceof TransportFailure);
    throw failed(isAnswered ? 'broke off in the middle of its answer' : `cannot be read: ${error.message}`);
  } finally {
    cancel();
  }
}

const failed = (message: string): PodexitError =>
  new PodexitError('manifest.download', message, 'Download it by other means, and name the file');

/** Over http, anybody on the way could change what the advice is based on. */
function secureAddress(address: string, base?: URL): URL {
  const url = URL.canParse(address, base?.href) ? new URL(address, base) : undefined;
  if (url?.protocol === 'https:') return url;
  const what = `${base ? 'redirects to' : 'is'} ${url ? `${showUrl(url)}, which is not https` : 'an address that is no URL'}`;
  throw new PodexitError('manifest.address', what, 'Use an https address, or download it and name the file');
}

/** The content, or the address to which the server redirects. */
async function answerOf(url: URL, variables: Ports['env'], signal: AbortSignal): Promise<Uint8Array | URL> {
  const wire = await createWire(url, chooseProxy(url, { variables, redactor: createRedactor() }));
  try {
    const reply = await exchange(wire, {
      method: 'GET',
      url,
      headers: { accept: '*/*' },
      // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
      tls: { rejectUnauthorized: true },
      signal,
      connectTimeoutMs: maxSeconds * 1000,
      headersTimeoutMs: maxSeconds * 1000,
      now: () => 0,
    });
    const { location } = reply.headers;
    if ([301, 302, 303, 307, 308].includes(reply.status) && location !== undefined) return secureAddress(location, url);
    if (reply.status !== 200) throw failed(`is answered with HTTP status ${reply.status}`);
    const chunks: Buffer[] = [];
    let bytes = 0;
    // Without a Content-Encoding: none was asked for.
    for await (const chunk of reply.body) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes > maxBytes) throw failed(`is larger than ${maxBytes / 1024 / 1024} MiB`);
    }
    return Buffer.concat(chunks);
  } finally {
    wire.agent.destroy();
  }
}
