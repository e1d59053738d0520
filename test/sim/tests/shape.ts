/**
 * The observable order and shape of a recording, real or simulated: the changes that a client sees in each stream, and
 * their order across streams unless it is a race.
 */
import type { ContainerStatus, Pod } from '../objects.ts';
import type { RecordedRow } from '../rows.ts';

interface Token {
  at: number;
  text: string;
}

interface Shape {
  pod: string[];
  successors: string[];
  slices: Record<string, string[]>;
  events: string[];
  nodeEvents: string[];
  requests: string[];
  logs: Record<string, string[]>;
  /** Across streams: changes within `raceMs` are one step without an order. */
  steps: string[][];
}

const raceMs = 100;

export function shapeOf(rows: readonly RecordedRow[], name: string): Shape {
  const pod = podTokens(rows, name);
  const slices = sliceTokens(rows, name);
  const events = eventTokens(rows, name);
  const text = (tokens: readonly Token[]): string[] => tokens.map((token) => token.text);
  return {
    pod: text(pod),
    successors: successorTokens(rows, name),
    slices: Object.fromEntries([...slices].map(([service, tokens]) => [service, text(tokens)])),
    events: text(events).sort(),
    nodeEvents: nodeEvents(rows),
    requests: requests(rows, (pod.at(-1)?.at ?? 0) + raceMs),
    logs: logs(rows),
    steps: steps([
      ...pod,
      ...events.filter((token) => !token.text.startsWith('TaintManagerEviction')),
      ...[...slices.values()].flat(),
    ]),
  };
}

const watchesOf = (rows: readonly RecordedRow[], resource: string) =>
  rows
    .flatMap((row) => (row.type === 'watch' && row.resource === resource ? [row] : []))
    .filter((row) => (row.event.type as string) !== 'BOOKMARK');

const time = (row: { at: string }): number => Date.parse(row.at);

const listed = (rows: readonly RecordedRow[], resource: string): unknown[] =>
  rows.flatMap((row) => (row.type === 'list' && row.resource === resource ? (row.list.items as unknown[]) : []));

const startOf = (rows: readonly RecordedRow[]): number => {
  const request = rows.find((row) => row.type === 'request');
  return request && 'at' in request ? Date.parse(request.at) : 0;
};

/** Important changes of the traced pod, from the request on. */
function podTokens(rows: readonly RecordedRow[], name: string): Token[] {
  const first = listed(rows, 'pods').find((pod) => (pod as Pod).metadata.name === name) as Pod;
  let before = first;
  const tokens: Token[] = [];
  for (const row of watchesOf(rows, 'pods')) {
    const pod = row.event.object as unknown as Pod;
    if (pod.metadata.uid !== first.metadata.uid) continue;
    const facts = row.event.type === 'DELETED' ? ['deleted'] : differences(before, pod);
    before = pod;
    if (facts.length > 0 && time(row) >= startOf(rows))
      tokens.push({ at: time(row), text: `pod: ${facts.join(', ')}` });
  }
  return tokens;
}

function differences(before: Pod, after: Pod): string[] {
  const [old, now] = [factsOf(before), factsOf(after)];
  return Object.keys(now).flatMap((key) => (now[key] === old[key] ? [] : [`${key} ${now[key]}`]));
}

function factsOf({ metadata, status }: Pod): Record<string, string> {
  const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  const conditions = (status.conditions ?? []).map(({ type, status: is, reason }) => [type, `${is} ${reason ?? ''}`]);
  return {
    terminating: String(metadata.deletionTimestamp !== undefined),
    grace: String(metadata.deletionGracePeriodSeconds),
    generation: String(metadata.generation),
    observed: String(status.observedGeneration),
    finalizers: String(metadata.finalizers),
    phase: status.phase,
    ...Object.fromEntries(statuses.map((one) => [one.name, stateOf(one)])),
    ...(Object.fromEntries(conditions) as Record<string, string>),
  };
}

function stateOf({ state, ready }: ContainerStatus): string {
  const end = state.terminated as { exitCode: number; reason: string } | undefined;
  const kind = end ? `ended ${end.exitCode} ${end.reason}` : Object.keys(state)[0];
  return `${kind} ${ready ? 'ready' : 'unready'}`;
}

/** The changes that a client sees in other pods that were created later. */
function successorTokens(rows: readonly RecordedRow[], name: string): string[] {
  const known = new Set(listed(rows, 'pods').map((pod) => (pod as Pod).metadata.uid));
  const all = watchesOf(rows, 'pods').flatMap((row) => {
    const pod = row.event.object as unknown as Pod;
    if (known.has(pod.metadata.uid) || pod.metadata.name === 'urgent-0') return [];
    const sameName = pod.metadata.name === name ? 'same name' : 'other name';
    const states = (pod.status.containerStatuses ?? []).map(stateOf).join();
    return [`${row.event.type} ${sameName} ${pod.status.phase} ${states}`];
  });
  // A kubelet may leave out a patch in between.
  return all.filter((text, index) => text !== all[index - 1]);
}

function sliceTokens(rows: readonly RecordedRow[], name: string): Map<string, Token[]> {
  const uid = (listed(rows, 'pods').find((pod) => (pod as Pod).metadata.name === name) as Pod).metadata.uid;
  type Slice = {
    metadata: Pod['metadata'];
    endpoints: { targetRef: { uid: string }; conditions: Record<string, boolean> }[] | null;
  };
  const stateOfSlice = (slice: Slice): string => {
    const mine = slice.endpoints?.find((endpoint) => endpoint.targetRef.uid === uid)?.conditions;
    return mine ? `ready ${mine.ready} serving ${mine.serving} terminating ${mine.terminating}` : 'absent';
  };
  const serviceOf = (slice: Slice): string => slice.metadata.labels?.['kubernetes.io/service-name'] ?? '';
  const last = new Map<string, string>();
  for (const slice of listed(rows, 'endpointslices') as Slice[]) last.set(serviceOf(slice), stateOfSlice(slice));
  const tokens = new Map<string, Token[]>([...last.keys()].map((service) => [service, []]));
  for (const row of watchesOf(rows, 'endpointslices')) {
    const slice = row.event.object as unknown as Slice;
    const [service, state] = [serviceOf(slice), stateOfSlice(slice)];
    if (last.get(service) === state) continue;
    last.set(service, state);
    if (time(row) >= startOf(rows)) tokens.get(service)?.push({ at: time(row), text: `${service}: ${state}` });
  }
  return tokens;
}

/** Reasons of Events about the exit; a real cluster also reports mounts and starts. */
const exitReasons = [
  'Killing',
  'FailedPreStopHook',
  'FailedKillPod',
  'Unhealthy',
  'Preempted',
  'TaintManagerEviction',
  'NodeNotReady',
];

interface EventObject {
  reason: string;
  message: string;
  type: string;
  involvedObject: { kind: string; name: string; uid?: string; fieldPath?: string };
  source: { component: string };
}

function eventTokens(rows: readonly RecordedRow[], name: string): Token[] {
  return watchesOf(rows, 'events').flatMap((row) => {
    const event = row.event.object as unknown as EventObject;
    const { involvedObject: about, reason } = event;
    if (about.name !== name || !exitReasons.includes(reason) || event.message.startsWith('Cancelling')) return [];
    const named = about.uid === undefined ? 'without uid' : 'with uid';
    const text = `${reason} ${event.type} ${about.fieldPath ?? ''} ${named} ${event.source.component}`;
    return [{ at: time(row), text }];
  });
}

const nodeEvents = (rows: readonly RecordedRow[]): string[] =>
  watchesOf(rows, 'node-events').flatMap((row) => {
    const { reason, source } = row.event.object as unknown as EventObject;
    const relevant =
      reason === 'Starting' ||
      (reason === 'NodeNotReady' && source.component === 'node-controller') ||
      reason === 'NodeReady';
    return relevant ? [`${reason} ${source.component}`] : [];
  });

/** Requests until the pod is gone. */
const requests = (rows: readonly RecordedRow[], end: number): string[] =>
  rows.flatMap((row) => {
    if (!('at' in row) || time(row) > end) return [];
    if (row.type === 'request') return [`${row.method} ${row.path.split('/').slice(0, -1).at(-1)}`];
    return row.type === 'response' ? [`${row.status} ${String(row.body.kind)}`] : [];
  });

/** The lines of each container's log that could be followed, with its opening and its end. */
function logs(rows: readonly RecordedRow[]): Record<string, string[]> {
  const streams: Record<string, string[]> = {};
  for (const row of rows) {
    if (row.type !== 'log-open' && row.type !== 'log' && row.type !== 'log-end') continue;
    if (row.type === 'log-open' ? row.status !== 200 : !streams[row.container]) continue;
    const text = row.type === 'log' ? row.line.slice(row.line.indexOf(' ') + 1) : row.type;
    (streams[row.container] ??= []).push(text);
  }
  return streams;
}

function steps(tokens: readonly Token[]): string[][] {
  const ordered = [...tokens].sort((a, b) => a.at - b.at);
  const found: { at: number; texts: string[] }[] = [];
  for (const { at, text } of ordered) {
    const last = found.at(-1);
    if (last && at - last.at <= raceMs) last.texts.push(text);
    else found.push({ at, texts: [text] });
  }
  return found.map((step) => step.texts.sort());
}
