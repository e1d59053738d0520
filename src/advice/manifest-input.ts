/** What `-f`, `-R` and `-k` name → manifests. What cannot be read becomes an entry of `broken`; the rest is still read. */
import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { PodexitError } from '../errors.ts';
import type { Ports } from '../run/ports.ts';
import { decodedText, whyUnread } from './decoded-text.ts';
import { showUrl, createRedactor } from '../kube/redact.ts';
import { nothingParsed, parseManifests, type Parsed } from './manifests.ts';
import { exchange } from '../kube/http/exchange.ts';
import { TransportFailure } from '../kube/http/failure.ts';
import { chooseProxy, createWire } from '../kube/http/transport.ts';

export interface ManifestInput {
  /** Files, folders, https addresses, or `-` for standard input. */
  names: readonly string[];
  isRecursive?: boolean;
  kustomization?: string;
}

/** No manifest is larger: a file of another kind was named by mistake. */
const maxManifestBytes = 64 * 1024 * 1024;
const tooLarge = `is larger than ${maxManifestBytes / 1024 / 1024} MB`;

type Around = Pick<Ports, 'env' | 'clock'>;

export async function readManifests(input: ManifestInput, ports: Around): Promise<Parsed> {
  const { names, isRecursive = false, kustomization } = input;
  const parsed = nothingParsed();
  const parse = async (name: string, read: () => Promise<Uint8Array>): Promise<void> => {
    try {
      parseManifests(decodedText(await read()), name, parsed);
    } catch (error) {
      parsed.broken.push({ file: name, line: 1, message: unreadable(error) });
    }
  };
  for (const name of names) {
    // kubectl's rule too; `C:\web.yaml` is a file.
    const isAddress = /^https?:\/\//i.test(name);
    if (name === '-') await parse('<stdin>', () => buffer(createReadStream('', { fd: 0, autoClose: false })));
    else if (isAddress) await parse(showUrl(name), () => downloaded(name, ports));
    else for (const [file, read] of await filesIn(name, isRecursive)) await parse(file, read);
  }
  if (kustomization !== undefined)
    await parse(`kubectl kustomize ${kustomization}`, () => built(kustomization, ports.env));
  return parsed;
}

/** Of a folder the files that kubectl reads. As it does, `-R` follows no link to a folder: it could lead back. */
async function filesIn(name: string, isRecursive: boolean): Promise<[string, () => Promise<Uint8Array>][]> {
  const found = await readdir(name, { withFileTypes: true, recursive: isRecursive }).catch(
    (error: NodeJS.ErrnoException) => error,
  );
  const more = isRecursive ? '' : '; -R reads the folders in it too';
  if (!Array.isArray(found))
    return [[name, () => (found.code === 'ENOTDIR' ? contentOf(name) : Promise.reject(found))]];
  const files = found
    .filter((entry) => !entry.isDirectory() && /\.(ya?ml|json)$/i.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const none = new PodexitError('manifest.none', `the folder holds no .yaml, .yml or .json file${more}`, '');
  if (files.length === 0) return [[name, () => Promise.reject(none)]];
  return files.map((file) => [file, () => contentOf(file)]);
}

async function contentOf(file: string): Promise<Uint8Array> {
  const { size } = await stat(file);
  if (size <= maxManifestBytes) return readFile(file);
  throw new PodexitError('manifest.size', tooLarge, '');
}

const unreadable = (error: unknown): string =>
  error instanceof PodexitError ? [error.message, error.hint].filter(Boolean).join('. ') : whyUnread(error as Error);

/** By kubectl, which contains kustomize. No time limit: a kustomization may clone repositories. Throws PodexitError `manifest.kustomize`. */
async function built(kustomization: string, env: Ports['env']): Promise<Uint8Array> {
  try {
    const { stdout } = await promisify(execFile)(env['KUBECTL_PATH'] || 'kubectl', ['kustomize', '--', kustomization], {
      encoding: 'buffer',
      maxBuffer: maxManifestBytes,
      env,
      windowsHide: true,
    });
    return stdout;
  } catch (error) {
    const { code = '', stderr } = error as NodeJS.ErrnoException & { stderr?: Buffer };
    const because = stderr?.toString('utf8').trim().split('\n').at(-1)?.slice(0, 500);
    if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') throw notBuilt(`it ${tooLarge}`);
    if (code !== 'ENOENT') throw notBuilt(`kubectl could not build it: ${because || code}`);
    const elsewhere = `Where there is a kubectl: kubectl kustomize ${kustomization} > built.yaml; then name built.yaml with -f`;
    throw notBuilt('there is no kubectl on the PATH to build it', elsewhere);
  }
}

const notBuilt = (message: string, hint = ''): PodexitError => new PodexitError('manifest.kustomize', message, hint);

/** Of what is behind an https address, as `kubectl apply -f URL` takes it. */
const maxBytes = 10 * 1024 * 1024;
/** For all redirects and the whole text. */
const maxSeconds = 30;
/** As many as curl and Go's client follow at most. */
const maxRedirects = 10;

/** Throws PodexitError `manifest.address` and `manifest.download`; an address in them has no user and no query. */
async function downloaded(address: string, { env, clock }: Around): Promise<Uint8Array> {
  const outOfTime = new AbortController();
  const cancel = clock.setTimeout(() => outOfTime.abort(), maxSeconds * 1000);
  try {
    return await contentAt(secureAddress(address), env, outOfTime.signal);
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

/** The content, perhaps of where the server redirects to. */
async function contentAt(
  url: URL,
  variables: Ports['env'],
  signal: AbortSignal,
  redirects = maxRedirects,
): Promise<Uint8Array> {
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
    if ([301, 302, 303, 307, 308].includes(reply.status) && location !== undefined) {
      if (redirects === 0) throw failed(`redirects more than ${maxRedirects} times`);
      return await contentAt(secureAddress(location, url), variables, signal, redirects - 1);
    }
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
