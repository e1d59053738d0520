/**
 * Small cases: a recording or a simulated story with one change. Objects stay raw, as a server sends them, and go
 * through the same mapping and the same end as in a live run.
 */
import { plainContainer, plainStory } from '../sim/plain-story.ts';
import type { ContainerStory, Story } from '../sim/story.ts';
import { rowsOf as parsed } from '../../scripts/convert/convert.ts';
import { livedThrough } from '../../scripts/convert/end-like-live.ts';
import { narrowToPod } from '../../scripts/convert/narrow.ts';
import type { Observation, RawObservation, StreamName } from '../../src/model/observation.ts';
import type { ExitReport, MarkReport } from '../../src/model/report.ts';
import { exitReportOf } from '../../src/verdict/exit-report.ts';
import type { Report } from '../../src/verdict/report.ts';
import { mustRender, rowsOf, traceOf } from './recordings.ts';
import { simulated } from './simulated.ts';

/** A raw object with the fields that cases use. */
export interface Raw {
  [key: string]: unknown;
  metadata: Record<string, unknown> & { name: string; uid: string };
  spec: Record<string, unknown>;
  status: Record<string, unknown>;
}

const read = new Map<string, readonly RawObservation[]>();

/** All raw observations of a recording, without an end: `judged` adds it. Read once. */
export async function recorded(name: string): Promise<readonly RawObservation[]> {
  const all = read.get(name) ?? [...narrowToPod(rowsOf(name))];
  read.set(name, all);
  return all;
}

/** The raw observations of a plain story with these changes. */
export const storyObservations = (change: Partial<Story> = {}): RawObservation[] =>
  observationsDuring(plainStory(change));

export const observationsDuring = (story: Story): RawObservation[] => [...narrowToPod(parsed(simulated(story).rows))];

/** A plain story of one container. */
export const alone = (container: Partial<ContainerStory>, change: Partial<Story> = {}): Partial<Story> => ({
  containers: [plainContainer(container)],
  ...change,
});

export const observedLikeLive = (rawObservations: Iterable<RawObservation>): Observation[] =>
  [...livedThrough(rawObservations)].map(({ observation }) => observation);

const rendered = new WeakMap<readonly RawObservation[], Report>();

/** The report that renderers receive of a case that ends as a live run does. Made once: it takes most of a case's time. */
export function renderedOf(rawObservations: readonly RawObservation[]): Report {
  const report = rendered.get(rawObservations) ?? mustRender(traceOf(observedLikeLive(rawObservations)));
  rendered.set(rawObservations, report);
  return report;
}

/** The report of the case. Every cited observation must be in the list of the report. */
export function judged(rawObservations: readonly RawObservation[]): ExitReport {
  const report = exitReportOf(renderedOf(rawObservations));
  const listed = new Set(report.observations.map(({ seq }) => seq));
  const unlisted = evidenceIn(report).filter((seq) => !listed.has(seq));
  if (unlisted.length > 0) throw new Error(`cited, but not listed: ${unlisted.join(', ')}`);
  return report;
}

export const storyReport = (change: Partial<Story> = {}): ExitReport => judged(storyObservations(change));

function evidenceIn(value: unknown): number[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => (key === 'evidence' ? (item as number[]) : evidenceIn(item)));
}

/** Passes every object of a stream through `edit`. Undefined removes the raw observation or the item of a list. */
export function editing(
  rawObservations: readonly RawObservation[],
  stream: StreamName,
  edit: (object: Raw, rawObservation: RawObservation) => Raw | undefined,
): RawObservation[] {
  const change = (object: unknown, rawObservation: RawObservation) =>
    edit(structuredClone(object) as Raw, rawObservation);
  return rawObservations.flatMap((one): RawObservation[] => {
    if (one.kind === 'listed' && one.stream === stream)
      return [{ ...one, objects: one.objects.flatMap((object) => change(object, one) ?? []) }];
    if (one.kind === 'changed' && one.stream === stream) {
      const object = change(one.object, one);
      return object ? [{ ...one, object }] : [];
    }
    if (one.kind === 'answered' && stream === 'pod' && one.object !== undefined)
      return [{ ...one, object: change(one.object, one) }];
    return [one];
  });
}

/** Adds raw observations by their arrival, after those of the same millisecond. */
export const adding = (rawObservations: readonly RawObservation[], ...more: RawObservation[]): RawObservation[] =>
  [...rawObservations, ...more].sort((a, b) => a.at - b.at);

export const without = (rawObservations: readonly RawObservation[], ...streams: StreamName[]): RawObservation[] =>
  rawObservations.filter((one) => !(one.kind === 'listed' || one.kind === 'changed') || !streams.includes(one.stream));

/** The same as a deletion by another client that this run only watched. */
export const attached = (
  rawObservations: readonly RawObservation[],
  timeoutSeconds: number | null = null,
): RawObservation[] =>
  rawObservations.flatMap((one): RawObservation[] => {
    if (one.kind === 'began') return [{ ...one, mode: 'attach', timeoutSeconds }];
    return one.kind === 'requested' || one.kind === 'answered' ? [] : [one];
  });

/** The same for a run that starts at `start`: its first lists contain the state at that time. */
export function comingAt(start: number, all: readonly RawObservation[]): RawObservation[] {
  const last = changesOf(all, 'pod').findLast(({ at }) => at < start);
  const events = changesOf(all, 'events').filter(({ at }) => at < start);
  return [
    ...all.filter((one) => one.kind === 'began').map((one) => ({ ...one, at: start })),
    listed(start + 5, 'pod', last?.object),
    listed(start + 6, 'events', ...events.map(({ object }) => object)),
    ...all.filter(({ at }) => at >= start),
  ];
}

export type Change = Extract<RawObservation, { kind: 'changed' }>;

/** The watch lines of a stream, oldest first. */
export const changesOf = (
  rawObservations: readonly RawObservation[],
  stream: StreamName,
): (Change & { object: Raw })[] =>
  rawObservations.flatMap((one) =>
    one.kind === 'changed' && one.stream === stream ? [one as Change & { object: Raw }] : [],
  );

/** The first watch line with deletionTimestamp. */
export function markedIn(rawObservations: readonly RawObservation[]): Change & { object: Raw } {
  const marked = changesOf(rawObservations, 'pod').find(
    (one) => one.object.metadata['deletionTimestamp'] !== undefined,
  );
  if (!marked) throw new Error('nobody deleted the pod');
  return marked;
}

export const changed = (at: number, stream: StreamName, object: unknown, change: Change['change'] = 'MODIFIED') =>
  ({ at, kind: 'changed', stream, change, object }) satisfies RawObservation;

export const listed = (at: number, stream: StreamName, ...objects: unknown[]) =>
  ({ at, kind: 'listed', stream, resourceVersion: '1', objects }) satisfies RawObservation;

/** The time of an Event (client ms, if the clocks agree), and its count until then. */
interface Occurring {
  at: number;
  count?: number;
  firstAt?: number;
}

/** An Event of the legacy recorder: its name has the nanoseconds of the first time, its fields have whole seconds. */
export function eventOf(
  about: { kind: string; name: string; uid?: string; container?: string },
  { reason, message, component = 'kubelet' }: { reason: string; message: string; component?: string },
  { at, count = 1, firstAt = at }: Occurring,
): Raw {
  const { kind, name, uid, container } = about;
  return {
    kind: 'Event',
    metadata: {
      name: `${name}.${(BigInt(firstAt) * 1_000_000n).toString(16)}`,
      uid: `event-${name}-${reason}-${firstAt}`,
      creationTimestamp: stampOf(firstAt),
    },
    spec: {},
    status: {},
    involvedObject: {
      kind,
      name,
      ...(uid === undefined ? {} : { uid }),
      ...(container === undefined ? {} : { fieldPath: `spec.containers{${container}}` }),
    },
    reason,
    message,
    source: { component },
    reportingComponent: component,
    firstTimestamp: stampOf(firstAt),
    lastTimestamp: stampOf(at),
    count,
    type: ['Unhealthy', 'FailedPreStopHook', 'FailedKillPod'].includes(reason) ? 'Warning' : 'Normal',
  };
}

/** A timestamp of the API in whole seconds. */
export const stampOf = (at: number): string => `${new Date(Math.floor(at / 1000) * 1000).toISOString().slice(0, 19)}Z`;

/** An owner as the API returns it. */
export const ownerOf = (kind: string, name: string, change: Partial<Raw> = {}): Raw => ({
  kind,
  metadata: { name, uid: `uid-${name}`, resourceVersion: '10', generation: 1 },
  spec: {},
  status: {},
  ...change,
});

/** Adds this owner to the pod. */
export const ownedBy =
  (kind: string, name: string) =>
  (pod: Raw): Raw => ({
    ...pod,
    metadata: {
      ...pod.metadata,
      ownerReferences: [{ apiVersion: 'v1', kind, name, uid: `uid-${name}`, controller: true }],
    },
  });

export const findingCodes = ({ verdict }: ExitReport): string[] => verdict.findings.map((finding) => finding.code);

export function containerOf({ containers }: ExitReport, name = 'app') {
  const container = containers.find((one) => one.name === name);
  if (!container) throw new Error(`there is no container ${name}`);
  return container;
}

export function markOf({ marks }: ExitReport, id: string): MarkReport {
  const mark = marks.find((one) => one.id === id);
  if (!mark) throw new Error(`there is no mark ${id} among ${marks.map((one) => one.id).join(' ')}`);
  return mark;
}

/** The evidence of the trigger as text. */
export const linesOf = ({ trigger, observations }: ExitReport): string[] =>
  observations.filter(({ seq }) => trigger.evidence.includes(seq)).map(({ what }) => what);

/** Seconds from the request (or the acceptance) to an instant. */
export function after(report: ExitReport, instant: { earliest: string; latest: string } | undefined) {
  const zero = report.marks.find(({ name }) => name === 'requested' || name === 'accepted');
  if (!zero || !instant) throw new Error('there is no such instant');
  const from = (time: string) => (Date.parse(time) - Date.parse(zero.at.earliest)) / 1000;
  return { earliest: from(instant.earliest), latest: from(instant.latest) };
}
