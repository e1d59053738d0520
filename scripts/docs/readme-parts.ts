/** The pictures in README.md, from real output, and the Roles in docs/permissions.md. */
import { fileURLToPath } from 'node:url';
import { clusterRole, roleFor } from '../../src/kube/refused.ts';
import { emptyTrace } from '../../src/model/trace.ts';
import { observe } from '../../src/model/observe.ts';
import { reduce } from '../../src/model/reduce.ts';
import { penFor } from '../../src/output/palette.ts';
import { renderText } from '../../src/output/text/lines.ts';
import { endedPodLines, rolloutCardLines } from '../../src/output/text/rollout-card.ts';
import { renderRolloutSvg } from '../../src/output/html/svg.ts';
import { openReplay, readRecording } from '../../src/run/recorded-run.ts';
import { rolloutNumbers } from '../../src/verdict/rollout.ts';
import { reportOf } from '../../src/advice/report.ts';
import { withPart } from './marked-part.ts';
import { terminalSvg } from './terminal-svg.ts';

/** docs/terminal.svg: the recording of an application that ignores SIGTERM, as a terminal of 80 columns shows it. */
export async function renderPicture(): Promise<string> {
  const recording = fileURLToPath(new URL('../../test/recordings/sigkill-after-grace.ndjson', import.meta.url));
  const { source: rawObservations } = await openReplay(recording, () => {});
  let trace = emptyTrace;
  let seq = 0;
  for await (const rawObservation of rawObservations)
    trace = reduce(trace, observe(rawObservation, ++seq, { logText: false }));
  const report = reportOf(trace);
  if (!report) throw new Error('the recording has no report');
  const text = renderText(report, { pen: penFor({ color: true, unicode: true }), columns: 80, timestamps: 'utc' });
  const { name, namespace } = report.timeline.pod.metadata;
  return terminalSvg(`kubectl podexit ${name} -n ${namespace}`, text);
}

/** docs/timeline.svg: a recorded rollout as `--report x.svg` draws it. */
export async function renderTimeline(): Promise<string> {
  const recording = fileURLToPath(new URL('../../test/recordings/second/statefulset-rollout.ndjson', import.meta.url));
  const { reports } = await readRecording(recording);
  return renderRolloutSvg(rolloutNumbers('statefulset/db', reports), reports);
}

/** docs/ci.md with what the recording of a rollout prints first. */
export async function renderRollout(page: string): Promise<string> {
  const recording = fileURLToPath(new URL('../../test/recordings/second/rollout-25.ndjson', import.meta.url));
  const { reports } = await readRecording(recording);
  const pen = penFor({ color: false, unicode: true });
  const ended = reports.slice(0, 2).flatMap((report) => endedPodLines(pen, report, 'utc'));
  const card = rolloutCardLines(rolloutNumbers('deployment/checkout', reports), { pen, columns: 100 });
  const lines = [
    ...ended,
    '…',
    '',
    ...card.slice(
      0,
      card.findIndex((line) => line.startsWith('  traffic')),
    ),
    '  …',
  ];
  return withPart(page, 'rollout', `\`\`\`\n${lines.join('\n')}\n\`\`\``);
}

/** docs/permissions.md with current Roles. */
export function renderPermissions(page: string): string {
  const roles = `${roleFor('shop').trimEnd()}\n---\n${clusterRole().trimEnd()}`;
  return withPart(page, 'role', `\`\`\`yaml\n${roles}\n\`\`\``);
}
