/** The licence of the Node that is copied into an executable: its terms, and those of all that is inside it, ask for it. */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** From the folder of the binary: Windows; an unpacked release (setup-node, nvm, images); packages of systems. */
const places = [
  'LICENSE',
  '../LICENSE',
  '../share/doc/node/LICENSE',
  '../share/doc/nodejs/LICENSE',
  '../share/licenses/nodejs/LICENSE',
  '../share/licenses/node/LICENSE',
];

/** Throws where this Node came without it. */
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
