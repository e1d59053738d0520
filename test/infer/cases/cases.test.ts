/** Each text file here is a table of cases: a new case is a row in one of them. */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { walk } from './walk.ts';

const folder = fileURLToPath(new URL('./', import.meta.url));

for (const file of readdirSync(folder).filter((name) => name.endsWith('.yaml'))) walk(folder + file);
