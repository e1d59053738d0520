/** Writes the docs that are generated: docs/explain.md from the texts, docs/flags.md from the command tree. */
import { writeFile } from 'node:fs/promises';
import { explainDocs, flagDocs } from './docs/pages.ts';

await writeFile(new URL('../docs/explain.md', import.meta.url), await explainDocs());
await writeFile(new URL('../docs/flags.md', import.meta.url), await flagDocs());
