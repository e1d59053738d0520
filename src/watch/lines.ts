/** Exits and gaps as lines: for people, and as JSON for programs. */
import { printTime } from '../model/stamps.ts';
import { jsonText, renderJson } from '../output/machine/json.ts';
import type { Pen } from '../output/palette.ts';
import { iconOf } from '../output/text/card.ts';
import { endedLines } from '../output/text/rollout-card.ts';
import { clockText, type Timestamps } from '../output/time-text.ts';
import { exitReportOf } from '../verdict/exit-report.ts';
import type { Report } from '../verdict/report.ts';
import { plural } from '../verdict/words.ts';
import type { ContainerEnd, EndTrigger } from './container-ends.ts';
import words from './data/words.json' with { type: 'json' };
import { isFine, workloadOfPod, type Droppable, type PlaceOfExit } from './counts.ts';
import type { Observation } from '../model/observation.ts';
import type { Clock } from '../output/ports.ts';

/** What a watch tells as it goes on. */
export type WatchedExit =
  ReturnType<typeof exitOfPod> | ({ readonly kind: 'container'; readonly place: PlaceOfExit } & ContainerEnd);

export function exitOfPod(report: Report) {
  const { pod, workload, now: at, trigger } = report.timeline;
  const { outcome } = report.verdict;
  return { kind: 'pod', at, pod, report, outcome, trigger: trigger.kind, place: workloadOfPod(pod, workload) } as const;
}

/** Who is told as a watch goes on: its counts, metrics and view, and what it sends. */
export interface WatchListener {
  exit?(exit: WatchedExit): void;
  /** A pod is gone, and its termination was not observed. */
  unseen?(place: PlaceOfExit): void;
  gap?(gap: WatchGap): void;
  /** `why`: said once, of each `what`. */
  dropped?(what: Droppable, why?: string): void;
  /** The Service had no ready endpoint for so many further ms. */
  noReady?(namespace: string, service: string, ms: number): void;
}

/** A stretch of client time (ms) in which something was not observed. */
export interface WatchGap {
  readonly streams: readonly string[];
  readonly from: number;
  readonly to: number;
}

/** `23:04:31.2  shop/checkout-258qr  ✖ SIGKILLed: …`; `columns`: the line is broken there. */
export function exitLines(pen: Pen, exit: WatchedExit, timestamps: Timestamps, columns = Infinity): string[] {
  const words = exit.kind === 'pod' ? exit.report.answer.summary : endText(exit);
  const icon = exit.kind === 'pod' ? iconOf(exit.report) : iconOfEnd(exit);
  const { namespace = '', name } = exit.pod.metadata;
  const time = `${clockText(exit.at, 1, timestamps)}  `;
  return endedLines(pen, time, `${namespace}/${name}`, icon, words, columns);
}

const iconOfEnd = ({ outcome }: ContainerEnd) =>
  isFine(outcome)
    ? ({ symbol: 'info', ink: 'dim' } as const)
    : ({ symbol: outcome === 'unknown' ? 'unknown' : 'bad', ink: outcome === 'unknown' ? 'warning' : 'bad' } as const);

function endText({ container, outcome, trigger, exitCode, reason, restarts }: ContainerEnd): string {
  const how = { oom: 'OOMKilled', killed: 'SIGKILLed', unknown: 'its exit was not seen' } as const;
  const said = outcome in how ? how[outcome as keyof typeof how] : exitCode === 0 ? 'completed' : 'exited';
  const code = exitCode === undefined ? '' : ` (exit ${exitCode})`;
  const why: Partial<Record<EndTrigger, string>> = words.ends;
  const again = ['finished', 'kubelet-eviction', 'deadline'].includes(trigger)
    ? ''
    : `, ${plural(restarts, 'restart')} so far`;
  const other = reason === undefined || ['OOMKilled', 'Error', 'Completed'].includes(reason) ? '' : `, ${reason}`;
  return `Container ${container} ${said}${code}${why[trigger] ?? ''}${other}${again}`;
}

export const jsonLine = (type: string, about: object): string => `${jsonText({ type, ...about })}\n`;

/** The same as a document of `-o json`, as `kubectl get --watch -o json` prints them: `watch-gap` is of kind `WatchGap`. */
export function jsonDocument(type: string, about: object): string {
  const kind = type.replace(/\b-?./g, (one) => one.slice(-1).toUpperCase());
  return renderJson({ apiVersion: 'podexit/v1', kind, ...about });
}

export function exitDocument(exit: WatchedExit, print: typeof jsonLine): string {
  const { namespace, workload } = exit.place;
  if (exit.kind === 'pod') {
    const report = exitReportOf(exit.report);
    return print === jsonLine ? jsonLine('report', { workload, report }) : renderJson(report);
  }
  const { container, outcome, trigger, exitCode, reason, restarts } = exit;
  const end = { workload, container, outcome, trigger, exitCode, reason, restarts };
  const { name, uid } = exit.pod.metadata;
  return print('container-end', { at: printTime(exit.at, 'earlier'), pod: { namespace, name, uid }, ...end });
}

export function gapText({ streams, from, to }: WatchGap, timestamps: Timestamps): string {
  const [since, until] = [from, to].map((at) => clockText(at, 0, timestamps));
  const are = streams.includes('pods') ? 'may be missing' : 'are known less exactly';
  return `not observed from ${since} to ${until}: ${streams.join(', ')}; exits in that time ${are}`;
}

/** ms by which gaps of several streams may differ and are told as one: an API server's restart begins and ends all of them. */
const togetherMs = 2000;

const streamNames: Readonly<Record<string, string>> = words.streams;

/** Collects the stretches in which a stream was lost for good: what happened then is not known. */
export function createGaps(clock: Clock, onGap: (gap: WatchGap) => void) {
  let waiting: WatchGap[] = [];
  let cancel = (): void => {};
  const flush = (): void => {
    cancel();
    waiting.splice(0).forEach(onGap);
  };
  return {
    take(o: Observation): void {
      // Those of one pod are in its report. At the end, another stream may only not have confirmed that it has sent all.
      if (o.kind !== 'gap' || o.pod !== undefined || (o.to === undefined && o.stream !== 'pods')) return;
      const name = streamNames[o.stream.replace(/^.*-/, '')];
      if (name === undefined) return;
      // A stream that is still lost when the watch ends has missed what happened until then.
      const { from, to = o.at } = o;
      const isNear = (gap: WatchGap): boolean =>
        Math.max(Math.abs(gap.from - from), Math.abs(gap.to - to)) <= togetherMs;
      const known = waiting.find(isNear) ?? { streams: [], from, to };
      const streams = [...new Set([...known.streams, name])];
      const joined = { streams, from: Math.min(known.from, from), to: Math.max(known.to, to) };
      waiting = [...waiting.filter((gap) => gap !== known), joined];
      cancel();
      cancel = clock.setTimeout(flush, togetherMs);
    },
    flush,
  };
}
