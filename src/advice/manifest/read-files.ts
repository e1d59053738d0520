/** `-f FILE|DIR|-` → the texts of manifests. A folder's files are those with an ending of manifests, as kubectl reads them. */
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseManifests, type BrokenInput, type Manifest } from './parse.ts';

const endings = /\.(ya?ml|json)$/i;
/** More than any manifest: a file of another kind was named by mistake. */
const mostBytes = 64 * 1024 * 1024;

/** What cannot be read is one entry of `broken`; everything else is parsed. */
export async function readManifests(
  names: readonly string[],
): Promise<{ manifests: Manifest[]; broken: BrokenInput[] }> {
  const manifests: Manifest[] = [];
  const broken: BrokenInput[] = [];
  for (const name of names)
    for (const { file, text, problem } of await textsOf(name)) {
      if (problem !== undefined) broken.push({ file, line: 1, message: problem });
      if (text === undefined) continue;
      const parsed = parseManifests(text, file);
      manifests.push(...parsed.manifests);
      broken.push(...parsed.broken);
    }
  return { manifests, broken };
}

interface Text {
  file: string;
  text?: string;
  problem?: string;
}

async function textsOf(name: string): Promise<Text[]> {
  if (name === '-') return [{ file: '<stdin>', text: await standardInput() }];
  try {
    if (!(await stat(name)).isDirectory()) return [await textOf(name)];
    const files = (await readdir(name)).filter((file) => endings.test(file)).sort();
    if (files.length === 0) return [{ file: name, problem: 'the folder holds no .yaml, .yml or .json file' }];
    return await Promise.all(files.map((file) => textOf(join(name, file))));
  } catch (error) {
    return [{ file: name, problem: `cannot be read (${codeOf(error)})` }];
  }
}

async function textOf(file: string): Promise<Text> {
  try {
    const { size } = await stat(file);
    if (size > mostBytes) return { file, problem: `is larger than ${mostBytes / 1024 / 1024} MB` };
    return { file, text: await readFile(file, 'utf8') };
  } catch (error) {
    return { file, problem: `cannot be read (${codeOf(error)})` };
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);

async function standardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream('', { fd: 0, autoClose: false })) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
