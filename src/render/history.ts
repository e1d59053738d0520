/** What lines mode writes while a pod shuts down, and what scrolls by above the live view: heading, changes, log lines. */
import type { Timeline } from '../infer/timeline.ts';
import type { Probe } from '../model/observe/container.ts';
import type { Observation } from '../model/observation.ts';
import { containersOf } from '../model/pod.ts';
import { eventLines, lineLayout, logLine, type LineLayout } from './mark-line.ts';
import { createMarkPrinter, type PrintEvent } from './next-to-print.ts';
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
  /** Current columns of a line; Infinity: never wrapped. */
  readonly columns: () => number;
}

/** Its functions return lines without line feeds. */
export function createHistory(pen: Pen, { timestamps, logs, columns }: HistoryOptions) {
  const nextToPrint = createMarkPrinter();
  let zero: number | undefined;
  /** ms: when the run first saw the pod; undefined before that. */
  let firstSeenAt: number | undefined;
  let section: 'before' | 'after' | undefined;

  const layoutFor = (timeline: Timeline | undefined): LineLayout =>
    lineLayout({ pen, timestamps, width: columns() }, timeline, zero);

  /** With --attach, headings separate what happened before podexit attached from what it saw itself. */
  const sectionHeading = (event: PrintEvent, timeline: Timeline): string[] => {
    if (timeline.mode !== 'attach') return [];
    const next = event.kind === 'mark' && event.mark.at.shown < (firstSeenAt ?? 0) - attachSlackMs ? 'before' : 'after';
    if (next === section || (next === 'after' && section === undefined)) return [];
    section = next;
    return [pen.paint('dim', next === 'before' ? '  before podexit attached' : '  since podexit attached')];
  };

  const changes = (timeline: Timeline, isLast: boolean): string[] => {
    const heading = firstSeenAt === undefined ? [...headingLines(timeline, layoutFor(timeline)), ''] : [];
    firstSeenAt ??= timeline.now;
    const events = nextToPrint(timeline, isLast);
    if (events.length > 0) zero ??= timeline.zero;
    const layout = layoutFor(timeline);
    const lines = events.flatMap((event) => [
      ...sectionHeading(event, timeline),
      ...eventLines(event, timeline, layout),
    ]);
    return [...heading, ...lines];
  };

  const logged = (observation: Observation, timeline: Timeline | undefined): string[] => {
    if (!logs || observation.kind !== 'line') return [];
    const { at, container, text, skipped } = observation;
    const texts = [...(skipped ? [`(${skipped} lines left out)`] : []), ...(text === undefined ? [] : [text])];
    return texts.flatMap((line) => logLine(layoutFor(timeline), at, container, line));
  };

  return {
    /** `timeline` is undefined until the pod has been seen. */
    step: (timeline: Timeline | undefined, observation: Observation): string[] => [
      ...(timeline ? changes(timeline, false) : []),
      ...logged(observation, timeline),
    ],
    /** The lines that were still held back. */
    rest: (timeline: Timeline): string[] => changes(timeline, true),
  };
}

/** A mark that is only a little older than the run came with its first answers. */
const attachSlackMs = 1000;

/** Which pod it is, its grace period, its containers with their hooks and probes. */
export function headingLines(timeline: Timeline, { pen, timestamps, width }: LineLayout): string[] {
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
