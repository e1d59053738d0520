/** Exits as lines: for people, and as JSON for programs. */
import { printTime } from '../model/stamps.ts';
import { jsonText, renderJson } from '../output/machine/json.ts';
import type { Pen } from '../output/palette.ts';
import { flow, piece, plain, type Piece } from '../output/prose.ts';
import { forTerminal } from '../output/safe-text.ts';
import { iconOf } from '../output/text/card.ts';
import { clockText, type Timestamps } from '../output/time-text.ts';
import { exitReportOf } from '../verdict/exit-report.ts';
import type { Report } from '../verdict/report.ts';
import type { ContainerEnd } from './container-ends.ts';
import { isFine, workloadOfPod } from './exit-counts.ts';

/** What a watch tells as it goes on. */
export type WatchedExit =
  { readonly kind: 'pod'; readonly report: Report } | { readonly kind: 'container'; readonly end: ContainerEnd };

/** A stretch of client time (ms) in which something was not observed. */
export interface WatchGap {
  readonly streams: readonly string[];
  readonly from: number;
  readonly to: number;
}

/** `23:04:31.2  shop/checkout-258qr  ✖ SIGKILLed: …`; `columns`: the line is broken there. */
export function exitLines(pen: Pen, exit: WatchedExit, timestamps: Timestamps, columns = Infinity): string[] {
  const { at, pod } = exit.kind === 'pod' ? { ...exit.report.timeline, at: exit.report.timeline.now } : exit.end;
  const words = exit.kind === 'pod' ? exit.report.answer.summary : endText(exit.end);
  const icon = exit.kind === 'pod' ? iconOf(exit.report) : iconOfEnd(exit.end);
  const { namespace = '', name } = pod.metadata;
  const pieces: Piece[] = [
    piece('dim', `${clockText(at, 1, timestamps === 'relative' ? 'utc' : timestamps)}  `),
    piece('accent', forTerminal(`${namespace}/${name}`)),
    plain('  '),
    piece(icon.ink, pen.symbol(icon.symbol)),
    plain(` ${forTerminal(words, 1000)}`),
  ];
  return flow(pen, pieces, { width: columns, hang: 2 });
}

const iconOfEnd = ({ outcome }: ContainerEnd) =>
  isFine(outcome)
    ? ({ symbol: 'info', ink: 'dim' } as const)
    : ({ symbol: outcome === 'unknown' ? 'unknown' : 'bad', ink: outcome === 'unknown' ? 'warning' : 'bad' } as const);

/** `Container app restarted: OOMKilled (exit 137), restart 4`. */
function endText({ container, outcome, trigger, exitCode, reason, restarts }: ContainerEnd): string {
  const how = { oom: 'OOMKilled', killed: 'SIGKILLed', unknown: 'its exit was not seen' } as const;
  const words = outcome in how ? how[outcome as keyof typeof how] : exitCode === 0 ? 'completed' : 'exited';
  const code = exitCode === undefined ? '' : ` (exit ${exitCode})`;
  const why = {
    'liveness-probe': ' after its liveness probe failed',
    'startup-probe': ' after its startup probe failed',
    'kubelet-eviction': ': the kubelet ended its pod',
    restart: '',
    finished: '',
  }[trigger];
  const again = trigger === 'finished' || trigger === 'kubelet-eviction' ? '' : `, ${restarts} restarts so far`;
  const other = reason === undefined || ['OOMKilled', 'Error', 'Completed'].includes(reason) ? '' : `, ${reason}`;
  return `Container ${container} ${words}${code}${why}${other}${again}`;
}

/** A line of `-o ndjson`. */
export const jsonLine = (type: string, about: object): string => `${jsonText({ type, ...about })}\n`;

/** One document of `-o json`, as `kubectl get --watch -o json` prints them: one after the other. */
export const jsonDocument = (kind: string, about: object): string =>
  renderJson({ apiVersion: 'podexit/v1', kind, ...about });

export const exitLine = (exit: WatchedExit): string =>
  exit.kind === 'pod'
    ? jsonLine('report', { report: exitReportOf(exit.report) })
    : jsonLine('container-end', endOf(exit.end));

export const exitDocument = (exit: WatchedExit): string =>
  exit.kind === 'pod' ? renderJson(exitReportOf(exit.report)) : jsonDocument('ContainerEnd', endOf(exit.end));

function endOf({ pod, at, container, outcome, trigger, exitCode, reason, restarts }: ContainerEnd): object {
  const { namespace = '', name, uid } = pod.metadata;
  const { workload } = workloadOfPod(pod);
  return {
    at: printTime(at, 'earlier'),
    pod: { namespace, name, uid },
    workload,
    container,
    outcome,
    trigger,
    exitCode,
    reason,
    restarts,
  };
}

export const gapLine = ({ streams, from, to }: WatchGap): string =>
  jsonLine('watch-gap', { streams, from: printTime(from, 'earlier'), to: printTime(to, 'later') });

/** For stderr. */
export function gapText({ streams, from, to }: WatchGap, timestamps: Timestamps): string {
  const [since, until] = [from, to].map((at) => clockText(at, 0, timestamps === 'relative' ? 'utc' : timestamps));
  const lost = streams.includes('pods')
    ? 'exits in that time may be missing'
    : 'exits in that time are known less exactly';
  return `not observed from ${since} to ${until}: ${streams.join(', ')}; ${lost}`;
}
