/** The options of `watch`, and which pods it is about. */
import type { JsonObject } from '../model/observe/read.ts';
import { readGroup } from '../run/choosing/read-group.ts';
import type { Group } from '../run/group/group.ts';
import type { Session } from '../run/session.ts';
import { namespaceOf, podsTarget } from '../run/streams/watched.ts';
import type { MetricsAddress } from './metrics.ts';
import type { RecordingFolder } from './destinations.ts';
import type { LookOptions } from '../output/view.ts';
import type { SeveralTarget } from '../run/choosing/target.ts';
import type { TraceOptions } from '../run/options.ts';

/** Throws what readGroup throws. */
export async function watchedGroup(session: Session, options: WatchOptions): Promise<Group> {
  const group = await unsharded(session, options);
  const { shard } = options;
  if (!shard) return group;
  const owns = (pod: JsonObject): boolean => group.owns(pod) && isInShard(namespaceOf(pod) ?? '', shard);
  return { ...group, target: `${group.target}, shard ${shard.index}/${shard.count}`, owns };
}

async function unsharded(session: Session, { target, allNamespaces }: WatchOptions): Promise<Group> {
  const namespace = allNamespaces ? '' : session.cluster.namespace;
  const selector = target?.kind === 'selector' ? target : undefined;
  if (target && !selector) return { ...(await readGroup(session, target)), isEndless: true };
  const where = allNamespaces ? 'all namespaces' : `namespace/${namespace}`;
  return {
    isOne: false,
    isEndless: true,
    target: selector?.labels ? `-l ${selector.labels} in ${where}` : where,
    namespace,
    pods: podsTarget(namespace, { labelSelector: selector?.labels, fieldSelector: selector?.fields }),
    owns: () => true,
  };
}

/** FNV-1a: the same namespace is in the same shard everywhere, and all shards get about as many. */
export function isInShard(namespace: string, { index, count }: Shard): boolean {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(namespace)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash % count === index - 1;
}

/** How exits are printed: `table` at a terminal. */
export type WatchFormat = 'table' | 'lines' | 'ndjson' | 'json';

/** A part of the namespaces: the `index`-th of `count`, counted from 1. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

export interface WatchOptions extends Pick<TraceOptions, 'connection' | 'verbosity' | 'followLogs' | 'command'> {
  /** Absent: every pod. */
  readonly target?: SeveralTarget | undefined;
  readonly allNamespaces: boolean;
  readonly format: WatchFormat;
  readonly look: LookOptions;
  readonly shard?: Shard | undefined;
  readonly metrics?: MetricsAddress | undefined;
  readonly recordings?: RecordingFolder | undefined;
  /** Send each exit as an OpenTelemetry trace. */
  readonly otlp: boolean;
  /** Post a Kubernetes Event for each exit that was not graceful. */
  readonly emitsEvents: boolean;
}
