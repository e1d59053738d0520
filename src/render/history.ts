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
  /** Show the containers' log lines, if the observations contain them. */
  readonly logs: boolean;
}

export interface History {
  /** Lines (without line feeds) of at most `width` columns. `timeline` is undefined until the pod has been seen. */
  step(timeline: Timeline | undefined, observation: Observation, width: number): string[];
  /** The lines that were still held back. */
  rest(timeline: Timeline, width: number): string[];
}

export function createHistory(pen: Pen, { timestamps, logs }: HistoryOptions): History {
  let state: PrintState = nothingPrinted;
  let zero: number | undefined;
  /** ms: when the run first saw the pod; undefined before that. */
  let firstSeenAt: number | undefined;
  let section: 'before' | 'after' | undefined;

  const layoutFor = (timeline: Timeline | undefined, width: number): LineLayout => ({
    pen,
    timestamps,
    width,
    zero,
    who: whoColumns(width, timeline?.containers.map(({ name }) => name) ?? []),
  });

  /** With --attach, headings separate what happened before podexit attached from what it saw itself. */
  const sectionHeading = (event: PrintEvent, timeline: Timeline): string[] => {
    if (timeline.mode !== 'attach') return [];
    const next = event.kind === 'mark' && event.mark.at.shown < (firstSeenAt ?? 0) - attachSlackMs ? 'before' : 'after';
    if (next === section || (next === 'after' && section === undefined)) return [];
    section = next;
    return [pen.paint('dim', next === 'before' ? '  before podexit attached' : '  since podexit attached')];
  };

  const changes = (timeline: Timeline, width: number, last: boolean): string[] => {
    const { state: next, events } = nextToPrint(state, timeline, last);
    state = next;
    if (events.length > 0) zero ??= timeline.zero;
    const layout = layoutFor(timeline, width);
    return events.flatMap((event) => [...sectionHeading(event, timeline), ...eventLines(event, timeline, layout)]);
  };

  const heading = (timeline: Timeline, width: number): string[] => {
    if (firstSeenAt !== undefined) return [];
    firstSeenAt = timeline.now;
    return [...headingLines(pen, timeline, timestamps, width), ''];
  };

  const logged = (observation: Observation, timeline: Timeline | undefined, width: number): string[] => {
    if (!logs || observation.kind !== 'line') return [];
    const { at, container, text, skipped } = observation;
    const texts = [...(skipped ? [`(${skipped} lines left out)`] : []), ...(text === undefined ? [] : [text])];
    return texts.flatMap((line) => logLine(layoutFor(timeline, width), at, container, line));
  };

  return {
    step: (timeline, observation, width) => [
      ...(timeline ? [...heading(timeline, width), ...changes(timeline, width, false)] : []),
      ...logged(observation, timeline, width),
    ],
    rest: (timeline, width) => [...heading(timeline, width), ...changes(timeline, width, true)],
  };
}

/** A mark that is only a little older than the run came with its first answers. */
const attachSlackMs = 1000;

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
  const widest = Math.max(0, ...names.map(textWidth));
  return [
    ...flow(pen, title, { width, hang: 2 }),
    ...rows.flatMap(({ name, kind, container }, index) => {
      const hook = hookText(name, timeline);
      const words = [
        ...(kind === 'sidecar' ? ['sidecar'] : []),
        hook === undefined ? 'no preStop' : `preStop ${hook}`,
        probeText(container.readinessProbe),
      ];
      const pieces = [plain('  '), piece('accent', padTo(names[index] ?? '', widest)), plain(`  ${words.join(' · ')}`)];
      return flow(pen, pieces, { width, hang: widest + 4 });
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
