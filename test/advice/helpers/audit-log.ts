/** Creates the audit log that the API server would have written during a recording, and asks `why` about it. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WhyReport } from '../../../src/advice/why/report.ts';
import type { ExitReport } from '../../../src/model/report.ts';
import { runMain } from '../../cli/helpers/in-process.ts';

export type AuditReport = WhyReport & { exit?: ExitReport };

/** What `why` prints about the pod from an audit log: its document, or with `words` something else. */
export function whyFrom(log: string | Buffer, pod: string, namespace: string, words = ['-o', 'json']) {
  const file = join(mkdtempSync(join(tmpdir(), 'podexit-')), 'audit.log');
  writeFileSync(file, log);
  return runMain(['why', pod, '-n', namespace, '--audit-log', file, ...words]);
}

export async function whyReportFrom(log: string | Buffer, pod: string, namespace: string): Promise<AuditReport> {
  const { code, stdout, stderr } = await whyFrom(log, pod, namespace);
  if (code !== 0 || stderr !== '') throw new Error(`exit code ${code}: ${stderr}`);
  return JSON.parse(stdout) as AuditReport;
}

interface Row {
  at: string;
  type: string;
  resource?: string;
  method?: string;
  path?: string;
  body?: Json;
  status?: number;
  event?: { type: string; object: Json };
  list?: { items: Json[] };
}
type Json = Record<string, unknown> & { metadata?: Record<string, unknown> };

/** The longest duration of a write. The deletionTimestamp shows the second of another client's DELETE. */
const handlingMs = 20;

type Level = 'Metadata' | 'Request of the kubelet' | 'RequestResponse';

/** The strategic merge patch of the status that the kubelet sent. Undefined if more than the status changed. */
function statusPatch(before: Json | undefined, after: Json): Json | undefined {
  const rest = ({ status: _status, metadata = {}, ...pod }: Json): string => {
    const { resourceVersion: _version, managedFields: _fields, ...kept } = metadata;
    return JSON.stringify([pod, kept]);
  };
  if (!before || rest(before) !== rest(after)) return undefined;
  type Status = Record<string, unknown> & { conditions?: { type: string }[] };
  const [old, now] = [before['status'] as Status, after['status'] as Status];
  const changed = Object.entries(now).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(old[key]));
  const removed = Object.keys(old).filter((key) => !(key in now));
  const known = new Set((old.conditions ?? []).map((one) => JSON.stringify(one)));
  return {
    metadata: { uid: after.metadata?.['uid'] },
    status: {
      ...Object.fromEntries([...changed, ...removed.map((key) => [key, null] as const)]),
      '$setElementOrder/conditions': (now.conditions ?? []).map(({ type }) => ({ type })),
      conditions: (now.conditions ?? []).filter((one) => !known.has(JSON.stringify(one))),
    },
  };
}

/** `Request of the kubelet`: as managed clusters do, with the kubelet's patches of the status, not their results. */
export function auditLogOf(file: string, level: Level = 'RequestResponse', withEvents = false) {
  const rows = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);
  const deleted = rows.find(
    ({ type, resource, event }) =>
      type === 'watch' && resource === 'pods' && event?.object.metadata?.['deletionTimestamp'] !== undefined,
  );
  const pod = String(deleted?.event?.object.metadata?.['name']);
  const namespace = String(deleted?.event?.object.metadata?.['namespace']);
  const uid = deleted?.event?.object.metadata?.['uid'];
  const isOwn = ({ event }: Row): boolean => event?.object.metadata?.['uid'] === uid;
  const lines: string[] = [
    JSON.stringify({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      stage: 'RequestReceived',
      verb: 'get',
      objectRef: { resource: 'pods', name: pod, namespace },
    }),
    'no JSON',
    '',
  ];
  let isFirst = true;
  let isHeld = false;
  let before: Json | undefined;
  const changes: Row[] = [];
  for (const row of rows) {
    const { type, resource, event, at } = row;
    // The log begins before the recording, so it has the writes of the listed objects.
    if (type === 'list' && (resource === 'endpointslices' || (withEvents && resource === 'pods')))
      for (const object of row.list?.items ?? [])
        changes.push({ at, type: 'watch', resource, event: { type: 'MODIFIED', object } });
    if (type !== 'watch' || !event) continue;
    changes.push(row);
  }
  for (const row of changes) {
    const { resource = '', event, at } = row;
    if (!event) continue;
    const object = {
      apiVersion: 'v1',
      kind: resource === 'pods' ? 'Pod' : resource === 'events' ? 'Event' : 'EndpointSlice',
      ...event.object,
    };
    const entry = (who: object, verb: string, subresource?: string, receivedAt = Date.parse(at) - handlingMs) => {
      const isPatch = level === 'Request of the kubelet' && subresource === 'status';
      const requestObject = isPatch ? statusPatch(before, event.object) : undefined;
      return lines.push(
        JSON.stringify({
          kind: 'Event',
          apiVersion: 'audit.k8s.io/v1',
          level,
          stage: 'ResponseComplete',
          verb,
          ...who,
          objectRef: {
            resource,
            subresource,
            namespace: event.object.metadata?.['namespace'] ?? namespace,
            name: event.object.metadata?.['name'],
            apiVersion: 'v1',
          },
          responseStatus: { code: 200 },
          requestObject,
          responseObject: level === 'Metadata' || requestObject ? undefined : object,
          // Stored shortly before the watch delivered it.
          requestReceivedTimestamp: new Date(receivedAt).toISOString().replace('Z', '000Z'),
          stageTimestamp: at.replace('Z', '000Z'),
        }),
      );
    };
    const user = { user: { username: 'kubernetes-admin' }, userAgent: 'kubectl/v1.36.2', sourceIPs: ['192.0.2.7'] };
    const kubelet = { user: { username: 'system:node:node1' }, userAgent: 'kubelet/v1.36.2', sourceIPs: ['192.0.2.1'] };
    const controller = {
      user: { username: 'system:serviceaccount:kube-system:endpointslice-controller' },
      userAgent: 'kube-controller-manager',
      sourceIPs: ['192.0.2.2'],
    };
    if (resource === 'endpointslices' && event.type !== 'DELETED') entry(controller, 'update');
    const about = (event.object['involvedObject'] as { name?: string } | undefined)?.name;
    if (withEvents && resource === 'events' && about === pod)
      entry(kubelet, event.type === 'ADDED' ? 'create' : 'patch');
    if (resource !== 'pods' || !isOwn(row)) continue;
    const { deletionTimestamp, deletionGracePeriodSeconds } = event.object.metadata ?? {};
    if (deletionTimestamp !== undefined && isFirst && event.type === 'MODIFIED') {
      isFirst = false;
      const asked = rows.find(
        (one) => one.type === 'request' && one.method === 'DELETE' && one.path?.split('?')[0]?.endsWith(`/${pod}`),
      );
      const stamped = Date.parse(deletionTimestamp as string) - Number(deletionGracePeriodSeconds) * 1000;
      entry(
        user,
        'delete',
        undefined,
        Math.min(Date.parse(asked?.at ?? at), Date.parse(at) - handlingMs, stamped + 999),
      );
    } else if (event.type === 'DELETED' && isHeld) {
      // Its last finalizer was removed.
      object.metadata = { ...object.metadata, finalizers: [] };
      entry(user, 'patch');
    } else if (event.type === 'MODIFIED' && deletionGracePeriodSeconds === 0) entry(kubelet, 'delete');
    else if (event.type === 'MODIFIED') entry(kubelet, 'patch', 'status');
    before = event.object;
    isHeld = ((event.object.metadata?.['finalizers'] as string[] | undefined) ?? []).length > 0;
  }
  return { lines, pod, namespace };
}
