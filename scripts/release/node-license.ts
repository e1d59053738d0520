/** The licence of the Node in an executable. Its terms, and those of its dependencies, require that we ship it. */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Paths from the binary's folder: Windows; an unpacked release (setup-node, nvm, images); system packages. */
const places = [
  'LICENSE',
  '../LICENSE',
  '../share/doc/node/LICENSE',
  '../share/doc/nodejs/LICENSE',
  '../share/licenses/nodejs/LICENSE',
  '../share/licenses/node/LICENSE',
];

/** Throws if this Node came without a licence. */
export async function nodeLicense(executable: string): Promise<string> {
  const files = places.map((place) => join(dirname(executable), place));
  for (const file of files) {
    const text = await readFile(file, 'utf8').catch(() => '');
    if (text.startsWith('Node.js is licensed for use as follows')) return text;
  }
  throw new Error(
    `the licence of ${executable} is in none of ${files.join(', ')}: build with a Node from nodejs.org, whose archives hold it`,
  );
}
