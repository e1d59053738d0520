/** Every recording in every format. The scenarios of the demo are these recordings (test/demo/scenarios.test.ts). */
import { cardLines } from '../../../src/output/text/card.ts';
import { githubAnnotations, githubSummary } from '../../../src/output/publish.ts';
import { renderHtml, renderRolloutHtml } from '../../../src/output/html/page.ts';
import { renderJson } from '../../../src/output/machine/json.ts';
import { renderJunit, renderRolloutJunit } from '../../../src/output/machine/junit.ts';
import { createLines, renderText } from '../../../src/output/text/lines.ts';
import { renderRolloutSvg, renderSvg } from '../../../src/output/html/svg.ts';
import { markdownSections, renderMarkdown, renderRolloutMarkdown } from '../../../src/output/machine/markdown.ts';
import { finalLines } from '../../../src/output/machine/ndjson.ts';
import { plainPen as pen } from '../../../src/output/palette.ts';
import { endedPodLines, rolloutCardLines } from '../../../src/output/text/rollout-card.ts';
import { wideTable } from '../../../src/output/documents.ts';
import { exitReportOf } from '../../../src/verdict/exit-report.ts';
import type { Report } from '../../../src/verdict/report.ts';
import { rolloutNumbers } from '../../../src/verdict/rollout.ts';
import { tracedPodsOf, type Played } from '../../helpers/recordings.ts';

export interface PodOutput {
  readonly report: Report;
  /** What lines mode wrote during the playback. */
  readonly lines: string;
}

/** The pods of a recording, played once. Only the first observation by observation: it shows every kind of line. */
export function podsOf(name: string): Promise<PodOutput[]> {
  const pods =
    played.get(name) ??
    tracedPodsOf(name).then((all) => all.map((one, at) => (at === 0 ? play(one) : { report: one.report, lines: '' })));
  played.set(name, pods);
  return pods;
}

const played = new Map<string, Promise<PodOutput[]>>();

export function play({ steps, report }: Played): PodOutput {
  let text = '';
  const lines = createLines({
    write: (chunk) => (text += chunk),
    pen,
    timestamps: 'utc',
    columns: () => 80,
  });
  for (const { timeline, observation } of steps) lines.step(timeline, observation);
  lines.end(report);
  return { report, lines: text };
}

/** The report of one pod, by format. */
export function outputsOf({ report, lines }: PodOutput): Record<string, string> {
  const document = exitReportOf(report);
  return {
    card: cardLines(report, { pen, columns: 80 }).join('\n'),
    lines,
    text: renderText(report, { columns: 80 }),
    verbose: renderText(report, { columns: 80, verbose: true }),
    wide: wideTable([report]),
    json: renderJson(document),
    ndjson: finalLines(document),
    html: renderHtml(report),
    svg: renderSvg(report),
    junit: renderJunit(report),
    github: [...githubAnnotations(report), githubSummary(markdownSections(report))].join('\n'),
    markdown: renderMarkdown(report),
  };
}

/** The final output of a run over all pods; undefined for a single pod. */
export const manyPodsOutput = (pods: readonly PodOutput[]): string | undefined =>
  pods.length < 2 ? undefined : cardOfPods(pods.map(({ report }) => report));

function cardOfPods(reports: readonly Report[]): string {
  const card = rolloutCardLines(rolloutNumbers('the pods', reports), { pen, columns: 80 });
  return [...reports.flatMap((report) => endedPodLines(pen, report, 'utc')), '', ...card].join('\n');
}

/** The report of several pods, by format. */
export function rolloutOutputs(reports: readonly Report[]): Record<string, string> {
  const numbers = rolloutNumbers('deployment/web', reports);
  return {
    rolloutCard: cardOfPods(reports),
    rolloutHtml: renderRolloutHtml(numbers, reports),
    rolloutSvg: renderRolloutSvg(numbers, reports),
    rolloutJunit: renderRolloutJunit(numbers, reports),
    rolloutMarkdown: renderRolloutMarkdown(numbers, reports),
  };
}
