/** A raw recording in which several pods terminate, as the log of a run that attached to all of them. Pure. */
import type { Row } from '../recording/rows.ts';
import type { Sighting, StreamName } from '../model/observation.ts';
import { initialBurst, requestLag } from './raw-replay.ts';
import { cutsOf, withKind } from './raw-targets.ts';
import { marksIn, podsIn, removalsOf } from './raw-subject.ts';
import { asRaw, nameOf, namespaceOf, uidOf, type Raw } from './watched.ts';

/** Whether the recorder watched several pods end, and asked itself for the end of none, or of several. */
export function isOfSeveral(rows: readonly Row[]): boolean {
  const removed = new Set(removalsOf(rows).map(({ name }) => name));
  return removed.size !== 1 && marksIn(rows).size > 1;
}

export function* severalSightings(rows: readonly Row[]): Generator<Sighting> {
  const at = rows[0]?.at ?? 0;
  const pods = rows.flatMap(podsIn);
  const namespace = namespaceOf(pods[0] ?? {}) ?? '';
  yield {
    at,
    kind: 'began',
    mode: 'attach',
    namespace,
    name: '',
    target: namespace === '' ? 'several namespaces' : `namespace ${namespace}`,
    graceSeconds: null,
    timeoutSeconds: null,
    waitReplacement: false,
  };
  const context = { cuts: cutsOf(rows), uids: new Map<string, string>(), logs: new Map<string, number>() };
  for (const row of rows) {
    for (const pod of podsIn(row)) context.uids.set(nameOf(pod), uidOf(pod));
    yield* sightingsOf(row, context);
  }
}

interface Context {
  readonly cuts: ReturnType<typeof cutsOf>;
  /** Of the pod that has a name now. */
  readonly uids: Map<string, string>;
  /** When each log was opened (ms), by `POD/CONTAINER`. */
  readonly logs: Map<string, number>;
}

function sightingsOf(row: Row, context: Context): Iterable<Sighting> {
  const { at } = row;
  switch (row.type) {
    case 'list':
      return listed(row, context.cuts.since.get(row));
    case 'ready':
      return shared.map((stream) => ({ at, kind: 'synced', stream }));
    case 'watch': {
      const stream = streamOf(row.resource, row.object);
      // Services are listed once and never watched.
      if (!stream || stream === 'services') return [];
      return [
        {
          at,
          kind: 'changed',
          stream,
          change: row.change,
          object: withKind(row.object, { stream, resource: row.resource }),
        },
      ];
    }
    case 'watch-end':
      if (!context.cuts.lasting.has(row)) return [];
      return streamsOf(row.resource).map((stream) => ({ at, kind: 'gap', stream, from: at, cause: 'disconnected' }));
    case 'log-open':
    case 'log':
    case 'log-end':
      return ofLog(row, context);
    default:
      return [];
  }
}

type LogRow = Extract<Row, { type: 'log-open' | 'log' | 'log-end' }>;

function ofLog(row: LogRow, { logs, uids }: Context): Sighting[] {
  const { at, container } = row;
  const log = `${row.pod}/${container}`;
  const pod = uids.get(row.pod) ?? '';
  const opened = logs.get(log);
  if (row.type === 'log-open') {
    if (row.status !== 200) return [];
    logs.set(log, at);
    return [{ at, kind: 'log-opened', container, pod }];
  }
  if (opened === undefined) return [];
  if (row.type === 'log-end') return [{ at, kind: 'log-ended', container, pod, clean: true }];
  const [time = '', ...rest] = row.line.split(' ');
  return at - opened <= initialBurst ? [] : [{ at, kind: 'line', container, pod, time, text: rest.join(' ') }];
}

function* listed(row: Extract<Row, { type: 'list' }>, from: number | undefined): Generator<Sighting> {
  const { at, date, resource, objects, resourceVersion } = row;
  const sentAt = at - requestLag;
  if (date !== undefined) yield { at, kind: 'dated', sentAt, date };
  for (const stream of streamsOf(resource)) {
    if (from !== undefined) yield { at, kind: 'gap', stream, from, to: at, cause: 'disconnected' };
    const own = objects.filter((object) => streamOf(resource, object) === stream);
    yield {
      at,
      kind: 'listed',
      stream,
      resourceVersion,
      sentAt,
      objects: own.map((object) => withKind(object, { stream, resource })),
    };
  }
}

/** Of the resources that a raw recording names. */
const streams: Partial<Record<string, StreamName[]>> = {
  pods: ['pods'],
  services: ['services'],
  endpointslices: ['endpointslices'],
  events: ['events', 'owner-events'],
  'node-events': ['node-events'],
  nodes: ['node'],
  leases: ['lease'],
  replicasets: ['owner'],
  deployments: ['owner'],
  statefulsets: ['owner'],
  daemonsets: ['owner'],
  jobs: ['owner'],
  cronjobs: ['owner'],
};

const shared: readonly StreamName[] = [...new Set(Object.values(streams).flatMap((one) => one ?? []))];

const streamsOf = (resource: string): readonly StreamName[] =>
  Object.hasOwn(streams, resource) ? (streams[resource] ?? []) : [];

function streamOf(resource: string, object: Raw): StreamName | undefined {
  if (resource !== 'events') return streamsOf(resource)[0];
  const about = asRaw(object['involvedObject'] ?? object['regarding']);
  return about['kind'] === 'Pod' ? 'events' : 'owner-events';
}
