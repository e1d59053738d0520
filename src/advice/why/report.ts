/** The document of `why -o json`, and its text for people. Pure. Schema: schema/why-report.schema.json. */
import { outcomes, type Outcome, type TriggerKind } from '../../model/report.ts';
import { asObject, asString, asText, type JsonObject } from '../../model/observe/read.ts';
import type { Pen } from '../../render/palette.ts';
import { forMarkdown, forTerminal } from '../../render/safe-text.ts';
import { columnsOf } from '../../render/prose.ts';
import { markdownPage, wrapped, type Envelope } from '../output.ts';

/** Whether `at` (ms since the epoch) is plausible in a cluster, and far from the limits of a Date. */
export const isTime = (at: number): boolean => at > 0 && at < 1e13;

/** An interval in ms since the epoch. It is wide enough for the differences between the cluster's clocks. */
export interface WhyMoment {
  name: string;
  container?: string;
  what: string;
  earliest: number;
  latest: number;
  source: string;
  isBad: boolean;
}

export interface WhyReport extends Envelope {
  kind: 'WhyReport';
  pod: { namespace: string; name: string; uid?: string; node?: string };
  basis: 'events' | 'recording' | 'audit-log';
  /** `reconstructed from Events, ±1s` */
  heading: string;
  /** `unknown` unless something proves it. */
  outcome: Outcome;
  summary: string;
  trigger: TriggerKind;
  /** Who deleted it, in words, as far as is known. */
  by?: string;
  /** Who sent the request; only an audit log knows. */
  deletedBy?: { user: string; userAgent: string; sourceIPs: string[]; verb: 'delete' | 'evict' };
  /** The pod's owner, then the owner's owner. `isInferred`: from the pattern of the name alone. */
  owners?: { kind: string; name: string; uid?: string; isInferred: boolean }[];
  /** Only if the pod is gone. `source`: where it was read. */
  grace?: {
    seconds: number;
    source: string;
    end: { earliest: string; latest: string };
    /** `gone`: another pod had its name by then. `still-there`: its kubelet still wrote Events about it. */
    atItsEnd: 'gone' | 'still-there' | 'unknown';
  };
  moments: (Omit<WhyMoment, 'earliest' | 'latest' | 'isBad'> & { earliest: string; latest: string })[];
  cannotTell: string[];
  /** How to learn more the next time. */
  nextTime?: string;
  /** The whole exit report, from a recording or from an audit log. */
  exit?: unknown;
}

export interface EndedList extends Envelope {
  kind: 'EndedPodList';
  namespace: string;
  summary: string;
  /** Worst first. */
  pods: { name: string; at: string; what: string }[];
}

export interface Found {
  report: Omit<WhyReport, keyof Envelope | 'moments'> & { moments: readonly WhyMoment[] };
  /** The card of `report.exit`, if there is one; else empty. */
  card: string;
}

/** The answer that an exit report gives. */
export function whyFromExit(exit: JsonObject, basis: WhyReport['basis'], heading: string): Found['report'] {
  const pod = asObject(exit['pod']);
  const outcome = outcomes.find((one) => one === asObject(exit['verdict'])['outcome']) ?? 'unknown';
  return {
    pod: {
      namespace: asText(pod['namespace']),
      name: asText(pod['name']),
      uid: asString(pod['uid']),
      node: asString(pod['node']),
    },
    basis,
    heading,
    outcome,
    summary: asString(exit['summary']) ?? outcome,
    trigger: (asString(asObject(exit['trigger'])['kind']) ?? 'unknown') as TriggerKind,
    moments: [],
    cannotTell: [],
    exit,
  };
}

export const momentOf = ({ earliest, latest, isBad: _isBad, ...one }: WhyMoment): WhyReport['moments'][number] => ({
  ...one,
  earliest: new Date(earliest).toISOString(),
  latest: new Date(latest).toISOString(),
});

export const whyText =
  (card: string) =>
  (report: WhyReport, pen: Pen, columns: number): string[] => {
    const { pod, heading, summary, cannotTell, nextTime } = report;
    const row = (label: string, text: string | undefined): string[] =>
      text === undefined ? [] : wrapped(`  ${label.padEnd(12)}`, forTerminal(text), columns);
    return [
      `${pen.paint('strong', forTerminal(`${pod.namespace}/${pod.name}`))}  ${forTerminal(heading)}`,
      ...row('deleted by', whoText(report)),
      ...row('owner', ownerText(report)),
      ...timeline(report).flatMap(([time, what]) => row(time, what)),
      ...row('grace', graceText(report)),
      ...cannotTell.flatMap((text, at) => row(at === 0 ? 'cannot tell' : '', text)),
      ...row('next time', nextTime),
      // The last line of a card is the summary.
      ...(card === '' ? [forTerminal(summary)] : ['', card.trimEnd()]),
    ];
  };

const whoText = ({ deletedBy: who, by }: WhyReport): string | undefined =>
  who ? `${who.user} with ${who.userAgent} from ${who.sourceIPs.join(', ')}` : by;

function ownerText({ owners = [] }: WhyReport): string | undefined {
  if (owners.length === 0) return undefined;
  return owners
    .map(({ kind, name, isInferred }) => `${kind} ${name}${isInferred ? ' (inferred from its name)' : ''}`)
    .join(', of ');
}

const graceEndTexts: Record<NonNullable<WhyReport['grace']>['atItsEnd'], string> = {
  gone: 'it was gone by then, so the end of the grace period killed none of its containers, unless it was force-deleted',
  'still-there': 'it was still there: SIGKILL was due for containers that still ran',
  unknown: 'whether it was still there then is not known',
};

const clockText = (stamp: string): string => stamp.slice(11, 19);

/** Prints the clock time at which the grace period ended; later moments have seconds since the first one. */
function graceText({ grace }: WhyReport): string | undefined {
  if (!grace) return undefined;
  const end = (Date.parse(grace.end.earliest) + Date.parse(grace.end.latest)) / 2;
  return `${grace.seconds}s (${grace.source}), until ${clockText(new Date(end).toISOString())} ±1s: ${graceEndTexts[grace.atItsEnd]}`;
}

function timeline({ moments }: WhyReport): [string, string][] {
  const middle = ({ earliest, latest }: WhyReport['moments'][number]): number =>
    (Date.parse(earliest) + Date.parse(latest)) / 2;
  const start = moments[0] ? middle(moments[0]) : 0;
  return moments.map((one, at) => {
    const since = (middle(one) - start) / 1000;
    const time = at === 0 ? clockText(new Date(start).toISOString()) : `${since < 0 ? '' : '+'}${since.toFixed(1)}s`;
    return [time, `${one.what} (${one.source})`];
  });
}

export function endedText({ pods, summary }: EndedList, pen: Pen): string[] {
  const rows = pods.map(({ name, at, what }) => [forTerminal(name), at.slice(11, 19), forTerminal(what)]);
  const [head = '', ...lines] = columnsOf([['POD', 'STOPPED', 'WHAT'], ...rows]);
  return [...(rows.length > 0 ? [pen.paint('strong', head), ...lines] : []), forTerminal(summary)];
}

export function whyMarkdown(report: WhyReport): string {
  const { pod, heading, summary, moments, cannotTell } = report;
  const facts = { 'deleted by': whoText(report), owner: ownerText(report), 'grace period': graceText(report) };
  const rows = moments.map(({ earliest, latest, what, source }) => [
    `${earliest} – ${latest}`,
    forMarkdown(what),
    forMarkdown(source),
  ]);
  const below = [
    ...Object.entries(facts).flatMap(([name, text]) => (text === undefined ? [] : [`- ${name}: ${forMarkdown(text)}`])),
    ...cannotTell.map((text) => `- cannot tell: ${forMarkdown(text)}`),
  ];
  const intro = [forMarkdown(`${pod.namespace}/${pod.name}, ${heading}`), ''];
  return markdownPage(summary, ['when', 'what', 'source'], rows, below, intro);
}
