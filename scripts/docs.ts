/** Writes the generated docs: docs/explain.md, docs/flags.md and the samples in docs/gates.md. */
import { readFile, writeFile } from 'node:fs/promises';
import { gateDocs } from './docs/gate-samples.ts';
import { explainDocs, flagDocs } from './docs/pages.ts';

await writeFile(new URL('../docs/explain.md', import.meta.url), await explainDocs());
await writeFile(new URL('../docs/flags.md', import.meta.url), await flagDocs());

const gates = new URL('../docs/gates.md', import.meta.url);
await writeFile(gates, await gateDocs(await readFile(gates, 'utf8')));
