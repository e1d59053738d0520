import type { Playback } from '../../../src/demo/cluster.ts';
import { forget, since } from '../../../src/demo/data/log.ts';
import type { Stream, HttpServer } from '../../../src/demo/http/exchange.ts';
import type { FaultKind, FaultOf } from './fault.ts';

export interface MomentContext {
  cluster: Playback;
  server: HttpServer;
  /** Open streams to which the fault applies. */
  streams: readonly Stream[];
  /** Streams that stay open but carry nothing any more. */
  muted: WeakSet<Stream>;
}

type Happening<K extends FaultKind['kind']> = (fault: FaultOf<K>, scene: MomentContext) => void | Promise<void>;

/** Faults that happen to the server at a moment, not to a request. */
export const atMoment: { [K in FaultKind['kind']]?: Happening<K> } = {
  drop: (_, { streams }) => streams.forEach((stream) => stream.exchange.cut()),
  silent: (_, { streams, muted }) => streams.forEach((stream) => muted.add(stream)),
  expire: (_, { streams, cluster }) => {
    expireHistory(cluster);
    streams.forEach((stream) => stream.exchange.cut());
  },
  down: async ({ forMs }, { server, cluster }) => {
    const back = cluster.sleep(forMs);
    await server.suspend();
    await back;
    await server.resume();
  },
  behind: async ({ forMs, by = 0 }, { cluster }) => {
    const { log } = cluster;
    const kept = since(log, log.compactedTo);
    const hidden = by === 0 || kept === 'expired' ? undefined : kept.at(-by);
    cluster.hideAfter(hidden === undefined ? log.revision : hidden.revision - 1);
    await cluster.sleep(forMs);
    cluster.hideAfter(Infinity);
  },
};

/** Forgets all history. Another object is written first, as in any cluster, so that no client is up to date. */
export function expireHistory(cluster: Playback): void {
  const namespace = cluster.get('namespaces', undefined, 'default');
  if (namespace !== undefined) cluster.write({ type: 'MODIFIED', resource: 'namespaces', object: namespace });
  forget(cluster.log, cluster.log.revision);
}
