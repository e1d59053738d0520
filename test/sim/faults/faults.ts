import type { Playback } from '../../../src/demo/cluster.ts';
import { HttpError, tooOld } from '../../../src/demo/data/status.ts';
import { numberIn } from '../../../src/demo/http/api-request.ts';
import type { Call, Stream, HttpServer } from '../../../src/demo/http/exchange.ts';
import type { Interference } from '../../../src/demo/loopback.ts';
import { arm, beginning, isAbout, isKind, strikes, type Armed } from './armed.ts';
import { atMoment, expireHistory, type MomentContext } from './at-moment.ts';
import type { Fault } from './fault.ts';
import { createQueue, interceptStreams, onLine, type Queue } from './on-line.ts';
import { onRequest } from './on-request.ts';

/** Applies faults to a server. If several apply at once, the first in the list wins. */
export function createFaults(
  faults: readonly Fault[],
  cluster: Playback,
  nthOnConnection: (call: Call) => number,
): Interference {
  const { clock, player } = cluster;
  const all = faults.map(arm);
  const streams = new Set<Stream>();
  const muted = new WeakSet<Stream>();
  const queue = createQueue(clock);
  const cancels: (() => void)[] = [];

  function firstStriking({ request }: Call, isCandidate: (armed: Armed) => boolean): Armed | undefined {
    return all.find((armed) => isCandidate(armed) && strikes(armed, request, clock.now(), player.moments));
  }

  async function around(exchange: Call, serve: () => Promise<void>): Promise<void> {
    interceptStreams(exchange, opened, outgoing);
    if (firstStriking(exchange, (armed) => isKind(armed, 'expire') && strikesNewStreams(armed))) expireHistory(cluster);
    const armed = firstStriking(
      exchange,
      (one) => one.fault.kind in onRequest && isPossible(one, nthOnConnection(exchange)),
    );
    if (all.some(isReportedAsStatus)) checkRevision(exchange, cluster);
    if (armed === undefined) return serve();
    await (onRequest[armed.fault.kind] as Answering)(armed.fault, exchange, serve, cluster);
  }

  function outgoing(stream: Stream, line: string, send: (line: string) => void): void {
    if (muted.has(stream)) return;
    const armed = firstStriking(stream.exchange, (one) => one.fault.kind in onLine);
    if (armed !== undefined) return (onLine[armed.fault.kind] as Mangling)(armed.fault, stream, line, send, queue);
    if (queue.isWaiting(stream)) return queue.later(stream, 0, () => send(line));
    send(line);
  }

  function opened(stream: Stream): void {
    const { exchange } = stream;
    streams.add(stream);
    stream.onClose(() => streams.delete(stream));
    if (firstStriking(exchange, (armed) => isKind(armed, 'silent') && strikesNewStreams(armed))) muted.add(stream);
    if (firstStriking(exchange, (armed) => isKind(armed, 'drop') && strikesNewStreams(armed))) {
      cancels.push(clock.setTimeout(() => exchange.cut(), 0));
    }
  }

  /** Makes a fault happen to the server when its time has come. */
  function schedule(server: HttpServer, { fault }: Armed): void {
    const happening = atMoment[fault.kind] as Happening;
    const happen = () => {
      const about = [...streams].filter((stream) => isAbout(fault, stream.exchange.request));
      void happening(fault, { cluster, server, streams: about, muted });
    };
    const wait = (beginning(fault, player.moments) ?? 0) - clock.now();
    cancels.push(clock.setTimeout(happen, Math.max(0, wait)));
  }

  return {
    around,
    start(server) {
      for (const armed of all.filter(({ fault }) => fault.kind in atMoment)) {
        if (armed.fault.afterMs !== undefined) void player.begun.then(() => schedule(server, armed));
        else if (isKind(armed, 'down') || isKind(armed, 'behind')) schedule(server, armed);
      }
    },
    stop() {
      queue.stop();
      cancels.forEach((cancel) => cancel());
    },
  };
}

function isReportedAsStatus({ fault }: Armed): boolean {
  return fault.kind === 'expire' && fault.as === 'status';
}

/** Refuses a watch of a forgotten revision with a status, before it begins; a watch cache would send a frame. */
function checkRevision({ request }: Call, { log }: Playback): void {
  if (request.verb !== 'watch' || request.query.has('sendInitialEvents')) return;
  const revision = numberIn(request.query, 'resourceVersion') ?? 0;
  if (revision > 0 && revision < log.compactedTo) throw new HttpError(tooOld(revision, log.compactedTo));
}

/** A fault with `afterMs` and no `forMs` affects only the streams that are open then, not later ones. */
function strikesNewStreams({ fault }: Armed): boolean {
  return fault.afterMs === undefined || fault.forMs !== undefined;
}

/** A keep-alive race needs a connection that was kept alive. */
function isPossible(armed: Armed, nth: number): boolean {
  return !isKind(armed, 'keepalive-race') || nth > 1;
}

// The tables are typed by kind. These types assert that a fault gets the entry of its own kind.
type Answering = (fault: Fault, exchange: Call, serve: () => Promise<void>, cluster: Playback) => Promise<void>;
type Mangling = (fault: Fault, stream: Stream, line: string, send: (line: string) => void, queue: Queue) => void;
type Happening = (fault: Fault, scene: MomentContext) => void | Promise<void>;
