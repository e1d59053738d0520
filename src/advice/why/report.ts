/** What `why` knows of a past exit, as text, as Markdown and as JSON (schema/why-report.schema.json). Pure. */
import type { Outcome, TriggerKind } from '../../model/report.ts';
import { renderText } from '../../output/text/lines.ts';
import type { Pen } from '../../output/palette.ts';
import { forTerminal } from '../../output/safe-text.ts';
import { tableLines } from '../../output/text/table.ts';
import { exitReportOf } from '../../verdict/exit-report.ts';
import type { Report } from '../../verdict/report.ts';
import graceEnds from '../data/grace-ends.json' with { type: 'json' };
import { wrapped, type Envelope } from '../output.ts';

/** An interval in ms since the epoch. It is wide enough for the differences between the cluster's clocks. */
export interface WhyMoment {
  name: string;
  container?: string;
  what: string;
  earliest: number;
  latest: number;
  source: string;
}

export interface PastExit {
  pod: { namespace: string; name: string; uid?: string | undefined; node?: string | undefined };
  basis: 'events' | 'recording' | 'audit-log';
  /** `reconstructed from Events, ±1s` */
  heading: string;
  /** `unknown` unless something proves it. */
  outcome: Outcome;
  summary: string;
  trigger: TriggerKind;
  by?: string;
  /** Who sent the request; only an audit log knows. */
  deletedBy?: { user: string; userAgent: string; sourceIPs: string[]; verb: 'delete' | 'evict' } | undefined;
  /** The pod's owner, then the owner's owner. `isInferred`: from the pattern of the name alone. */
  owners?: { kind: string; name: string; uid?: string; isInferred: boolean }[];
  grace?: PastGrace | undefined;
  moments: readonly WhyMoment[];
  cannotTell: string[];
  nextTime?: string;
  /** The whole report, from a recording or from an audit log. */
  exit?: Report;
}

/** `source`: where the seconds were read. `end`: in ms since the epoch. */
export interface PastGrace {
  seconds: number;
  source: string;
  end: { earliest: number; latest: number };
  /** `gone`: another pod had its name by then. `still-there`: its kubelet still wrote Events about it. */
  atItsEnd: 'gone' | 'still-there' | 'unknown';
}

export function pastExitOf(exit: Report, basis: PastExit['basis'], heading: string): PastExit {
  const { timeline, verdict, answer } = exit;
  const { metadata, spec } = timeline.pod;
  return {
    pod: { namespace: metadata.namespace ?? '', name: metadata.name, uid: metadata.uid, node: spec.nodeName },
    basis,
    heading,
    outcome: verdict.outcome,
    summary: answer.summary,
    trigger: timeline.trigger.kind,
    moments: [],
    cannotTell: [],
    exit,
  };
}

/** `why -o json`: the same with times as text. */
export const whyReportOf = (report: PastExit & Envelope) => ({
  ...report,
  grace: report.grace && { ...report.grace, end: stampsOf(report.grace.end) },
  moments: report.moments.map((moment) => ({ ...moment, ...stampsOf(moment) })),
  exit: report.exit && exitReportOf(report.exit),
});

export type WhyReport = ReturnType<typeof whyReportOf>;

type EndedPods = { pods: { name: string; at: number; what: string }[]; summary: string };

export const endedListOf = (report: EndedPods & Envelope) => ({
  ...report,
  pods: report.pods.map((pod) => ({ ...pod, at: stamp(pod.at) })),
});

const stamp = (at: number): string => new Date(at).toISOString();

const stampsOf = ({ earliest, latest }: { earliest: number; latest: number }) => ({
  earliest: stamp(earliest),
  latest: stamp(latest),
});

export function whyText(known: PastExit, pen: Pen, columns: number): string[] {
  const { pod, heading, summary, owners = [], deletedBy: who, cannotTell, nextTime, exit } = known;
  const row = (label: string, text = ''): string[] =>
    text === '' ? [] : wrapped(`  ${label.padEnd(12)}`, forTerminal(text), columns);
  const owner = owners.map(
    ({ kind, name, isInferred }) => `${kind} ${name}${isInferred ? ' (inferred from its name)' : ''}`,
  );
  return [
    `${pen.paint('strong', forTerminal(`${pod.namespace}/${pod.name}`))}  ${forTerminal(exit ? heading : `${summary} (${heading})`)}`,
    ...row('deleted by', who ? `${who.user} with ${who.userAgent} from ${who.sourceIPs.join(', ')}` : known.by),
    ...row('owner', owner.join(', of ')),
    ...timeline(known.moments).flatMap(([time, what]) => row(time, what)),
    ...row('grace', graceText(known)),
    ...cannotTell.flatMap((text, at) => row(at === 0 ? 'cannot tell' : '', text)),
    ...row('next time', nextTime),
    // The last line of a report is the summary.
    ...(exit ? ['', renderText(exit).trimEnd()] : [forTerminal(summary)]),
  ];
}

const middle = ({ earliest, latest }: { earliest: number; latest: number }): number => (earliest + latest) / 2;

const clockText = (at: number): string => stamp(at).slice(11, 19);

/** Prints the clock time at which the grace period ended; later moments have seconds since the first one. */
function graceText({ grace }: PastExit): string | undefined {
  if (!grace) return undefined;
  const { seconds, source, end, atItsEnd } = grace;
  return `${seconds}s (${source}), until ${clockText(middle(end))} ±1s: ${graceEnds[atItsEnd]}`;
}

function timeline(moments: readonly WhyMoment[]): [string, string][] {
  const sorted = [...moments].sort((a, b) => shownAt(a) - shownAt(b));
  const start = sorted[0] ? shownAt(sorted[0]) : 0;
  return sorted.map((one, index) => {
    const time = index === 0 ? clockText(start) : `+${((shownAt(one) - start) / 1000).toFixed(1)}s`;
    const length = (one.latest - one.earliest) / 1000;
    const later = length > 2 ? `, or up to ${length.toFixed(0)}s later` : '';
    return [time, `${one.what}${later} (${one.source})`];
  });
}

/** The middle of a vague moment is a guess like any other of its instants. */
const shownAt = (one: WhyMoment): number => (one.latest - one.earliest > 2000 ? one.earliest : middle(one));

export function endedText({ pods, summary }: EndedPods, pen: Pen, columns: number): string[] {
  const rows = pods.map(({ name, at, what }) => [forTerminal(name), clockText(at), forTerminal(what)]);
  const table = rows.length > 0 ? tableLines(pen, [['POD', 'STOPPED', 'WHAT'], ...rows], columns) : [];
  return [...table, forTerminal(summary)];
}
