import type { Cluster } from '../cluster.ts';
import type { Exchange, Stream } from '../http/exchange.ts';
import type { HttpServer } from '../http/server.ts';
import type { Fault } from './fault.ts';

export interface Faults {
  around: (exchange: Exchange, serve: () => Promise<void>) => Promise<void>;
  outgoing: (stream: Stream, line: string, send: (line: string) => void) => void;
  expiredAs(): 'frame' | 'status';
  start(server: HttpServer): void;
  stop(): void;
}
export function createFaults(_faults: readonly Fault[], _cluster: Cluster): Faults {
  return {
    around: (_e, serve) => serve(),
    outgoing: (_s, line, send) => send(line),
    expiredAs: () => 'frame',
    start: () => {},
    stop: () => {},
  };
}
