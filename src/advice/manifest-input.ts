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
import { parseManifests, type Parsed } from './manifests.ts';
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

export async function readManifests(
  { names, isRecursive = false, kustomization }: ManifestInput,
  ports: Pick<Ports, 'env' | 'clock'>,
): Promise<Parsed> {
  const read: Parsed[] = [];
  for (const name of names) read.push(...(await readNamed(name, isRecursive, ports)));
  if (kustomization !== undefined)
    read.push(await readText(`kubectl kustomize ${kustomization}`, () => built(kustomization, ports.env)));
  return {
    manifests: read.flatMap(({ manifests }) => manifests),
    broken: read.flatMap(({ broken }) => broken),
    kustomizations: read.flatMap(({ kustomizations }) => kustomizations),
  };
}

async function readNamed(name: string, isRecursive: boolean, ports: Pick<Ports, 'env' | 'clock'>): Promise<Parsed[]> {
  if (name === '-') return [await readText('<stdin>', () => buffer(createReadStream('', { fd: 0, autoClose: false })))];
  // kubectl's rule too; `C:\web.yaml` is a file.
  if (/^https?:\/\//i.test(name)) return [await readText(showUrl(name), () => downloaded(name, ports))];
  try {
    return (await stat(name)).isDirectory() ? await readFolder(name, isRecursive) : [await readOneFile(name)];
  } catch (error) {
    return [refused(name, unreadable(error))];
  }
}

/** The files that kubectl reads. As it does, `-R` follows no link to a folder: it could lead back. */
async function readFolder(folder: string, isRecursive: boolean): Promise<Parsed[]> {
  const files = (await readdir(folder, { withFileTypes: true, recursive: isRecursive }))
    .filter((entry) => !entry.isDirectory() && /\.(ya?ml|json)$/i.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const more = isRecursive ? '' : '; -R reads the folders in it too';
  if (files.length === 0) return [refused(folder, `the folder holds no .yaml, .yml or .json file${more}`)];
  const read: Parsed[] = [];
  for (const file of files) read.push(await readOneFile(file));
  return read;
}

const readOneFile = (file: string): Promise<Parsed> =>
  readText(file, async () => {
    const { size } = await stat(file);
    if (size <= maxManifestBytes) return readFile(file);
    throw new PodexitError('manifest.size', `is larger than ${maxManifestBytes / 1024 / 1024} MB`, '');
  });

async function readText(name: string, read: () => Promise<Uint8Array>): Promise<Parsed> {
  try {
    return parseManifests(decodedText(await read()), name);
  } catch (error) {
    return refused(name, unreadable(error));
  }
}

const refused = (file: string, message: string): Parsed => ({
  manifests: [],
  broken: [{ file, line: 1, message }],
  kustomizations: [],
});

function unreadable(error: unknown): string {
  if (error instanceof PodexitError) return [error.message, error.hint].filter(Boolean).join('. ');
  return whyUnread(error as Error);
}

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
    throw notBuilt(error as NodeJS.ErrnoException & { stderr?: Buffer }, kustomization);
  }
}

function notBuilt(
  { code = '', stderr }: NodeJS.ErrnoException & { stderr?: Buffer },
  kustomization: string,
): PodexitError {
  const elsewhere = `Where there is a kubectl: kubectl kustomize ${kustomization} > built.yaml; then name built.yaml with -f`;
  const known = new Map([
    ['ENOENT', 'there is no kubectl on the PATH to build it'],
    ['ERR_CHILD_PROCESS_STDIO_MAXBUFFER', `it is larger than ${maxManifestBytes / 1024 / 1024} MB`],
  ]);
  const because = stderr?.toString('utf8').trim().split('\n').at(-1)?.slice(0, 500);
  const message = known.get(code) ?? `kubectl could not build it: ${because || code}`;
  return new PodexitError('manifest.kustomize', message, code === 'ENOENT' ? elsewhere : '');
}

/** Of what is behind an https address, as `kubectl apply -f URL` takes it. */
const maxBytes = 10 * 1024 * 1024;
/** For all redirects and the whole text. */
const maxSeconds = 30;
/** As many as curl and Go's client follow at most. */
const maxRedirects = 10;

/** Throws PodexitError `manifest.address` and `manifest.download`; an address in them has no user and no query. */
async function downloaded(address: string, { env, clock }: Pick<Ports, 'env' | 'clock'>): Promise<Uint8Array> {
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
