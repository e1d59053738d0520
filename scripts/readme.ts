/**
 * Writes the generated parts of README.md and docs/permissions.md: the picture of a terminal, from real output, and
 * the Roles. test/readme.test.ts checks that they are current.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { clusterRole, roleFor } from '../src/kube/role.ts';
import { emptyTrace } from '../src/model/trace.ts';
import { observe } from '../src/model/observe.ts';
import { reduce } from '../src/model/reduce.ts';
import { renderText } from '../src/render/lines.ts';
import { openReplay } from '../src/run/replay.ts';
import { reportOf } from '../src/verdict/report.ts';
import { terminalSvg } from './terminal-svg.ts';

const path = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));

/** docs/terminal.svg: the recording of an application that ignores SIGTERM, as a terminal of 80 columns shows it. */
export async function renderPicture(): Promise<string> {
  const { rawObservations } = await openReplay(path('test/recordings/sigkill-after-grace.ndjson'), () => {});
  let trace = emptyTrace;
  let seq = 0;
  for await (const rawObservation of rawObservations)
    trace = reduce(trace, observe(rawObservation, ++seq, { logText: false }));
  const report = reportOf(trace);
  if (!report) throw new Error('the recording has no report');
  const text = renderText(report, { style: { color: 1, unicode: true }, columns: 80, timestamps: 'relative' });
  return terminalSvg(`kubectl podexit ${report.timeline.pod.metadata.name} -n shop`, text);
}

/** docs/permissions.md with current Roles. */
export function renderPermissions(page: string): string {
  const [before = '', rest = ''] = page.split('<!-- role -->');
  const after = rest.slice(rest.indexOf('<!-- /role -->'));
  const roles = `${roleFor('shop').trimEnd()}\n---\n${clusterRole().trimEnd()}`;
  return `${before}<!-- role -->\n\n\`\`\`yaml\n${roles}\n\`\`\`\n\n${after}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const page = path('docs/permissions.md');
  writeFileSync(page, renderPermissions(readFileSync(page, 'utf8')));
  void renderPicture().then((svg) => writeFileSync(path('docs/terminal.svg'), svg));
}
