/**
 * Distorts a recording like clocks and networks do, with known true instants: remote clocks have an offset and drift,
 * streams are late, lost or cut. Times in ms. The client's clock stays correct.
 */
import type { RawObservation, StreamName } from '../../src/model/observation.ts';
import { parseEventName, parseTime } from '../../src/model/stamps.ts';
import type { Truth } from '../../src/demo/scenarios.ts';
import { nanoTime } from './truth.ts';

/** A remote clock is `offset` ms ahead at the start of the recording, and drifts by `drift` ms per second. */
export interface Distortion {
  api: { offset: number; drift: number };
  node: { offset: number; drift: number };
  /** The delay of each stream, ms. */
  delay: Partial<Record<StreamName, number>>;
  without?: StreamName;
  /** Ends the logs at this client time; `clean`: like a kubelet that closes them. */
  cutLogs?: { at: number; clean: boolean };
}

/** The streams that tests delay, lose or omit. The first is that of the pod, without which there is no trace. */
export const delayedStreams: readonly StreamName[] = [
  'pod',
  'events',
  'endpointslices',
  'logs',
  'node',
  'node-events',
  'owner',
  'owner-events',
  'siblings',
];

type Json = Record<string, unknown>;
type Shift = (time: number) => number;

export function distort(
  rawObservations: readonly RawObservation[],
  { api, node, delay, without, cutLogs }: Distortion,
  truths: readonly Truth[],
): RawObservation[] {
  const start = rawObservations[0]?.at ?? 0;
  const shifted =
    (clock: { offset: number; drift: number }): Shift =>
    (time) =>
      time + clock.offset + ((time - start) / 1000) * clock.drift;
  const clocks = { api: shifted(api), node: shifted(node) };
  const seen = rawObservations
    .filter((one) => streamOf(one) === undefined || streamOf(one) !== without)
    .map((one) => ({
      ...distortStamps(one, clocks, truths),
      at: one.at + (delay[streamOf(one) ?? 'pod'] ?? 0) * Number(streamOf(one) !== undefined),
    }));
  return inTime(cutLogs ? cut(seen, cutLogs) : seen);
}

function cut(rawObservations: RawObservation[], { at, clean }: { at: number; clean: boolean }): RawObservation[] {
  const open = [...new Set(rawObservations.flatMap((one) => (one.kind === 'log-opened' ? [one.container] : [])))];
  const kept = rawObservations.filter((one) => streamOf(one) !== 'logs' || one.at < at);
  return [...kept, ...open.map((container): RawObservation => ({ at, kind: 'log-ended', container, clean }))];
}

/** Keeps the order within a stream, and sorts the streams by arrival. */
const inTime = (rawObservations: RawObservation[]): RawObservation[] =>
  rawObservations
    .map((one, index) => ({ one, index }))
    .sort((a, b) => a.one.at - b.one.at || a.index - b.index)
    .map(({ one }) => one);

function streamOf(rawObservation: RawObservation): StreamName | undefined {
  if (rawObservation.kind === 'line' || rawObservation.kind === 'log-ended' || rawObservation.kind === 'log-opened')
    return 'logs';
  return rawObservation.kind === 'listed' || rawObservation.kind === 'changed' ? rawObservation.stream : undefined;
}

interface Clocks {
  api: Shift;
  node: Shift;
}

function distortStamps(rawObservation: RawObservation, clocks: Clocks, truths: readonly Truth[]): RawObservation {
  const written = rawObservation.at;
  switch (rawObservation.kind) {
    case 'dated':
      // The server wrote the header at some time between sending and arrival.
      return { ...rawObservation, date: floor(clocks.api(written)) };
    case 'line':
      return { ...rawObservation, time: nanos(clocks.node(nanoTime(rawObservation.time))) };
    case 'listed':
      return {
        ...rawObservation,
        objects: rawObservation.objects.map((object) => distortObject(object as Json, written, clocks, truths)),
      };
    case 'changed':
      return { ...rawObservation, object: distortObject(rawObservation.object as Json, written, clocks, truths) };
    case 'answered':
      return rawObservation.object === undefined
        ? rawObservation
        : { ...rawObservation, object: distortObject(rawObservation.object as Json, written, clocks, truths) };
    default:
      return rawObservation;
  }
}

function distortObject(object: Json, written: number, clocks: Clocks, truths: readonly Truth[]): Json {
  const copy = structuredClone(object);
  const metadata = copy['metadata'] as Json;
  const isEvent = 'involvedObject' in copy;
  const kubelet = isEvent && (copy['source'] as Json | undefined)?.['component'] === 'kubelet';
  const named = isEvent ? parseEventName(String(metadata['name'])) : undefined;
  metadata['creationTimestamp'] = refloor(
    metadata['creationTimestamp'],
    named === undefined ? justBefore(written) : named + 1,
    clocks.api,
  );
  const grace = metadata['deletionGracePeriodSeconds'];
  if (typeof metadata['deletionTimestamp'] === 'string' && typeof grace === 'number')
    metadata['deletionTimestamp'] = distortDeadline(metadata['deletionTimestamp'], grace, written, clocks.api);
  const renewed = (copy['spec'] as Json | undefined)?.['renewTime'];
  const stored = typeof renewed === 'string' ? nanoTime(renewed) + 1 : justBefore(written);
  for (const entry of (metadata['managedFields'] as Json[] | undefined) ?? [])
    entry['time'] = refloor(entry['time'], stored, clocks.api);
  if (kubelet && named !== undefined) {
    const name = String(metadata['name']);
    metadata['name'] =
      `${name.slice(0, name.lastIndexOf('.'))}.${BigInt(Math.round(clocks.node(named) * 1000) * 1000).toString(16)}`;
    const only = copy['count'] === 1 ? named : undefined;
    copy['firstTimestamp'] = refloor(copy['firstTimestamp'], named, clocks.node);
    copy['lastTimestamp'] = refloor(copy['lastTimestamp'], only ?? justBefore(written), clocks.node);
  }
  for (const list of ['initContainerStatuses', 'containerStatuses'])
    for (const status of ((copy['status'] as Json | undefined)?.[list] as Json[] | undefined) ?? [])
      distortStatus(status, written, clocks, truths);
  if (typeof renewed === 'string') (copy['spec'] as Json)['renewTime'] = nanos(clocks.node(nanoTime(renewed)));
  return copy;
}

function distortStatus(status: Json, written: number, clocks: Clocks, truths: readonly Truth[]): void {
  const state = status['state'] as Record<string, Json> | undefined;
  const exited = truths.find((truth) => truth.container === status['name'])?.exited;
  for (const one of Object.values(state ?? {}))
    one['startedAt'] = refloor(one['startedAt'], justBefore(written), clocks.node);
  const terminated = state?.['terminated'];
  if (!terminated) return;
  const stamp = parseTime(String(terminated['finishedAt']));
  const truth = exited === undefined ? undefined : nanoTime(exited);
  const isMine = truth !== undefined && stamp !== undefined && Math.abs(truth - stamp) < 1000;
  terminated['finishedAt'] = refloor(terminated['finishedAt'], isMine ? truth : justBefore(written), clocks.node);
}

/** deletionTimestamp − grace is the rounded-down time of acceptance: assume just before the report, in that second. */
function distortDeadline(deadline: string, grace: number, written: number, api: Shift): string {
  const asked = iso((parseTime(deadline) ?? 0) - grace * 1000);
  return iso((parseTime(String(refloor(asked, justBefore(written), api))) ?? 0) + grace * 1000);
}

/** The time of a stamp whose true time is unknown: as late as its second and its arrival at `written` allow. */
const justBefore = (written: number): number => written - 4;

/** Moves a stamp in whole seconds, from the time in its second that is nearest to `guess`. */
function refloor(stamp: unknown, guess: number, shift: Shift): unknown {
  const time = typeof stamp === 'string' ? parseTime(stamp) : undefined;
  return time === undefined ? stamp : iso(floor(shift(Math.min(Math.max(time, guess), time + 999))));
}

const floor = (time: number): number => Math.floor(time / 1000) * 1000;
const iso = (time: number): string => new Date(time).toISOString().replace('.000Z', 'Z');
const nanos = (time: number): string =>
  `${new Date(Math.floor(time)).toISOString().slice(0, -1)}${String(Math.round((time % 1) * 1e6) % 1e6).padStart(6, '0')}Z`;
