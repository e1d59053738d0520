/** The document of `why -o json`, and what people see of it. Pure. Its schema: schema/why-report.schema.json. */
import type { Outcome, TriggerKind } from '../../model/report.ts';
import type { Pen } from '../../render/palette.ts';
import { forMarkdown, forTerminal } from '../../render/safe-text.ts';
import { columnsOf, wrapped } from '../text.ts';
import type { AuditStory } from './audit-story.ts';
import type { StoryMoment } from './event-story.ts';

export type Basis = 'events' | 'recording' | 'audit-log';

export interface WhyReport {
  apiVersion: 'podexit/v1';
  kind: 'WhyReport';
  pod: { namespace: string; name: string; uid?: string; node?: string };
  basis: Basis;
  /** `reconstructed from Events, ±1s` */
  heading: string;
  /** `unknown` wherever nothing proves it. */
  outcome: Outcome;
  summary: string;
  trigger: TriggerKind;
  /** Who sent the request; only an audit log knows. */
  deletedBy?: AuditStory['deletedBy'];
  moments: { name: string; container?: string; what: string; earliest: string; latest: string; source: string }[];
  cannotTell: string[];
  /** The whole report of a recording, or of what an audit log shows. */
  exit?: unknown;
  verdict: { exitCode: number };
  run: { command: string; version: string; context?: string };
}

export interface EndedList {
  apiVersion: 'podexit/v1';
  kind: 'EndedPodList';
  namespace: string;
  summary: string;
  /** Worst first. */
  pods: { name: string; at: string; what: string }[];
  verdict: { exitCode: number };
  run: { command: string; version: string; context?: string };
}

export const momentOf = ({
  name,
  container,
  what,
  earliest,
  latest,
  source,
}: StoryMoment): WhyReport['moments'][number] => ({
  name,
  container,
  what,
  earliest: new Date(earliest).toISOString(),
  latest: new Date(latest).toISOString(),
  source,
});

/** `card`: how the report of a recording or an audit log is shown by itself. */
export function whyText(report: WhyReport, card: string, pen: Pen, columns: number): string {
  const { pod, heading, summary, deletedBy, moments, cannotTell } = report;
  const label = (text: string): string => `  ${text.padEnd(12)}`;
  const who = deletedBy
    ? wrapped(
        label('deleted by'),
        forTerminal(`${deletedBy.user} with ${deletedBy.userAgent} from ${deletedBy.sourceIPs.join(', ')}`),
        columns,
      )
    : [];
  const [first] = moments;
  const rows = moments.flatMap(({ what, earliest, latest, source }, at) => {
    const middle = (Date.parse(earliest) + Date.parse(latest)) / 2;
    const since = first ? (middle - (Date.parse(first.earliest) + Date.parse(first.latest)) / 2) / 1000 : 0;
    const time = at === 0 ? new Date(middle).toISOString().slice(11, 19) : `+${since.toFixed(1)}s`;
    return wrapped(label(time), forTerminal(`${what} (${source})`), columns);
  });
  const open = cannotTell.flatMap((text, at) =>
    wrapped(label(at === 0 ? 'cannot tell' : ''), forTerminal(text), columns),
  );
  const lines = [
    `${pen.paint('strong', forTerminal(`${pod.namespace}/${pod.name}`))}  ${forTerminal(heading)}`,
    ...who,
    ...rows,
    ...open,
    ...(card === '' ? [] : ['', card.trimEnd(), '']),
    forTerminal(summary),
  ];
  return `${pen.letters(lines.join('\n'))}\n`;
}

export function endedText({ pods, summary }: EndedList, pen: Pen): string {
  const rows = pods.map(({ name, at, what }) => [forTerminal(name), at.slice(11, 19), forTerminal(what)]);
  const [head = '', ...lines] = columnsOf([['POD', 'STOPPED', 'WHAT'], ...rows]);
  return `${pen.letters([...(rows.length > 0 ? [pen.paint('strong', head), ...lines] : []), forTerminal(summary)].join('\n'))}\n`;
}

export function whyMarkdown({ pod, heading, summary, moments, cannotTell }: WhyReport): string {
  const rows = moments.map(
    ({ what, earliest, latest, source }) =>
      `| ${earliest} – ${latest} | ${forMarkdown(what)} | ${forMarkdown(source)} |`,
  );
  const open = cannotTell.map((text) => `- cannot tell: ${forMarkdown(text)}`);
  return `${[`**${forMarkdown(summary)}**`, '', forMarkdown(`${pod.namespace}/${pod.name}, ${heading}`), '', '| when | what | source |', '| --- | --- | --- |', ...rows, '', ...open].join('\n').trimEnd()}\n`;
}
