import type { Kind } from '../data/kinds.ts';
import { numberAt, recordsAt, textAt, type KubeObject } from '../data/kube-object.ts';
import type { KubeRequest } from '../http/api-request.ts';

/** Whether the client wants what `kubectl get` prints (`Accept: application/json;as=Table;…`). */
export const wantsTable = ({ headers }: Pick<KubeRequest, 'headers'>): boolean =>
  /\bas=Table\b/.test(String(headers.accept ?? ''));

/** A meta.k8s.io/v1 Table with a row for each object; `now` in milliseconds of the API server's clock. */
export function tableOf(kind: Kind, objects: readonly KubeObject[], now: number, metadata: object = {}): object {
  const columns = columnsOf[kind.plural] ?? [nameColumn, ageColumn];
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: columns.map(({ name, priority = 0 }) => ({
      name,
      type: name === 'Restarts' ? 'integer' : 'string',
      format: name === 'Name' ? 'name' : '',
      description: '',
      priority,
    })),
    rows: objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object, now)),
      object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata },
    })),
  };
}

interface Column {
  name: string;
  /** Columns with 1 are printed with `-o wide` only. */
  priority?: 1;
  cell: (object: KubeObject, now: number) => string | number;
}

const nameColumn: Column = { name: 'Name', cell: ({ metadata }) => metadata.name };
const ageColumn: Column = { name: 'Age', cell: ({ metadata }, now) => ageOf(metadata.creationTimestamp, now) };

/** As in `kubernetes/pkg/printers/internalversion/printers.go`, for the kinds that a demo shows. */
const columnsOf: Record<string, Column[]> = {
  pods: [
    nameColumn,
    {
      name: 'Ready',
      cell: (pod) =>
        `${statusesOf(pod).filter((one) => one.ready === true).length}/${recordsAt(pod, 'spec.containers').length}`,
    },
    { name: 'Status', cell: podStatus },
    { name: 'Restarts', cell: (pod) => statusesOf(pod).reduce((sum, one) => sum + Number(one.restartCount ?? 0), 0) },
    ageColumn,
    { name: 'IP', priority: 1, cell: (pod) => textAt(pod, 'status.podIP') },
    { name: 'Node', priority: 1, cell: (pod) => textAt(pod, 'spec.nodeName') },
  ],
  deployments: [
    nameColumn,
    { name: 'Ready', cell: (one) => `${numberAt(one, 'status.readyReplicas')}/${numberAt(one, 'spec.replicas')}` },
    { name: 'Up-to-date', cell: (one) => String(numberAt(one, 'status.updatedReplicas')) },
    { name: 'Available', cell: (one) => String(numberAt(one, 'status.availableReplicas')) },
    ageColumn,
  ],
  events: [
    { name: 'Last Seen', cell: (event, now) => ageOf(textAt(event, 'lastTimestamp'), now) },
    { name: 'Type', cell: (event) => textAt(event, 'type') },
    { name: 'Reason', cell: (event) => textAt(event, 'reason') },
    { name: 'Object', cell: (event) => involvedObject(event) },
    { name: 'Message', cell: (event) => textAt(event, 'message') },
  ],
};

const involvedObject = (event: KubeObject): string =>
  `${textAt(event, 'involvedObject.kind').toLowerCase()}/${textAt(event, 'involvedObject.name')}`;

const statusesOf = (pod: KubeObject) => recordsAt(pod, 'status.containerStatuses');

/** The column STATUS: a deletion goes before a container's reason, which goes before the phase. */
function podStatus(pod: KubeObject): string {
  const phase = textAt(pod, 'status.phase');
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  if (pod.metadata.deletionTimestamp !== undefined && !isOver) return 'Terminating';
  const reasons = statusesOf(pod).map(
    ({ state }) => textAt(state, 'waiting.reason') || textAt(state, 'terminated.reason'),
  );
  return reasons.find((reason) => reason !== '') ?? (textAt(pod, 'status.reason') || phase);
}

/** `5s`, `3m`, `2h`, `4d`, as kubectl shortens an age. */
function ageOf(timestamp: string | undefined, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(timestamp ?? '')) / 1000));
  if (Number.isNaN(seconds)) return '<unknown>';
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
