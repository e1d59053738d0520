/** `npm run docs`: writes the generated pages and parts of pages in docs/. Tests compare them with docs/. */
import { readFile, writeFile } from 'node:fs/promises';
import { gateDocs } from './docs/gate-samples.ts';
import { chartTemplate, monitoringTemplate } from './docs/helm-chart.ts';
import { flagDocs } from './docs/pages.ts';
import { programDocs } from './docs/programs-page.ts';
import { renderPermissions, renderPicture, renderRollout, renderTimeline } from './docs/readme-parts.ts';

const doc = (name: string): URL => new URL(`../docs/${name}`, import.meta.url);

await writeFile(doc('flags.md'), await flagDocs());
await writeFile(doc('terminal.svg'), await renderPicture());
await writeFile(doc('timeline.svg'), await renderTimeline());
await writeFile(doc('ci.md'), await renderRollout(await readFile(doc('ci.md'), 'utf8')));
await writeFile(doc('gates.md'), await gateDocs(await readFile(doc('gates.md'), 'utf8')));
await writeFile(doc('permissions.md'), renderPermissions(await readFile(doc('permissions.md'), 'utf8')));
await writeFile(doc('programs.md'), await programDocs(await readFile(doc('programs.md'), 'utf8')));

const deployed = (name: string): URL => new URL(`../deploy/${name}`, import.meta.url);
const chart = { 'watch.yaml': chartTemplate, 'watch-monitoring.yaml': monitoringTemplate };
for (const [name, template] of Object.entries(chart))
  await writeFile(deployed(`helm/templates/${name}`), template(await readFile(deployed(name), 'utf8')));
