/**
 * Makes the scenarios that ship inside the program from the recordings: `npx tsx scripts/trim-scenarios.ts`.
 * What is left out, no client of the traced pod would miss; what stays, is a valid object and byte for byte as recorded.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord, type KubeObject } from '../src/demo/data/kube-object.ts';
import { parseScenario, type Row, type Truth } from '../src/demo/scenario.ts';

const recordings = join(import.meta.dirname, '../test/recordings');
const scenarios = join(import.meta.dirname, '../src/demo/scenarios');

const shipped = [
  'exit-143',
  'finalizer',
  'force-delete',
  'graceful-exit',
  'kubelet-restart',
  'multi-container',
  'native-sidecar',
  'prestop-exceeds-grace',
  'prestop-fails',
  'prestop-sleep',
  'rolling-update',
  'sigkill-after-grace',
  'statefulset',
  'two-services',
];

/** A workload's status follows its pods', which are told anyway; what a client acts on is a new generation. */
const workloads = new Set(['deployments', 'replicasets']);

mkdirSync(scenarios, { recursive: true });
for (const name of shipped) {
  const text = trim(read(`${name}.ndjson`), JSON.parse(read(`${name}.truth.json`)) as Truth[]);
  writeFileSync(join(scenarios, `${name}.ndjson`), text);
  console.log(`${name}: ${(text.length / 1024).toFixed(1)} kB`);
}

function read(file: string): string {
  return readFileSync(join(recordings, file), 'utf8');
}

function trim(recording: string, truths: Truth[]): string {
  const { rows } = parseScenario(recording);
  const traced = rows.find((row) => row.type === 'log-open')?.pod;
  const seen = new Set<string>();
  const isNews = (row: Row) => row.type !== 'watch' || !workloads.has(row.resource) || isNewGeneration(row.event, seen);
  const told = truths.map((truth): Row => ({ type: 'truth', ...truth }));
  return [...rows.filter(isNews).flatMap((row) => trimRow(row, traced)), ...told]
    .map((row) => `${JSON.stringify(row)}\n`)
    .join('');
}

function isNewGeneration({ type, object }: { type: string; object: KubeObject }, seen: Set<string>): boolean {
  const { uid, generation } = object.metadata;
  const isSettled = isRecord(object.status) && object.status.observedGeneration === generation;
  const isNew = !seen.has(`${uid} ${generation} ${isSettled}`);
  seen.add(`${uid} ${generation} ${isSettled}`);
  return isNew || type !== 'MODIFIED';
}

function trimRow(row: Row, traced: string | undefined): Row[] {
  if (row.type === 'list') {
    const items = (row.list.items ?? []).filter((item) => row.resource !== 'node-events' && isAbout(item, traced));
    if (items.length === 0 && row.resource !== 'pods') return [];
    return [{ ...row, list: { ...row.list, items: items.map(trimObject) } }];
  }
  if (row.type === 'watch') {
    const { type, object } = row.event;
    if (type === 'BOOKMARK' || !isTold(object)) return [];
    return [{ ...row, event: { type, object: trimObject(object) } }];
  }
  if (row.type === 'response' && isRecord(row.body) && isRecord(row.body.metadata)) {
    return [{ ...row, body: trimObject(row.body as unknown as KubeObject) }];
  }
  return [row];
}

/** What happened to others before recording began is of no use to anyone. */
function isAbout(item: KubeObject, traced: string | undefined): boolean {
  return !isRecord(item.involvedObject) || item.involvedObject.name === traced;
}

/** Events about the node's own health are many and say nothing of a pod, but for the kubelet's start. */
function isTold(object: KubeObject): boolean {
  const about = object.involvedObject;
  return !isRecord(about) || about.kind !== 'Node' || object.reason === 'Starting';
}

function trimObject(object: KubeObject): KubeObject {
  const { managedFields, annotations, ...metadata } = object.metadata;
  const kept = Object.entries(annotations ?? {}).filter(([name]) => !name.endsWith('last-applied-configuration'));
  return {
    ...withoutServiceAccount(object),
    metadata: {
      ...metadata,
      ...(kept.length > 0 && { annotations: Object.fromEntries(kept) }),
      ...(Array.isArray(managedFields) && { managedFields: managedFields.map(withoutFields) }),
    },
  };
}

function withoutFields(entry: Record<string, unknown>): Record<string, unknown> {
  const { fieldsV1: _, fieldsType: __, ...rest } = entry;
  return rest;
}

/** The token volume that the API server adds to every pod, in its spec and in its containers' statuses. */
function withoutServiceAccount(value: unknown): Record<string, unknown> {
  return trimmed(value) as Record<string, unknown>;
}

function trimmed(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((one) => !isTokenVolume(one)).map(trimmed);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, trimmed(inner)] as const);
  return Object.fromEntries(entries.filter(([name, inner]) => !isEmptied(name, inner)));
}

function isTokenVolume(value: unknown): boolean {
  return isRecord(value) && typeof value.name === 'string' && value.name.startsWith('kube-api-access-');
}

function isEmptied(name: string, value: unknown): boolean {
  return ['volumes', 'volumeMounts'].includes(name) && Array.isArray(value) && value.length === 0;
}
