import type { Exchange, Outbound } from './http/exchange.ts';
import type { HttpServer } from './http/server.ts';

/** What stands between the server and its clients, so that tests can let things go wrong there. */
export interface Interference extends Pick<Outbound, 'opened' | 'outgoing'> {
  /** Serves a request, or answers in its place. */
  around(exchange: Exchange, serve: () => Promise<void>): Promise<void>;
  /** A 410 for a forgotten revision comes as an ERROR frame, as the watch cache has it, or as the answer's status. */
  expiredAs(): 'frame' | 'status';
  start(server: HttpServer): void;
  stop(): void;
}

/** A server that always answers. */
export const undisturbed: Interference = {
  around: (_, serve) => serve(),
  opened: () => {},
  outgoing: (_, line, send) => send(line),
  expiredAs: () => 'frame',
  start: () => {},
  stop: () => {},
};
