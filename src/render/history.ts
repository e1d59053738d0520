/** What lines mode writes while a pod shuts down, and what scrolls by above the live view: heading, changes, log lines. */
import type { Timeline } from '../infer/timeline.ts';
import type { Probe } from '../model/observe/container.ts';
import type { Observation } from '../model/observation.ts';
import { containersOf } from '../model/pod.ts';
import { eventLines, logLine, whoColumns, type LineLayout } from './mark-line.ts';
import { nextToPrint, nothingPrinted, type PrintEvent, type PrintState } from './next-to-print.ts';
import { hookText } from './mark-text.ts';
import type { Pen } from './palette.ts';
import { graceText, ownerText, podText } from './pod-facts.ts';
import { dim, flow, padTo, piece, plain, shorten, textWidth } from './prose.ts';
import { forTerminal } from './safe-text.ts';
import { dayText, type Timestamps } from './time-text.ts';

export interface HistoryOptions {
  readonly timestamps: Timestamps;
  /** Show the containers' log lines, where the observations hold them. */
  readonly logs: boolean;
}

export interface History {
  /** Lines (without line feeds) of at most `width` columns. `timeline` is undefined while the pod has not been seen. */
  step(timeline: Timeline | undefined, observation: Observation, width: number): string[];
  /** What was still held back. */
  rest(timeline: Timeline, width: number): string[];
}

export function createHistory(pen: Pen, { timestamps, logs }: HistoryOptions): History {
  let state: PrintState = nothingPrinted;
  let zero: number | undefined;
  /** ms: when the run began to look; undefined before that. */
  let since: number | undefined;
  let place: 'before' | 'after' | undefined;

  const layoutFor = (timeline: Timeline | undefined, width: number): LineLayout => ({
    pen,
    timestamps,
    width,
    zero,
    who: whoColumns(width, timeline?.containers.map(({ name }) => name) ?? []),
  });

  /** Headings part what happened before podexit attached from what it saw itself. */
  const parted = (event: PrintEvent, timeline: Timeline): string[] => {
    if (timeline.mode !== 'attach') return [];
    const next = event.kind === 'mark' && event.mark.at.shown < (since ?? 0) - longBefore ? 'before' : 'after';
    if (next === place || (next === 'after' && place === undefined)) return [];
    place = next;
    return [pen.paint('dim', next === 'before' ? '  before podexit attached' : '  since podexit attached')];
  };

  const changes = (timeline: Timeline, width: number, last: boolean): string[] => {
    const { state: next, events } = nextToPrint(state, timeline, last);
    state = next;
    if (events.length > 0) zero ??= timeline.zero;
    const layout = layoutFor(timeline, width);
    return events.flatMap((event) => [...parted(event, timeline), ...eventLines(event, timeline, layout)]);
  };

  const heading = (timeline: Timeline, width: number): string[] => {
    if (since !== undefined) return [];
    since = timeline.now;
    return [...headingLines(pen, timeline, timestamps, width), ''];
  };

  const logged = (observation: Observation, timeline: Timeline | undefined, width: number): string[] => {
    if (!logs || observation.kind !== 'line') return [];
    const { at, container, text, skipped } = observation;
    const texts = [...(skipped ? [`(${skipped} lines left out)`] : []), ...(text === undefined ? [] : [text])];
    return texts.flatMap((one) => logLine(layoutFor(timeline, width), at, container, one));
  };

  return {
    step: (timeline, observation, width) => [
      ...(timeline ? [...heading(timeline, width), ...changes(timeline, width, false)] : []),
      ...logged(observation, timeline, width),
    ],
    rest: (timeline, width) => [...heading(timeline, width), ...changes(timeline, width, true)],
  };
}

/** ms; what is only a little older than the run came with its first answers. */
const longBefore = 1000;

/** Which pod it is, its grace period, its containers with their hooks and probes. */
export function headingLines(pen: Pen, timeline: Timeline, timestamps: Timestamps, width: number): string[] {
  const { pod, now } = timeline;
  const facts = [
    ownerText(timeline),
    pod.spec.nodeName === undefined ? 'not scheduled' : `node ${pod.spec.nodeName}`,
    `grace period ${graceText(timeline)}`,
    pod.spec.runtimeClassName === undefined ? undefined : `runtime class ${pod.spec.runtimeClassName}`,
    timestamps === 'relative' ? undefined : dayText(now, timestamps),
  ];
  const title = [
    piece('strong', forTerminal(podText(timeline))),
    dim(facts.flatMap((fact) => (fact === undefined ? [] : ` · ${forTerminal(fact)}`)).join('')),
  ];
  const rows = containersOf(pod).filter(({ kind }) => kind === 'container' || kind === 'sidecar');
  const names = rows.map(({ name }) => shorten(pen, forTerminal(name), 24));
  const wide = Math.max(0, ...names.map(textWidth));
  return [
    ...flow(pen, title, { width, hang: 2 }),
    ...rows.flatMap(({ name, kind, container }, index) => {
      const hook = hookText(name, timeline);
      const words = [
        ...(kind === 'sidecar' ? ['sidecar'] : []),
        hook === undefined ? 'no preStop' : `preStop ${hook}`,
        probeText(container.readinessProbe),
      ];
      const pieces = [plain('  '), piece('accent', padTo(names[index] ?? '', wide)), plain(`  ${words.join(' · ')}`)];
      return flow(pen, pieces, { width, hang: wide + 4 });
    }),
  ];
}

function probeText(probe: Probe | undefined): string {
  if (!probe) return 'no readiness probe';
  if (probe.exec) return 'readiness exec';
  const [kind, port] = probe.tcpSocket
    ? ['tcp', probe.tcpSocket.port]
    : probe.httpGet
      ? ['http', probe.httpGet.port]
      : ['grpc', probe.grpc?.port];
  return port === undefined ? `readiness ${kind}` : `readiness ${kind} :${port}`;
}
