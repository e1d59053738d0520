/** What `-f`, `-R` and `-k` name → manifests. What cannot be read becomes an entry of `broken`; the rest is still read. */
import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { PodexitError } from '../errors.ts';
import type { Ports } from '../run/ports.ts';
import { decodedText, whyUnread } from './decoded-text.ts';
import { showUrl } from '../kube/redact.ts';
import { nothingParsed, parseManifests, type Parsed } from './manifests.ts';

export interface ManifestInput {
  /** Files, folders, or `-` for standard input. */
  names: readonly string[];
  isRecursive?: boolean;
  kustomization?: string;
}

/** No manifest is larger: a file of another kind was named by mistake. */
const maxManifestBytes = 64 * 1024 * 1024;

export async function readManifests(input: ManifestInput, { env }: Pick<Ports, 'env'>): Promise<Parsed> {
  const { names, isRecursive = false, kustomization } = input;
  const parsed = nothingParsed();
  const parse = async (name: string, read: () => Promise<Uint8Array>): Promise<void> => {
    try {
      const bytes = await read();
      if (bytes.length > maxManifestBytes) throw new PodexitError('manifest.size', 'is larger than 64 MB', '');
      parseManifests(decodedText(bytes), name, parsed);
    } catch (error) {
      parsed.broken.push({ file: name, line: 1, message: unreadable(error) });
    }
  };
  for (const name of names) {
    // kubectl's rule too; `C:\web.yaml` is a file.
    const isAddress = /^https?:\/\//i.test(name);
    if (name === '-') await parse('<stdin>', () => buffer(createReadStream('', { fd: 0, autoClose: false })));
    else if (isAddress) await parse(showUrl(name), () => Promise.reject(isAddressed()));
    else {
      const files = (await filesIn(name, isRecursive)) ?? [name];
      if (files.length === 0) await parse(name, () => Promise.reject(holdsNone()));
      for (const file of files) await parse(file, () => readFile(file));
    }
  }
  if (kustomization !== undefined) await parse(`kubectl kustomize ${kustomization}`, () => built(kustomization, env));
  return parsed;
}

/** Of a folder the files that kubectl reads. As it does, `-R` follows no link to a folder: it could lead back. */
async function filesIn(name: string, isRecursive: boolean): Promise<string[] | undefined> {
  const found = await readdir(name, { withFileTypes: true, recursive: isRecursive }).catch(() => undefined);
  return found
    ?.filter((entry) => !entry.isDirectory() && /\.(ya?ml|json)$/i.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

const isAddressed = (): PodexitError =>
  new PodexitError('manifest.address', 'is an address, which is not downloaded', 'Pipe it in: curl -sSfL URL | … -f -');

const holdsNone = (): PodexitError =>
  new PodexitError(
    'manifest.none',
    'the folder holds no .yaml, .yml or .json file; -R reads the folders in it too',
    '',
  );

const unreadable = (error: unknown): string =>
  error instanceof PodexitError ? [error.message, error.hint].filter(Boolean).join('. ') : whyUnread(error as Error);

/** By kubectl, which contains kustomize. No time limit: a kustomization may clone repositories. Throws PodexitError `manifest.kustomize`. */
async function built(kustomization: string, env: Ports['env']): Promise<Uint8Array> {
  try {
    const args = ['kustomize', '--', kustomization];
    const options = { encoding: 'buffer', maxBuffer: Infinity, env, windowsHide: true } as const;
    return (await promisify(execFile)(env['KUBECTL_PATH'] || 'kubectl', args, options)).stdout;
  } catch (error) {
    const { code = '', stderr } = error as NodeJS.ErrnoException & { stderr?: Buffer };
    const because = stderr?.toString('utf8').trim().split('\n').at(-1)?.slice(0, 500);
    if (code !== 'ENOENT') throw notBuilt(`kubectl could not build it: ${because || code}`);
    const elsewhere = `Where there is a kubectl: kubectl kustomize ${kustomization} > built.yaml; then name built.yaml with -f`;
    throw notBuilt('there is no kubectl on the PATH to build it', elsewhere);
  }
}

const notBuilt = (message: string, hint = ''): PodexitError => new PodexitError('manifest.kustomize', message, hint);
